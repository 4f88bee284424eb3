package kernel

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// A score is what another model says of a case, in the first column. Its term is that of a line through the
// origin, k(x, z) = variance · x₁ z₁, and all other terms take the columns after it: f = b·x₁ + g(x₂, …), with
// b ~ N(0, variance) and the process g correcting the line.

// score is the family of its leaf. At the centre of its prior b has the standard deviation 1, that of a
// score which is on the scale of the latent values.
var score = family{
	name:   "score",
	groups: []group{{kind: Variance, centre: unit}},
	build:  func(values [][]float64, _ int) function { return line(values[0][0]) },
}

// line is the product of the first columns.
type line float64

func (f line) cov(x, z []float64) float64   { return float64(f) * x[0] * z[0] }
func (f line) variance(x []float64) float64 { return f.cov(x, x) }

// firstOf is the first column of m.
func firstOf(m blas64.General) []float64 {
	all := make([]float64, m.Rows)
	for i := range all {
		all[i] = row(m, i)[0]
	}
	return all
}

// through is a line with one argument fixed.
type through struct {
	line
	z []float64
}

func (f line) against(z blas64.General, _ *scratch) functions { return through{f, firstOf(z)} }

func (t through) fill(dst, x blas64.General, _ *scratch) {
	for i := range dst.Rows {
		floats.ScaleTo(row(dst, i)[:len(t.z)], float64(t.line)*row(x, i)[0], t.z)
	}
}

func (f line) addGrad(grad []float64, w blas64.General, p pairs, _ *scratch) {
	z := firstOf(p.z)
	for i := range w.Rows {
		grad[0] += float64(f) * row(p.x, i)[0] * floats.Dot(row(w, i), z)
	}
}

func (f line) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	for i, weight := range w {
		grad[0] += weight * f.variance(row(x, i))
	}
}

// scored is a term of the columns after the first, beside the leaf of the first.
type scored struct {
	score leaf
	rest  term
}

// after is m without its first column.
func after(m blas64.General) blas64.General {
	m.Cols--
	m.Data = m.Data[1:]
	return m
}

func (p pairs) after() pairs { return pairs{x: after(p.x), z: after(p.z), same: p.same} }

func (t scored) cov(x, z []float64) float64 { return t.score.cov(x, z) + t.rest.cov(x[1:], z[1:]) }

func (t scored) variance(x []float64) float64 { return t.score.variance(x) + t.rest.variance(x[1:]) }

// corrected is scored with one argument fixed.
type corrected struct{ score, rest functions }

func (t scored) against(z blas64.General, s *scratch) functions {
	return corrected{t.score.against(z, s), t.rest.against(after(z), s)}
}

func (f corrected) fill(dst, x blas64.General, s *scratch) {
	f.rest.fill(dst, after(x), s)
	defer s.release(s.mark())
	other := s.matrix(dst.Rows, dst.Cols)
	clear(other.Data)
	f.score.fill(other, x, s)
	floats.Add(dst.Data, other.Data)
}

func (t scored) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	t.score.addGrad(grad[:1], w, p, s)
	t.rest.addGrad(grad[1:], w, p.after(), s)
}

func (t scored) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	t.score.addVarianceGrad(grad[:1], w, x)
	t.rest.addVarianceGrad(grad[1:], w, after(x))
}

func (t scored) leaves(dst []leaf) []leaf { return t.rest.leaves(t.score.leaves(dst)) }
func (t scored) numParams() int           { return 1 + t.rest.numParams() }

func (t scored) with(logs []float64) (term, []float64) {
	first, logs := t.score.with(logs)
	rest, logs := t.rest.with(logs)
	return scored{first.(leaf), rest}, logs
}

func (t scored) coded(codes int) term { return scored{t.score, t.rest.coded(codes)} }

func (t scored) write(b *strings.Builder) { sum{parts{t.score, t.rest}}.write(b) }

// firstColumn is the first of a kernel's inputs that a leaf of it sees.
func (k Kernel) firstColumn(l leaf) int {
	if _, ok := k.term.(scored); ok && l.family != &score {
		return 1
	}
	return 0
}

// withScore is a kernel of all columns but a score, which stands before them, with the term of it. One that is
// written in the kernel is a term of the sum.
func withScore(k Kernel) (Kernel, bool) {
	isScore := func(t term) bool { l, ok := t.(leaf); return ok && l.family == &score }
	t := scored{score: newLeaf(&score, []float64{1}), rest: k.term}
	if s, ok := k.term.(sum); ok {
		if at := slices.IndexFunc(s.parts, isScore); at >= 0 {
			t.score = s.parts[at].(leaf)
			rest := slices.Delete(slices.Clone(s.parts), at, at+1)
			t.rest = rest.compose(sum{rest}).term
		}
	}
	if slices.ContainsFunc(t.rest.leaves(nil), func(l leaf) bool { return isScore(l) }) {
		return k, false
	}
	k.term = t
	if k.dim > 0 {
		k.dim++
	}
	return k, true
}

package kernel

import (
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/lanes"
)

// Sum returns the kernel k(x, z) = Σ_i k_i(x, z).
func Sum(kernels ...Kernel) Kernel {
	var t sum
	for _, k := range kernels {
		if inner, ok := k.term.(sum); ok {
			t.parts = append(t.parts, inner.parts...)
		} else {
			t.parts = append(t.parts, k.term)
		}
	}
	return t.compose(t)
}

// Product returns the kernel k(x, z) = Π_i k_i(x, z).
func Product(kernels ...Kernel) Kernel {
	var t product
	for _, k := range kernels {
		if inner, ok := k.term.(product); ok {
			t.parts = append(t.parts, inner.parts...)
		} else {
			t.parts = append(t.parts, k.term)
		}
	}
	return t.compose(t)
}

// parts is what compositions share.
type parts []term

// compose makes a kernel of a composition of the parts. It is nothing but the
// part if there is only one.
func (ps parts) compose(whole term) Kernel {
	switch len(ps) {
	case 0:
		panic("kernel: a sum or product of no kernels")
	case 1:
		return newKernel(ps[0])
	}
	return newKernel(whole)
}

func (ps parts) leaves(dst []leaf) []leaf {
	for _, part := range ps {
		dst = part.leaves(dst)
	}
	return dst
}

func (ps parts) numParams() int {
	n := 0
	for _, part := range ps {
		n += part.numParams()
	}
	return n
}

// moved returns the parts at the leading log parameters, and the rest.
func (ps parts) moved(logs []float64) (parts, []float64) {
	at := make(parts, len(ps))
	for i, part := range ps {
		at[i], logs = part.with(logs)
	}
	return at, logs
}

// coded returns the parts for inputs of which the last columns are codes.
func (ps parts) coded(codes int) parts {
	at := make(parts, len(ps))
	for i, part := range ps {
		at[i] = part.coded(codes)
	}
	return at
}

// each is the functions of every part.
func (ps parts) each(z blas64.General, s *scratch) []functions {
	fs := make([]functions, len(ps))
	for i, part := range ps {
		fs[i] = part.against(z, s)
	}
	return fs
}

// sum adds at least two terms, none of them a sum.
type sum struct{ parts }

func (t sum) cov(x, z []float64) float64 {
	total := 0.0
	for _, part := range t.parts {
		total += part.cov(x, z)
	}
	return total
}

func (t sum) variance(x []float64) float64 {
	total := 0.0
	for _, part := range t.parts {
		total += part.variance(x)
	}
	return total
}

func (t sum) against(z blas64.General, s *scratch) functions { return sums(t.each(z, s)) }

// sums are the sums of functions.
type sums []functions

func (fs sums) fill(dst, x blas64.General, s *scratch) {
	fs[0].fill(dst, x, s)
	defer s.release(s.mark())
	other := s.matrix(dst.Rows, dst.Cols)
	offset := 0.0 // of constants, which go along with another term
	for _, f := range fs[1:] {
		if c, ok := f.(flat); ok {
			offset += float64(c)
		}
	}
	for _, f := range fs[1:] {
		if _, ok := f.(flat); ok {
			continue
		}
		f.fill(other, x, s)
		lanes.Add(dst.Data, other.Data, offset)
		offset = 0
	}
	if offset != 0 {
		floats.AddConst(offset, dst.Data)
	}
}

func (t sum) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	for _, part := range t.parts {
		n := part.numParams()
		part.addGrad(grad[:n], w, p, s)
		grad = grad[n:]
	}
}

func (t sum) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	for _, part := range t.parts {
		n := part.numParams()
		part.addVarianceGrad(grad[:n], w, x)
		grad = grad[n:]
	}
}

func (t sum) with(logs []float64) (term, []float64) {
	at, rest := t.moved(logs)
	return sum{at}, rest
}

func (t sum) coded(codes int) term { return sum{t.parts.coded(codes)} }

func (t sum) write(b *strings.Builder) {
	for i, part := range t.parts {
		if i > 0 {
			b.WriteString(" + ")
		}
		part.write(b)
	}
}

// product multiplies at least two factors, none of them a product.
type product struct{ parts }

func (t product) cov(x, z []float64) float64 {
	total := 1.0
	for _, part := range t.parts {
		total *= part.cov(x, z)
	}
	return total
}

func (t product) variance(x []float64) float64 {
	total := 1.0
	for _, part := range t.parts {
		total *= part.variance(x)
	}
	return total
}

func (t product) against(z blas64.General, s *scratch) functions { return products(t.each(z, s)) }

// products are the products of functions.
type products []functions

func (fs products) fill(dst, x blas64.General, s *scratch) {
	fs[0].fill(dst, x, s)
	defer s.release(s.mark())
	other := s.matrix(dst.Rows, dst.Cols)
	for _, f := range fs[1:] {
		f.fill(other, x, s)
		floats.Mul(dst.Data, other.Data)
	}
}

// addGrad hands every factor the weights times all other factors. The others
// are multiplied anew for each factor rather than divided out of the whole,
// which may be zero.
func (t product) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	defer s.release(s.mark())
	filled := make([]blas64.General, len(t.parts))
	for f, factor := range t.parts {
		filled[f] = s.matrix(w.Rows, w.Cols)
		fill(factor, filled[f], p, s)
	}
	weights := s.matrix(w.Rows, w.Cols)
	for f, factor := range t.parts {
		for i := range w.Rows {
			copy(row(weights, i), row(w, i))
		}
		for other := range t.parts {
			if other != f {
				multiply(weights, filled[other])
			}
		}
		n := factor.numParams()
		factor.addGrad(grad[:n], weights, p, s)
		grad = grad[n:]
	}
}

func (t product) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	weights := make([]float64, len(w))
	for f, factor := range t.parts {
		for i := range weights {
			weights[i] = w[i]
			for other, part := range t.parts {
				if other != f {
					weights[i] *= part.variance(row(x, i))
				}
			}
		}
		n := factor.numParams()
		factor.addVarianceGrad(grad[:n], weights, x)
		grad = grad[n:]
	}
}

func (t product) with(logs []float64) (term, []float64) {
	at, rest := t.moved(logs)
	return product{at}, rest
}

func (t product) coded(codes int) term { return product{t.parts.coded(codes)} }

func (t product) write(b *strings.Builder) {
	for i, part := range t.parts {
		if i > 0 {
			b.WriteString(" * ")
		}
		if _, ok := part.(sum); ok {
			b.WriteByte('(')
			part.write(b)
			b.WriteByte(')')
		} else {
			part.write(b)
		}
	}
}

// multiply sets dst to the entrywise product of dst and m.
func multiply(dst, m blas64.General) {
	for i := range dst.Rows {
		to := row(dst, i)
		for j, v := range row(m, i) {
			to[j] *= v
		}
	}
}

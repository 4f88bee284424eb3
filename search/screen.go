package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/lossep/lossep/internal/indices"
)

// A search with a length scale for each column starts from a common one and follows the slope
// of the evidence, which sees there what is linear in a column and next to nothing of a
// product of two or of a square: of many columns those drown. A screening looks for them by
// regression. Its features are the Legendre polynomials of degree 1 to 4 in the ranks u of a
// column, which go from −1 to 1, and the products of the u of two columns. The feature that
// explains most of what those chosen before leave of the response is chosen next, as long as
// it explains more than the best of so many would by chance.
const (
	degrees = 4
	// chance is at most how many features are chosen, on average, where none says anything:
	// their number times the tail of Student's t.
	chance = 0.05
	// mostFeatures are chosen for a response; mostSurvivors of those that stand out when all
	// are looked at are compared one by one.
	mostFeatures  = 30
	mostSurvivors = 500
	// nearlyKnown is the share of the square of a feature that others have to leave of it for
	// it to be chosen.
	nearlyKnown = 0.05
	// rounding is the share of a square below which there is nothing else in it.
	rounding = 1e-9
	// mostPaired is the most columns that are paired: time and pairs grow with their square.
	mostPaired = 2000
	// panel is how many columns are multiplied at a time.
	panel = 256
)

// feature is a polynomial in column a, or its product with column b, which is −1 otherwise.
type feature struct {
	a, b, degree int
	gain         float64 // the square of its t statistic
}

// columns are those that the feature is of.
func (f feature) columns() []int {
	if f.b < 0 {
		return []int{f.a}
	}
	return []int{f.a, f.b}
}

// screening looks for features that a response depends on.
type screening struct {
	ranks *mat.Dense  // a row for each column of the inputs; their mean is 0
	bound float64     // of gains
	basis [][]float64 // what was chosen, orthonormal
}

// newScreening is one of so many responses.
func newScreening(x *mat.Dense, responses int) *screening {
	n, d := x.Dims()
	s := &screening{ranks: mat.NewDense(d, n, nil)}
	column := make([]float64, n)
	for k := range d {
		midranks(s.ranks.RawRowView(k), mat.Col(column, k, x))
	}
	features := float64(degrees * d)
	if d <= mostPaired {
		features += 0.5 * float64(d) * float64(d-1)
	}
	// A share c of the square of normal noise is explained by a feature with probability
	// I(1−c; (n−2)/2, 1/2), the incomplete beta function.
	s.bound = math.Inf(1)
	if free := float64(n - 2); free > 0 {
		left := mathext.InvRegIncBeta(0.5*free, 0.5, chance/(features*float64(responses)))
		s.bound = free * (1 - left) / left
	}
	return s
}

// midranks writes the ranks of the values to dst, scaled and moved to the mean 0 between −1
// and 1. Values that are the same share theirs.
func midranks(dst, values []float64) {
	n := len(values)
	order := indices.Of(n)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	for from := 0; from < n; {
		to := from + 1
		for to < n && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			dst[i] = float64(from+to)/float64(n) - 1
		}
		from = to
	}
}

// choose is the features that explain the response, by forward selection. The error is that of
// the context.
func (s *screening) choose(ctx context.Context, response []float64) ([]feature, error) {
	s.basis = nil
	rest := slices.Clone(response)
	centre(rest)
	whole := floats.Dot(rest, rest)
	var chosen []feature
	for {
		survivors, err := s.look(ctx, rest)
		if err != nil {
			return nil, err
		}
		before := len(chosen)
		for len(chosen) < mostFeatures && floats.Dot(rest, rest) > rounding*whole {
			best, along := s.best(survivors, rest)
			if along == nil {
				break
			}
			chosen, s.basis = append(chosen, best), append(s.basis, along)
			floats.AddScaled(rest, -floats.Dot(rest, along), along)
		}
		// With less noise in the rest others may stand out.
		if len(chosen) == before || len(chosen) == mostFeatures {
			return chosen, nil
		}
	}
}

// best is the feature that explains most of the rest, and the direction that it adds to the
// basis, nil if none has a gain above the bound.
func (s *screening) best(of []feature, rest []float64) (best feature, along []float64) {
	best.gain = s.bound
	for _, f := range of {
		v := s.values(f)
		size := floats.Dot(v, v)
		for _, q := range s.basis {
			floats.AddScaled(v, -floats.Dot(q, v), q)
		}
		left := floats.Dot(v, v)
		if !(left > nearlyKnown*size) {
			continue
		}
		if f.gain = s.gain(floats.Dot(rest, v), left, floats.Dot(rest, rest)); f.gain > best.gain {
			best, along = f, v
		}
	}
	if along != nil {
		floats.Scale(1/floats.Norm(along, 2), along)
	}
	return best, along
}

// gain is the square of the t statistic of a feature in the regression of the rest on it,
// from their product and their squares.
func (s *screening) gain(product, square, rest float64) float64 {
	free := s.ranks.RawMatrix().Cols - 2 - len(s.basis)
	if free < 1 || !(square*rest > 0) {
		return 0 // there is nothing to explain, or too little to explain it by
	}
	left := max(square*rest-product*product, rounding*square*rest) // which may explain all of it
	return float64(free) * product * product / left
}

// look is the features with a gain above the bound, the largest first, without regard to what
// those chosen before leave of them, which can only raise it. With U the ranks, the products of
// all pairs with the rest r are in U diag(r) U', and their squares about the mean in
// (U∘U)(U∘U)' and U U'.
func (s *screening) look(ctx context.Context, rest []float64) ([]feature, error) {
	d, n := s.ranks.Dims()
	square := floats.Dot(rest, rest)
	var all []feature
	largest := func() {
		slices.SortStableFunc(all, func(a, b feature) int { return cmp.Compare(b.gain, a.gain) })
		all = all[:min(len(all), mostSurvivors)]
	}
	floor := s.bound
	keep := func(f feature) {
		if !(f.gain > floor) {
			return
		}
		if all = append(all, f); len(all) == 4*mostSurvivors { // so that columns of one kind take no memory
			largest()
			floor = all[len(all)-1].gain
		}
	}
	for k := range d {
		if k%panel == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for degree := 1; degree <= degrees; degree++ {
			f := feature{a: k, b: -1, degree: degree}
			v := s.values(f)
			f.gain = s.gain(floats.Dot(rest, v), floats.Dot(v, v), square)
			keep(f)
		}
	}
	for i := 0; i < d && d <= mostPaired; i += panel {
		for j := i; j < d; j += panel {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			a, b := s.ranks.Slice(i, min(i+panel, d), 0, n), s.ranks.Slice(j, min(j+panel, d), 0, n)
			var weighted, left, right, with, fourth, both mat.Dense
			weighted.Apply(func(_, row int, u float64) float64 { return u * rest[row] }, a)
			left.MulElem(a, a)
			right.MulElem(b, b)
			with.Mul(&weighted, b.T())
			fourth.Mul(&left, right.T())
			both.Mul(a, b.T())
			rows, columns := both.Dims()
			for p := range rows {
				for q := max(0, i+p+1-j); q < columns; q++ {
					sum, about := both.At(p, q), fourth.At(p, q)
					if own := about - sum*sum/float64(n); own > rounding*about {
						keep(feature{a: i + p, b: j + q, gain: s.gain(with.At(p, q), own, square)})
					}
				}
			}
		}
	}
	largest()
	return all, nil
}

// values are those of a feature in all rows, less their mean; zero where that leaves rounding.
func (s *screening) values(f feature) []float64 {
	v := slices.Clone(s.ranks.RawRowView(f.a))
	if f.b >= 0 {
		floats.Mul(v, s.ranks.RawRowView(f.b))
	}
	for i, u := range v {
		before, p := 1.0, u
		for k := 1.0; k < float64(f.degree); k++ {
			before, p = p, ((2*k+1)*u*p-k*before)/(k+1)
		}
		v[i] = p
	}
	size := floats.Dot(v, v)
	centre(v)
	if floats.Dot(v, v) < rounding*size {
		clear(v)
	}
	return v
}

func centre(v []float64) { floats.AddConst(-floats.Sum(v)/float64(len(v)), v) }

package kernel

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

// Prior is a Gaussian on the logarithm of a hyperparameter. It is weak, a factor of 2.7 to
// 20 at one standard deviation, but proper: what the evidence leaves open, such as the
// variance of separable data or the length scale of a column that says nothing, stays at a
// finite value. Variances are the least certain: of outcomes that are nearly divided they
// are in the hundreds (docs/research/kernels.md).
type Prior struct{ Mean, SD float64 }

// The standard deviations of the logarithms of hyperparameters, by their kind.
const (
	VarianceSpread    = 3.0
	LengthscaleSpread = 1.5
	PeriodSpread      = 1.0
)

var spread = map[Kind]float64{Variance: VarianceSpread, Lengthscale: LengthscaleSpread, Period: PeriodSpread}

// Priors are those of the hyperparameters in the order of [Kernel.Params], each centred
// where its family puts it on the scale of the inputs, so that it follows when a column is
// rescaled. At the centres the process has variance 1 for each term, and two typical inputs
// of it differ by two squared length scales in all.
func (k Kernel) Priors(s Scale) []Prior {
	priors := make([]Prior, 0, k.NumParams())
	for _, l := range k.term.leaves(nil) {
		s := s.from(k.firstColumn(l))
		for g, values := range l.values {
			group := l.family.groups[g]
			for column := range values {
				if len(values) == 1 {
					column = -1
				}
				log := math.Log(group.centre(s, column)) // of zero or infinity when a square is out of range
				if math.IsNaN(log) {
					log = 0 // of inputs that are no numbers, which no process is made of
				}
				priors = append(priors, Prior{log, spread[group.kind]})
			}
		}
	}
	return priors
}

// unit is the centre of a parameter that has the scale of the latent values alone.
func unit(Scale, int) float64 { return 1 }

// Scale is that of the inputs: the variance and the mean square of every column, of a
// column of codes those of its 0/1 columns together.
type Scale struct {
	Variance, Square []float64
	written          int // columns, with codes written out
}

// NewScale is that of the rows of x, of which the last columns are codes.
func NewScale(x *mat.Dense, codes int) Scale {
	n, d := x.Dims()
	s := Scale{Variance: make([]float64, d), Square: make([]float64, d), written: d - codes}
	written := make([]int, d)
	tasks.For(d, func(k int) {
		if k < d-codes {
			s.number(x, k, n)
		} else {
			written[k] = s.code(x, k, n)
		}
		// A column that never varies is as good as any of unit scale.
		if s.Variance[k] == 0 {
			s.Variance[k] = 1
		}
		if s.Square[k] == 0 {
			s.Square[k] = 1
		}
	})
	for _, w := range written {
		s.written += w
	}
	return s
}

func (s *Scale) number(x *mat.Dense, k, n int) {
	mean := 0.0
	for i := range n {
		mean += x.At(i, k) / float64(n)
	}
	for i := range n {
		e := x.At(i, k) - mean
		s.Variance[k] += e * e / float64(n)
	}
	s.Square[k] = s.Variance[k] + mean*mean
}

// code uses that a 0/1 column with a share p of ones has the mean square p and the variance
// p − p². It returns how many such columns there are.
func (s *Scale) code(x *mat.Dense, k, n int) int {
	var share []float64
	for i := range n {
		code := int(x.At(i, k))
		for code >= len(share) {
			share = append(share, 0)
		}
		if code >= 0 {
			share[code] += 1 / float64(n)
		}
	}
	for _, p := range share {
		s.Variance[k] += p - p*p
		s.Square[k] += p
	}
	return len(share)
}

// from is the scale of the columns from one on.
func (s Scale) from(column int) Scale {
	return Scale{s.Variance[column:], s.Square[column:], s.written - column}
}

// total is the sum over all columns; or, for the parameter of one column, as if all
// columns were like it.
func (s Scale) total(of []float64, column int) float64 {
	if column >= 0 {
		return of[column] * float64(len(of))
	}
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum
}

package posterior

import (
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
)

// Drawn is a posterior made of draws, independent or from chains: the truth, but for the error that it
// states. It has the full process.
type Drawn struct {
	process *gp.Process
	draws   *exact.Draws
	around
}

// around is what a likelihood says of cases given a draw, around which what their views read is Gaussian.
type around interface {
	// outcomes is their number, and views that of a case.
	outcomes() int
	views() int
	// at are the views of a case, and what writes the probabilities of its outcomes where these have a
	// covariance and means.
	at(p *gp.Process, x *mat.Dense) (*gauss.Views, func(cov []float64) func(p, means []float64))
}

// NewDrawn is the posterior of one function by draws of what the views of a process see.
func NewDrawn(process *gp.Process, l One, draws *exact.Draws) *Drawn {
	return &Drawn{process, draws, oneAround{l}}
}

// NewDrawnJoint is that of several functions.
func NewDrawnJoint(process *gp.Process, l Several, draws *exact.Draws) *Drawn {
	return &Drawn{process, draws, severalAround{l}}
}

type oneAround struct{ One }

func (o oneAround) outcomes() int { return o.Len() }
func (oneAround) views() int      { return 1 }

func (o oneAround) at(p *gp.Process, x *mat.Dense) (*gauss.Views, func([]float64) func(p, means []float64)) {
	return p.At(x), func(cov []float64) func(p, means []float64) {
		return func(p, means []float64) { o.Gaussian(p, means[0], cov[0]) }
	}
}

type severalAround struct{ Several }

func (s severalAround) outcomes() int { return s.Len() }
func (s severalAround) views() int    { return s.Len() - 1 }

func (s severalAround) at(p *gp.Process, x *mat.Dense) (*gauss.Views, func([]float64) func(p, means []float64)) {
	points, maps := p.OutcomesPoints(x)
	return points, func(cov []float64) func(p, means []float64) {
		var half, functions mat.Dense
		half.Mul(maps[0], mat.NewDense(s.views(), s.views(), cov))
		functions.Mul(&half, maps[0].T())
		own, values := mat.NewSymDense(s.Len(), nil), mat.NewVecDense(s.Len(), nil)
		return func(p, means []float64) {
			for a := range s.Len() {
				for b := a; b < s.Len(); b++ {
					own.SetSym(a, b, functions.At(a, b))
				}
			}
			values.MulVec(maps[0], mat.NewVecDense(s.views(), means))
			s.Joint(p, values.RawVector().Data, own)
		}
	}
}

// each calls use with the means of the views of every row given every draw, one view after the other,
// their covariance, and the probabilities of the outcomes given every draw, by outcome; from several goroutines.
// Rows are asked about one by one, as what the products of larger matrices round to depends on their shape.
func (d *Drawn) each(x *mat.Dense, use func(i int, means, cov []float64, p [][]float64)) {
	rows, _ := x.Dims()
	size, n := d.views(), d.draws.Len()
	tasks.For(rows, func(i int) {
		view, around := d.at(d.process, row(x, i))
		d.draws.EachBlock(view, size, func(_ int, means, cov []float64) {
			given := around(cov)
			all, p, read := Tuples(d.outcomes(), n), make([]float64, d.outcomes()), make([]float64, size)
			for k := range n {
				for v := range read {
					read[v] = means[v*n+k]
				}
				given(p, read)
				for c, q := range p {
					all[c][k] = q
				}
			}
			use(i, means, cov, all)
		})
	})
}

// Given calls use with the probabilities of the outcomes of every row given every draw, by outcome; from
// several goroutines.
func (d *Drawn) Given(x *mat.Dense, use func(i int, p [][]float64)) {
	d.each(x, func(i int, _, _ []float64, p [][]float64) { use(i, p) })
}

// StdErr is the standard error of the mean of what is given at every draw.
func (d *Drawn) StdErr(given []float64) float64 { return d.draws.StdErr(given) }

// Predict implements Posterior.
func (d *Drawn) Predict(x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out := make([]Prediction, n)
	d.each(x, func(i int, means, cov []float64, p [][]float64) {
		o := &out[i]
		o.Probabilities = averages(p)
		if d.views() == 1 {
			o.Mean, o.Variance = stat.MeanVariance(means, nil)
			o.Variance += cov[0]
			o.Normals = normalsOf(means, cov[0])
		}
	})
	return out
}

// Probabilities implements Posterior.
func (d *Drawn) Probabilities(x *mat.Dense) [][]float64 { return probabilitiesOf(d.Predict(x)) }

// averages are those over draws.
func averages(given [][]float64) []float64 {
	p := make([]float64, len(given))
	for c, all := range given {
		p[c] = stat.Mean(all, nil)
	}
	return atMostOne(p)
}

// normalsOfDraws is how many normals stand for draws: what each of them smooths over is a fiftieth of the draws wide.
const normalsOfDraws = 50

// normalsOf stand for normals of one variance around draws: each for as many that are next to each other, with the
// moments of their mixture.
func normalsOf(means []float64, variance float64) []Normal {
	sorted := slices.Clone(means)
	slices.Sort(sorted)
	out := make([]Normal, min(normalsOfDraws, len(sorted)))
	for k := range out {
		of := sorted[k*len(sorted)/len(out) : (k+1)*len(sorted)/len(out)]
		mean := stat.Mean(of, nil)
		out[k] = Normal{float64(len(of)) / float64(len(sorted)), mean, variance + stat.MomentAbout(2, of, mean, nil)}
	}
	return out
}

// Kernel implements Posterior.
func (d *Drawn) Kernel() kernel.Kernel { return d.process.Kernel() }

// Inputs implements Posterior.
func (d *Drawn) Inputs() *mat.Dense { return d.process.Inputs() }

// Extremes implements Posterior.
func (d *Drawn) Extremes() []int {
	n, _ := d.Inputs().Dims()
	return extremes(n, nil, 1)
}

// State implements Posterior: draws are not kept.
func (d *Drawn) State() State { return State{} }

// Bytes implements Posterior.
func (d *Drawn) Bytes() float64 {
	rows, features := d.Inputs().Dims()
	dim := float64(d.process.Views().Dim())
	return FullBytes(rows, features, d.process.Views().Len()) + 8*dim*float64(d.draws.Len())
}

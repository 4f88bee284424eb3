package posterior

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
)

// sited is what posteriors of the full process are made of, whatever their outcomes: the prior times
// sites of each training row, one for every view, and what calibration adds.
type sited struct {
	process     *gp.Process
	q           *gauss.Gaussian
	sites       []gauss.Scalar
	calibration *gauss.Natural
}

// newSited multiplies the prior by the sites: h = Aᵀν and Λ = I + AᵀTA, plus what calibration adds.
func newSited(process *gp.Process, sites []gauss.Scalar, calibration *gauss.Natural) (sited, error) {
	n := gauss.NewNatural(process.Views().Dim())
	n.SetStandard()
	n.TimesScalars(process.Views(), sites, new(gauss.Workspace))
	if calibration != nil {
		n.Times(calibration, 1)
	}
	q := gauss.NewGaussian(n.Dim())
	return sited{process, q, sites, calibration}, q.Exchange(n)
}

// Process is that of the training rows.
func (p *sited) Process() *gp.Process { return p.process }

func (p *sited) Kernel() kernel.Kernel { return p.process.Kernel() }
func (p *sited) Inputs() *mat.Dense    { return p.process.Inputs() }
func (p *sited) State() State          { return State{Sites: p.sites, Calibration: p.calibration} }

func (p *sited) Extremes() []int {
	n, _ := p.Inputs().Dims()
	return extremes(n, p.sites, len(p.sites)/n)
}

func (p *sited) Bytes() float64 {
	rows, features := p.Inputs().Dims()
	return FullBytes(rows, features, p.process.Views().Len())
}

// seen is what posteriors with inducing points are made of: a Gaussian for each function, and the
// sites of the training rows, nil if they are not kept.
type seen struct {
	process *gp.Inducing
	q       gauss.Gaussians
	sites   []gauss.Scalar
}

// Process is that of the inducing points.
func (p *seen) Process() *gp.Inducing { return p.process }

func (p *seen) Kernel() kernel.Kernel { return p.process.Kernel() }
func (p *seen) Inputs() *mat.Dense    { return p.process.Points() }
func (p *seen) Extremes() []int       { return extremes(p.process.Dim(), nil, 1) }

func (p *seen) State() State {
	return State{Points: p.process.Points(), Functions: p.q, Effects: p.process.Effects(), Sites: p.sites}
}

func (p *seen) Bytes() float64 {
	_, features := p.process.Points().Dims()
	functions := len(p.q)
	return p.process.Effects().Bytes() + keptMatrices*float64(functions)*matrixBytes(p.process.Dim()) + RowBytes(len(p.sites)/functions, features, functions)
}

// RowBytes is what is kept of training rows with inducing points: features, labels, and sites of
// so many functions.
func RowBytes(rows, features, functions int) float64 {
	return 8 * float64(rows) * float64(features+1+2*functions)
}

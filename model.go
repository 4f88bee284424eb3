package lossep

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Model is a fitted model: it predicts and decides new cases. It is safe for
// concurrent use.
//
// Whatever the method, what it learned is one Gaussian site for each training row (and
// a dense one more for a calibrated VI), from which its posterior is made by one
// factorisation. The sites of EP are kept beside those of another method, for a second
// opinion.
type Model struct {
	recipe      *data.Recipe
	utility     *decision.Spec
	kernel      kernel.Kernel
	likelihood  Likelihood
	method      Method
	x           *mat.Dense
	labels      []int
	ep, sites   []gauss.Scalar // of EP and of the method
	calibration *gauss.Natural // of LossVI only
	summary     Summary
	provenance  Provenance

	// Made from the above.
	process  *gp.Process
	q        *gauss.Gaussian // of the method, before any correction
	opinions []opinion       // the method's own first
}

// opinion is a posterior that can be asked.
type opinion struct {
	method    Method
	posterior infer.Posterior
}

// Recipe is how rows become numbers. It must not be changed.
func (m *Model) Recipe() *data.Recipe { return m.recipe }

// Utility is what actions are worth, as the model was fitted. It must not be changed.
func (m *Model) Utility() *decision.Spec { return m.utility }

// Kernel is the covariance function with its hyperparameters.
func (m *Model) Kernel() kernel.Kernel { return m.kernel }

// Likelihood is that of the outcomes.
func (m *Model) Likelihood() Likelihood { return m.likelihood }

// Method is how the posterior was approximated.
func (m *Model) Method() Method { return m.method }

// Summary is what the fit found.
func (m *Model) Summary() Summary { return m.summary }

// Provenance is where the model comes from.
func (m *Model) Provenance() Provenance { return m.provenance }

// assemble makes the posteriors. The process may be nil, as it is after loading.
func (m *Model) assemble(process *gp.Process) error {
	if process == nil {
		var err error
		if process, err = gp.New(m.kernel, m.x); err != nil {
			return err
		}
	}
	m.process = process
	plain, err := m.gaussian(m.ep, nil)
	if err != nil {
		return fmt.Errorf("the sites of EP: %w", err)
	}
	terms := &infer.Model{Views: process.Views(), Terms: m.likelihood.terms(m.labels)}
	corrected := infer.NewCorrected(terms, &infer.EPResult{Q: plain, Sites: infer.Sites{Terms: m.ep}}, CorrectionOrder(len(m.labels)))
	ep := opinion{EP, infer.Gaussian{Gaussian: plain}}
	better := opinion{Corrected, corrected}
	switch m.method {
	case EP:
		m.q, m.opinions = plain, []opinion{ep, better}
	case Corrected:
		m.q, m.opinions = plain, []opinion{better, ep}
	default:
		if m.q, err = m.gaussian(m.sites, m.calibration); err != nil {
			return fmt.Errorf("the sites of %s: %w", m.method, err)
		}
		m.opinions = []opinion{{m.method, infer.Gaussian{Gaussian: m.q}}, ep, better}
	}
	return nil
}

// gaussian is the prior times the sites: h = Aᵀν and Λ = I + AᵀTA, plus what
// calibration adds.
func (m *Model) gaussian(sites []gauss.Scalar, calibration *gauss.Natural) (*gauss.Gaussian, error) {
	n := gauss.NewNatural(m.process.Views().Dim())
	n.SetStandard()
	n.TimesScalars(m.process.Views(), sites, new(gauss.Workspace))
	if calibration != nil {
		n.Times(calibration, 1)
	}
	q := gauss.NewGaussian(n.Dim())
	return q, q.Set(n)
}

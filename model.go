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
// Whatever the method, what it learned is one Gaussian site for each training row, C−1 with
// C outcomes (and a dense one more for a calibrated VI), from which its posterior is made by one
// factorisation. The sites of EP are kept beside those of another method, for a second
// opinion. Where rows are many it is inducing points and a Gaussian on what is seen from
// them, and the rows and their sites are kept if they are not too many.
type Model struct {
	recipe      *data.Recipe
	coding      *data.Coding // of the recipe
	utility     *decision.Spec
	kernel      kernel.Kernel
	likelihood  Likelihood
	method      Method
	x           *mat.Dense     // in compact form; nil if there are too many rows
	labels      []int          // likewise
	weights     []float64      // how often each of them counts, nil if once
	ep, sites   []gauss.Scalar // of EP, likewise, and of the method, nil with inducing points
	calibration *gauss.Natural // of LossVI only
	summary     Summary
	provenance  Provenance
	inducing    *inducing // nil for the full process
	mixture     *mixture  // nil for one kernel

	// Made from the above.
	process  latent
	full     *gp.Process // the same, nil with inducing points
	opinions []opinion   // the method's own first
}

// Recipe is how rows become numbers. It must not be changed.
func (m *Model) Recipe() *data.Recipe { return m.recipe }

// Utility is what actions are worth, as the model was fitted. It must not be changed.
func (m *Model) Utility() *decision.Spec { return m.utility }

// Kernel is the covariance function with its hyperparameters; of a mixture that with the
// largest weight, see Components.
func (m *Model) Kernel() kernel.Kernel { return m.kernel }

// Likelihood is that of the outcomes.
func (m *Model) Likelihood() Likelihood { return m.likelihood }

// Method is how the posterior was approximated.
func (m *Model) Method() Method { return m.method }

// Summary is what the fit found.
func (m *Model) Summary() Summary { return m.summary }

// Provenance is where the model comes from.
func (m *Model) Provenance() Provenance { return m.provenance }

// assemble makes the posteriors. The process may be nil, as it is after loading, and so
// may the second opinions.
func (m *Model) assemble(process *gp.Process, second []opinion) error {
	if process == nil {
		var err error
		if process, err = m.newProcess(); err != nil {
			return err
		}
	}
	m.process, m.full = process, process
	if second == nil {
		var err error
		if second, err = m.expectationPropagation(); err != nil {
			return fmt.Errorf("the sites of EP: %w", err)
		}
	}
	switch m.method {
	case EP:
		m.opinions = second
	case Corrected:
		m.opinions = []opinion{second[1], second[0]}
	default:
		q, err := m.gaussian(m.sites, m.calibration)
		if err != nil {
			return fmt.Errorf("the sites of %s: %w", m.method, err)
		}
		own := m.newOpinion(m.method, q, m.sites, m.calibration)
		m.opinions = append([]opinion{own}, second...)
	}
	return m.checkPredictions()
}

// expectationPropagation is the opinions of EP and of its corrections.
func (m *Model) expectationPropagation() ([]opinion, error) {
	q, err := m.gaussian(m.ep, nil)
	if err != nil {
		return nil, err
	}
	own := m.newOpinion(EP, q, m.ep, nil)
	if several(m.recipe) {
		return []opinion{own}, nil
	}
	terms := &infer.Model{Views: m.full.Views(), Terms: m.likelihood.terms(m.labels, m.weights)}
	corrected := Corrected.row(len(m.labels)).Refine(terms, &infer.Result{Q: q, Sites: infer.Sites{Terms: m.ep}})
	return []opinion{own, {method: Corrected, q: q, posterior: corrected.Posterior}}, nil
}

// second is the opinions of EP and of its corrections, in this order.
func (m *Model) second() []opinion {
	switch m.method {
	case EP:
		return m.opinions
	case Corrected:
		return []opinion{m.opinions[1], m.opinions[0]}
	}
	return m.opinions[1:]
}

// gaussian is the prior times the sites: h = Aᵀν and Λ = I + AᵀTA, plus what
// calibration adds.
func (m *Model) gaussian(sites []gauss.Scalar, calibration *gauss.Natural) (*gauss.Gaussian, error) {
	n := gauss.NewNatural(m.full.Views().Dim())
	n.SetStandard()
	n.TimesScalars(m.full.Views(), sites, new(gauss.Workspace))
	if calibration != nil {
		n.Times(calibration, 1)
	}
	q := gauss.NewGaussian(n.Dim())
	return q, q.Exchange(n)
}

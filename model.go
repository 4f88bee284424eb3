package lossep

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/recipe"
)

// Model is a fitted model: it predicts and decides new cases. It is safe for
// concurrent use.
//
// Whatever the method, what it learned is one Gaussian site for each training row, C−1 with
// C outcomes (and a dense one more for a calibrated VI), from which its posterior is made by one
// factorisation. The sites of EP are kept beside those of another method, for a second
// opinion. Where rows are many it is inducing points and a Gaussian on what is seen from
// them, one for each of more than two outcomes, and the rows and their sites, C of each with C
// outcomes, are kept if they are not too many.
type Model struct {
	recipe      *recipe.Recipe
	coding      *recipe.Coding // of the recipe
	utility     *decision.Spec
	kernel      kernel.Kernel
	likelihood  Likelihood
	method      Method
	x           *mat.Dense     // encoded training rows; nil if there are too many
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
func (m *Model) Recipe() *recipe.Recipe { return m.recipe }

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

// inducing is the state of a model with inducing points.
type inducing struct {
	process *gp.Inducing
	ep, own gauss.Gaussians // of EP and of the method, which may be EP; one of each outcome if they are several
}

// latent is a process that can be looked at anywhere.
type latent interface {
	At(x *mat.Dense) *gauss.Views
}

// mixture is the state of a model whose posterior is that of several, each with a weight.
// All of them have the rows, the method and everything else in common but the kernel.
type mixture struct {
	weights []float64 // adding up to one
	parts   []*Model
}

// opinion is a posterior that can be asked.
type opinion struct {
	method    Method
	q         *gauss.Gaussian // before any correction
	posterior infer.Posterior
	// predictor gives the moments of a posterior that is nothing but q, where that can
	// be had in less time; otherwise it is nil.
	predictor *gp.Predictor
	// joint, if set, is the same for a corrected posterior, made when it is first asked for;
	// what it gives may be nil.
	joint func() *gp.Joint
	// parts make up a mixture, which has none of the above but the method.
	parts []mixedPart
	// outcomes does the same for more than two outcomes.
	outcomes *gp.OutcomesPredictor
	// apart are the posteriors of the functions of more than two outcomes seen from inducing
	// points, and apartPredictors give their moments in less time where that can be had.
	apart           gauss.Gaussians
	apartPredictors gp.Predictors
}

// Prediction is what is known about one case.
type Prediction struct {
	// Mean and Variance are those of the latent value with two outcomes. More have a value
	// each, and these are 0.
	Mean, Variance float64
	// Probabilities are those of the outcomes, of two the negative one first. Each is
	// accurate by itself: what is far from certain cannot be had as one minus what is
	// nearly so.
	Probabilities []float64
}

// Probability is that of the positive outcome of two.
func (p Prediction) Probability() float64 { return p.Probabilities[1] }

// isFinite tells whether a prediction is made of numbers.
func (p Prediction) isFinite() bool {
	for _, x := range p.Probabilities {
		if !(x >= 0 && x <= 1) {
			return false
		}
	}
	return finite.All(p.Mean, p.Variance) && p.Variance >= 0
}

// mixedPart is what one model of a mixture says.
type mixedPart struct {
	weight  float64
	model   *Model
	opinion *opinion
}

// heaviest is the number of the largest weight.
func heaviest(weights []float64) int {
	best := 0
	for k, w := range weights {
		if w > weights[best] {
			best = k
		}
	}
	return best
}

// Component is a kernel of a mixture.
type Component struct {
	Weight float64
	Kernel kernel.Kernel
}

// Components are the kernels of the model with their weights: one, unless they are mixed.
func (m *Model) Components() []Component {
	if m.mixture == nil {
		return []Component{{1, m.kernel}}
	}
	var all []Component
	for k, part := range m.mixture.parts {
		all = append(all, Component{m.mixture.weights[k], part.kernel})
	}
	return all
}

// Package lossep makes Bayesian decisions when mistakes do not cost the same.
//
// Fit learns from a table of past cases, whose outcome is known, and from what actions
// cost or bring under each outcome. The Model it returns predicts and decides new
// cases: as a matrix (Predict, Decide) or as a stream of rows in bounded memory
// (Predictions, Decisions). Consult tells which other methods would act otherwise, and
// Calibrate gives the model that serves other costs best. Save and Load keep it in a
// file.
//
//	past, err := table.Read(context.Background(), file, "train.csv", table.Format{})
//	costs, err := decision.ParseCosts("fn=5,fp=1")
//	model, err := lossep.Fit(ctx, past, lossep.Options{
//		Data:    recipe.Options{Target: "class", Positive: "bad"},
//		Utility: costs,
//	})
//
// The classifier is a Gaussian process; its kernel is found by the evidence of
// expectation propagation. How its posterior is then approximated is a Method. Prepare
// and Learn are the steps of a fit by themselves, for those who want to look at what is
// going to be fitted, or to compare methods that share all the rest.
//
// The packages below it hold the method, from the ground up: normal and level3
// (numbers and matrices), gauss (Gaussians seen through linear views), factor (the
// terms of a model), infer (expectation propagation, its calibration to a utility,
// and everything to compare it with), kernel and gp (Gaussian processes), decision
// (what actions are worth), table and recipe (rows of text as numbers) and lab (the paper's
// one-dimensional decision).
package lossep

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Fit fits a model to a table of past cases.
//
// Errors are those of Prepare, the context's, and *infer.ImproperError where no
// approximation exists. A run that did not converge is a Model whose Summary says so.
func Fit(ctx context.Context, t *table.Table, o Options) (*Model, error) {
	p, err := PrepareSettled(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx)
}

// Model is a fitted model: it predicts and decides new cases. It is safe for
// concurrent use.
//
// It knows a posterior by its method, and beside it those of EP and of its corrections, for a
// second opinion. Whatever the method, what it learned is one Gaussian site for each training
// row, C−1 with C outcomes (and a dense one more for a calibrated VI), from which its posterior
// is made by one factorisation. Where rows are many it is inducing points and a Gaussian on what
// is seen from them, one for each of more than two outcomes, and the rows and their sites, C of
// each with C outcomes, are kept if they are not too many.
type Model struct {
	recipe     *recipe.Recipe
	coding     *recipe.Coding // of the recipe
	utility    *decision.Spec
	likelihood Likelihood
	method     Method
	x          *mat.Dense // encoded training rows; nil if there are too many
	labels     []int      // likewise
	weights    []float64  // how often each of them counts, nil if once
	costs      CostColumns
	summary    Summary
	provenance Provenance
	examples   *Examples // nil if none are kept
	opinions   []opinion // the method's own first, and EP's among them
}

// Recipe is how rows to be decided become numbers. It must not be changed.
func (m *Model) Recipe() *recipe.Recipe { return m.recipe.WithGaps() }

// Utility is what actions are worth, as the model was fitted. It must not be changed.
func (m *Model) Utility() *decision.Spec { return m.utility }

// Kernel is the covariance function with its hyperparameters; of a mixture that with the
// largest weight, see Components.
func (m *Model) Kernel() kernel.Kernel { return m.opinions[0].Kernel() }

// Likelihood is that of the outcomes.
func (m *Model) Likelihood() Likelihood { return m.likelihood }

// Method is how the posterior was approximated.
func (m *Model) Method() Method { return m.method }

// Summary is what the fit found.
func (m *Model) Summary() Summary { return m.summary }

// Provenance is where the model comes from.
func (m *Model) Provenance() Provenance { return m.provenance }

// Prediction is what is known about one case.
type Prediction = posterior.Prediction

// Component is a kernel of a mixture.
type Component struct {
	Weight float64
	Kernel kernel.Kernel
	Cuts   []float64 // between grades; only of what was learned
}

// Components are the kernels of the model with their weights: one, unless they are mixed.
func (m *Model) Components() []Component {
	var all []Component
	for _, part := range posterior.Parts(m.opinions[0].Posterior) {
		all = append(all, Component{Weight: part.Weight, Kernel: part.Kernel()})
	}
	return all
}

// Decision is what to do in one case.
type Decision struct {
	// Choice is the action, by its number in the order of the specification, what each
	// action is expected to cost or to bring, and the margin.
	decision.Choice
	// Probabilities are those of the outcomes, as in Prediction.
	Probabilities []float64
	// Disagreeing are the actions of the methods that would act otherwise, EP and its
	// corrections, as Consult finds them; nil if none.
	Disagreeing map[Method]int
	// Stakes is what the actions cost, or bring, under each outcome in this case.
	Stakes decision.Stakes
	// Reasons are the columns that move the decision most, and Flip is what would change it, as
	// an Explainer finds them; nil if it was not asked, and Flip if no single column does.
	Reasons []Reason
	Flip    *Flip
	// Contributions are those of the model's effects, as an Explainer finds them.
	Contributions []Contribution
}

// Probability is that of the positive outcome of two.
func (d Decision) Probability() float64 { return d.Probabilities[1] }

// Predict predicts the cases whose features are the rows of x, encoded by the Recipe. What it says about a row
// does not depend on the other rows. What is not known of a row is NaN there, and its prediction is the mean
// over what that may be, by the nearest training rows; the variance holds their spread. All numbers are finite: a row that is too far from
// the training rows for that is a *FarError, and nothing is predicted.
func (m *Model) Predict(x *mat.Dense) ([]Prediction, error) {
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	predictions := m.predict(m.opinions[0], x)
	for i, p := range predictions {
		if !p.IsFinite() {
			return nil, m.far(x, i)
		}
	}
	return predictions, nil
}

// Decide decides the cases whose features are the rows of x by what is at stake in each of
// them, or in all if it is given once (see decision.Spec.Cases, and Model.Bind); none
// stands for the model's own utility, which must not depend on columns then. What is
// decided about a row does not depend on the other rows, and no other method is asked; see
// Consult. A row that is too far from the training rows is a *FarError, and nothing is
// decided.
func (m *Model) Decide(x *mat.Dense, stakes ...decision.Stakes) ([]Decision, error) {
	if err := m.checkFeatures(x); err != nil {
		return nil, err
	}
	probabilities := m.probabilities(m.opinions[0], x)
	for i, p := range probabilities {
		if math.IsNaN(p[1]) {
			return nil, m.far(x, i)
		}
	}
	return m.choose(probabilities, stakes), nil
}

// Worth is what to do about a case, and what it would be worth to know more.
type Worth struct {
	Decision
	// Outcome is the worth of the outcome, and Columns that of each column asked about.
	Outcome float64
	Columns []float64
	// Label is the worth of its label to decisions on all cases, if asked.
	Label float64
}

// Ask says what Worth is to value beside outcomes.
type Ask struct {
	Columns []string
	Labels  bool // then all rows are held in memory, and there can be no more than 1000
}

// WorthOf decides cases as Decide does, and says what it would be worth to know more about
// each. Columns to be measured need not be known, see recipe.Recipe.WithOpen.
func (m *Model) WorthOf(ctx context.Context, x *mat.Dense, ask Ask, stakes ...decision.Stakes) ([]Worth, error) {
	if err := m.checkAsk(ask); err != nil {
		return nil, err
	}
	if ask.Labels { // before the work
		if err := m.checkLabelled(x); err != nil {
			return nil, err
		}
	}
	stakes = m.orOwn(stakes)
	decisions, err := m.decideAll(ctx, x, stakes)
	if err != nil {
		return nil, err
	}
	out := make([]Worth, len(decisions))
	for i, d := range decisions {
		out[i] = Worth{Decision: d, Outcome: d.OutcomeWorth()}
	}
	for _, column := range ask.Columns {
		worth, err := m.ColumnWorth(ctx, x, column, stakes...)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i].Columns = append(out[i].Columns, worth[i])
		}
	}
	if ask.Labels {
		worth, err := m.LabelWorth(x, stakes...)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i].Label = worth[i]
		}
	}
	return out, nil
}

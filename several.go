package lossep

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/orthant"
)

// What is different where there are more than two outcomes: a case has C−1 views of the
// Gaussian in place of one (see gp.Outcomes), so that there are C−1 sites for each row, and
// the probabilities of its outcomes are those of C normals to be the largest. With two
// outcomes this is the binary model, which does it with one view of half the size and a
// closed form; a test holds both together.

// severalMethods are those that more than two outcomes can be fitted by.
var severalMethods = []Method{EP, VI, Laplace}

// MethodsForSeveral are the methods that more than two outcomes can be fitted by.
func MethodsForSeveral() []Method { return slices.Clone(severalMethods) }

// several tells whether there are more than two outcomes.
func several(r *data.Recipe) bool { return r.Target.Several != nil }

// viewsOf is how many sites a training row has.
func viewsOf(r *data.Recipe) int { return len(r.Target.Outcomes()) - 1 }

// forSeveral are the options in force for more than two outcomes, given the method that was
// asked for, which may be none.
func (o Options) forSeveral(asked Method, r *data.Recipe, name string, rows int) (Options, error) {
	number := len(r.Target.Several)
	if o.Method = asked; asked == "" {
		o.Method = EP
	}
	if o.Kernel == AutoKernel {
		o.Kernel = oneLengthScale // kernels are compared for two outcomes only
	}
	views := rows * viewsOf(r)
	switch {
	case !slices.Contains(severalMethods, o.Method):
		var names []string
		for _, m := range severalMethods {
			names = append(names, string(m))
		}
		return o, inputf("method", "%s is for two outcomes, and there are %d; choose one of %s", o.Method, number, strings.Join(names, ", "))
	case o.Likelihood.Name != "probit":
		return o, inputf("likelihood", "%s is for two outcomes, and there are %d, which have probit", o.Likelihood.Name, number)
	case o.Inducing > 0:
		return o, inputf("inducing", "inducing points are for two outcomes, and there are %d; leave them out", number)
	case o.power() != 1:
		return o, inputf("power", "powers are for inducing points, and those for two outcomes; there are %d", number)
	}
	o.Inducing = NoInducing
	if limit := o.rowLimit(rows); o.MaxRows == 0 && views > limit {
		return o, inputf("max rows", "%s has %d rows of %d outcomes, which are %d views, more than %d: give a sample of at most %d rows, or raise the limit",
			name, rows, number, views, limit, limit/viewsOf(r))
	}
	return o, o.affordable(name, views)
}

// outcomes are those of labels that number them.
func outcomes(r *data.Recipe, labels []int) *gp.Outcomes {
	return &gp.Outcomes{Of: labels, Number: len(r.Target.Several)}
}

// learnSeveral is Learn for more than two outcomes.
func (p *Problem) learnSeveral(ctx context.Context) (*Learned, error) {
	cases := outcomes(p.Recipe, p.Labels)
	l := &Learned{problem: p}
	if !p.opt.Fixed {
		fit, err := gp.OptimiseOutcomes(ctx, p.Kernel, p.inputs, cases, p.searchOptions())
		if err != nil {
			return nil, err
		}
		l.process, l.ep = fit.Process, &fit.EP.Result
		l.search = newSearch(fit.Evaluations, fit.Stop, fit.LogPrior, fit.Process.Kernel(), fit.AtBound)
	} else {
		var err error
		if l.process, err = gp.NewOutcomes(p.Kernel, p.inputs, cases); err != nil {
			return nil, &InputError{What: "kernel", Msg: err.Error(), Err: err}
		}
		p.tell("expectation propagation", 0, 0)
		if l.ep, err = EP.row(p.Len()).Fit(ctx, l.process.Model(), p.options()); err != nil {
			return nil, err
		}
	}
	l.model, l.doubts = l.process.Model(), doubtsOf(l.ep.Status)
	return l, nil
}

// newProcess is the process of the model's kernel at its rows, as its outcomes see it.
func (m *Model) newProcess() (*gp.Process, error) {
	if several(m.recipe) {
		return gp.NewOutcomes(m.kernel, m.x, outcomes(m.recipe, m.labels))
	}
	return gp.New(m.kernel, m.x)
}

// predictSeveral is predict for more than two outcomes.
func (o *opinion) predictSeveral(m *Model, x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	number := len(m.recipe.Target.Several)
	out, numbers := make([]Prediction, n), make([]float64, n*number)
	ask := func(i int, mean []float64, cov *mat.SymDense) {
		p := numbers[i*number : (i+1)*number : (i+1)*number]
		contest(p, mean, cov)
		out[i] = Prediction{Probabilities: p}
	}
	if o.outcomes != nil {
		o.outcomes.Moments(x, ask)
		return out
	}
	tasks.For(n, func(i int) {
		mean, cov := m.full.OutcomesAt(o.q, x.RawRowView(i))
		ask(i, mean, cov)
	})
	return out
}

// contest writes how probable each of the outcomes is where their functions have this mean
// and covariance; NaN if that is no distribution. The covariance gets the noise of the
// outcomes.
func contest(p, mean []float64, cov *mat.SymDense) {
	for c := range p {
		cov.SetSym(c, c, 1+cov.At(c, c))
		p[c] = math.NaN()
	}
	if finite.All(mean...) {
		orthant.NewLargest(len(p)).Probabilities(p, mean, cov)
	}
	for c, x := range p {
		p[c] = min(1, max(0, x)) // rounding; NaN stays
	}
}

// leaveOutSeveral is leaveOneOut for more than two outcomes: all sites of a row are taken
// out together. Its views are then those of f_y − f_j + u, with which u ~ N(0, 1) and the
// noise of j the differences of the outcome's function to each of the others are seen.
func (m *Model) leaveOutSeveral(p *Problem) *LeaveOneOut {
	n, number := p.Len(), len(p.Recipe.Target.Several)
	out := m.full.LeaveOut(m.opinions[0].q, m.sites)
	all, ok := make([][]float64, n), make([]bool, n)
	tasks.For(n, func(i int) {
		mean, cov, proper := out.Case(i)
		if !proper {
			return
		}
		// The outcome itself has value and variance zero, and the others what it is less
		// than they are: only differences count.
		y := p.Labels[i]
		values, joint := make([]float64, number), mat.NewSymDense(number, nil)
		for a := range number - 1 {
			values[rivalOf(y, a)] = -mean[a]
			for b := range number - 1 {
				joint.SetSym(rivalOf(y, a), rivalOf(y, b), cov.At(a, b))
			}
			joint.SetSym(rivalOf(y, a), rivalOf(y, a), 1+cov.At(a, a))
		}
		all[i] = make([]float64, number)
		orthant.NewLargest(number).Probabilities(all[i], values, joint)
		ok[i] = finite.All(all[i]...)
	})
	if slices.Contains(ok, false) {
		return nil
	}
	t := p.newTally(m.method)
	for i, probabilities := range all {
		t.addProbabilities(i, probabilities, math.Log(probabilities[p.Labels[i]]))
	}
	return t.result()
}

// rivalOf is the a-th of the outcomes other than y.
func rivalOf(y, a int) int {
	if a < y {
		return a
	}
	return a + 1
}

// checkOutcomes refuses labels that are not the outcomes that the recipe counts.
func checkOutcomes(t *data.Target, labels []int) error {
	counts := make([]int, len(t.Several))
	for i, y := range labels {
		if y < 0 || y >= len(counts) {
			return fmt.Errorf("label %d is %d and no outcome", i+1, y)
		}
		counts[y]++
	}
	if !slices.Equal(counts, t.SeveralRows) {
		return fmt.Errorf("%v of its labels have each of the outcomes, its recipe says %v", counts, t.SeveralRows)
	}
	return nil
}

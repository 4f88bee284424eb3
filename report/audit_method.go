package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/kernel"
)

func (r *Audit) methodSection(p *Page) {
	if r.external() {
		p.Text(sentence(r.Split) + fmt.Sprintf(". Seed %d.", r.Seed))
		r.statisticsText(p)
		return
	}
	how := "Hyperparameters were optimised on the training rows of each fold, from the same starting values."
	if r.Fixed {
		how = "Hyperparameters were kept as given."
	}
	p.Text(fmt.Sprintf("A Gaussian process classifier with %d input dimensions, kernel %s and %s likelihood. %s Seed %d.", r.Features, r.Kernel, r.Likelihood, how, r.Seed))
	r.statisticsText(p)
	p.Subsection("Inference methods")
	p.Text(fmt.Sprintf("The results above are those of %s; other inference methods for the same model are compared here. Feature importance and effects are computed by EP.", MethodLabel(r.Method)))
	p.Table(r.costTable(r.Methods, r.methodLabel))
	if len(r.Actions) == 2 && !r.several() {
		r.allRates(&p.Body)
	}
	r.allQualities(&p.Body)
	r.calibrationSection(p)
	r.regretSection(p)
	p.Subsection("Details")
	p.Details("Features", func(b *Body) { b.Code(strings.Join(r.Recipe, "\n")) })
	p.Details("Kernel of each fold", func(b *Body) {
		t := &Table{Columns: []Column{{Title: "repeat", Align: Right}, {Title: "fold", Align: Right}, {Title: "log evidence", Align: Right}, {Title: "kernel"}}}
		for _, f := range r.FoldModels {
			t.AddRow(strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), fixed(f.LogEvidence, 3), shortKernel(f.Kernel))
		}
		b.Table(t)
	})
	r.inducingDetails(p)
	if r.Trees != "" {
		p.Subsection("Methods not included")
		p.Text("Boosted trees and random forests are not among the methods. Their out-of-fold probabilities can be audited in the same way:")
		p.Code(r.Trees)
	}
	if notes := r.notes(); len(notes) > 0 {
		p.Subsection("Notes")
		p.List(notes...)
	}
}

// inducingDetails says with how many points the process of each fold was approximated.
func (r *Audit) inducingDetails(p *Page) {
	if !slices.ContainsFunc(r.FoldModels, func(f audit.FoldModel) bool { return f.Inducing != nil }) {
		return
	}
	p.Details("Inducing points of each fold", func(b *Body) {
		t := newNumberTable("", "repeat", "fold", "points", "unexplained variance", "log evidence", "lower bound")
		for _, f := range r.FoldModels {
			if i := f.Inducing; i != nil {
				t.AddRow(strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), strconv.Itoa(i.Points), i.Left(), fixed(f.LogEvidence, 3), fixed(i.Bound, 3))
			}
		}
		b.Table(t)
	})
}

// statisticsText says what intervals are, and what was decided by.
func (r *Audit) statisticsText(p *Page) {
	over := "Intervals are over cases"
	if r.Independent < r.Rows {
		over = fmt.Sprintf("Intervals are over %s groups of cases", Count(r.Independent))
	}
	each := fmt.Sprintf("each case was decided by a model that was fitted without it, and its %[1]s is one draw of the %[1]s of new cases", r.noun())
	if r.external() {
		each = fmt.Sprintf("the %[1]s of each case is one draw of the %[1]s of new cases", r.noun())
	}
	p.Text(over + ": " + each + ". They are 95 % credible intervals (Bayesian bootstrap, allowing for costly mistakes not seen yet); differences are paired by case.")
	p.Code(strings.Join(r.Utility.TableLines(), "\n"))
	p.Text("Decision rule: " + r.Utility.RuleLine() + ".")
}

// shortKernel keeps a kernel with a parameter for each column from filling the page, and
// its numbers from showing digits that say nothing; results.json has them all.
func shortKernel(k string) string {
	k = kernel.Rounded(k)
	const most = 160
	if len(k) > most {
		return k[:most] + " …"
	}
	return k
}

// calibrationSection is whether it mattered to fit with the costs in mind.
func (r *Audit) calibrationSection(p *Page) {
	p.Subsection("Effect of loss calibration")
	p.Text(r.calibrationFinding())
	if len(r.Calibrations) > 0 {
		p.Table(r.pairsTable("Loss-calibrated methods compared with their uncalibrated counterparts", r.Calibrations))
	}
	t := newTable("Decisions that differ between methods", "method", "compared with", "decisions", "total "+r.noun()+" difference")
	t.Columns[1].Align = Left
	for _, f := range r.Flips {
		if f.Count == 0 {
			continue
		}
		t.AddRow(r.methodLabel(f.B), r.methodLabel(f.A), Count(f.Count), Signed(Number(r.Stated(audit.Measure{Value: f.Cost}).Value)))
	}
	if len(t.Rows) > 0 {
		p.Details("Decisions that differ between methods", func(b *Body) { b.Table(t) })
	}
}

// regretSection is what the approximation itself costs.
func (r *Audit) regretSection(p *Page) {
	p.Subsection("Comparison with the exact posterior")
	if why := r.notCompared(); why != "" {
		p.Text(why + ".")
		return
	}
	g := r.Regrets[0]
	t := newTable("Regret under the exact posterior of the same model",
		"method", "regret per case", "decisions that differ", "mean absolute error of the probability")
	for _, g := range r.Regrets {
		regret := "0"
		if g.Differ > 0 {
			regret = PlusMinus(g.Mean, g.StdErr)
		}
		t.AddRow(r.methodLabel(g.Method), regret, fmt.Sprintf("%d of %d", g.Differ, g.Cases), fixed(g.Off, 4))
	}
	p.Text(fmt.Sprintf("%s of a method's decisions, compared with those of the exact posterior, in %d cases (%s). The number after ± bounds the Monte Carlo error. In %d of the cases the decision of the exact posterior is uncertain: its Monte Carlo error (two standard errors) spans the decision boundary.", r.either("Expected extra cost", "Expected loss of utility"), g.Cases, drawnBy(g), g.Open))
	if g.Rows > 0 {
		p.Text(fmt.Sprintf("Because of the number of training rows, the methods and the exact posterior were fitted to %s of them here, with the kernel of all rows.", Count(g.Rows)))
	}
	p.Table(t)
	p.Text(r.approximation())
}

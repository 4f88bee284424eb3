package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/report"
)

func (r *Audit) methodSection(p *report.Page) {
	if r.Methods[0].Kind == "given" {
		p.Text(sentence(r.Split) + fmt.Sprintf(". Seed %d.", r.Seed))
		r.statisticsText(p)
		return
	}
	how := "Its hyperparameters were found from the training rows of each fold, from the same start in all of them."
	if r.Fixed {
		how = "Its hyperparameters were kept as given."
	}
	p.Text(fmt.Sprintf("A Gaussian-process classifier with %d features, kernel %s and %s likelihood. %s Seed %d.", r.Features, r.Kernel, r.Likelihood, how, r.Seed))
	r.statisticsText(p)
	p.Details("The columns", func(b *report.Body) { b.Code(strings.Join(r.Recipe, "\n")) })
	p.Details("The kernel of each fold", func(b *report.Body) {
		t := &report.Table{Columns: []report.Column{{Title: "repeat", Align: report.Right}, {Title: "fold", Align: report.Right}, {Title: "log evidence", Align: report.Right}, {Title: "kernel"}}}
		for _, f := range r.FoldModels {
			t.AddRow(strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), fmt.Sprintf("%.3f", f.LogEvidence), shortKernel(f.Kernel))
		}
		b.Table(t)
	})
	r.inducingDetails(p)
	p.Subsection("What was not tried")
	p.Text("Trees, boosted or in forests, were not tried: there is no well-kept program in Go that learns them. Their probabilities, out of fold, can be brought into an audit like this one:")
	p.Code(r.Trees)
	if notes := r.notes(); len(notes) > 0 {
		p.Subsection("Notes")
		p.List(notes...)
	}
}

// inducingDetails says from how many points the rows of each fold were seen.
func (r *Audit) inducingDetails(p *report.Page) {
	if !slices.ContainsFunc(r.FoldModels, func(f audit.FoldModel) bool { return f.Inducing != nil }) {
		return
	}
	p.Details("The inducing points of each fold", func(b *report.Body) {
		t := &report.Table{Columns: []report.Column{
			{Title: "repeat", Align: report.Right},
			{Title: "fold", Align: report.Right},
			{Title: "points", Align: report.Right},
			{Title: "variance left", Align: report.Right},
			{Title: "log evidence", Align: report.Right},
			{Title: "lower bound", Align: report.Right},
		}}
		for _, f := range r.FoldModels {
			if i := f.Inducing; i != nil {
				t.AddRow(strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), strconv.Itoa(i.Points), i.Left(), fmt.Sprintf("%.3f", f.LogEvidence), fmt.Sprintf("%.3f", i.Bound))
			}
		}
		b.Table(t)
	})
}

// statisticsText says what intervals are, and what was decided by.
func (r *Audit) statisticsText(p *report.Page) {
	over := "Intervals are over cases"
	if r.Independent < r.Rows {
		over = fmt.Sprintf("Intervals are over %s groups of cases that belong together", report.Count(r.Independent))
	}
	p.Text(over + ": each case was decided by a model that had not seen it, and what it cost is one draw of what new cases cost. A Bayesian bootstrap that allows for costly mistakes not seen yet turns these draws into 95 % intervals, and differences into intervals case by case.")
	p.Code(strings.Join(r.Utility.TableLines(), "\n"))
	p.Text("By them: " + r.Utility.RuleLine() + ".")
}

// shortKernel keeps a kernel with a parameter for each column from filling the page, and
// its numbers from showing digits that say nothing; results.json has them all.
func shortKernel(k string) string {
	k = longNumber.ReplaceAllStringFunc(k, func(digits string) string {
		x, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return digits
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
	const most = 160
	if len(k) > most {
		return k[:most] + " …"
	}
	return k
}

var longNumber = regexp.MustCompile(`\d+\.\d{3,}(e[-+]?\d+)?`)

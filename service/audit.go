package service

import (
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
)

// Audit is a request to measure what decisions on past cases cost.
type Audit struct {
	Fit
	Audit audit.Options // but for Fit, which Complete fills in

	capacity             Capacity
	methods, recalibrate []string
}

// NewAudit is a request with every option at its default.
func NewAudit() *Audit {
	a := &Audit{recalibrate: []string{"isotonic", "platt", "gp"}}
	a.bind()
	o := &a.Audit
	o.Folds, o.Repeats, o.References = audit.DefaultFolds, 1, 1
	a.Options = append(a.Options, Options{
		{Name: "methods", Group: Testing, Help: "the methods to compare with (default: all)", Value: newList(&a.methods, "A,B,C")},
		{Name: "folds", Group: Testing, Help: "folds of a cross-validation", Value: whole{&o.Folds, 2}},
		{Name: "repeats", Group: Testing, Help: "number of cross-validations", Value: whole{&o.Repeats, 1}},
		{Name: "time", Group: Testing, Help: "a column of times: each part is decided by a model of the rows before it; not a feature", Value: text{&o.Time, "COLUMN"}},
		{Name: "by", Group: Testing, Help: "a column whose values are reported separately, such as a group of people", Value: text{&o.By, "COLUMN"}},
		measured(a.capacity.Limit()),
		{Name: "per", Group: Testing, Help: "give {capacity} for each hour, day, week or month of the column {time}, or for each value of a column", Shown: "all cases together", Value: text{&o.Per, "day|COLUMN"}},
		{Name: "probability", Group: Testing, Help: "a column of probabilities made by another program, to audit in place of models fitted here, or with more than two outcomes the NAME of columns NAME_OUTCOME; can be repeated", Value: newRepeatable(&o.Probabilities, "COLUMN")},
		{Name: "recalibrate", Group: Testing, Help: "how to recalibrate the probabilities of another program; none for not at all", Value: newList(&a.recalibrate, "A,B,C")},
		{Name: "currency", Group: Testing, Help: "what costs are in, such as EUR, for the report", Value: text{&o.Currency, "TEXT"}},
		{Name: "cases-per-year", Group: Testing, Help: "how many cases are decided in a year, for totals in the report", Shown: "no totals", Value: whole{to: &o.CasesPerYear}},
		{Name: "references", Group: Advanced, Help: "folds on which decisions are compared with those of the exact posterior", Value: whole{to: &o.References}},
	}...)
	a.Options.Lookup("method").Help = "the method whose decisions are audited"
	return a
}

// Complete checks options against each other and fills in what follows from them.
func (a *Audit) Complete() error {
	given := len(a.Audit.Probabilities) > 0
	if given {
		if err := a.Options.refuse("nothing is fitted where {probability} names the probabilities to decide by; leave one of them out",
			"method", "methods", "kernel", "fixed", "restarts", "likelihood", "references", "features", "drop"); err != nil {
			return err
		}
	} else if a.Options.Given("recalibrate") {
		return optionError("recalibrate", "for the probabilities of another program; name their column by {probability}")
	}
	if a.Audit.Capacity = a.capacity.Limits; a.Audit.Per != "" && len(a.Audit.Capacity) == 0 {
		return optionError("per", "no capacity given; give {capacity=ACTION=N}")
	}
	if err := a.Fit.Complete(); err != nil {
		return err
	}
	a.Audit.Fit = a.Model
	a.Audit.Methods, a.Audit.Recalibrations = nil, nil
	for _, name := range a.methods {
		a.Audit.Methods = append(a.Audit.Methods, lossep.Method(strings.TrimSpace(name)))
	}
	if given && !slices.Equal(a.recalibrate, []string{"none"}) {
		for _, name := range a.recalibrate {
			a.Audit.Recalibrations = append(a.Audit.Recalibrations, audit.Recalibration(strings.TrimSpace(name)))
		}
	}
	return nil
}

// measured is an option in the group of those about how decisions are measured.
func measured(o *Option) *Option {
	o.Group = Testing
	return o
}

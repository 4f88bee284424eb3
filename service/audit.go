package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
)

// Audit is a request to measure what decisions on past cases cost.
type Audit struct {
	Fit
	Audit audit.Options // but for Fit, which Complete fills in

	Predictions          []string // columns of actions that somebody else chose, where the outcome is a number
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
		{Name: "methods", Group: Testing, Help: "inference methods to compare (default: all; if the outcome is a number none, and nuts and exact may be given)", Value: newList(&a.methods, "A,B,C")},
		{Name: "folds", Group: Testing, Help: "number of cross-validation folds", Shown: fmt.Sprintf("%d, or %d if the outcome is a number", audit.DefaultFolds, numberFolds), Value: whole{&o.Folds, 2}},
		{Name: "repeats", Group: Testing, Help: "repetitions of the cross-validation", Value: whole{&o.Repeats, 1}},
		{Name: "time", Group: Testing, Help: "time column: forward-chaining splits (excluded from features)", Value: text{&o.Time, "COLUMN"}},
		{Name: "by", Group: Testing, Help: "report results separately by this column", Value: text{&o.By, "COLUMN"}},
		measured(a.capacity.Limit()),
		{Name: "per", Group: Testing, Help: "apply {capacity} per hour, day, week or month of the {time} column, or per value of a column", Shown: "all cases together", Value: text{&o.Per, "hour|day|week|month|COLUMN"}},
		{Name: "probability", Group: Testing, Help: "column of probabilities from another program, to audit instead of fitted models; with more than two outcomes, the prefix NAME of columns NAME_OUTCOME; can be repeated", Value: newRepeatable(&o.Probabilities, "COLUMN")},
		{Name: "recalibrate", Group: Testing, Help: "recalibration methods for probabilities from another program; none to disable", Value: newList(&a.recalibrate, "A,B,C")},
		{Name: "prediction", Group: Testing, CommandOf: true, Help: "column of actions from another program, such as predicted quantiles, to compare with where the outcome is a number (excluded from features); can be repeated", Value: newRepeatable(&a.Predictions, "COLUMN")},
		{Name: "currency", Group: Testing, Help: "currency of the costs, such as EUR", Value: text{&o.Currency, "TEXT"}},
		{Name: "cases-per-year", Group: Testing, Help: "number of cases per year, for annual totals", Value: whole{to: &o.CasesPerYear}},
		{Name: "references", Group: Advanced, Help: "number of folds checked against the exact posterior", Value: whole{to: &o.References}},
	}...)
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

// numberFolds is the default for outcomes that are numbers, where each fold searches for a transformation, too.
const numberFolds = 5

// measured is an option in the group of those about how decisions are measured.
func measured(o *Option) *Option {
	o.Group = Testing
	return o
}

// OfNumbers tells whether the outcome is a number, by the option or by the costs, and refuses options
// that are for categories then.
func (a *Audit) OfNumbers(u *Costs, costs *decision.NumberCosts) (bool, error) {
	is := costs != nil || a.Outcome.Numeric() || a.Rows.Data.NoiseSD != ""
	if !is {
		return false, a.Options.refuse("it is for outcomes that are numbers; give {outcome=number} or costs such as {cost=under=15,over=5}", "prediction")
	}
	if _, _, err := a.Fit.IsNumber(nil, u, costs); err != nil {
		return false, err
	}
	if !a.Options.Given("folds") {
		a.Audit.Folds = numberFolds
	}
	return true, a.Options.refuse("it is for outcomes that are categories; leave it out",
		"repeats", "by", "probability", "recalibrate", "references")
}

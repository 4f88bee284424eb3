package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// several tells whether there are more than two outcomes.
func (r *Audit) several() bool { return len(r.Outcomes) > 2 }

// external tells whether probabilities made elsewhere are audited.
func (r *Audit) external() bool { return r.Methods[0].Kind == audit.External }

// noun is what decisions have: a cost, or a utility; nouns are several, and verb says that
// they have it.
func (r *Audit) noun() string  { return r.either("cost", "utility") }
func (r *Audit) nouns() string { return r.either("costs", "utilities") }
func (r *Audit) verb() string  { return r.either("cost", "bring") }

// either is a word for costs, or that for utilities.
func (r *Audit) either(cost, utility string) string {
	if r.Costs {
		return cost
	}
	return utility
}

// mostProbable is what the baseline does that ignores costs.
func (r *Audit) mostProbable() string {
	if r.MostProbable().Method == audit.Likeliest {
		return "acting on the most probable outcome"
	}
	return "a threshold of 0.5"
}

// rule is what costs decide by.
func (r *Audit) rule() string {
	if r.Threshold != nil {
		return "threshold"
	}
	return "decisions"
}

// label is what a way to decide is called where readers need not know methods: the audited one is
// this model, unless its probabilities were made elsewhere and have a name.
func (r *Audit) label(method string) string {
	if method == r.Method && !r.external() {
		return "this model"
	}
	return MethodLabel(method)
}

// methodLabel is MethodLabel, with a mark for the audited method.
func (r *Audit) methodLabel(method string) string {
	if method == r.Method && !r.external() {
		return MethodLabel(method) + " (this model)"
	}
	return MethodLabel(method)
}

// MethodLabel returns the printed form of a method's name, such as "Loss-EP" for "loss-ep",
// or of recalibrated probabilities. A name that is neither is returned unchanged.
func MethodLabel(name string) string {
	if d, ok := methods.Named(name); ok {
		return d.Label
	}
	if name == audit.OneHalf {
		return "threshold 0.5"
	}
	for _, way := range audit.Recalibrations() {
		if column, ok := strings.CutSuffix(name, " ("+string(way)+")"); ok {
			return column + " (" + recalibrationLabel(way) + ")"
		}
	}
	return name
}

func recalibrationLabel(way audit.Recalibration) string {
	switch way {
	case audit.Platt:
		return "Platt"
	case audit.Process:
		return "GP"
	}
	return string(way)
}

// outcomeNames are the outcomes as people read them: "malignant", but "churned = 1".
func outcomeNames(t *recipe.Target) []string {
	names := slices.Clone(t.Outcomes)
	if t.Condition {
		return []string{"other", t.Outcome()}
	}
	for y, name := range names {
		_, err := strconv.ParseFloat(name, 64)
		if err == nil || slices.Contains([]string{"yes", "no", "true", "false", "y", "n", "t", "f"}, strings.ToLower(name)) {
			names[y] = t.Column + " = " + name
		}
	}
	return names
}

// casesOf is what the cases of an outcome are called.
func (r *Audit) casesOf(y int) string {
	if r.called[y] == r.Outcomes[y] {
		return r.called[y] + " cases"
	}
	return "cases with " + r.called[y]
}

// being says that cases are of an outcome: they are malignant, or have churned = 1.
func (r *Audit) being(y int) string {
	if r.called[y] == r.Outcomes[y] {
		return "are " + r.called[y]
	}
	return "have " + r.called[y]
}

// outcomesText says what outcomes the cases had.
func (r *Audit) outcomesText() string {
	if !r.several() {
		return fmt.Sprintf("%s %s", Count(r.Positive), r.being(1))
	}
	parts := make([]string, len(r.Outcomes))
	for y, name := range r.called {
		parts[y] = fmt.Sprintf("%s with %s", Count(r.Cases[y]), name)
	}
	return strings.Join(parts, ", ")
}

// splitText says how cases were divided.
func splitText(s audit.Split) string {
	folds := fmt.Sprintf("%d-fold cross-validation", s.Folds)
	if s.Repeats > 1 {
		folds += fmt.Sprintf(", repeated %d times", s.Repeats)
	}
	switch s.Kind {
	case audit.TestSet:
		return fmt.Sprintf("trained on %s, tested on %s", s.Table, s.Test)
	case audit.RecalibratedBy:
		return "external probabilities; recalibrated by " + folds
	case audit.NothingFitted:
		return "external probabilities"
	case audit.AtRandom:
		return folds
	case audit.ByTime:
		return fmt.Sprintf("split by time (%s) into %d parts, each decided by models trained on its past", s.Column, s.Folds)
	case audit.ByGroups:
		return fmt.Sprintf("%s by groups (%s)", folds, s.Column)
	case audit.ByCopies:
		return folds + " that keeps duplicate rows together"
	}
	return "stratified " + folds
}

// SplitLine says how so many cases are divided, how many decisions there will be, and whether cases are left out of the
// models that decide them by folds.
func SplitLine(s audit.Split, n int) string { return splitText(s) + "; " + decisions(s, n) }

func decisions(s audit.Split, n int) string {
	switch s.Kind {
	case audit.TestSet, audit.RecalibratedBy, audit.NothingFitted, audit.ByTime:
		return table.Plural(n, "decision")
	}
	return table.Plural(n*max(1, s.Repeats), "out-of-fold decision")
}

// DescribeAudit says what is going to be audited: in the words given for a problem, where one
// is fitted.
func DescribeAudit(a *audit.Audit, problem func(*lossep.Problem) []string) []string {
	var lines []string
	if given := a.Probabilities(); len(given) == 0 {
		lines = problem(a.Problem())
	} else {
		p := a.Problem()
		t := p.Recipe.Target
		outcomes := fmt.Sprintf("positive %q (%s), negative %q", t.Positive(), table.Plural(t.Rows[1], "row"), t.Outcomes[0])
		if !t.Binary() {
			outcomes = list(t.Outcomes)
		}
		lines = append([]string{fmt.Sprintf("%s; outcome %q: %s; probabilities in %s", table.Plural(a.Cases(), "row"), t.Column, outcomes, list(given))}, p.Utility.TableLines()...)
		lines = append(lines, p.Utility.RuleLine())
	}
	return append(lines, SplitLine(a.Split(), a.Cases()))
}

// sentence gives a text a capital letter.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// list joins names: "a", "a and b", "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

package service

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Explain is an error in the words of a front end, and whether what was given caused it, so
// that whoever gave it can mend it. File is the one that an error about rows is in, if it
// does not know it.
func Explain(err error, n Naming, file string) (text string, input bool) {
	var (
		option *Error
		all    *table.Problems
		rows   *table.Error
		spec   *decision.SpecError
		fit    *lossep.InputError
		syntax *kernel.SyntaxError
		model  *lossep.FileError
		value  *expr.ValueError
		table  *decision.TableError
		sample *compare.SampleError
	)
	text = err.Error()
	switch {
	case errors.As(err, &option):
		return strings.Replace(text, option.Error(), option.Text(n), 1), true
	case errors.As(err, &all):
		return strings.Replace(text, all.Error(), all.Text(n.Way, n.Ways), 1), true
	case errors.As(err, &rows):
		located := *rows
		if located.File == "" {
			located.File = file
		}
		return strings.Replace(text, rows.Error(), located.Text(n.Way), 1), true
	case errors.As(err, &spec):
		if spec.Example != "" {
			text = fmt.Sprintf("%s: %s, or %s\nA file for %s begins with the outcomes, and has a line for each action, such as\n\n%s",
				text, n("cost-matrix", "FILE.csv"), n("utility", "FILE.yaml"), n("cost-matrix", ""), strings.TrimRight(spec.Example, "\n"))
		}
		return text, true
	case errors.As(err, &model):
		return text, true
	case errors.As(err, &syntax):
		return n("kernel", "") + ": " + text, true
	case errors.As(err, &fit):
		if rest, ok := strings.CutPrefix(text, fit.What+":"); ok && optionNames[dashed(fit.What)] {
			text = n(dashed(fit.What), "") + ":" + rest
		}
		return text, true
	case errors.As(err, &value), errors.As(err, &table), errors.As(err, &sample):
		return text, true
	}
	return text, false
}

func dashed(words string) string { return strings.ReplaceAll(words, " ", "-") }

// optionNames are what errors of package lossep may be about.
var optionNames = func() map[string]bool {
	names := map[string]bool{"utility": true, "cost": true, "max-memory": true, "ask": true, "labels": true}
	for _, o := range slices.Concat(NewAudit().Options, NewUpdate().Options, NewMonitor().Options) {
		names[o.Name] = true
	}
	return names
}()

// Way writes a way out of an error about rows.
func (n Naming) Way(w table.Way) string {
	name := optionOf[w.Option]
	value := w.Value
	if w.Option == table.WayImpute {
		value = "impute"
	}
	return n(name, value)
}

// Notes are what is to be said of a table, with the options that settle findings.
func (n Naming) Notes(notes []string, findings table.Findings) []string {
	said := slices.Clone(notes)
	for i, plain := range findings.Texts() {
		if k := slices.Index(said, plain); k >= 0 {
			said[k] = findings[i].Said(n.Way)
		}
	}
	return said
}

// Ways writes options that are given together.
func (n Naming) Ways(all []table.Way) string {
	texts := make([]string, len(all))
	for k, w := range all {
		texts[k] = n.Way(w)
	}
	return strings.Join(texts, " ")
}

// optionOf are the options that stand for those of packages table and recipe.
var optionOf = map[table.Option]string{
	table.WayHeader: "header", table.WaySkip: "skip-lines", table.WaySeparator: "separator", table.WayDecimal: "decimal", table.WayEncoding: "encoding",
	table.WayDates: "dates", table.WayMarkers: "missing-marker", table.WayImpute: "missing", table.WayCategorical: "categorical", table.WayOrdered: "ordered",
	table.WayDrop: "drop", table.WayTime: "time", table.WayCosts: "use-cost-columns", table.WayID: "id", table.WayScaling: "scaling", table.WayTarget: "target", table.WayPositive: "positive", table.WayOutcome: "outcome",
	table.WayUnseen: "allow-unseen", table.WayLabelled: "skip-unlabelled",
	table.WayBytes: "max-bytes", table.WayRows: "max-rows", table.WayCells: "max-cells", table.WayMemory: "max-memory",
}

// whyOptions ask for reasons.
func (d *Decide) whyOptions() Options {
	return Options{
		{Name: "why", Group: Basics, Help: "list the N columns that most support the action, and the smallest single-column change that would change it", Value: whole{to: &d.Why}},
		{Name: "why-without", Group: Basics, Help: "columns to leave out of the reasons and changes of {why}, such as age,applied", Value: newList(&d.WhyWithout, "A,B,C")},
	}
}

// Explainer gives the reasons that are asked for, nil if there are none. Columns that costs depend
// on say what is at stake, so no change of them is looked for.
func (d *Decide) Explainer(m *lossep.Model, spec *decision.Spec) (*lossep.Explainer, error) {
	if d.Why == 0 {
		if len(d.WhyWithout) > 0 {
			return nil, optionError("why-without", "no reasons are asked for; give {why=3} with it")
		}
		return nil, nil
	}
	var features []string
	for _, part := range m.Recipe().Parts() {
		features = append(features, part.Column)
	}
	for _, name := range d.WhyWithout {
		if !slices.Contains(features, name) {
			return nil, optionError("why-without", "%q is not a feature of the model; %s", name, table.Instead(name, features))
		}
	}
	e := m.Explain(d.Why, spec.Columns(), d.WhyWithout...)
	if e.Reasons() == 0 {
		return nil, optionError("why-without", "no column is left to be a reason; name fewer")
	}
	return e, nil
}

// reasonFields are the reasons of a decision, those for it first, and what would flip it.
func reasonFields(actions []string, e *lossep.Explainer) []Field {
	why := Field{Name: "why", Object: func(c *Case) Object { return reasons(c.Decision.Reasons) }}
	for k := range e.Reasons() {
		name := fmt.Sprintf("why_%d", k+1)
		why.Columns = append(why.Columns, name, name+"_direction", name+"_effect")
		why.Kinds = append(why.Kinds, table.TextCells, table.TextCells, table.NumberCells)
	}
	all := []Field{why, {
		Name: "flip", Columns: []string{"flip", "flip_action"}, Kinds: []table.CellKind{table.TextCells, table.TextCells},
		Object: func(c *Case) Object { return flip{c.Decision.Flip, actions} },
	}}
	if e.Effects() {
		all = append(all, Field{
			Name: "effects", Columns: []string{"effects"}, Kinds: []table.CellKind{table.TextCells},
			Object: func(c *Case) Object { return contributions(c.Decision.Contributions) },
		})
	}
	return all
}

// contributions are those of all families of effects: "origin +0.31 ± 0.05; hour/64 −0.2 ± 0.1" in a
// table, or "origin for \"late\" +0.31 ± 0.05" of several outcomes, the largest first.
type contributions []lossep.Contribution

func (all contributions) Cells() []any {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b lossep.Contribution) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	texts := make([]string, len(sorted))
	for i, c := range sorted {
		term := strings.TrimSuffix(strings.TrimPrefix(c.Term, "effects("), ")")
		if c.Outcome != "" {
			term += " for " + table.Quote(c.Outcome)
		}
		if texts[i] = fmt.Sprintf("%s %+.3g ± %.2g", term, c.Effect, c.SD); c.New {
			texts[i] += " (new)"
		}
	}
	return []any{strings.Join(texts, "; ")}
}

// reasons are columns with their effects: "months = 36", "for" and 0.43 in a table.
type reasons []lossep.Reason

func (r reasons) Cells() []any {
	cells := make([]any, 0, 3*len(r))
	for _, one := range r {
		cells = append(cells, one.Column+" = "+one.Value, string(one.Direction), one.Effect)
	}
	return cells
}

// flip is a change of one column that changes the action: "amount 5200 → 3100" and "approve" in a table.
type flip struct {
	*lossep.Flip
	actions []string
}

// noFlip is what a table has where no column has a value that changes the action.
const noFlip = "no single change"

func (f flip) Cells() []any {
	if f.Flip == nil {
		return []any{noFlip, ""}
	}
	return []any{fmt.Sprintf("%s %s → %s", f.Column, f.From, f.To), f.actions[f.Action]}
}

// MarshalJSON writes null where there is none.
func (f flip) MarshalJSON() ([]byte, error) {
	if f.Flip == nil {
		return []byte("null"), nil
	}
	return json.Marshal(FlipJSON{f.Column, f.From, f.To, f.actions[f.Action]})
}

// FlipJSON is a flip as JSON has it.
type FlipJSON struct {
	Column string `json:"column"`
	From   string `json:"from" doc:"its value in the case"`
	To     string `json:"to" doc:"the nearest value at which the action is another"`
	Action string `json:"action" doc:"which one"`
}

// explainedAtOnce is how many decisions of a stream are explained together.
const explainedAtOnce = 16

// mostTop is how many rows are kept until all are decided, so that only they are explained.
const mostTop = 10_000

// keyOfTop is what rows are ranked by where only the first of them are written and these are to be
// explained; nil where all are to be, as when they are ranked by what explains them.
func (a *Deciding) keyOfTop() func(*Case) float64 {
	if a.explain == nil || a.request.Top == 0 || a.request.Top > mostTop {
		return nil
	}
	fields := a.Fields()
	field, at, _ := numberColumn(fields, a.request.Sort)
	if field < 0 {
		return nil // which the writer says
	}
	switch f := &fields[field]; {
	case f.Number != nil:
		return f.Number
	case f.Numbers != nil:
		return func(c *Case) float64 { return f.Numbers(c, nil)[at] }
	}
	return nil
}

// topRow is a row that may be written, apart from what it was read from.
type topRow struct {
	Case
	features []float64
	at       *table.Error // where it is
}

// topRows decides all rows, and explains and hands over the first of them by a number.
func (a *Deciding) topRows(ctx context.Context, rd *recipe.Reader, id identity, key func(*Case) float64, emit Emit) error {
	var top rankedRows
	n := 0
	for d, err := range a.model.Decisions(ctx, rd, a.spec, a.request.SecondOpinion) {
		if err != nil {
			return err
		}
		c := Case{ID: id.of(d.Row), Decision: &d.Decision, Unusual: d.Row.Unusual()}
		if a.tally(&d, &c); !a.shows(c.Decision) {
			continue
		}
		row := &rankedRow{key: key(&c), number: n}
		n++
		full := len(top) == a.request.Top
		if full && row.before(top[0]) > 0 {
			continue
		}
		row.record = []any{&topRow{c, slices.Clone(d.Row.Features), d.Row.Place()}}
		if a.request.Keep {
			row.cells = d.Row.Pointed()
		}
		if full {
			top[0] = row
			heap.Fix(&top, 0)
		} else {
			heap.Push(&top, row)
		}
	}
	slices.SortFunc(top, func(r, s *rankedRow) int { return r.number - s.number }) // the writer ranks them
	for some := range slices.Chunk(top, explainedAtOnce) {
		of := func(k int) *topRow { return some[k].record[0].(*topRow) }
		err := a.reason(ctx, len(some), func(k int) (*lossep.Decision, []float64, *table.Error) {
			return of(k).Decision, of(k).features, of(k).at
		})
		for k, row := range some {
			if err == nil {
				err = emit(func() []string { return row.cells }, &of(k).Case)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reason gives the reasons for some decisions, of which there are the features and the place.
func (a *Deciding) reason(ctx context.Context, n int, of func(k int) (*lossep.Decision, []float64, *table.Error)) error {
	var x *mat.Dense
	decisions := make([]lossep.Decision, n)
	for k := range n {
		d, features, _ := of(k)
		if x == nil {
			x = mat.NewDense(n, len(features), nil)
		}
		x.SetRow(k, features)
		decisions[k] = *d
	}
	err := a.explain.Of(ctx, x, decisions)
	if far, ok := err.(*lossep.FarError); ok {
		_, _, at := of(far.Row)
		return far.In(at)
	}
	for k := range n {
		d, _, _ := of(k)
		*d = decisions[k]
	}
	return err
}

package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/table"
)

// whyOption asks for reasons.
func whyOption(to *int) *Option {
	return &Option{Name: "why", Group: Basics, Help: "N most influential columns and the smallest single-column change that changes the action", Value: whole{to: to}}
}

// reasonFields are the reasons of a decision, the largest first, and what would flip it.
func reasonFields(actions []string, e *lossep.Explainer) []Field {
	why := Field{Name: "why", Object: func(c *Case) Object { return reasons(c.Decision.Reasons) }}
	for k := range e.Reasons() {
		name := fmt.Sprintf("why_%d", k+1)
		why.Columns = append(why.Columns, name, name+"_effect")
		why.Kinds = append(why.Kinds, table.TextCells, table.NumberCells)
	}
	all := []Field{why, {
		Name: "flip", Columns: []string{"flip"}, Kinds: []table.CellKind{table.TextCells},
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
// table, the largest first.
type contributions []lossep.Contribution

func (all contributions) Cells() []any {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b lossep.Contribution) int { return cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)) })
	texts := make([]string, len(sorted))
	for i, c := range sorted {
		term := strings.TrimSuffix(strings.TrimPrefix(c.Term, "effects("), ")")
		if texts[i] = fmt.Sprintf("%s %+.3g ± %.2g", term, c.Effect, c.SD); c.New {
			texts[i] += " (new)"
		}
	}
	return []any{strings.Join(texts, "; ")}
}

// reasons are columns with their effects.
type reasons []lossep.Reason

func (r reasons) Cells() []any {
	cells := make([]any, 0, 2*len(r))
	for _, one := range r {
		cells = append(cells, one.Column, one.Effect)
	}
	return cells
}

// flip is a change of one column that changes the action: "amount 5200 → 3100" in a table, empty if
// there is none.
type flip struct {
	*lossep.Flip
	actions []string
}

func (f flip) Cells() []any { return []any{f.String()} }

func (f flip) String() string {
	if f.Flip == nil {
		return ""
	}
	return fmt.Sprintf("%s %s → %s", f.Column, f.From, f.To)
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

// reason gives the reasons for some decisions.
func (a *Deciding) reason(ctx context.Context, some []lossep.DecidedRow) error {
	x := mat.NewDense(len(some), len(some[0].Row.Features), nil)
	decisions := make([]lossep.Decision, len(some))
	for k := range some {
		x.SetRow(k, some[k].Row.Features)
		decisions[k] = some[k].Decision
	}
	err := a.explain.Of(ctx, x, decisions)
	if far, ok := err.(*lossep.FarError); ok {
		return far.In(some[far.Row].Row.Place())
	}
	for k := range some {
		some[k].Decision = decisions[k]
	}
	return err
}

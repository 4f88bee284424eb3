package lossep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/recipe"
)

// EffectFamily is a family of effects in the words of the table.
type EffectFamily struct {
	Term    string       `json:"term"`
	Outcome string       `json:"outcome,omitempty"` // whose latent value they are of, if there are more than two
	Share   float64      `json:"share"`             // of the variance of the latent values; see Effects
	Axes    []EffectAxis `json:"axes"`
	Cells   []EffectCell `json:"cells"`
}

// EffectAxis is a column of a family, or how many training rows have the combination.
type EffectAxis struct {
	Column string    `json:"column"`
	Labels []string  `json:"labels"`         // of its cells
	Cuts   []float64 `json:"cuts,omitempty"` // between the cells of a number, which come after that of missing ones
}

// EffectCell is an effect: where it is on each axis, and what is known of it. The standard deviation allows for that of the family not
// being known.
type EffectCell struct {
	At   []int   `json:"at"`
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
}

// Families to be shown have at most so many columns and groups.
const (
	mostShownColumns = 2
	mostShownGroups  = 4096
)

// EffectFamilies are those of one or two columns and few enough groups to be shown, the most
// important first.
func (l *Learned) EffectFamilies() []EffectFamily {
	f, ok := l.process.(induced)
	if !ok {
		return nil
	}
	return EffectFamilies(f.Process.Effects(), l.problem.Recipe)
}

// EffectFamilies are those of one or two columns and few enough groups to be shown, the most
// important first.
func (m *Model) EffectFamilies() []EffectFamily {
	return EffectFamilies(m.opinions[0].State().Effects, m.recipe)
}

// EffectFamilies are those of a set in the words of a recipe, as of a model.
func EffectFamilies(set effects.Set, r *recipe.Recipe) (all []EffectFamily) {
	names := EntryNames(r)
	for _, e := range set.Uncertain() {
		if len(e.Axes) > mostShownColumns || e.Groups() > mostShownGroups {
			continue
		}
		f := EffectFamily{Term: e.Family.Name(names), Share: e.Share}
		keys := e.Keys()
		if e.Rows != nil { // groups are classes of numbers of rows
			f.Axes, keys = []EffectAxis{{Column: "training rows alike", Labels: countLabels()}}, nil
			for class := range e.Groups() {
				keys = append(keys, class)
			}
		} else {
			for _, a := range e.Axes {
				f.Axes = append(f.Axes, effectAxis(a, r, names[a.Column]))
			}
		}
		for c := range e.Functions() {
			f.Outcome, f.Cells = functionName(r, c), nil
			for g, w := range e.Of(c) {
				at, key := make([]int, len(f.Axes)), keys[g]
				for k := len(at) - 1; k >= 0; k-- {
					size := len(f.Axes[k].Labels)
					at[k], key = key%size, key/size
				}
				f.Cells = append(f.Cells, EffectCell{at, w.Mean, math.Sqrt(w.Variance)})
			}
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b EffectFamily) int { return cmp.Compare(b.Share, a.Share) })
	return all
}

// effectAxis puts the cells of an axis into words.
func effectAxis(a *effects.Axis, r *recipe.Recipe, name string) EffectAxis {
	out := EffectAxis{Column: name, Labels: []string{"missing"}}
	cells, row := r.Cells(), make([]float64, r.Dim())
	index := slices.IndexFunc(r.Parts(), func(p recipe.Part) bool { return slices.Contains(p.At, a.Column) })
	column := r.Parts()[index].Index
	text := func(x float64) string {
		row[a.Column] = x
		return cells.Text(column, row)
	}
	if a.Cuts == nil {
		for code := range a.Cells - 1 {
			out.Labels = append(out.Labels, text(float64(code)))
		}
		return out
	}
	for _, cut := range a.Cuts {
		row[a.Column] = cut
		if x, ok := cells.Number(column, row); ok {
			cut = x
		}
		out.Cuts = append(out.Cuts, cut)
	}
	for bin := range a.Cells - 1 {
		switch {
		case len(out.Cuts) == 0:
			out.Labels = append(out.Labels, "all")
		case bin == 0:
			out.Labels = append(out.Labels, fmt.Sprintf("below %.4g", out.Cuts[0]))
		case bin == len(out.Cuts):
			out.Labels = append(out.Labels, fmt.Sprintf("from %.4g", out.Cuts[bin-1]))
		default:
			out.Labels = append(out.Labels, fmt.Sprintf("%.4g to %.4g", out.Cuts[bin-1], out.Cuts[bin]))
		}
	}
	return out
}

// countLabels are those of classes of numbers of rows: none, 1, 2–3, 4–7, …
func countLabels() []string {
	labels := []string{"none", "1"}
	for k := 1; len(labels) < effects.CountClasses; k++ {
		labels = append(labels, fmt.Sprintf("%d–%d", 1<<k, 1<<(k+1)-1))
	}
	return labels
}

// functionName is the outcome that a function is of, nothing where there is one function.
func functionName(r *recipe.Recipe, function int) string {
	if r.Target.Number || !several(r) {
		return ""
	}
	return r.Target.Outcomes[function]
}

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// EffectFigures are families of effects with a figure of each, as front ends show them.
type EffectFigures struct {
	Text     string         `json:"text" doc:"what effects are, and which are shown"`
	Families []EffectFigure `json:"effects" doc:"those of at most two columns, the most important first"`
	More     int            `json:"more,omitempty" doc:"how many further ones there are, of less importance"`
}

// EffectFigure is a family of effects and its figure.
type EffectFigure struct {
	lossep.EffectFamily
	Caption string `json:"caption"`
	SVG     string `json:"svg" doc:"the figure: a curve for a number, sorted intervals for categories, a map for two columns"`
}

// mostEffects is how many families are drawn.
const mostEffects = 24

// EffectsOf draws families of effects, the most important first, of a model with this outcome.
func EffectsOf(all []lossep.EffectFamily, target *recipe.Target) (*EffectFigures, error) {
	towards := "larger values of " + target.Column
	if !target.Number && len(target.Outcomes) > 0 {
		towards = target.Outcomes[len(target.Outcomes)-1]
	}
	e := &EffectFigures{Text: effectsText(all, towards), Families: []EffectFigure{}, More: max(0, len(all)-mostEffects)}
	for _, f := range all[:len(all)-e.More] {
		var svg bytes.Buffer
		if err := WriteSVG(&svg, effectFigure(f)); err != nil {
			return nil, err
		}
		e.Families = append(e.Families, EffectFigure{f, clean(effectCaption(f)), svg.String()})
	}
	return e, nil
}

// effectsText says what figures of effects show.
func effectsText(all []lossep.EffectFamily, towards string) string {
	if len(all) == 0 {
		return "The model has no effects of at most two columns."
	}
	if all[0].Outcome != "" {
		towards = "the outcome named"
	}
	return fmt.Sprintf("What categories, ranges of numbers and combinations of two add to the latent value, above 0 towards %s, with 95 %% intervals. The rest of what features say is in the smooth part of the model.", towards)
}

func effectCaption(f lossep.EffectFamily) string {
	name := strings.TrimSuffix(strings.TrimPrefix(f.Term, "effects("), ")")
	if f.Outcome != "" {
		name += " on " + table.Quote(f.Outcome)
	}
	return fmt.Sprintf("%s: %s of the variance of the latent value.", name, Percent(f.Share))
}

func effectAlternative(f lossep.EffectFamily) string {
	return "Effects of " + f.Term + " with intervals."
}

// mostBars is how many categories are shown: those with the largest effects.
const mostBars = 16

// effectFigure is a curve for a number, sorted intervals for categories, and a map for a pair.
func effectFigure(f lossep.EffectFamily) Figure {
	if len(f.Axes) == 2 {
		return heatOf(f)
	}
	axis := f.Axes[0]
	if len(axis.Cuts) > 0 {
		s := Series{Method: "exact", Label: axis.Column}
		for _, c := range f.Cells {
			if c.At[0] == 0 { // missing
				continue
			}
			s.X, s.Y = append(s.X, middle(axis.Cuts, c.At[0]-1)), append(s.Y, c.Mean)
			s.Low, s.High = append(s.Low, c.Mean-1.96*c.SD), append(s.High, c.Mean+1.96*c.SD)
		}
		return Lines{X: Axis{Label: axis.Column}, Y: Axis{Label: "Effect"}, Series: []Series{s}}
	}
	cells := slices.Clone(f.Cells)
	slices.SortStableFunc(cells, func(a, b lossep.EffectCell) int { return cmp.Compare(math.Abs(b.Mean), math.Abs(a.Mean)) })
	cells = cells[:min(len(cells), mostBars)]
	slices.SortStableFunc(cells, func(a, b lossep.EffectCell) int { return cmp.Compare(b.Mean, a.Mean) })
	out := Intervals{X: Axis{Label: "Effect of " + axis.Column}}
	for _, c := range cells {
		out.Rows = append(out.Rows, Interval{Method: "exact", Label: axis.Labels[c.At[0]], Value: c.Mean, Low: c.Mean - 1.96*c.SD, High: c.Mean + 1.96*c.SD})
	}
	return out
}

// middle is that of a bin, at the ends the nearest cut.
func middle(cuts []float64, bin int) float64 {
	return (cuts[max(0, bin-1)] + cuts[min(bin, len(cuts)-1)]) / 2
}

// heatOf is the map of a pair. Of a column with many cells the ones with the largest effects are shown
// if these are categories.
func heatOf(f lossep.EffectFamily) Heat {
	var places [2]map[int]int // of cells on the map
	var labels [2][]string
	for k, axis := range f.Axes {
		size := make([]float64, len(axis.Labels))
		for _, c := range f.Cells {
			size[c.At[k]] = max(size[c.At[k]], math.Abs(c.Mean))
		}
		var shown []int
		for i, s := range size {
			if s > 0 {
				shown = append(shown, i)
			}
		}
		if axis.Cuts == nil {
			slices.SortStableFunc(shown, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
			shown = shown[:min(len(shown), mostBars)]
			slices.Sort(shown)
		}
		places[k] = make(map[int]int)
		for place, i := range shown {
			places[k][i] = place
			labels[k] = append(labels[k], axis.Labels[i])
		}
	}
	out := Heat{X: Axis{Label: f.Axes[0].Column}, Y: Axis{Label: f.Axes[1].Column}, Columns: labels[0], Rows: labels[1]}
	out.Values = make([][]float64, len(labels[1]))
	for i := range out.Values {
		out.Values[i] = slices.Repeat([]float64{math.NaN()}, len(labels[0]))
	}
	for _, c := range f.Cells {
		x, ok := places[0][c.At[0]]
		if y, also := places[1][c.At[1]]; ok && also {
			out.Values[y][x] = c.Mean
		}
	}
	return out
}

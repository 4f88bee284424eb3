package lossep

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
)

// Reason is what the value of one column does to the decision in a case.
type Reason struct {
	Column string `json:"column"`
	Value  string `json:"value"` // that the case has
	// Effect is by how much the advantage of the action over the best other one is larger than
	// if the column were not known.
	Effect    float64   `json:"effect"`
	Direction Direction `json:"direction" enum:"for,against,neither" doc:"whether the column speaks for the action: the sign of the effect; neither where it is less than a millionth of the largest"`
}

// Direction is the sign of an effect on a decision, in words.
type Direction string

// The directions.
const (
	ForAction     Direction = "for"
	AgainstAction Direction = "against"
	Neither       Direction = "neither"
)

// directionOf is that of an effect beside one that is the largest of a case, against which less than a
// millionth is rounding.
func directionOf(effect, largest float64) Direction {
	switch {
	case math.Abs(effect) <= 1e-6*largest:
		return Neither
	case effect > 0:
		return ForAction
	}
	return AgainstAction
}

// Contribution is what a family of effects adds to the latent value of a case, which is larger
// the more probable the positive outcome is, or to that of one of several outcomes.
type Contribution struct {
	Term    string  `json:"term"` // of the kernel
	Outcome string  `json:"outcome,omitempty"`
	Effect  float64 `json:"effect"`
	SD      float64 `json:"sd"`            // its posterior standard deviation
	New     bool    `json:"new,omitempty"` // of a category or combination that no training row had
}

// Flip is the smallest change of one column that changes the action.
type Flip struct {
	Column   string
	From, To string // values of the column
	Action   int    // that would be taken
}

// Explainer says why a model decides as it does. It is safe for concurrent use.
//
// The effect of a column is adv(p) − adv(p̄): adv is by how much the action is expected to cost
// less than the best other one (or to bring more), p the probabilities of the case, and p̄ those
// without the column, see Model.Without. What is at stake in the case stays as it is.
type Explainer struct {
	model *Model
	ref   *Reference
	cells *recipe.Cells
	held  []string
	most  int

	effects effects.Set // as they are shown
}

// Explain prepares to give at most so many reasons for every decision. Columns that are held, such
// as those that costs depend on, are not changed to flip one; those left out, such as an age, are
// neither changed nor a reason. Values of columns are those of the training rows, or of inducing points
// where a model does not keep its rows.
func (m *Model) Explain(most int, held []string, leftOut ...string) *Explainer {
	e := &Explainer{model: m, cells: m.recipe.Cells(), held: held, effects: m.opinions[0].State().Effects.Uncertain()}
	var weights []float64
	if m.weights != nil || m.x != nil && m.recipe.Target.CaseShares() != nil {
		rows := indices.Of(len(m.labels))
		weights = m.donorShares(rows)
	}
	e.ref = NewReference(m.recipe, m.known(), weights).without(leftOut)
	e.most = min(most, len(e.ref.parts))
	return e
}

// Reasons is how many reasons a decision is given; none by an Explainer that is nil.
func (e *Explainer) Reasons() int {
	if e == nil {
		return 0
	}
	return e.most
}

// Effects tells whether decisions have Contributions.
func (e *Explainer) Effects() bool { return e != nil && len(e.model.summary.Effects) > 0 }

// Of fills in the Reasons, the Contributions and the Flip of decisions on the rows of x. The error is a *FarError or
// the context's.
func (e *Explainer) Of(ctx context.Context, x *mat.Dense, decisions []Decision) error {
	own := make([][]float64, len(decisions))
	for i := range decisions {
		own[i] = decisions[i].Probabilities
	}
	var search []*crossing
	donors := e.model.donors()
	err := e.model.eachReplaced(ctx, x, own, e.ref, func(i int, all [][][]float64) {
		d, row := &decisions[i], x.RawRowView(i)
		d.Reasons = e.reasons(d, row, e.ref.means(all))
		d.Contributions = e.contributions(row, donors)
		for k := range all {
			if c := e.crossing(i, k, d, row, all[k]); c != nil {
				search = append(search, c)
			}
		}
	})
	if err != nil {
		return err
	}
	if err := e.narrow(ctx, x, decisions, search); err != nil {
		return err
	}
	nearest := make([]*crossing, len(decisions))
	for _, c := range search {
		if best := nearest[c.of]; best == nil || c.distance < best.distance {
			nearest[c.of] = c
		}
	}
	for i, c := range nearest {
		if decisions[i].Flip = nil; c != nil {
			part := e.ref.parts[c.part]
			decisions[i].Flip = &Flip{part.Column, e.cells.Text(part.Index, x.RawRowView(i)), e.cells.Text(part.Index, c.row), c.action}
		}
	}
	return nil
}

// contributions are those of all families of effects; where the columns of one have gaps, the moments
// over what they may be.
func (e *Explainer) contributions(row []float64, donors *posterior.Donors) (all []Contribution) {
	if len(e.effects) == 0 {
		return nil
	}
	variants, shares := donors.Variants(row)
	for j, family := range e.effects {
		for k := range family.Functions() {
			c := Contribution{Term: e.model.summary.Effects[j].Term, Outcome: functionName(e.model.recipe, k)}
			square := 0.0
			for s, variant := range variants {
				w, known := family.At(variant, k)
				c.Effect += shares[s] * w.Mean
				square += shares[s] * (w.Variance + w.Mean*w.Mean)
				c.New = c.New || !known
			}
			c.SD = math.Sqrt(max(0, square-c.Effect*c.Effect))
			all = append(all, c)
		}
	}
	return all
}

// reasons are the columns with the largest effects: those for the action, then those against it.
func (e *Explainer) reasons(d *Decision, row []float64, without [][]float64) []Reason {
	all := make([]Reason, len(without))
	now, largest := d.Stakes.Advantage(d.Action, d.Probabilities), 0.0
	for k, p := range without {
		part := &e.ref.parts[k]
		all[k] = Reason{Column: part.Column, Value: e.cells.Text(part.Index, row), Effect: now - d.Stakes.Advantage(d.Action, p)}
		largest = max(largest, math.Abs(all[k].Effect))
	}
	for k := range all {
		all[k].Direction = directionOf(all[k].Effect, largest)
	}
	order := []Direction{ForAction, AgainstAction, Neither}
	slices.SortStableFunc(all, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Direction), slices.Index(order, b.Direction)), cmp.Compare(math.Abs(b.Effect), math.Abs(a.Effect)))
	})
	return slices.Clone(all[:e.most])
}

// crossing is a change of one column of a case that changes its action. A number is then looked
// for between the case's own and that of the change: at places of a grid, of which the one at
// keeps does not change the action and the one at flips does.
type crossing struct {
	of, part int
	row      []float64 // the case with the change
	action   int
	distance float64 // squared, as between training rows; see nearest

	grid         grid
	keeps, flips int
}

// crossing is the nearest change of a column to a value of the reference, given the probabilities
// with each of these; nil if none changes the action.
func (e *Explainer) crossing(of, k int, d *Decision, row []float64, all [][]float64) *crossing {
	part := &e.ref.parts[k]
	if slices.Contains(e.held, part.Column) || e.cells.Missing(part.Index, row) { // what is not known cannot be changed
		return nil
	}
	var best *crossing
	for v, p := range all {
		action := d.Stakes.Best(p, d.Action)
		if action == d.Action {
			continue
		}
		c := &crossing{of: of, part: k, row: slices.Clone(row), action: action}
		for j, place := range part.At {
			c.row[place] = e.ref.columns[k].values[v][j]
		}
		if e.cells.Missing(part.Index, c.row) { // nobody can choose to have no value
			continue
		}
		if c.distance = e.distance(row, c.row, part.At); best == nil || c.distance < best.distance {
			best = c
		}
	}
	if best != nil {
		from, known := e.cells.Number(part.Index, row)
		if to, number := e.cells.Number(part.Index, best.row); known && number {
			best.grid = newGrid(from, to, e.whole(k))
			best.flips = best.grid.steps
		}
	}
	return best
}

// distance is that of two rows at some places, squared.
func (e *Explainer) distance(a, b []float64, at []int) (sum float64) {
	for _, place := range at {
		switch {
		case place < e.model.coding.Numbers():
			sum += (a[place] - b[place]) * (a[place] - b[place])
		case a[place] != b[place]:
			sum += 2 // of two 0/1 columns
		}
	}
	return sum
}

// whole tells whether the values of a column in the reference are whole numbers.
func (e *Explainer) whole(k int) bool {
	row := make([]float64, e.model.coding.Len())
	for _, value := range e.ref.columns[k].values {
		for j, place := range e.ref.parts[k].At {
			row[place] = value[j]
		}
		const rounding = 1e-9
		if x, ok := e.cells.Number(e.ref.parts[k].Index, row); ok && math.Abs(x-math.Round(x)) > rounding*max(1, math.Abs(x)) {
			return false
		}
	}
	return true
}

// narrow halves the grids of crossings until a step is left, those of all cases together.
func (e *Explainer) narrow(ctx context.Context, x *mat.Dense, decisions []Decision, search []*crossing) error {
	for {
		var open []*crossing
		var rows [][]float64
		var of []int
		for _, c := range search {
			if c.flips-c.keeps < 2 {
				continue
			}
			part := &e.ref.parts[c.part]
			row := slices.Clone(x.RawRowView(c.of))
			if !e.cells.Put(part.Index, c.grid.at((c.keeps+c.flips)/2), row) {
				c.keeps = c.flips // between two values that are not too far none is
				continue
			}
			open, rows, of = append(open, c), append(rows, row), append(of, c.of)
		}
		if len(open) == 0 {
			return nil
		}
		p, err := e.model.probabilitiesOf(ctx, rows, of)
		if err != nil {
			return err
		}
		for k, c := range open {
			d, middle := &decisions[c.of], (c.keeps+c.flips)/2
			if action := d.Stakes.Best(p[k], d.Action); action == d.Action {
				c.keeps = middle
			} else {
				c.flips, c.action, c.row = middle, action, rows[k]
				c.distance = e.distance(x.RawRowView(c.of), c.row, e.ref.parts[c.part].At)
			}
		}
	}
}

// grid is numbers between two, the first and the last of which are these, and the others short
// to write: the multiples of 1, 2 or 5 times a power of ten.
type grid struct {
	from, to float64
	first    float64 // multiple, of which each further one is larger by side
	side     float64
	unit     float64 // 1, 2 or 5
	power    float64 // of ten: what a multiple is multiplied by, or divided by if fine
	fine     bool
	steps    int
}

// newGrid divides the way into about fifty steps, which are whole if numbers are.
func newGrid(from, to float64, whole bool) grid {
	const least = 50
	g := grid{from: from, to: to, side: 1, steps: 1}
	way := math.Abs(to - from)
	if to < from {
		g.side = -1
	}
	if way == 0 || math.IsInf(way, 0) {
		return g
	}
	exponent := math.Floor(math.Log10(way / least))
	g.unit = 1
	for _, unit := range []float64{2, 5} {
		if unit*math.Pow(10, exponent) <= way/least {
			g.unit = unit
		}
	}
	if whole && exponent < 0 {
		g.unit, exponent = 1, 0
	}
	g.fine, g.power = exponent < 0, math.Pow(10, math.Abs(exponent))
	size := g.value(1)
	if size == 0 || math.IsInf(size, 0) || way/size > 1e6 || math.Abs(from)/size > 1e15 {
		return g
	}
	if g.first = math.Floor(from / size); g.side < 0 {
		g.first = math.Ceil(from / size)
	}
	g.steps = max(1, int(math.Ceil(math.Abs(to/size-g.first))))
	return g
}

// value is a multiple of the step.
func (g *grid) value(multiple float64) float64 {
	if g.fine {
		return multiple * g.unit / g.power
	}
	return multiple * g.unit * g.power
}

// at is the number at a place.
func (g *grid) at(k int) float64 {
	switch k {
	case 0:
		return g.from
	case g.steps:
		return g.to
	}
	return g.value(g.first + g.side*float64(k))
}

// Bytes is about how much memory Of takes for so many decisions.
func (e *Explainer) Bytes(cases int) int64 {
	row := int64(8 * e.model.coding.Len())
	columns := int64(len(e.ref.parts))
	return 3*replacedAtOnce*(row+64) + int64(cases)*columns*(row+192)
}

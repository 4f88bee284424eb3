package cluster

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/safetensors"
)

// packed is effects and what is to be done with them, as a job has them. Their numbers are two tensors: floats, which are
// the cuts of axes, means and variances of effects, and by how much means have moved; and ints, which are cells that
// occur and their numbers of rows.
type packed struct {
	Axes      []packedAxis     `json:"axes"`
	Groupings []packedGrouping `json:"groupings"`
	Set       []packedEffect   `json:"set"`
	Tasks     []packedTask     `json:"tasks"`
}

type packedAxis struct {
	Column int `json:"column"`
	Cells  int `json:"cells"`
	Cuts   int `json:"cuts"` // how many, −1 for categories
}

type packedGrouping struct {
	Family effects.Family `json:"family"`
	Axes   []int          `json:"axes"`
	Keys   int            `json:"keys"` // how many, −1 for all cells
	Counts bool           `json:"counts,omitempty"`
}

type packedEffect struct {
	Grouping  int     `json:"grouping"`
	Variance  float64 `json:"variance"`
	Functions int     `json:"functions"`
	Given     int     `json:"given,omitempty"` // the dimension of v, where effects are given it
}

// packedTask is a task; After is how many groups have moved, 0 for none.
type packedTask struct {
	Kind    string `json:"kind"`
	Of      int    `json:"of"`
	After   int    `json:"after"`
	AfterOf int    `json:"after_of"`
	From    []int  `json:"from,omitempty"` // where blocks begin
}

// The kinds of tasks, as package effects calls them.
const (
	lookTask    = "look"
	sumTask     = "sum"
	occurTask   = "occur"
	countTask   = "count"
	explainTask = "explain"
	momentsTask = "moments"
)

// packer packs.
type packer struct {
	packed
	axes      map[*effects.Axis]int
	groupings map[*effects.Grouping]int
	cuts      []float64
	floats    []float64
	ints      []int64
}

// pack packs effects and tasks. Those of tasks that look at effects are the same.
func pack(set effects.Set, tasks []effects.Task) (*packed, []float64, []int64) {
	p := &packer{axes: make(map[*effects.Axis]int), groupings: make(map[*effects.Grouping]int)}
	for _, e := range set {
		one := packedEffect{Grouping: p.grouping(e.Grouping), Variance: e.Variance, Functions: e.Functions()}
		for _, w := range e.Moments {
			p.floats = append(p.floats, w.Mean, w.Variance)
		}
		if e.Given != nil {
			one.Given = e.Given.Dim()
			p.views(e.Given)
		}
		p.Set = append(p.Set, one)
	}
	for _, task := range tasks {
		p.task(task)
	}
	return &p.packed, append(p.cuts, p.floats...), p.ints
}

func (p *packer) task(task effects.Task) {
	var t packedTask
	switch task := task.(type) {
	case effects.LookTask:
		t.Kind = lookTask
	case effects.ExplainTask:
		t.Kind = explainTask
	case effects.MomentsTask:
		t.Kind, t.From = momentsTask, task.From
	case effects.OccurTask:
		t.Kind, t.Of = occurTask, p.grouping(task.Of)
	case effects.CountTask:
		t.Kind, t.Of = countTask, p.grouping(task.Of)
	case effects.SumTask:
		t.Kind, t.Of = sumTask, p.grouping(task.Of)
		if task.After != nil {
			t.After, t.AfterOf = len(task.After.By), p.grouping(task.After.Of)
			p.floats = append(p.floats, task.After.By...)
		}
	}
	p.Tasks = append(p.Tasks, t)
}

func (p *packer) views(v *gauss.Views) {
	for i := range v.Len() {
		p.floats = append(append(p.floats, v.Row(i)...), v.Offset(i), v.Residual(i))
	}
}

func (p *packer) axis(a *effects.Axis) int {
	k, ok := p.axes[a]
	if !ok {
		k = len(p.Axes)
		p.axes[a] = k
		one := packedAxis{a.Column, a.Cells, -1}
		if a.Cuts != nil {
			one.Cuts = len(a.Cuts)
		}
		p.Axes, p.cuts = append(p.Axes, one), append(p.cuts, a.Cuts...)
	}
	return k
}

func (p *packer) grouping(g *effects.Grouping) int {
	k, ok := p.groupings[g]
	if ok {
		return k
	}
	one := packedGrouping{Family: g.Family, Keys: -1, Counts: g.Rows != nil}
	for _, a := range g.Axes {
		one.Axes = append(one.Axes, p.axis(a))
	}
	if !g.Whole() {
		keys := g.Keys()
		one.Keys = len(keys)
		for _, key := range keys {
			p.ints = append(p.ints, int64(key))
		}
		for _, n := range g.Rows {
			p.ints = append(p.ints, int64(n))
		}
	}
	k = len(p.Groupings)
	p.groupings[g] = k
	p.Groupings = append(p.Groupings, one)
	return k
}

// errPacked is that effects of a job are none.
var errPacked = errors.New("the effects of the job do not fit together; workers are of another version than the driver")

// take is the next so many of a list.
func take[T any](of *[]T, n int) ([]T, error) {
	if n < 0 || n > len(*of) {
		return nil, errPacked
	}
	first := (*of)[:n]
	*of = (*of)[n:]
	return first, nil
}

// unpack is what was packed.
func (p *packed) unpack(floats []float64, ints []int64) (set effects.Set, tasks []effects.Task, err error) {
	var axes []*effects.Axis
	for _, one := range p.Axes {
		a := &effects.Axis{Column: one.Column, Cells: one.Cells}
		if one.Cuts >= 0 {
			cuts, err := take(&floats, one.Cuts)
			if err != nil {
				return nil, nil, err
			}
			a.Cuts = append([]float64{}, cuts...) // not nil where there are none
		}
		axes = append(axes, a)
	}
	var groupings []*effects.Grouping
	for _, one := range p.Groupings {
		g, err := one.grouping(axes, &ints)
		if err != nil {
			return nil, nil, err
		}
		groupings = append(groupings, g)
	}
	for _, one := range p.Set {
		e := &effects.Effect{Grouping: groupings[one.Grouping], Variance: one.Variance}
		moments, err := take(&floats, 2*e.Groups()*one.Functions)
		if err != nil {
			return nil, nil, err
		}
		for i := 0; i < len(moments); i += 2 {
			e.Moments = append(e.Moments, effects.Moment{Mean: moments[i], Variance: moments[i+1]})
		}
		if one.Given > 0 {
			if e.Given, err = takeViews(&floats, e.Groups(), one.Given); err != nil {
				return nil, nil, err
			}
		}
		set = append(set, e)
	}
	for _, one := range p.Tasks {
		t, err := one.task(set, groupings, &floats)
		if err != nil {
			return nil, nil, err
		}
		tasks = append(tasks, t)
	}
	return set, tasks, nil
}

func takeViews(floats *[]float64, n, m int) (*gauss.Views, error) {
	numbers, err := take(floats, n*(m+2))
	if err != nil {
		return nil, err
	}
	a, b, r := mat.NewDense(n, m, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		row := numbers[i*(m+2):]
		copy(a.RawRowView(i), row[:m])
		if b[i], r[i] = row[m], row[m+1]; !(r[i] >= 0) {
			return nil, errPacked
		}
	}
	return gauss.NewViews(a, b, r), nil
}

func (one packedGrouping) grouping(axes []*effects.Axis, ints *[]int64) (*effects.Grouping, error) {
	var of []*effects.Axis
	for _, k := range one.Axes {
		of = append(of, axes[k])
	}
	if one.Keys < 0 {
		return effects.Cells(one.Family, of), nil
	}
	cells, err := take(ints, one.Keys)
	if err != nil {
		return nil, err
	}
	keys := make([]int, one.Keys)
	for i, k := range cells {
		keys[i] = int(k)
	}
	var rows []uint32
	if one.Counts {
		counts, err := take(ints, one.Keys)
		if err != nil {
			return nil, err
		}
		rows = make([]uint32, one.Keys)
		for i, n := range counts {
			rows[i] = uint32(n)
		}
	}
	return effects.NewGrouping(one.Family, of, keys, rows)
}

func (one packedTask) task(set effects.Set, groupings []*effects.Grouping, floats *[]float64) (effects.Task, error) {
	switch one.Kind {
	case lookTask:
		return effects.LookTask{Set: set}, nil
	case explainTask:
		return effects.ExplainTask{Set: set}, nil
	case momentsTask:
		return effects.MomentsTask{Set: set, From: one.From}, nil
	case occurTask:
		return effects.OccurTask{Of: groupings[one.Of]}, nil
	case countTask:
		return effects.CountTask{Of: groupings[one.Of]}, nil
	case sumTask:
		t := effects.SumTask{Of: groupings[one.Of]}
		if one.After > 0 {
			moved, err := take(floats, one.After)
			if err != nil {
				return nil, err
			}
			t.After = &effects.Moved{Of: groupings[one.AfterOf], By: moved}
		}
		return t, nil
	}
	return nil, errPacked
}

// lengths are those of what a task has found, in the tensors of all.
type lengths struct {
	Sums  int `json:"sums,omitempty"`
	Told  int `json:"told,omitempty"` // sums that are not zero
	Rows  int `json:"rows,omitempty"`
	Words int `json:"words,omitempty"`
	Parts int `json:"parts,omitempty"`
}

// addEffects adds what tasks have found: of sums those that are not zero, with their groups.
func addEffects(f *safetensors.File, all []effects.Found) (of []lengths) {
	var floats []float64
	var ints []int64
	for _, one := range all {
		n := lengths{Sums: len(one.Sums), Rows: len(one.Rows), Words: len(one.Seen), Parts: len(one.Parts)}
		floats = append(floats, one.Value)
		for g, s := range one.Sums {
			if s != (effects.Sum{}) {
				n.Told++
				ints, floats = append(ints, int64(g)), append(floats, s.Slope, s.Curvature)
			}
		}
		for _, r := range one.Rows {
			ints = append(ints, int64(r))
		}
		for _, w := range one.Seen {
			ints = append(ints, int64(w))
		}
		for _, p := range one.Parts {
			floats = append(floats, p[:]...)
		}
		of = append(of, n)
	}
	addNumbers(f, floats, ints)
	return of
}

// readEffects reads what tasks have found.
func readEffects(f *safetensors.File, of []lengths) (all []effects.Found, err error) {
	floats, ints, err := numbersOf(f)
	if err != nil {
		return nil, err
	}
	for _, n := range of {
		values, err := take(&floats, 1+2*n.Told)
		if err != nil {
			return nil, err
		}
		groups, err := take(&ints, n.Told)
		if err != nil {
			return nil, err
		}
		rows, err := take(&ints, n.Rows)
		if err != nil {
			return nil, err
		}
		words, err := take(&ints, n.Words)
		if err != nil {
			return nil, err
		}
		parts, err := take(&floats, 2*n.Parts)
		if err != nil {
			return nil, err
		}
		one := effects.Found{Value: values[0], Sums: make([]effects.Sum, n.Sums), Rows: make([]uint32, n.Rows), Seen: make([]uint64, n.Words), Parts: make([][2]float64, n.Parts)}
		for i, g := range groups {
			one.Sums[g] = effects.Sum{Slope: values[1+2*i], Curvature: values[2+2*i]}
		}
		for i, r := range rows {
			one.Rows[i] = uint32(r)
		}
		for i, w := range words {
			one.Seen[i] = uint64(w)
		}
		for i := range one.Parts {
			one.Parts[i] = [2]float64{parts[2*i], parts[2*i+1]}
		}
		all = append(all, one)
	}
	return all, nil
}

// addGroups adds what there is of groups, beside what there is of all.
func addGroups(f *safetensors.File, a *pass.Arrow) {
	n, m := a.Cross.Dims()
	f.AddFloats("groups.cross", mat.DenseCopyOf(a.Cross).RawMatrix().Data, n, m)
	var sites []float64
	for _, s := range a.Groups {
		sites = append(sites, s.Nu, s.Tau)
	}
	f.AddFloats("groups.sites", sites, n, 2)
}

// readGroups reads it, nil if there is nothing.
func readGroups(f *safetensors.File, all gauss.Naturals) (*pass.Arrow, error) {
	cross, err := f.Floats("groups.cross", -1, all.Dim())
	if missing := new(safetensors.Error); errors.As(err, &missing) && missing.Kind == safetensors.Missing {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	n := cross.Shape[0]
	sites, err := f.Floats("groups.sites", n, 2)
	if err != nil {
		return nil, err
	}
	a := &pass.Arrow{V: all[0], Cross: mat.NewDense(n, all.Dim(), cross.Floats)}
	for g := range n {
		a.Groups = append(a.Groups, gauss.Scalar{Nu: sites.Floats[2*g], Tau: sites.Floats[2*g+1]})
	}
	return a, nil
}

func addNumbers(f *safetensors.File, floats []float64, ints []int64) {
	f.AddFloats("effects.floats", floats, len(floats))
	f.AddInts("effects.ints", ints, len(ints))
}

func numbersOf(f *safetensors.File) ([]float64, []int64, error) {
	floats, err := f.Floats("effects.floats", -1)
	if err != nil {
		return nil, nil, err
	}
	ints, err := f.Ints("effects.ints", -1)
	if err != nil {
		return nil, nil, err
	}
	return floats.Floats, ints.Ints, nil
}

// writesTerms tells whether tasks change slopes and curvatures of terms. Such a task comes alone.
func writesTerms(tasks []effects.Task) bool {
	return slices.ContainsFunc(tasks, func(t effects.Task) bool {
		sum, ok := t.(effects.SumTask)
		_, look := t.(effects.LookTask)
		return look || ok && sum.After != nil
	})
}

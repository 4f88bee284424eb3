package modelfile

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/safetensors"
)

// Effects is a family of effects: those of the categories or bins of one entry of encoded
// rows, or of the combinations of several.
type Effects struct {
	Term    string        `json:"term"` // in the language of kernels
	Columns []EffectsPart `json:"columns"`
	Cells   int           `json:"cells"` // combinations that occur among the training rows
	// Counts says that rows are not grouped by their combination, but by how many others have it.
	Counts bool `json:"counts,omitempty"`
	// Joint says that the effects are known jointly with what the inducing points see.
	Joint bool `json:"joint,omitempty"`
	// Variance is that of the effects of groups of which nothing is known, and Gain what the
	// family adds to the log evidence, to second order.
	Variance float64 `json:"variance"`
	Gain     float64 `json:"gain"`
	// Share is the variance of the effects over the training rows, as a share of that of the latent
	// value: how important the family is.
	Share float64 `json:"share"`
	// Walks are what becomes of the effects beyond the values that numbers had.
	Walks []effects.Walk `json:"walks,omitempty"`
}

// EffectsPart is a column of a family: the entry of an encoded row, how many bins it was to be
// cut into, 0 for categories, and how many cells it has, with one for what is missing.
type EffectsPart struct {
	Entry int `json:"entry"`
	Bins  int `json:"bins,omitempty"`
	Cells int `json:"cells"`
}

// EffectsOf are the families of a set, whose entries are called as given.
func EffectsOf(set effects.Set, names []string) (all []Effects) {
	for _, e := range set {
		one := Effects{Term: e.Family.Name(names), Cells: len(e.Keys()), Counts: e.Rows != nil, Joint: e.Given != nil, Variance: e.Variance, Gain: e.Nats(), Share: e.Share, Walks: e.Walks}
		for k, part := range e.Family.Parts() {
			one.Columns = append(one.Columns, EffectsPart{Entry: part.Column, Bins: part.Bins, Cells: e.Axes[k].Cells})
		}
		all = append(all, one)
	}
	return all
}

// Updated are families after further rows moved them to those of a set.
func Updated(all []Effects, set effects.Set) []Effects {
	all = slices.Clone(all)
	for i, e := range set {
		all[i].Cells, all[i].Variance, all[i].Gain, all[i].Walks = len(e.Keys()), e.Variance, e.Nats(), e.Walks
	}
	return all
}

// Effects in the model file: those of family j are the tensors effects.j.cells, the
// combinations of cells that occur (see occurring), effects.j.mean and effects.j.variance, one number for each of
// them, or for each of several outcomes a row of them; and effects.j.cuts.k, where the k-th of its columns is cut, if that is a number. A family
// of numbers of rows has these as effects.j.rows, and means and variances for each class of them.
//
// Effects that are known jointly with the v that the inducing points see are effects.j.slope·v +
// effects.j.mean given v, and effects.j.variance is given v, too. A method of its own has these three as own.effects.j.

// addEffects adds them.
func addEffects(f *safetensors.File, set effects.Set) {
	for j, e := range set {
		name := effectsName(j)
		rows := make([]int64, len(e.Rows))
		for i, n := range e.Rows {
			rows[i] = int64(n)
		}
		cells := occurring(e.Keys(), e.Cells())
		f.AddInts(name+"cells", cells, len(cells))
		if e.Rows != nil {
			f.AddInts(name+"rows", rows, len(rows))
		}
		addMoments(f, name, e)
		for k, a := range e.Axes {
			if a.Cuts != nil {
				f.AddFloats(fmt.Sprintf("%scuts.%d", name, k), a.Cuts, len(a.Cuts))
			}
		}
	}
}

// occurring are the combinations of so many that occur: a bit for each of all, 64 to a number, the lowest first, or the numbers of those
// that occur, whichever is shorter.
func occurring(keys []int, all int) []int64 {
	if words := wordsOf(len(keys), all); words > 0 {
		set := make([]int64, words)
		for _, k := range keys {
			set[k>>6] |= 1 << (k & 63)
		}
		return set
	}
	cells := make([]int64, len(keys))
	for i, k := range keys {
		cells[i] = int64(k)
	}
	return cells
}

// wordsOf is how many numbers of 64 bits each there are for combinations of which so many occur, 0 where their own numbers are fewer.
func wordsOf(occur, all int) int {
	if words := (all + 63) / 64; words <= occur {
		return words
	}
	return 0
}

// occurring reads them; there are as many as said.
func (r *Reader) occurring(name string, occur, all int) ([]int, error) {
	words := wordsOf(occur, all)
	numbers, err := r.ints(name, cmp.Or(words, occur))
	if err != nil {
		return nil, err
	}
	keys := make([]int, 0, occur)
	for i, n := range numbers {
		if words == 0 {
			keys = append(keys, int(n))
			continue
		}
		for w := uint64(n); w != 0; w &= w - 1 {
			keys = append(keys, i<<6+bits.TrailingZeros64(w))
		}
	}
	if len(keys) != occur {
		return nil, fmt.Errorf("%s has %d combinations in place of %d", name, len(keys), occur)
	}
	return keys, nil
}

// addMoments adds what is known of the effects of a family.
func addMoments(f *safetensors.File, name string, e *effects.Effect) {
	mean, variance := make([]float64, len(e.Moments)), make([]float64, len(e.Moments))
	for g, w := range e.Moments {
		if e.Given != nil {
			w = effects.Moment{Mean: e.Given.Offset(g), Variance: e.Given.Residual(g)}
		}
		mean[g], variance[g] = w.Mean, w.Variance
	}
	f.AddFloats(name+"mean", mean, shapeOf(e.Groups(), e.Functions())...)
	f.AddFloats(name+"variance", variance, shapeOf(e.Groups(), e.Functions())...)
	if e.Given == nil {
		return
	}
	slope := mat.NewDense(e.Given.Len(), e.Given.Dim(), nil)
	for g := range e.Given.Len() {
		slope.SetRow(g, e.Given.Row(g))
	}
	addMatrix(f, name+"slope", slope)
}

// shapeOf is that of the numbers of all groups, of several functions a row for each.
func shapeOf(groups, functions int) []int {
	if functions == 1 {
		return []int{groups}
	}
	return []int{functions, groups}
}

// Effects are those of the families on so many functions, seen from so many points.
func (r *Reader) Effects(families []Effects, functions, points int) (set effects.Set, err error) {
	for j, s := range families {
		e, err := r.family(effectsName(j), s, functions, points)
		if err != nil {
			return nil, err
		}
		set = append(set, e)
	}
	return set, nil
}

// Own are effects as the method itself knows them, given as EP does: where they are known jointly with what the
// points see they are others.
func (r *Reader) Own(ep effects.Set) (effects.Set, error) {
	e := ep.Joint()
	if e == nil {
		return ep, nil
	}
	own := *e
	moments, err := r.moments(ownName+effectsName(0), e.Variance, true, len(e.Moments))
	if err != nil {
		return nil, err
	}
	own.Given, err = r.given(ownName+effectsName(0), moments, e.Given.Dim())
	return effects.Set{&own}, err
}

// effectsName is what the names of the tensors of a family begin with, and ownName what those of a method's own do.
func effectsName(family int) string { return fmt.Sprintf("effects.%d.", family) }

const ownName = "own."

// given are effects as views of what so many points see.
func (r *Reader) given(name string, moments []effects.Moment, points int) (*gauss.Views, error) {
	slope, err := r.floats(name+"slope", largestEffect, len(moments), points)
	if err != nil {
		return nil, err
	}
	b, v := make([]float64, len(moments)), make([]float64, len(moments))
	for g, w := range moments {
		b[g], v[g] = w.Mean, w.Variance
	}
	return gauss.NewViews(mat.NewDense(len(moments), points, slope), b, v), nil
}

// ints are the whole numbers of a tensor.
func (r *Reader) ints(name string, shape ...int) ([]int64, error) {
	t, err := r.file.Ints(name, shape...)
	if err != nil {
		return nil, err
	}
	r.tensors++
	return t.Ints, nil
}

func (r *Reader) family(name string, s Effects, functions, points int) (*effects.Effect, error) {
	var family effects.Family
	if s.Counts {
		family = append(family, effects.Count)
	}
	var axes []*effects.Axis
	for k, c := range s.Columns {
		a := &effects.Axis{Column: c.Entry, Cells: c.Cells}
		if c.Bins > 0 {
			cuts, err := r.floats(fmt.Sprintf("%scuts.%d", name, k), Farthest, max(0, c.Cells-2))
			if err != nil {
				return nil, err
			}
			a.Cuts = append([]float64{}, cuts...) // not nil where there are none
		}
		family, axes = append(family, effects.Part{Column: c.Entry, Bins: c.Bins}), append(axes, a)
	}
	all := 1
	for _, c := range s.Columns {
		all *= c.Cells
	}
	keys, err := r.occurring(name+"cells", s.Cells, all)
	if err != nil {
		return nil, err
	}
	var rows []uint32
	if s.Counts {
		numbers, err := r.ints(name+"rows", s.Cells)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			if n < 1 || n > math.MaxUint32 {
				return nil, fmt.Errorf("%s has a combination of %d rows", s.Term, n)
			}
			rows = append(rows, uint32(n))
		}
	}
	groups := s.Cells
	if s.Counts {
		groups = effects.CountClasses
	}
	moments, err := r.moments(name, s.Variance, s.Joint, shapeOf(groups, functions)...)
	if err != nil {
		return nil, err
	}
	g, err := effects.NewGrouping(family, axes, keys, rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Term, err)
	}
	e := &effects.Effect{Grouping: g, Variance: s.Variance, Share: s.Share, Moments: moments, Walks: s.Walks}
	for k := range e.Walks {
		twice := slices.ContainsFunc(e.Walks[:k], func(w effects.Walk) bool { return w.Axis == e.Walks[k].Axis })
		if err := e.Walks[k].Check(g); err != nil || twice || functions > 1 {
			return nil, fmt.Errorf("%s: %w", s.Term, effects.ErrWalk)
		}
	}
	if s.Joint {
		if functions > 1 {
			return nil, fmt.Errorf("%s is joint with one of several functions", s.Term)
		}
		e.Given, err = r.given(name, moments, points)
	}
	return e, err
}

// moments are what is known of the effects of a family, whose tensors have the shape given. What is known
// given what the points see may be less than nothing.
func (r *Reader) moments(name string, largest float64, joint bool, shape ...int) ([]effects.Moment, error) {
	mean, err := r.floats(name+"mean", largestEffect, shape...)
	if err != nil {
		return nil, err
	}
	variance, err := r.floats(name+"variance", largestEffect, shape...)
	if err != nil {
		return nil, err
	}
	moments := make([]effects.Moment, len(mean))
	for g := range moments {
		moments[g] = effects.Moment{Mean: mean[g], Variance: variance[g]}
		if v := variance[g]; !(v > 0 && (joint || v <= largest*(1+1e-9))) {
			return nil, fmt.Errorf("effect %d of %s has the variance %v", g+1, name, v)
		}
	}
	return moments, nil
}

// largestEffect bounds the mean of an effect, and mostFamilies how many families there are.
const (
	largestEffect = 1e6
	mostFamilies  = 1000
)

// CheckEffects refuses families that no fit of rows of so many entries could have found, before
// anything is made of them.
func CheckEffects(families []Effects, entries int) error {
	if len(families) > mostFamilies {
		return fmt.Errorf("it has %d families of effects", len(families))
	}
	for _, e := range families {
		if e.Joint && (len(families) > 1 || e.Counts) {
			return fmt.Errorf("%s is joint, and not the only family of categories or bins", e.Term)
		}
		cells := 1.0
		for _, c := range e.Columns {
			if c.Entry < 0 || c.Entry >= entries || c.Bins < 0 || c.Bins > effects.MostBins || c.Cells < 1 || c.Bins > 0 && c.Cells < 2 {
				return fmt.Errorf("%s has a column %d of %d cells", e.Term, c.Entry, c.Cells)
			}
			cells *= float64(c.Cells)
		}
		if len(e.Columns) > effects.MostParts || cells > effects.MostCells || e.Cells < 1 || float64(e.Cells) > cells ||
			!(e.Variance > 0 && e.Variance <= largestEffect) || len(e.Term) > largestText || !(math.Abs(e.Gain) <= largestNumber) || !(e.Share >= 0 && e.Share <= largestNumber) {
			return fmt.Errorf("%s has %d of %g combinations, and a variance of %v", e.Term, e.Cells, cells, e.Variance)
		}
	}
	return nil
}

// EffectsBytes is what it takes to read families of effects on so many functions, seen from so many points.
func EffectsBytes(families []Effects, functions, points int) (bytes float64) {
	for _, e := range families {
		cells := 1.0
		for _, c := range e.Columns {
			cells *= float64(c.Cells)
		}
		bytes += 12*cells/64 + float64(16+32*functions)*float64(e.Cells)
		if e.Joint { // slopes and what predictions take, of EP and of the method itself
			bytes += 4 * 8 * float64(points) * float64(e.Cells)
		}
	}
	return bytes
}

package lossep

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/safetensors"
)

// Effects in the model file: those of family j are the tensors effects.j.cells, the numbers of the
// combinations of cells that occur, effects.j.mean and effects.j.variance, one number for each of
// them; and effects.j.cuts.k, where the k-th of its columns is cut, if that is a number. A family
// of numbers of rows has these as effects.j.rows, and means and variances for each class of them.

// addEffects adds them.
func addEffects(f *safetensors.File, set effects.Set) {
	for j, e := range set {
		name := fmt.Sprintf("effects.%d.", j)
		var cells, rows []int64
		for _, k := range e.Keys() {
			cells = append(cells, int64(k))
		}
		for _, n := range e.Rows {
			rows = append(rows, int64(n))
		}
		mean, variance := make([]float64, len(e.Moments)), make([]float64, len(e.Moments))
		for g, w := range e.Moments {
			mean[g], variance[g] = w.Mean, w.Variance
		}
		f.AddInts(name+"cells", cells, len(cells))
		if e.Rows != nil {
			f.AddInts(name+"rows", rows, len(rows))
		}
		f.AddFloats(name+"mean", mean, len(mean))
		f.AddFloats(name+"variance", variance, len(variance))
		for k, a := range e.Axes {
			if a.Cuts != nil {
				f.AddFloats(fmt.Sprintf("%scuts.%d", name, k), a.Cuts, len(a.Cuts))
			}
		}
	}
}

// readEffects reads them, and returns how many tensors that were.
func (m *Model) readEffects(f *safetensors.File) (set effects.Set, tensors int, err error) {
	for j, s := range m.summary.Effects {
		e, n, err := m.readFamily(f, fmt.Sprintf("effects.%d.", j), s)
		if err != nil {
			return nil, 0, err
		}
		set, tensors = append(set, e), tensors+n
	}
	return set, tensors, nil
}

func (m *Model) readFamily(f *safetensors.File, name string, s Effects) (*effects.Effect, int, error) {
	tensors := 3
	var family effects.Family
	if s.Counts {
		family = append(family, effects.Count)
	}
	var axes []*effects.Axis
	for k, c := range s.Columns {
		a := &effects.Axis{Column: c.Entry, Cells: c.Cells}
		if c.Bins > 0 {
			t, err := f.Floats(fmt.Sprintf("%scuts.%d", name, k), max(0, c.Cells-2))
			if err != nil {
				return nil, 0, err
			}
			a.Cuts, tensors = append([]float64{}, t.Floats...), tensors+1
		}
		family, axes = append(family, effects.Part{Column: c.Entry, Bins: c.Bins}), append(axes, a)
	}
	cells, err := f.Ints(name+"cells", s.Cells)
	if err != nil {
		return nil, 0, err
	}
	keys := make([]int, s.Cells)
	for i, k := range cells.Ints {
		keys[i] = int(k)
	}
	var rows []uint32
	if s.Counts {
		t, err := f.Ints(name+"rows", s.Cells)
		if err != nil {
			return nil, 0, err
		}
		for _, n := range t.Ints {
			if n < 1 || n > math.MaxUint32 {
				return nil, 0, fmt.Errorf("%s has a combination of %d rows", s.Term, n)
			}
			rows = append(rows, uint32(n))
		}
		tensors++
	}
	moments, err := readMoments(f, name, s)
	if err != nil {
		return nil, 0, err
	}
	g, err := effects.NewGrouping(family, axes, keys, rows)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.Term, err)
	}
	return &effects.Effect{Grouping: g, Variance: s.Variance, Moments: moments}, tensors, nil
}

// readMoments reads what is known of the effects of a family.
func readMoments(f *safetensors.File, name string, s Effects) ([]effects.Moment, error) {
	moments := make([]effects.Moment, s.groups())
	mean, err := f.Floats(name+"mean", len(moments))
	if err != nil {
		return nil, err
	}
	variance, err := f.Floats(name+"variance", len(moments))
	if err != nil {
		return nil, err
	}
	for g := range moments {
		w := effects.Moment{Mean: mean.Floats[g], Variance: variance.Floats[g]}
		if !(math.Abs(w.Mean) <= largestEffect && w.Variance > 0 && w.Variance <= s.Variance*(1+1e-9)) {
			return nil, fmt.Errorf("effect %d of %s has mean %v and variance %v", g, s.Term, w.Mean, w.Variance)
		}
		moments[g] = w
	}
	return moments, nil
}

// groups is the number of effects.
func (s *Effects) groups() int {
	if s.Counts {
		return effects.CountClasses
	}
	return s.Cells
}

// effectsBytes is what it takes to read effects.
func (s *Summary) effectsBytes() (bytes float64) {
	for _, e := range s.Effects {
		cells := 1.0
		for _, c := range e.Columns {
			cells *= float64(c.Cells)
		}
		bytes += 12*cells/64 + 48*float64(e.Cells)
	}
	return bytes
}

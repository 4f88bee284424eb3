package lossep

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/safetensors"
)

// Effects in the model file: those of family j are the tensors effects.j.cells, the numbers of the
// combinations of cells that occur, effects.j.mean and effects.j.variance, one number for each of
// them; and effects.j.cuts.k, where the k-th of its columns is cut, if that is a number.

// addEffects adds them.
func addEffects(f *safetensors.File, set effects.Set) {
	for j, e := range set {
		name := fmt.Sprintf("effects.%d.", j)
		keys := e.Keys()
		cells := make([]int64, len(keys))
		mean, variance := make([]float64, len(keys)), make([]float64, len(keys))
		for g, k := range keys {
			cells[g], mean[g], variance[g] = int64(k), e.Moments[g].Mean, e.Moments[g].Variance
		}
		f.AddInts(name+"cells", cells, len(cells))
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
	cells, err := f.Ints(name+"cells", s.Groups)
	if err != nil {
		return nil, 0, err
	}
	mean, err := f.Floats(name+"mean", s.Groups)
	if err != nil {
		return nil, 0, err
	}
	variance, err := f.Floats(name+"variance", s.Groups)
	if err != nil {
		return nil, 0, err
	}
	keys, moments := make([]int, s.Groups), make([]effects.Moment, s.Groups)
	for g := range keys {
		keys[g], moments[g] = int(cells.Ints[g]), effects.Moment{Mean: mean.Floats[g], Variance: variance.Floats[g]}
		if w := moments[g]; !(math.Abs(w.Mean) <= largestEffect && w.Variance > 0 && w.Variance <= s.Variance*(1+1e-9)) {
			return nil, 0, fmt.Errorf("effect %d of %s has mean %v and variance %v", g, s.Term, w.Mean, w.Variance)
		}
	}
	g, err := effects.NewGrouping(family, axes, keys)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", s.Term, err)
	}
	return &effects.Effect{Grouping: g, Variance: s.Variance, Moments: moments}, tensors, nil
}

// largestEffect bounds the mean of an effect, and mostFamilies how many families there are.
const (
	largestEffect = 1e6
	mostFamilies  = 1000
)

// checkEffects refuses families that no fit could have found, before anything is made of them.
func (h *header) checkEffects() error {
	s := &h.Summary
	if len(s.Effects) > 0 && s.Inducing == nil || len(s.Effects) > mostFamilies {
		return fmt.Errorf("it has %d families of effects", len(s.Effects))
	}
	width := h.Recipe.Dim()
	for _, e := range s.Effects {
		cells := 1.0
		for _, c := range e.Columns {
			if c.Entry < 0 || c.Entry >= width || c.Bins < 0 || c.Bins > effects.MostBins || c.Cells < 1 || c.Bins > 0 && c.Cells < 2 {
				return fmt.Errorf("%s has a column %d of %d cells", e.Term, c.Entry, c.Cells)
			}
			cells *= float64(c.Cells)
		}
		if len(e.Columns) > effects.MostParts || cells > effects.MostCells || e.Groups < 0 || float64(e.Groups) > cells ||
			!(e.Variance > 0 && e.Variance <= largestEffect) || len(e.Term) > largestText || !(math.Abs(e.Gain) <= largestNumber) {
			return fmt.Errorf("%s has %d groups in %g cells, and a variance of %v", e.Term, e.Groups, cells, e.Variance)
		}
	}
	return nil
}

// effectsBytes is what it takes to read effects.
func (s *Summary) effectsBytes() (bytes float64) {
	for _, e := range s.Effects {
		cells := 1.0
		for _, c := range e.Columns {
			cells *= float64(c.Cells)
		}
		bytes += 12*cells/64 + 48*float64(e.Groups)
	}
	return bytes
}

package lossep

import (
	"math"

	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
)

// What fits and models take is matrices of n×n numbers for n training rows, and little
// besides. How many is measured, for fits in the table of methods, in a process that is
// told to collect its garbage before it grows beyond what it needs
// (debug.SetMemoryLimit); one that is not takes up to twice as much.
const loadMatrices = 8 // while a model is read

// loadBytes is what it takes to read a model.
func loadBytes(rows, features int) float64 {
	return loadMatrices*matrixBytes(rows) + 3*8*float64(rows)*float64(features)
}

// mixtureBytes is the least that it takes to read a mixture of so many posteriors: those that
// are read stay, with what corrections need, while the next one is. How large the tables of
// corrections are is known with the kernels only; see nextBytes.
func mixtureBytes(r *recipe.Recipe, parts, rows, features int) float64 {
	views := rows * ViewsOf(r)
	each := posterior.FullBytes(rows, features, views)
	if !several(r) {
		each += posterior.LeastRefinedBytes(rows)
	}
	return float64(max(parts, 1)-1)*each + loadBytes(views, features)
}

// nextBytes is what it takes to read one more part of a mixture, while those stay that take so
// much.
func nextBytes(sofar float64, r *recipe.Recipe, features int) float64 {
	return sofar + loadBytes(r.Rows*ViewsOf(r), features)
}

// bytesOf is about what opinions on one process take, in bytes of memory. What corrections need is
// made when they are first asked, which is at the latest when the model is checked.
func bytesOf(opinions []opinion) (most float64) {
	for _, o := range opinions {
		most = max(most, o.Bytes())
	}
	return most
}

// FitBytes is about what Fit takes, in bytes of memory, and at most what the options allow.
func (p *Problem) FitBytes() float64 {
	most, rows := float64(p.opt.MaxMemory), p.Len()*ViewsOf(p.Recipe)
	if p.opt.Induces(rows) {
		return most // half of it is for views of the rows, and what they leave is not known before
	}
	need := p.opt.Method.FitBytes(rows) + 3*8*float64(p.Len())*float64(p.coding.Len())
	if p.opt.Kernel == AutoKernel {
		need += mixtureBytes(p.Recipe, len(search.Candidates), p.Len(), p.coding.Len())
	}
	return min(most, need)
}

// Bytes is about what the model takes, in bytes of memory.
func (m *Model) Bytes() float64 { return bytesOf(m.opinions) }

// CalibrationBytes is about what Calibrate takes, in bytes of memory; nothing for a model
// that does not keep its rows, which cannot be calibrated.
func (m *Model) CalibrationBytes() float64 {
	rows, l := m.provenance.Rows, linkOf(m.recipe, m.likelihood)
	switch s := m.summary.Inducing; {
	case m.x == nil:
		return 0
	case s != nil:
		views := 8 * float64(rows) * float64(s.Points+viewPadding)
		if views > calibrationMemory { // then they are made again in every pass
			views = 0
		}
		// A pass has the views of a block as they are, and twice more while it works on them.
		block := 3 * 8 * float64(pass.BlockRows(rows, s.Points)) * float64(s.Points+viewPadding)
		functions := float64(l.functions())
		return functions*LossEP.FitBytes(s.Points) + views + block + functions*calibrationRow*float64(rows)
	}
	// One part of a mixture is calibrated after the other, and those that are finished stay.
	first := 0.0
	for _, o := range m.opinions {
		first = max(first, posterior.Parts(o.Posterior)[0].Bytes())
	}
	return LossEP.FitBytes(rows*l.views()) + m.Bytes() - first
}

// loadBytes is what it takes to read a model with inducing points.
func (s *Inducing) loadBytes(rows, features, functions int) float64 {
	need := float64(functions) * loadBytes(s.Points, features)
	if KeepsRows(rows, features, functions) {
		need += 3 * posterior.RowBytes(rows, features, functions)
	}
	return need
}

// KeepsRows tells whether a model of so many rows keeps them, so that it can be calibrated
// to other costs later. With their labels, and their sites of so many functions, they take at most
// 64 MB.
func KeepsRows(rows, features, functions int) bool {
	return rows*(features+1+2*functions)*8 <= 64<<20
}

const (
	// calibrationMemory is what views may take up while a model is calibrated.
	calibrationMemory = 256 << 20
	// viewPadding is how many numbers a view takes beyond those of the points, at most: its
	// residual, and what fills it up.
	viewPadding = 16
	// calibrationRow is what a row takes beside its view: sites of EP and of the calibration,
	// old and new, its label, and its stakes.
	calibrationRow = 128
)

// tooManyParts says that a mixture takes more memory than there is.
func (p *Problem) tooManyParts(parts int, need float64) error {
	return inputf("max memory", "a mixture of %d posteriors of %d rows each takes about %.2g GB of memory to be read, more than %.2g GB: choose one kernel, give a sample of the rows, or allow more memory",
		parts, p.Len(), need/1e9, float64(p.opt.MaxMemory)/1e9)
}

// roomBytes is what views of the rows may take up.
func (p *Problem) roomBytes() int64 {
	rows, features := p.X.Dims()
	room := p.opt.roomBytes(rows, features, p.link().functions())
	if p.effects != nil {
		room -= EffectRowBytes * int64(rows*p.link().functions())
	}
	return max(0, room)
}

// EffectRowBytes is about what effects on a function take for a row: the groups of some thirty families, the
// moments of the process, slopes and curvatures.
const EffectRowBytes = 160

// mostGroups is the most groups of effects that memory allows: a quarter of it is for them.
func (o *Options) mostGroups() int {
	return int(max(1, min(o.MaxMemory/(4*groupBytes), math.MaxInt32)))
}

// groupBytes is about what a group takes while its effect is learnt: what is known of it now and was before the last
// pass, how far it has moved, and sums of shards.
const groupBytes = 128

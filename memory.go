package lossep

import (
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/recipe"
)

// What fits and models take is matrices of n×n numbers for n training rows, and little
// besides. How many is measured, for fits in the table of methods, in a process that is
// told to collect its garbage before it grows beyond what it needs
// (debug.SetMemoryLimit); one that is not takes up to twice as much.
const (
	loadMatrices = 8 // while a model is read
	keptMatrices = 4 // and afterwards
	// correctionMatrices are for second opinions by corrected marginals.
	correctionMatrices = 2
)

// loadBytes is what it takes to read a model.
func loadBytes(rows, features int) float64 {
	return loadMatrices*matrixBytes(rows) + 3*8*float64(rows)*float64(features)
}

// mixtureBytes is the least that it takes to read a mixture of so many posteriors: those that
// are read stay, with what corrections need, while the next one is. How large the tables of
// corrections are is known with the kernels only; see nextBytes.
func mixtureBytes(r *recipe.Recipe, parts, rows, features int) float64 {
	views := rows * viewsOf(r)
	each := keptMatrices*matrixBytes(views) + 8*float64(rows)*float64(features)
	if corrects(r, rows) {
		each += correctionMatrices*matrixBytes(rows) + corrected.LeastTableBytes(rows)
	}
	return float64(max(parts, 1)-1)*each + loadBytes(views, features)
}

// nextBytes is what it takes to read one more part of a mixture, while these stay.
func nextBytes(parts []*Model, r *recipe.Recipe, features int) float64 {
	sum := loadBytes(r.Rows*viewsOf(r), features)
	for _, part := range parts {
		sum += part.Bytes()
	}
	return sum
}

// corrects tells whether a model keeps what factorised corrections need.
func corrects(r *recipe.Recipe, rows int) bool { return !several(r) && rows > pairedRows }

// FitBytes is about what Fit takes, in bytes of memory, and at most what the options allow.
func (p *Problem) FitBytes() float64 {
	most, rows := float64(p.opt.MaxMemory), p.Len()*viewsOf(p.Recipe)
	if p.opt.Induces(rows) {
		return most // half of it is for views of the rows, and what they leave is not known before
	}
	need := p.opt.Method.FitBytes(rows) + 3*8*float64(p.Len())*float64(p.coding.Len())
	if p.opt.Kernel == AutoKernel {
		need += mixtureBytes(p.Recipe, len(candidates), p.Len(), p.coding.Len())
	}
	return min(most, need)
}

// Bytes is about what the model takes, in bytes of memory.
func (m *Model) Bytes() float64 {
	if m.inducing != nil {
		functions := functionsOf(m.recipe)
		return keptMatrices*float64(functions)*matrixBytes(m.inducing.process.Dim()) + m.summary.Inducing.rowBytes(m.provenance.Rows, m.coding.Len(), functions)
	}
	if m.mixture != nil {
		sum := 0.0
		for _, part := range m.mixture.parts {
			sum += part.Bytes()
		}
		return sum
	}
	rows, features := m.x.Dims()
	kept := keptMatrices*matrixBytes(rows*viewsOf(m.recipe)) + 8*float64(rows)*float64(features)
	// Whatever the method, the corrections of EP can be asked for a second opinion, and what
	// they need is made when they first are, which is at the latest when the model is checked.
	if corrects(m.recipe, rows) {
		kept += correctionMatrices * matrixBytes(rows)
		for _, o := range m.opinions {
			if c, ok := o.posterior.(*corrected.Posterior); ok {
				kept += c.TableBytes()
			}
		}
	}
	return kept
}

// CalibrationBytes is about what Calibrate takes, in bytes of memory; nothing for a model
// that does not keep its rows, which cannot be calibrated.
func (m *Model) CalibrationBytes() float64 {
	rows := m.provenance.Rows
	switch {
	case m.x == nil:
		return 0
	case m.inducing != nil:
		points := m.inducing.process.Dim()
		views := 8 * float64(rows) * float64(points+viewPadding)
		if views > calibrationMemory { // then they are made again in every pass
			views = 0
		}
		// A pass has the views of a block as they are, and twice more while it works on them.
		block := 3 * 8 * float64(pass.BlockRows(rows, points)) * float64(points+viewPadding)
		functions := float64(functionsOf(m.recipe))
		return functions*LossEP.FitBytes(points) + views + block + functions*calibrationRow*float64(rows)
	case m.mixture != nil:
		// One part is calibrated after the other, and those that are finished stay.
		return LossEP.FitBytes(rows*viewsOf(m.recipe)) + m.Bytes() - m.mixture.parts[0].Bytes()
	}
	return LossEP.FitBytes(rows * viewsOf(m.recipe))
}

// rowBytes is what a model with inducing points keeps of its rows.
func (s *Inducing) rowBytes(rows, features, functions int) float64 {
	if !keepsRows(rows, features, functions) {
		return 0
	}
	return 8 * float64(rows) * float64(features+1+2*functions)
}

// loadBytes is what it takes to read a model with inducing points.
func (s *Inducing) loadBytes(rows, features, functions int) float64 {
	return float64(functions)*loadBytes(s.Points, features) + 3*s.rowBytes(rows, features, functions)
}

// keepsRows tells whether a model of so many rows keeps them, so that it can be calibrated
// to other costs later. With their labels, and their sites of so many functions, they take at most
// 64 MB.
func keepsRows(rows, features, functions int) bool {
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

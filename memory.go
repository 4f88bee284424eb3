package lossep

import "math"

// DefaultMaxMemory is the most bytes of memory that a fit or a model that is read may
// take, unless told otherwise.
const DefaultMaxMemory = 2_000_000_000

// What fits and models take is matrices of n×n numbers for n training rows, and little
// besides. How many is measured, for fits in the table of methods, in a process that is
// told to collect its garbage before it grows beyond what it needs
// (debug.SetMemoryLimit); one that is not takes up to twice as much.
const (
	loadMatrices = 8 // while a model is read
	keptMatrices = 4 // and afterwards
)

func matrixBytes(rows int) float64 { return 8 * math.Pow(float64(rows), 2) }

// FitBytes is about what a fit by the method takes, in bytes of memory.
func (m Method) FitBytes(rows int) float64 { return float64(m.row(rows).Matrices) * matrixBytes(rows) }

// loadBytes is what it takes to read a model.
func loadBytes(rows, features int) float64 {
	return loadMatrices*matrixBytes(rows) + 3*8*float64(rows)*float64(features)
}

// Bytes is about what the model takes, in bytes of memory.
func (m *Model) Bytes() float64 {
	if m.inducing != nil {
		return keptMatrices*matrixBytes(m.inducing.process.Dim()) + m.summary.Inducing.rowBytes(m.provenance.Rows, m.coding.Len())
	}
	if m.mixture != nil {
		sum := 0.0
		for _, part := range m.mixture.parts {
			sum += part.Bytes()
		}
		return sum
	}
	rows, features := m.x.Dims()
	return keptMatrices*matrixBytes(rows*viewsOf(m.recipe)) + 8*float64(rows)*float64(features)
}

// CalibrationBytes is about what Calibrate takes, in bytes of memory.
func (m *Model) CalibrationBytes() float64 {
	if m.inducing != nil {
		return LossEP.FitBytes(m.inducing.process.Dim()) + 32*float64(m.provenance.Rows) + calibrationMemory
	}
	return LossEP.FitBytes(m.provenance.Rows)
}

// rowBytes is what a model with inducing points keeps of its rows.
func (s *Inducing) rowBytes(rows, features int) float64 {
	if !keepsRows(rows, features) {
		return 0
	}
	return 8 * float64(rows) * float64(features+3)
}

// loadBytes is what it takes to read a model with inducing points.
func (s *Inducing) loadBytes(rows, features int) float64 {
	return loadBytes(s.Points, features) + 3*s.rowBytes(rows, features)
}

// roomBytes is what views of so many rows from inducing points may take up: half of what
// is allowed, less what the rows and their sites take.
func (o *Options) roomBytes(rows, features int) int64 {
	return max(0, o.MaxMemory/2-int64(rows)*int64(8*features+sitesOfRow))
}

// sitesOfRow is what a row takes beside its features: its sites, old and new, and its
// label.
const sitesOfRow = 40

// affordable refuses a fit that would take more memory than it may.
func (o *Options) affordable(name string, rows int) error {
	if o.Induces(rows) {
		return nil
	}
	need := o.Method.FitBytes(rows)
	if need <= float64(o.MaxMemory) {
		return nil
	}
	return inputf("max memory", "%s has %d rows, and a fit by %s takes about %.2g GB of memory for them, more than %.2g GB: give a sample of the rows, or allow more memory",
		name, rows, o.Method, need/1e9, float64(o.MaxMemory)/1e9)
}

package lossep

// What fits and models take is matrices of n×n numbers for n training rows, and little
// besides. How many is measured, for fits in the table of methods, in a process that is
// told to collect its garbage before it grows beyond what it needs
// (debug.SetMemoryLimit); one that is not takes up to twice as much.
const (
	loadMatrices = 8 // while a model is read
	keptMatrices = 4 // and afterwards
	// tableBytes is what the tables of corrections take for each training row: some twenty
	// correlations, fifty nodes, and two numbers of nodes.
	tableBytes = 16 << 10
)

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
	kept := keptMatrices*matrixBytes(rows*viewsOf(m.recipe)) + 8*float64(rows)*float64(features)
	if m.method == Corrected && rows > pairedRows {
		kept += 2*matrixBytes(rows) + tableBytes*float64(rows)
	}
	return kept
}

// CalibrationBytes is about what Calibrate takes, in bytes of memory.
func (m *Model) CalibrationBytes() float64 {
	if m.inducing != nil {
		return LossEP.FitBytes(m.inducing.process.Dim()) + 32*float64(m.provenance.Rows) + calibrationMemory
	}
	return LossEP.FitBytes(m.provenance.Rows * viewsOf(m.recipe))
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

// keepsRows tells whether a model of so many rows keeps them, so that it can be calibrated
// to other costs later. They take at most 64 MB.
func keepsRows(rows, features int) bool { return rows*(features+3)*8 <= 64<<20 }

// calibrationMemory is what views may take up while a model is calibrated.
const calibrationMemory = 256 << 20

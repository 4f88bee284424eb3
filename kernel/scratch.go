package kernel

import "gonum.org/v1/gonum/blas/blas64"

// scratch lends buffers to the evaluation of one tile after another. One
// goroutine owns it. Buffers are lent in stack order: take what is needed
// after mark, and release everything since the mark at once.
type scratch struct {
	buffers [][]float64
	lent    int
}

func (s *scratch) mark() int { return s.lent }

func (s *scratch) release(mark int) { s.lent = mark }

// slice lends n numbers of unspecified value.
func (s *scratch) slice(n int) []float64 {
	if s.lent == len(s.buffers) {
		s.buffers = append(s.buffers, nil)
	}
	if cap(s.buffers[s.lent]) < n {
		s.buffers[s.lent] = make([]float64, n)
	}
	buffer := s.buffers[s.lent][:n]
	s.lent++
	return buffer
}

// matrix lends a rows×cols matrix of unspecified values.
func (s *scratch) matrix(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: s.slice(rows * cols)}
}

// row returns row i of m, sharing its storage.
func row(m blas64.General, i int) []float64 {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

package effects

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
)

// Tuned are terms with hyperparameters, such as the variance of noise. Noise is what effects leave, so that a
// fit finds both in turn.
type Tuned interface {
	Single
	// Hyperpriors are those of the logarithms of the hyperparameters, and Tune sets these.
	Hyperpriors() []kernel.Prior
	Tune(logs []float64)
}

// tunedRows is about how many rows hyperparameters are found from: a variance is known to 2 % then.
const tunedRows = 1 << 13

// tunes tells whether hyperparameters are found again before a pass: effects move most in the first ones.
func tunes(pass int) bool { return pass == 1 || pass == 3 }

// tune moves hyperparameters to the maximum of Σ E log t of some rows and their prior, by Newton's steps in
// one after the other. A step that lowers it is halved.
func (f *Fit) tune() error {
	rows, ok := f.rows.(*InMemory)
	if !ok {
		return nil
	}
	t, ok := rows.terms.(Tuned)
	if !ok || len(f.Logs) == 0 || len(f.members) == 0 {
		return nil
	}
	value, err := rows.some(t, f.Effects())
	if err != nil {
		return err
	}
	best := value(f.Logs)
	for range 6 {
		farthest := 0.0
		for k, x := range f.Logs {
			const h = 0.05
			at := append([]float64{}, f.Logs...)
			at[k] = x - h
			low := value(at)
			at[k] = x + h
			high := value(at)
			slope, bend := (high-low)/(2*h), (high-2*best+low)/(h*h)
			step := math.Copysign(1, slope)
			if bend < 0 {
				step = max(-1, min(1, -slope/bend))
			}
			for range 4 {
				at[k] = x + step
				if v := value(at); v > best {
					best, f.Logs, farthest = v, at, max(farthest, math.Abs(step))
					break
				}
				step /= 2
			}
		}
		if farthest < 0.03 {
			break
		}
	}
	t.Tune(f.Logs)
	return nil
}

// some is Σ E log t of rows that stand for all, with the prior, in the logarithms of hyperparameters.
func (m *InMemory) some(t Tuned, set Set) (func(logs []float64) float64, error) {
	m.beside()
	n, all := t.Len(), numBlocks(t.Len())
	blocks := min(all, tunedRows/blockRows)
	mean, variance := make([]float64, blocks*blockRows), make([]float64, blocks*blockRows)
	first := func(b int) (from, to int) {
		from = b * all / blocks * blockRows
		s, i := m.at(from)
		return from, min(from+blockRows, from-i+s.rows)
	}
	rows := 0
	for b := range blocks {
		from, to := first(b)
		rows += to - from
		s, i := m.at(from)
		groups, err := s.hold(set)
		if err != nil {
			return nil, err
		}
		s.moments(set, groups, mean[b*blockRows:][:to-from], variance[b*blockRows:][:to-from], 0, i)
	}
	counter, _ := t.(Counter)
	return func(logs []float64) float64 {
		t.Tune(logs)
		parts := make([]float64, blocks)
		tasks.For(blocks, func(b int) {
			from, to := first(b)
			for i := from; i < to; i++ {
				l, _, _ := meanLog(t.Term(i), mean[b*blockRows+i-from], variance[b*blockRows+i-from])
				if counter != nil {
					l *= counter.Count(i)
				}
				parts[b] += l
			}
		})
		value := floats.Sum(parts) * float64(n) / float64(rows)
		for k, p := range t.Hyperpriors() {
			z := (logs[k] - p.Mean) / p.SD
			value -= z * z / 2
		}
		return value
	}, nil
}

package effects

import (
	"context"
	"math"
	"slices"

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
func (f *Fit) tune(ctx context.Context) error {
	if f.Tuned == nil || len(f.Logs) == 0 || len(f.members) == 0 {
		return nil
	}
	value, err := f.some(ctx)
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
	f.Tuned.Tune(f.Logs)
	return nil
}

// some is Σ E log t of rows that stand for all, with the prior, in the logarithms of hyperparameters.
func (f *Fit) some(ctx context.Context) (value func(logs []float64) float64, err error) {
	t := f.Tuned
	n, all := t.Len(), numBlocks(t.Len())
	from := make([]int, min(all, tunedRows/blockRows))
	for b := range from {
		from[b] = b * all / len(from) * blockRows
	}
	var moments [][2]float64
	if err := f.do(ctx, MomentsTask{f.Effects(), from}, func(found *Found) { moments = slices.Clone(found.Parts) }); err != nil {
		return nil, err
	}
	counter, _ := t.(Counter)
	rows := 0
	for _, first := range from {
		rows += min(blockRows, n-first)
	}
	return func(logs []float64) float64 {
		t.Tune(logs)
		parts := make([]float64, len(from))
		tasks.For(len(parts), func(b int) {
			for i := from[b]; i < min(from[b]+blockRows, n); i++ {
				at := moments[b*blockRows+i-from[b]]
				l, _, _ := meanLog(t.Term(i), at[0], at[1])
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

package orthant

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

// MinAcceptance is the acceptance rate below which [Region.Sample] gives up.
//
// Rates measured for S = I + D K D, K a squared-exponential kernel of variance
// e³ and length scale ℓ on n inputs uniform on [−10, 10], labels D drawn from
// the prior; median (minimum) of seven problems:
//
//	n     ℓ = e            ℓ = 1              ℓ = 0.3
//	15    0.51   (0.43)    0.56   (0.50)      0.72   (0.63)
//	50    0.18   (0.12)    0.091  (0.074)     0.17   (0.14)
//	100   0.051  (0.028)   0.019  (0.012)     0.012  (0.0074)
//	150   0.041  (0.025)   0.0059 (0.0048)    0.0009 (0.0006)
//	200   0.034  (0.020)   0.0053 (0.0019)    0.0002 (0.00009)
//	300   0.012  (0.0084)  0.0024 (0.0002)    6e-6   (3e-6)
//	400   0.011  (0.0033)  0.0005 (0.00015)   1e-6   (3e-7)
//
// So independent draws are practical beyond n = 400 for the smooth kernel, to
// about n = 200 at ℓ = 1 and to about n = 100 at ℓ = 0.3.
const MinAcceptance = 1e-3

const (
	// blockRows draws share one random stream: the unit of parallel work.
	blockRows = 64
	// blockBudget is the number of proposals a block may use, twice what
	// MinAcceptance needs: at that rate a block fails with probability 1e-10.
	blockBudget = 2 * blockRows / MinAcceptance
	// cancelInterval is the number of proposals between looks at the context.
	cancelInterval = 256
)

// Stats counts the work behind a set of draws.
type Stats struct {
	Accepted, Proposals int
}

// Rate returns the acceptance rate, an estimate of P(X > lower)/exp(C), C of the package comment.
func (s Stats) Rate() float64 { return float64(s.Accepted) / float64(s.Proposals) }

// Sample fills every row of dst with an independent draw of X given X > lower,
// the variables in the order given to [New]. The draws are exact. Row i
// depends on the region, the seed and i alone: not on the number of rows or
// processors.
//
// It returns an [AcceptanceError] when the acceptance rate is too low to be
// useful (see [MinAcceptance]), and the context's error when that ends first;
// the contents of dst are then undefined. It panics if dst does not have
// [Region.Dim] columns.
func (r *Region) Sample(ctx context.Context, dst *mat.Dense, seed uint64) (Stats, error) {
	rows, cols := dst.Dims()
	if cols != r.Dim() {
		panic(mat.ErrShape)
	}
	blocks := (rows + blockRows - 1) / blockRows
	stats := make([]Stats, blocks)
	errs := make([]error, blocks)

	// Blocks are begun in order and what is begun is finished, so the first
	// block to fail is the same whatever the timing.
	var failed atomic.Bool
	tasks.Each(blocks, func() func(int) {
		z := make([]float64, r.Dim())
		return func(b int) {
			if failed.Load() {
				return
			}
			rng := newStream(seed, sampleStream, b)
			end := min(rows, (b+1)*blockRows)
			block := dst.Slice(b*blockRows, end, 0, cols).(*mat.Dense)
			stats[b], errs[b] = r.fill(ctx, block, z, rng)
			if errs[b] != nil {
				failed.Store(true)
			}
		}
	})

	var total Stats
	for b := range blocks {
		if errs[b] != nil {
			return total, errs[b]
		}
		total.Accepted += stats[b].Accepted
		total.Proposals += stats[b].Proposals
	}
	return total, nil
}

// fill draws one block.
func (r *Region) fill(ctx context.Context, dst *mat.Dense, z []float64, rng *rand.Rand) (Stats, error) {
	var s Stats
	rows, _ := dst.Dims()
	for s.Accepted < rows {
		if s.Proposals%cancelInterval == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		if s.Proposals == blockBudget {
			return s, &AcceptanceError{Dim: r.Dim(), Accepted: s.Accepted, Proposals: s.Proposals}
		}
		s.Proposals++
		if r.propose(dst.RawRowView(s.Accepted), z, rng) {
			s.Accepted++
		}
	}
	return s, nil
}

// propose makes one proposal in x, using z as scratch space, and reports
// whether it is accepted: with probability exp(−Σ gap), that is, if an
// exponential threshold outlasts the gaps.
func (r *Region) propose(x, z []float64, rng *rand.Rand) bool {
	outlast := rng.ExpFloat64()
	threshold := outlast
	for k := range r.bounded {
		t := r.truncation(k, z)
		threshold -= r.gap(k, t, squeezed(-t))
		if threshold < undecided && (threshold < -undecided || r.remains(outlast, k+1, z) < 0) {
			return false
		}
		excess := drawExcess(t, rng)
		z[k] = r.tilt[k] + t + excess
		// X = lower + L_kk (Z − c): never below the bound, not even by rounding.
		x[r.order[k]] = r.lower[k] + r.diag[k]*excess
	}
	r.drawFree(x, z, rng)
	return true
}

// drawFree draws the variables without a bound given the others.
func (r *Region) drawFree(x, z []float64, rng *rand.Rand) {
	for k := r.bounded; k < len(r.order); k++ {
		z[k] = rng.NormFloat64()
		x[r.order[k]] = r.diag[k] * (z[k] + floats.Dot(r.row(k), z[:k]))
	}
}

package orthant

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
)

// Shifts is the number of independent randomisations behind a [Probability].
const Shifts = 16

// Probability is an estimate of P(X > lower).
type Probability struct {
	// Log is the natural logarithm of the estimate.
	Log float64
	// RelErr is the standard error of the estimate divided by the estimate
	// (and so, being small, the standard error of Log), from the scatter of
	// [Shifts] independent estimates: the error over RelErr follows Student's
	// t with Shifts − 1 degrees of freedom. It is never less than what
	// rounding may do.
	RelErr float64
}

// LogProb estimates P(X > lower) from at least the given number of points: the
// mean of exp(C − Σ gap) over the tilted draws, with a randomly shifted lattice
// in place of random numbers. The same seed gives the same bytes whatever the
// number of processors.
func (r *Region) LogProb(points int, seed uint64) Probability {
	perShift := primeFrom((points + Shifts - 1) / Shifts)
	// The last bounded variable is integrated exactly, the free ones drop out.
	generator := latticeGenerator(perShift, max(0, r.bounded-1))
	means := make([]float64, Shifts)

	tasks.Each(Shifts, func() func(int) {
		return func(s int) {
			l := newLattice(generator, newStream(seed, latticeStream, s))
			means[s] = r.logMeanWeight(l, perShift)
		}
	})

	logMean := floats.LogSumExp(means) - math.Log(Shifts)
	for s, m := range means {
		means[s] = math.Exp(m - logMean)
	}
	spread := stat.StdErr(stat.StdDev(means, nil), Shifts)
	rounding := 0x1p-52 * (float64(r.Dim()) + math.Abs(r.bound))
	return Probability{Log: r.bound + logMean, RelErr: math.Max(spread, rounding)}
}

// logMeanWeight returns the log of the mean of exp(−Σ gap) over the points of
// a lattice. In high dimension every term may underflow, so the sum
// is kept relative to its largest term.
func (r *Region) logMeanWeight(l *lattice, points int) float64 {
	z := make([]float64, r.bounded)
	largest, sum := math.Inf(-1), 0.0
	for range points {
		logWeight := r.logWeight(l.next(), z)
		if logWeight > largest {
			sum *= math.Exp(largest - logWeight)
			largest = logWeight
		}
		sum += math.Exp(logWeight - largest)
	}
	return largest + math.Log(sum/float64(points))
}

// logWeight returns −Σ gap of the draw that the point u of the unit cube
// stands for.
func (r *Region) logWeight(u, z []float64) float64 {
	sum := 0.0
	for k := range r.bounded {
		t := r.truncation(k, z)
		logTail := normal.LogCDF(-t)
		sum -= r.gap(k, t, logTail)
		if k < len(u) {
			z[k] = r.tilt[k] + t + excessAt(u[k], t, logTail)
		}
	}
	return sum
}

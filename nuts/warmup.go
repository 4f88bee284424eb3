package nuts

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// schedule divides a warm-up into a fast start (find the typical set), slow
// windows whose draws estimate the metric, each twice as long as the one
// before, and a fast end (settle the step size for the final metric).
type schedule struct {
	start int   // first transition that counts for the metric
	ends  []int // one past the last transition of each slow window
}

// Stan's lengths, for a warm-up that has room for them.
const (
	fastStart   = 75
	firstWindow = 25
	fastEnd     = 50
)

func newSchedule(warmup int) schedule {
	start, last, size := fastStart, warmup-fastEnd, firstWindow
	if warmup < fastStart+firstWindow+fastEnd {
		// Too short for doubling: 15 % start, one window, 10 % end.
		start, last = warmup*15/100, warmup-warmup/10
		size = last - start
	}
	s := schedule{start: start}
	for begin := start; begin < last; size *= 2 {
		end := begin + size
		if end+2*size > last {
			end = last // no room for another doubling: this window takes it all
		}
		s.ends = append(s.ends, end)
		begin = end
	}
	return s
}

// lastLength is the number of draws behind the final metric.
func (s schedule) lastLength() int {
	n := len(s.ends)
	if n == 1 {
		return s.ends[0] - s.start
	}
	return s.ends[n-1] - s.ends[n-2]
}

// moments accumulates mean and (co)variance by Welford's updates, which lose
// no digits when the mean is far from zero.
type moments struct {
	count      int
	mean       []float64
	deviation  []float64     // scratch: x − mean before the update
	variance   []float64     // Σ (x − mean)², by coordinate
	covariance *mat.SymDense // Σ (x − mean)(x − mean)ᵀ; nil for a diagonal metric
}

func newMoments(dim int, shape Metric) *moments {
	m := &moments{
		mean:      make([]float64, dim),
		deviation: make([]float64, dim),
		variance:  make([]float64, dim),
	}
	if shape == Dense {
		m.covariance = mat.NewSymDense(dim, nil)
	}
	return m
}

func (m *moments) reset() {
	m.count = 0
	clear(m.mean)
	clear(m.variance)
	if m.covariance != nil {
		m.covariance.Zero()
	}
}

func (m *moments) add(x []float64) {
	m.count++
	n := float64(m.count)
	for i, v := range x {
		m.deviation[i] = v - m.mean[i]
		m.mean[i] += m.deviation[i] / n
		m.variance[i] += m.deviation[i] * (v - m.mean[i])
	}
	if m.covariance != nil {
		// (x−m_old)(x−m_new)ᵀ = (1 − 1/n)(x−m_old)(x−m_old)ᵀ
		blas64.Syr(1-1/n, vector(m.deviation), m.covariance.RawSymmetric())
	}
}

// The estimate from n draws is shrunk towards a small multiple of the identity
// as if by five further draws, which keeps a window in which the chain stood
// still from giving a metric of zero (Stan's choice).
const (
	shrinkDraws    = 5
	shrinkVariance = 1e-3
)

// drawsPerDimension is how many draws per dimension a covariance needs to be
// better than its diagonal: with n draws in d dimensions its condition number
// relative to the truth is ((1+√(d/n))/(1−√(d/n)))², 34 at n = 2d and infinite
// at n = d, even when the coordinates are independent.
const drawsPerDimension = 2

// estimate returns the metric for the draws seen: dense if asked for and if
// there are enough of them, diagonal otherwise.
func (m *moments) estimate() metric {
	dim, n := len(m.mean), float64(m.count)
	scale := n / (n + shrinkDraws) / max(1, n-1)
	ridge := shrinkVariance * shrinkDraws / (n + shrinkDraws)
	if m.covariance != nil && m.count >= drawsPerDimension*dim {
		cov := mat.NewSymDense(dim, nil)
		cov.ScaleSym(scale, m.covariance)
		for i := range dim {
			cov.SetSym(i, i, cov.At(i, i)+ridge)
		}
		if dense, ok := newDenseMetric(cov); ok {
			return dense
		}
	}
	variance := make([]float64, dim)
	for i, v := range m.variance {
		variance[i] = scale*v + ridge
	}
	return newDiagonalMetric(variance)
}

package nuts

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

// moments accumulates mean and variance by Welford's updates, which lose no digits
// when the mean is far from zero.
type moments struct {
	count    int
	mean     []float64
	variance []float64 // Σ (x − mean)², by coordinate
}

func newMoments(dim int) *moments {
	return &moments{mean: make([]float64, dim), variance: make([]float64, dim)}
}

func (m *moments) reset() {
	m.count = 0
	clear(m.mean)
	clear(m.variance)
}

func (m *moments) add(x []float64) {
	m.count++
	n := float64(m.count)
	for i, v := range x {
		deviation := v - m.mean[i]
		m.mean[i] += deviation / n
		m.variance[i] += deviation * (v - m.mean[i])
	}
}

// The estimate from n draws is shrunk towards a small multiple of the identity
// as if by five further draws, which keeps a window in which the chain stood
// still from giving a metric of zero (Stan's choice).
const (
	shrinkDraws    = 5
	shrinkVariance = 1e-3
)

// estimate returns the metric for the draws seen.
func (m *moments) estimate() *metric {
	dim, n := len(m.mean), float64(m.count)
	scale := n / (n + shrinkDraws) / max(1, n-1)
	ridge := shrinkVariance * shrinkDraws / (n + shrinkDraws)
	variance := make([]float64, dim)
	for i, v := range m.variance {
		variance[i] = scale*v + ridge
	}
	return newMetric(variance)
}

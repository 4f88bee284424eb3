package nuts

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/normal"
)

// workspace computes the diagnostics of series of one size; reusing it saves
// the Fourier plan, the table of normal scores and all buffers.
//
// Every chain is cut in two (a middle draw is dropped when their number is
// odd), so that a chain that drifts disagrees with itself.
type workspace struct {
	chains, draws int
	halves        int // number of half chains
	length        int // draws in each

	values []float64 // half chains one after the other, divided by 2^exponent
	// exponent scales the largest magnitude to about 1, an exact operation
	// that keeps squares of very large or small series from over- or underflow.
	exponent int

	derived []float64 // scores or indicators computed from values
	order   []indexed // values in rising order
	folded  []indexed // scratch of fold
	scores  []float64 // normal score of each rank, filled on first use

	fft      *fourier.FFT
	padded   []float64
	spectrum []complex128
	power    []complex128
}

func newWorkspace(chains, draws int) *workspace {
	halves, length := 2*chains, draws/2
	total := halves * length
	// Padding to twice the length keeps the circular correlation of the
	// transform from wrapping around; a power of two is fastest.
	padded := 1
	for padded < 2*length {
		padded *= 2
	}
	return &workspace{
		chains: chains, draws: draws, halves: halves, length: length,
		values:   make([]float64, total),
		derived:  make([]float64, total),
		order:    make([]indexed, total),
		folded:   make([]indexed, total),
		fft:      fourier.NewFFT(padded),
		padded:   make([]float64, padded),
		spectrum: make([]complex128, padded/2+1),
		power:    make([]complex128, padded/2+1),
	}
}

func (w *workspace) load(s Series) {
	at := w.values[:0]
	for _, chain := range s {
		at = append(at, chain[:w.length]...)
		at = append(at, chain[len(chain)-w.length:]...)
	}
	_, exponent := math.Frexp(floats.Norm(w.values, math.Inf(1)))
	w.exponent = min(max(exponent, -1000), 1000) // so that 2^±exponent is finite
	floats.Scale(math.Ldexp(1, -w.exponent), w.values)
}

// half returns half chain j of x.
func (w *workspace) half(x []float64, j int) []float64 { return x[j*w.length : (j+1)*w.length] }

func (w *workspace) summarize(s Series) Summary {
	w.load(s)
	out := Summary{Chains: w.chains, Draws: w.draws}
	out.Estimate, out.SD = w.estimate()
	if out.SD == 0 {
		size := float64(len(w.values))
		out.Constant = true
		out.RHat, out.RHatBulk, out.RHatFolded = 1, 1, 1
		out.BulkESS, out.TailESS = size, size
		return out
	}
	w.sort()
	low, median, high := w.quantile(0.05), w.quantile(0.5), w.quantile(0.95)

	w.rankNormalize()
	out.RHatBulk = w.rHat(w.derived)
	out.BulkESS = w.ess(w.derived)
	out.TailESS = min(w.indicatorESS(low), w.indicatorESS(high))

	w.fold(median)
	w.rankNormalize()
	out.RHatFolded = w.rHat(w.derived)
	out.RHat = max(out.RHatBulk, out.RHatFolded)
	return out
}

// estimate returns the mean of the loaded series, with MCSE = sd/√ESS, and its
// standard deviation, which is 0 exactly when the series is constant.
func (w *workspace) estimate() (Estimate, float64) {
	if slices.Min(w.values) == slices.Max(w.values) {
		return Estimate{Mean: math.Ldexp(w.values[0], w.exponent), ESS: float64(len(w.values))}, 0
	}
	mean, sd := stat.MeanStdDev(w.values, nil)
	mean, sd = math.Ldexp(mean, w.exponent), math.Ldexp(sd, w.exponent)
	ess := w.ess(w.values)
	return Estimate{Mean: mean, MCSE: sd / math.Sqrt(ess), ESS: ess}, sd
}

// indexed is a value and its place in the half chains.
type indexed struct {
	value float64
	index int
}

// sort fills w.order with the loaded values in rising order.
func (w *workspace) sort() {
	for i, v := range w.values {
		w.order[i] = indexed{v, i}
	}
	slices.SortFunc(w.order, func(a, b indexed) int {
		if a.value < b.value { // values are finite: no need for cmp.Compare
			return -1
		}
		if a.value > b.value {
			return 1
		}
		return 0
	})
}

// fold replaces the sorted values by their sorted distances from the median:
// those below, read backwards, and those above are merged.
func (w *workspace) fold(median float64) {
	above := 0
	for above < len(w.order) && w.order[above].value < median {
		above++
	}
	below := above - 1
	for i := range w.folded {
		fromBelow, fromAbove := math.Inf(1), math.Inf(1)
		if below >= 0 {
			fromBelow = median - w.order[below].value
		}
		if above < len(w.order) {
			fromAbove = w.order[above].value - median
		}
		if fromBelow < fromAbove {
			w.folded[i] = indexed{fromBelow, w.order[below].index}
			below--
		} else {
			w.folded[i] = indexed{fromAbove, w.order[above].index}
			above++
		}
	}
	w.order, w.folded = w.folded, w.order
}

// quantile interpolates the sorted values linearly (type 7 of Hyndman and Fan),
// for 0 ≤ p < 1.
func (w *workspace) quantile(p float64) float64 {
	at := p * float64(len(w.order)-1)
	i := int(at)
	x := w.order[i].value
	return x + (at-float64(i))*(w.order[i+1].value-x)
}

// rankNormalize gives every value in w.order the normal score
// Φ⁻¹((r − 3/8)/(S + 1/4)) of its rank r among all S; ties share their average
// rank. The result is in w.derived, in the places of the half chains.
func (w *workspace) rankNormalize() {
	total := len(w.order)
	if w.scores == nil {
		w.scores = make([]float64, total)
		for i := range w.scores {
			w.scores[i] = normalScore(float64(i+1), total)
		}
	}
	for begin := 0; begin < total; {
		end := begin + 1
		for end < total && w.order[end].value == w.order[begin].value {
			end++
		}
		score := w.scores[begin]
		if end > begin+1 {
			score = normalScore(float64(begin+1+end)/2, total)
		}
		for _, tied := range w.order[begin:end] {
			w.derived[tied.index] = score
		}
		begin = end
	}
}

func normalScore(rank float64, total int) float64 {
	return normal.Quantile((rank - 3.0/8) / (float64(total) + 1.0/4))
}

// indicatorESS is the effective sample size of 1{x ≤ q} over the loaded
// values. A constant indicator, which heavy ties can cause, has nothing to
// estimate and counts as fully effective.
func (w *workspace) indicatorESS(q float64) float64 {
	below := 0
	for i, v := range w.values {
		w.derived[i] = 0
		if v <= q {
			w.derived[i] = 1
			below++
		}
	}
	if below == 0 || below == len(w.values) {
		return float64(len(w.values))
	}
	return w.ess(w.derived)
}

// rHat is √(((n−1)/n W + B/n)/W), the between-chain over the within-chain
// estimate of the standard deviation; +Inf when no half chain moves but they
// differ.
func (w *workspace) rHat(x []float64) float64 {
	within, between := w.variances(x)
	if within == 0 {
		if between == 0 {
			return 1
		}
		return math.Inf(1)
	}
	n := float64(w.length)
	return math.Sqrt((n-1)/n + between/within)
}

// variances returns the mean variance within half chains and the variance of
// their means.
func (w *workspace) variances(x []float64) (within, between float64) {
	var mean, spread float64 // Welford over the half chains' means
	for j := range w.halves {
		m, v := stat.MeanVariance(w.half(x, j), nil)
		within += v
		d := m - mean
		mean += d / float64(j+1)
		spread += d * (m - mean)
	}
	return within / float64(w.halves), spread / float64(w.halves-1)
}

// ess is the effective sample size of the mean of x, with the autocorrelations
// of all half chains combined as in Vehtari et al. (2021, section 3.2):
// ρ(t) = 1 − (W − mean over chains of acov(t))/var⁺, so that chains which
// disagree are as bad as chains which do not move. The sum over t stops by
// Geyer's initial positive and monotone sequences of pairs ρ(2k) + ρ(2k+1).
func (w *workspace) ess(x []float64) float64 {
	within, between := w.variances(x)
	n, total := float64(w.length), float64(len(x))
	plus := within*(n-1)/n + between
	acov := w.autocovariance(x)
	rho := func(t int) float64 { return 1 - (within-acov[t])/plus }

	// τ = −1 + 2 Σ pairs; the first pair left out still gives its even term,
	// which lowers the variance for chains with negative correlation.
	tau := -1.0
	previous := math.Inf(1)
	even := 1.0
	for t := 0; t+1 < w.length; t += 2 {
		if t > 0 {
			even = rho(t)
		}
		pair := even + rho(t+1)
		if pair <= 0 {
			tau += max(0, even)
			break
		}
		previous = min(previous, pair)
		tau += 2 * previous
	}
	// Antithetic chains may beat independence, but no estimate of it is
	// trusted beyond a factor of log₁₀ of the number of draws.
	return total / max(tau, 1/math.Log10(total))
}

// autocovariance returns the biased autocovariances (divided by n, not n − t)
// averaged over half chains, by way of their averaged power spectrum: one
// forward transform per half chain and one inverse for all.
func (w *workspace) autocovariance(x []float64) []float64 {
	clear(w.power)
	for j := range w.halves {
		half := w.half(x, j)
		mean := stat.Mean(half, nil)
		for i, v := range half {
			w.padded[i] = v - mean
		}
		clear(w.padded[w.length:])
		w.fft.Coefficients(w.spectrum, w.padded)
		for i, c := range w.spectrum {
			w.power[i] += complex(real(c)*real(c)+imag(c)*imag(c), 0)
		}
	}
	w.fft.Sequence(w.padded, w.power)
	scale := 1 / (float64(len(w.padded)) * float64(w.length) * float64(w.halves))
	for i := range w.length {
		w.padded[i] *= scale
	}
	return w.padded[:w.length]
}

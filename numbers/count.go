package numbers

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/kernel"
)

// shifted is a term of f plus an offset.
type shifted struct {
	factor.Factor
	by float64
}

func (s shifted) Log(f float64) (l, d1, d2 float64)        { return s.Factor.Log(f + s.by) }
func (s shifted) LogMean(m, v float64) (l, d1, d2 float64) { return s.Factor.LogMean(m+s.by, v) }
func (s shifted) MeanLog(m, v float64) (l, d1, d2 float64) { return s.Factor.MeanLog(m+s.by, v) }

// Raise implements factor.Raiser.
func (s shifted) Raise(alpha float64) factor.Factor {
	return shifted{factor.Raise(s.Factor, alpha), s.by}
}

// MeanLogBy is MeanLog by the mean of the logarithm of the sigmoid where that gives it.
func (s shifted) MeanLogBy(logit func(m, v float64) (l, d1, d2 float64), m, v float64) (l, d1, d2 float64) {
	if n, ok := s.Factor.(factor.NegativeBinomial); ok {
		return n.MeanLogBy(logit, m+s.by, v)
	}
	return s.MeanLog(m, v)
}

// poisson are counts whose mean is e^f, f about the logarithm of the mean count.
type poisson struct{ offset float64 }

func (poisson) Name() string                   { return "poisson" }
func (poisson) Priors() []kernel.Prior         { return nil }
func (p poisson) With([]float64) Family        { return p }
func (poisson) Logs() []float64                { return nil }
func (p poisson) Largest() float64             { return math.Exp(p.offset) * largestCount }
func (p poisson) Term(y float64) factor.Factor { return shifted{factor.Poisson{Y: y}, p.offset} }
func (poisson) String() string                 { return "Poisson distribution" }

func (p poisson) Predict(mean, variance float64, _ *Transform) Distribution {
	return newCounts(mean+p.offset, variance, math.Inf(1))
}

// largestCount is how many times the mean count a count may be, for bounds on what is read.
const largestCount = 1e6

// negativeBinomial are counts whose variance μ + μ²/size is larger than their mean.
type negativeBinomial struct{ offset, size float64 }

func (negativeBinomial) Name() string { return "negative-binomial" }

func (negativeBinomial) Priors() []kernel.Prior {
	return []kernel.Prior{{Mean: math.Log(10), SD: 1.5}}
}

func (n negativeBinomial) With(logs []float64) Family {
	return negativeBinomial{n.offset, math.Exp(logs[0])}
}
func (n negativeBinomial) Logs() []float64  { return []float64{math.Log(n.size)} }
func (n negativeBinomial) Largest() float64 { return math.Exp(n.offset) * largestCount }

func (n negativeBinomial) Term(y float64) factor.Factor {
	return shifted{factor.NegativeBinomial{Y: y, Size: n.size}, n.offset}
}

func (n negativeBinomial) Predict(mean, variance float64, _ *Transform) Distribution {
	return newCounts(mean+n.offset, variance, n.size)
}

func (n negativeBinomial) String() string {
	return fmt.Sprintf("negative binomial distribution of size %.4g", n.size)
}

// mostCount is the median count up to which families of counts are tried: larger ones are as good as
// continuous.
const mostCount = 500

// mostOfCounts is the largest single count: costs of predictions with larger ones are beyond all numbers, as logarithms of means vary.
const mostOfCounts = 1e12

// counted is the transformation of outcomes that are counts, nil if they are not: it only keeps the
// logarithm of their mean.
func counted(y []float64) *Transform {
	sum := 0.0
	for _, v := range y {
		if v < 0 || v != math.Trunc(v) || v > mostOfCounts {
			return nil
		}
		sum += v / float64(len(y))
	}
	return &Transform{Name: "count", Mean: math.Log(sum), Scale: 1}
}

// many tells whether counts are so large that they are as good as continuous.
func many(y []float64) bool { return newSample(y, nil).Quantile(0.5) > mostCount }

// counts is the distribution of a count: Poisson or negative binomial with mean e^f, f ~ N(m, v).
type counts struct {
	m, v, size float64   // size +∞ for Poisson
	weights    []float64 // of nodes of f
	means      []float64 // e^f there
}

// newCounts averages over f by the trapezoidal rule, whose step is short beside the width of what is
// known of f when a count is.
func newCounts(m, v, size float64) counts {
	c := counts{m: m, v: v, size: size}
	sd := math.Sqrt(v)
	n := 1
	if sd > 0 {
		n = int(math.Min(15+14*sd*math.Sqrt(1+math.Min(math.Exp(m), size)), 400)) | 1
	}
	sum := 0.0
	for k := range n {
		z := 0.0
		if n > 1 {
			z = 7 * (2*float64(k)/float64(n-1) - 1)
		}
		w := math.Exp(-z * z / 2)
		c.weights, c.means = append(c.weights, w), append(c.means, math.Exp(m+sd*z))
		sum += w
	}
	for k := range c.weights {
		c.weights[k] /= sum
	}
	return c
}

// IsFinite implements Distribution.
func (c counts) IsFinite() bool { return c.v >= 0 && c.Mean() < largestMean }

// largestMean is the largest mean count that is predicted.
const largestMean = 1e15

// farCount is one beyond which less than 1e-15 lies under any such mean, by Markov's inequality.
const farCount = 1e30

// Mean implements Distribution.
func (c counts) Mean() float64 { return math.Exp(c.m + c.v/2) }

// below is the probability of counts up to k where the mean is mu.
func below(k, mu, size float64) float64 {
	switch {
	case k < 0:
		return 0
	case mu == 0 || k > farCount:
		return 1
	case math.IsInf(size, 1):
		return mathext.GammaIncRegComp(k+1, mu)
	}
	return mathext.RegIncBeta(size, k+1, size/(size+mu))
}

// CDF implements Distribution.
func (c counts) CDF(y float64) (p float64) {
	for k, w := range c.weights {
		p += w * below(math.Floor(y), c.means[k], c.size)
	}
	return math.Min(p, 1)
}

// PIT implements Distribution: half of the probability of the count itself lies below it.
func (c counts) PIT(y float64) float64 { return (c.CDF(y) + c.CDF(y-1)) / 2 }

// LogDensity implements Distribution: the logarithm of the probability of a count.
func (c counts) LogDensity(y float64) float64 {
	if y < 0 {
		return -math.MaxFloat64
	}
	var t factor.Factor = factor.Poisson{Y: y}
	if !math.IsInf(c.size, 1) {
		t = factor.NegativeBinomial{Y: y, Size: c.size}
	}
	l, _, _ := t.LogMean(c.m, c.v)
	return math.Max(l, -math.MaxFloat64)
}

// Quantile implements Distribution: the smallest count up to which there is at least p.
func (c counts) Quantile(p float64) float64 {
	_, hi := c.around(p, func(lo, hi float64) bool { return hi-lo > 1 })
	return hi
}

// around are counts up to which there is less than p, and at least p, that are no longer far apart.
func (c counts) around(p float64, far func(lo, hi float64) bool) (lo, hi float64) {
	hi = math.Ceil(c.Mean()) + 1
	for c.CDF(hi) < p && hi < largestMean {
		hi *= 2
	}
	lo = -1
	for far(lo, hi) {
		mid := math.Floor((lo + hi) / 2)
		if mid <= lo || mid >= hi {
			break
		}
		if c.CDF(mid) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// above is the probability of counts beyond k where the mean is mu, without what 1 − below loses.
func above(k, mu, size float64) float64 {
	switch {
	case k < 0:
		return 1
	case mu == 0 || k > farCount:
		return 0
	case math.IsInf(size, 1):
		return mathext.GammaIncReg(k+1, mu)
	}
	return mathext.RegIncBeta(k+1, size, mu/(size+mu))
}

// Short implements Distribution: a·F(a) less the mean of counts up to a.
func (c counts) Short(a float64) float64 { return c.beside(a, 1, below) }

// Excess implements Distribution: the mean of counts beyond a less a(1 − F(a)).
func (c counts) Excess(a float64) float64 { return c.beside(a, -1, above) }

// beside is E (side·(a − y))⁺, given the probability of that side: the mean of counts there is μ times
// that of counts one smaller, with a size of one more.
func (c counts) beside(a, side float64, p func(k, mu, size float64) float64) (sum float64) {
	n := math.Floor(a)
	for k, w := range c.weights {
		mu, more := c.means[k], c.size
		next := mu
		if !math.IsInf(c.size, 1) {
			more, next = c.size+1, mu*(c.size+1)/c.size
		}
		sum += w * math.Max(0, side*(a*p(n, mu, c.size)-mu*p(n-1, next, more)))
	}
	return sum
}

// Expect implements Distribution: a sum over counts, or over some thousand ranges of many.
func (c counts) Expect(g func(y float64) float64, _ ...float64) float64 {
	sum, last := 0.0, 0.0
	c.steps(func(from, to, p float64) {
		sum += (p - last) * (g(from) + g(to)) / 2
		last = p
	})
	return sum / last
}

// Up to mostSingle counts are gone over one by one. Of more, ranges are no longer than a thousandth of all, as what is predicted
// may be narrow anywhere, and than a 64th of the counts in them, as it may be wide by orders of magnitude.
const (
	mostSingle = 4000
	fewRanges  = 1000
	perCount   = 64
)

// steps goes over ranges of counts that have all but some billionths of the probability, which is given up
// to the end of each.
func (c counts) steps(use func(from, to, below float64)) {
	lo, hi := c.bound(1e-9), c.bound(1-1e-9)
	widest := math.Floor((hi - lo) / fewRanges)
	if hi-lo < mostSingle {
		widest = 1
	}
	p := 0.0
	if lo > 0 {
		p = c.CDF(lo - 1)
	}
	for k := lo; k <= hi; {
		if step := min(widest, math.Floor(k/perCount)); step > 1 {
			p = c.CDF(k + step - 1)
			use(k, k+step-1, p)
			k += step
			continue
		}
		var masses [perCount]float64
		c.masses(k, &masses)
		for _, mass := range masses {
			p = min(p+mass, 1)
			use(k, k, p)
			k++
		}
	}
}

// bound is the quantile at p to a tenth of it, outwards.
func (c counts) bound(p float64) float64 {
	lo, hi := c.around(p, func(lo, hi float64) bool { return hi-lo > 0.1*hi })
	if p < 0.5 {
		return lo + 1
	}
	return hi
}

// masses adds the probabilities of counts from first on: by how many times as probable the next is under each mean.
func (c counts) masses(first float64, to *[perCount]float64) {
	var term factor.Factor = factor.Poisson{Y: first}
	if !math.IsInf(c.size, 1) {
		term = factor.NegativeBinomial{Y: first, Size: c.size}
	}
	for k, w := range c.weights {
		mu := c.means[k]
		l, _, _ := term.Log(math.Log(mu))
		p := w * math.Exp(l)
		share, more := mu, 0.0 // the next has (share + more·count)/(count + 1) times the probability
		if !math.IsInf(c.size, 1) {
			more = mu / (c.size + mu)
			share = c.size * more
		}
		// Where nothing is left of p, nothing becomes of it within so few counts.
		for j := 0; j < len(to) && p > 0; j++ {
			to[j] += p
			p *= (share + more*(first+float64(j))) / (first + float64(j) + 1)
		}
	}
}

// CRPS implements Distribution: Σ(F(k) − [k ≥ y])².
func (c counts) CRPS(y float64) float64 {
	sum := 0.0
	lo, hi := math.Inf(1), math.Inf(-1)
	c.steps(func(from, to, p float64) {
		lo, hi = math.Min(lo, from), to
		if from >= y {
			p--
		}
		sum += (to - from + 1) * p * p
	})
	return sum + math.Max(0, lo-y) + math.Max(0, y-hi)
}

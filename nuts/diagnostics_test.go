package nuts

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// autoregressive draws chains of the stationary AR(1) process with unit
// variance and correlation phi.
func autoregressive(chains, draws int, phi float64, rng *rand.Rand) Series {
	s := make(Series, chains)
	for k := range s {
		s[k] = make([]float64, draws)
		x := rng.NormFloat64()
		for i := range s[k] {
			s[k][i] = x
			x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
		}
	}
	return s
}

// The reference below restates Vehtari et al. (2021) without a transform,
// a sort order or shared buffers: ranks by counting, autocovariances by sums.

func referenceSplit(s Series) Series {
	var out Series
	for _, chain := range s {
		n := len(chain) / 2
		out = append(out, chain[:n], chain[len(chain)-n:])
	}
	return out
}

func referenceScores(s Series) Series {
	var all []float64
	for _, chain := range s {
		all = append(all, chain...)
	}
	return referenceMap(s, func(v float64) float64 {
		below, equal := 0.0, 0.0
		for _, u := range all {
			if u < v {
				below++
			} else if u == v {
				equal++
			}
		}
		rank := below + (equal+1)/2
		return distuv.UnitNormal.Quantile((rank - 0.375) / (float64(len(all)) + 0.25))
	})
}

func referenceMap(s Series, f func(float64) float64) Series {
	out := make(Series, len(s))
	for k, chain := range s {
		for _, v := range chain {
			out[k] = append(out[k], f(v))
		}
	}
	return out
}

func referenceRHat(s Series) float64 {
	n := float64(len(s[0]))
	var means, variances []float64
	for _, chain := range s {
		m, v := stat.MeanVariance(chain, nil)
		means, variances = append(means, m), append(variances, v)
	}
	within := stat.Mean(variances, nil)
	between := n * stat.Variance(means, nil)
	return math.Sqrt(((n-1)/n*within + between/n) / within)
}

func referenceESS(s Series) float64 {
	m, n := float64(len(s)), len(s[0])
	var means []float64
	acov := make([]float64, n) // averaged over chains
	for _, chain := range s {
		mean := stat.Mean(chain, nil)
		means = append(means, mean)
		for t := range n {
			for i := range n - t {
				acov[t] += (chain[i] - mean) * (chain[i+t] - mean) / float64(n) / m
			}
		}
	}
	within := acov[0] * float64(n) / float64(n-1)
	plus := acov[0] + stat.Variance(means, nil)
	rho := make([]float64, n)
	rho[0] = 1
	for t := 1; t < n; t++ {
		rho[t] = 1 - (within-acov[t])/plus
	}
	var pairs []float64
	rest := 0.0
	for t := 0; t+1 < n; t += 2 {
		if p := rho[t] + rho[t+1]; p > 0 {
			pairs = append(pairs, p)
			continue
		}
		rest = max(rho[t], 0)
		break
	}
	tau := -1 + rest
	for k := range pairs {
		tau += 2 * slices.Min(pairs[:k+1])
	}
	total := m * float64(n)
	return total / max(tau, 1/math.Log10(total)) // at most log₁₀ S times the draws
}

func TestDiagnosticsAgainstDirectSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	shifted := autoregressive(4, 100, 0.3, rng)
	for i := range shifted[2] {
		shifted[2][i] += 0.7
	}
	cases := map[string]Series{
		"independent":  autoregressive(4, 200, 0, rng),
		"correlated":   autoregressive(3, 250, 0.8, rng),
		"antithetic":   autoregressive(2, 200, -0.6, rng),
		"one chain":    autoregressive(1, 300, 0.5, rng),
		"odd length":   autoregressive(4, 151, 0.5, rng),
		"shifted":      shifted,
		"ties":         referenceMap(autoregressive(4, 200, 0.5, rng), func(v float64) float64 { return math.Round(2 * v) }),
		"heavy tails":  referenceMap(autoregressive(4, 200, 0.5, rng), func(v float64) float64 { return v * math.Exp(v*v) }),
		"tiny":         autoregressive(2, 5, 0, rng),
		"large offset": referenceMap(autoregressive(4, 200, 0.5, rng), func(v float64) float64 { return v + 1e6 }),
	}
	for name, s := range cases {
		got, err := s.Summarize()
		if err != nil {
			t.Fatal(err)
		}
		split := referenceSplit(s)
		var all []float64
		for _, chain := range split {
			all = append(all, chain...)
		}
		slices.Sort(all)
		quantile := func(p float64) float64 {
			at := p * float64(len(all)-1)
			lo, hi := all[int(math.Floor(at))], all[int(math.Ceil(at))]
			return lo + (at-math.Floor(at))*(hi-lo)
		}
		tail := func(p float64) float64 {
			q := quantile(p)
			return referenceESS(referenceMap(split, func(v float64) float64 {
				if v <= q {
					return 1
				}
				return 0
			}))
		}
		median := quantile(0.5)
		folded := referenceMap(split, func(v float64) float64 { return math.Abs(v - median) })
		ess := referenceESS(split)
		for _, c := range []struct {
			what      string
			got, want float64
		}{
			{"bulk R̂", got.RHatBulk, referenceRHat(referenceScores(split))},
			{"folded R̂", got.RHatFolded, referenceRHat(referenceScores(folded))},
			{"R̂", got.RHat, max(got.RHatBulk, got.RHatFolded)},
			{"ESS", got.ESS, ess},
			{"bulk ESS", got.BulkESS, referenceESS(referenceScores(split))},
			{"tail ESS", got.TailESS, min(tail(0.05), tail(0.95))},
			{"mean", got.Mean, stat.Mean(all, nil)},
			{"SD", got.SD, stat.StdDev(all, nil)},
			{"MCSE", got.MCSE, stat.StdDev(all, nil) / math.Sqrt(ess)},
		} {
			// Rounding of sums over a thousand terms; 1e6 costs six digits.
			if !(math.Abs(c.got-c.want) <= 1e-9*math.Abs(c.want)) {
				t.Errorf("%s: %s = %.12g, want %.12g", name, c.what, c.got, c.want)
			}
		}
		if e, err := s.Estimate(); err != nil || e != got.Estimate {
			t.Errorf("%s: Estimate gives %v (%v), Summarize %v", name, e, err, got.Estimate)
		}
	}
}

// AR(1) has ESS = N(1−φ)/(1+φ) for its mean; bulk ESS agrees closely, as
// normal scores of a Gaussian are the Gaussian.
func TestESSOfAutoregression(t *testing.T) {
	const chains, draws, repeats = 4, 4000, 20
	rng := rand.New(rand.NewPCG(31, 1))
	for _, phi := range []float64{-0.5, 0, 0.3, 0.9} {
		want := chains * draws * (1 - phi) / (1 + phi)
		var mean, bulk float64
		for range repeats {
			s, err := autoregressive(chains, draws, phi, rng).Summarize()
			if err != nil {
				t.Fatal(err)
			}
			mean += s.ESS / repeats
			bulk += s.BulkESS / repeats
		}
		// One run scatters by 3–6 %; twenty by about 1.3 %. Half chains of
		// 2000 add a bias of the order of (1+φ)/(1−φ)/2000 = 1 % at φ = 0.9.
		for name, got := range map[string]float64{"ESS": mean, "bulk ESS": bulk} {
			if math.Abs(got/want-1) > 0.06 {
				t.Errorf("φ = %g: %s %.0f, want %.0f", phi, name, got, want)
			}
		}
	}
}

// For Gaussian chains of which one is shifted by δ, W = 1 and B/n tends to the
// variance of the half chains' means, so R̂ → √(1 + var).
func TestRHatOfShiftedChains(t *testing.T) {
	const chains, draws = 4, 4000
	for _, shift := range []float64{0, 0.5, 1} {
		s := autoregressive(chains, draws, 0, rand.New(rand.NewPCG(41, 1)))
		for i := range s[0] {
			s[0][i] += shift
		}
		got, err := s.Summarize()
		if err != nil {
			t.Fatal(err)
		}
		// Two of eight half chains lie at δ: variance 2·6/8/7·δ². Rank
		// normalisation stretches the shift only slightly, sampling less.
		spread := 12.0 / 56 * shift * shift
		pooled := 1 + 3.0/16*shift*shift // variance before normalisation
		want := math.Sqrt(1 + spread/(pooled-3.0/16*shift*shift))
		if math.Abs(got.RHatBulk-want) > 0.004 {
			t.Errorf("shift %g: R̂ = %.4f, want %.4f", shift, got.RHatBulk, want)
		}
		if flagged := got.RHat > MaxRHat; flagged != (shift > 0) {
			t.Errorf("shift %g: R̂ = %.4f flagged: %v", shift, got.RHat, flagged)
		}
	}
}

// Chains with equal means and different spreads are seen by folding alone.
func TestRHatOfScaledChains(t *testing.T) {
	s := autoregressive(4, 1000, 0, rand.New(rand.NewPCG(43, 1)))
	for i := range s[0] {
		s[0][i] *= 3
	}
	got, err := s.Summarize()
	if err != nil {
		t.Fatal(err)
	}
	if got.RHatBulk > MaxRHat || got.RHatFolded < 1.1 {
		t.Errorf("bulk R̂ %.4f and folded R̂ %.4f; want below %g and above 1.1", got.RHatBulk, got.RHatFolded, MaxRHat)
	}
}

// A trend within chains that agree otherwise is seen by splitting alone.
func TestRHatOfDriftingChains(t *testing.T) {
	s := autoregressive(4, 1000, 0, rand.New(rand.NewPCG(47, 1)))
	for _, chain := range s {
		for i := range chain {
			chain[i] += float64(i) / 1000
		}
	}
	got, err := s.Summarize()
	if err != nil {
		t.Fatal(err)
	}
	// Halves have means ¼ and ¾ (variance 8/7·1/16) and variance 1 + 1/48; the
	// standard error of the former's ratio to the latter is about 0.01.
	if want := math.Sqrt(1 + 8.0/7/16/(1+1.0/48)); math.Abs(got.RHat-want) > 0.02 {
		t.Errorf("R̂ = %.4f for drifting chains, want %.4f", got.RHat, want)
	}
}

func TestDiagnosticsOfDegenerateSeries(t *testing.T) {
	constant := Series{{2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 2, 2}}
	got, err := constant.Summarize()
	want := Summary{
		Estimate: Estimate{Mean: 2, ESS: 12},
		RHat:     1, RHatBulk: 1, RHatFolded: 1, BulkESS: 12, TailESS: 12,
		Chains: 2, Draws: 6, Constant: true,
	}
	if err != nil || got != want {
		t.Errorf("constant series: %+v (%v), want %+v", got, err, want)
	}

	stuck := Series{{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}}
	if got, err := stuck.Summarize(); err != nil || got.RHat < 1e6 || got.ESS > 4 || got.Constant {
		t.Errorf("chains stuck at two places: %+v (%v)", got, err)
	}

	// A rare event: 5 % and 95 % quantiles coincide, nothing may be NaN.
	rare := make(Series, 2)
	for k := range rare {
		rare[k] = make([]float64, 100)
	}
	rare[0][17] = 1
	if got, err := rare.Summarize(); err != nil || !allFinite([]float64{got.MCSE, got.RHat, got.BulkESS, got.TailESS}) {
		t.Errorf("rare event: %+v (%v)", got, err)
	}

	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		var target *SeriesError
		if _, err := (Series{{1, 2, 3, 4}, {1, bad, 3, 4}}).Summarize(); !errors.As(err, &target) || target.Chain != 1 || target.Draw != 1 {
			t.Errorf("series with %g: error %v", bad, err)
		}
	}
}

func TestMalformedSeriesPanic(t *testing.T) {
	for name, s := range map[string]Series{"none": {}, "short": {{1, 2, 3}}, "ragged": {{1, 2, 3, 4}, {1, 2, 3, 4, 5}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			_, _ = s.Estimate()
		}()
	}
}

// All but the scale of the estimate is unchanged when a series is multiplied,
// even where its squares would overflow or vanish.
func TestDiagnosticsAreScaleFree(t *testing.T) {
	s := autoregressive(4, 100, 0.5, rand.New(rand.NewPCG(53, 1)))
	want, _ := s.Summarize()
	for _, exponent := range []int{-1010, -600, 600, 1020} {
		scaled := referenceMap(s, func(v float64) float64 { return math.Ldexp(v, exponent) })
		got, err := scaled.Summarize()
		if err != nil {
			t.Fatal(err)
		}
		got.Mean, got.SD, got.MCSE = math.Ldexp(got.Mean, -exponent), math.Ldexp(got.SD, -exponent), math.Ldexp(got.MCSE, -exponent)
		// Equal up to the rounding of subnormal results.
		if math.Abs(got.MCSE/want.MCSE-1) > 1e-10 || math.Abs(got.RHat-want.RHat) > 1e-12 || math.Abs(got.TailESS/want.TailESS-1) > 1e-12 {
			t.Errorf("scale 2^%d: %+v, want %+v", exponent, got, want)
		}
	}
}

// Independent energies change by twice their variance per draw; an
// autoregression of correlation φ by 2(1−φ) of it.
func TestEnergyBFMI(t *testing.T) {
	rng := rand.New(rand.NewPCG(59, 1))
	for _, phi := range []float64{0, 0.9} {
		s := autoregressive(1, 20000, phi, rng)
		// The standard error at φ = 0 is about 2/√20000.
		if got, want := energyBFMI(s[0]), 2*(1-phi); math.Abs(got-want) > 0.06 {
			t.Errorf("φ = %g: E-BFMI %.3f, want %.3f", phi, got, want)
		}
	}
	if got := energyBFMI([]float64{1, 1, 1}); got != 0 {
		t.Errorf("still energy: E-BFMI %g, want 0", got)
	}
}

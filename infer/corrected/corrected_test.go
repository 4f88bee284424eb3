package corrected_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/normal"
)

// line are n equally spaced inputs of [−15, 15].
func line(n int) *mat.Dense {
	z := mat.NewDense(n, 1, nil)
	for j := range n {
		z.Set(j, 0, -15+30*float64(j)/float64(n-1))
	}
	return z
}

var positive = factor.Probit{Y: 1}

// Where the terms are Gaussian there is nothing to correct, and no evidence to gain.
func TestCorrectionsOfGaussianFactors(t *testing.T) {
	m, _, _ := problems.Regression(t, rand.New(rand.NewPCG(3, 8)), 9, 5)
	r := problems.FitEP(t, m)
	var mean, variance, want, gotM, gotV, got, stderr [9]float64
	infer.Gaussian{Gaussian: r.Q}.Moments(m.Views, mean[:], variance[:])
	infer.Gaussian{Gaussian: r.Q}.Expect(m.Views, positive, want[:], stderr[:])
	for name, p := range map[string]infer.Posterior{
		"factorised": corrected.New(m, r, corrected.Factorised),
		"paired":     corrected.New(m, r, corrected.Paired),
		"evidence":   corrected.NewEvidence(m, r),
	} {
		p.Moments(m.Views, gotM[:], gotV[:])
		p.Expect(m.Views, positive, got[:], stderr[:])
		// The rule in f is good to 1e-7, and so is evidence found to 1e-8.
		if !floats.EqualApprox(gotM[:], mean[:], 1e-7) || !floats.EqualApprox(gotV[:], variance[:], 1e-7) {
			t.Errorf("%s: moments %v %v, want %v %v", name, gotM, gotV, mean, variance)
		}
		if !floats.EqualApprox(got[:], want[:], 1e-7) {
			t.Errorf("%s: probabilities %v, want %v", name, got, want)
		}
	}
}

// One term is corrected exactly: with its value given, nothing is left to
// approximate. The posterior of one label at its own input has the probability
// ∫Φ(f)²N(f; 0, w)df / ∫Φ(f)N(f; 0, w)df = 2(¼ + asin(w/(1+w))/2π).
func TestCorrectionOfOneTerm(t *testing.T) {
	const w = 20
	m := &infer.Model{
		Views: gauss.NewViews(mat.NewDense(1, 1, []float64{math.Sqrt(w)}), nil, nil),
		Terms: []factor.Factor{positive},
	}
	r := problems.FitEP(t, m)
	want := 0.5 + math.Asin(w/(1.0+w))/math.Pi
	for _, order := range []corrected.Order{corrected.Factorised, corrected.Paired} {
		var got, stderr [1]float64
		corrected.New(m, r, order).Expect(m.Views, positive, got[:], stderr[:])
		if math.Abs(got[0]-want) > 1e-7 {
			t.Errorf("order %d: %v, want %v", order, got[0], want)
		}
	}
}

// On the paper's kind of problem every correction halves EP's error at least, and the
// paired one has at most a fifth of the error of the factorised: measured mean absolute
// errors of the probability are about 0.0040 (EP), 0.0016 (evidence), 0.0013 (factorised) and
// 0.0001 (paired), which is the standard error of the truth.
func TestCorrectionsAgainstExact(t *testing.T) {
	const n = 60
	var sum [4]float64
	noise := 0.0
	for seed := range uint64(4) {
		p, labels := problems.Process(t, 15, seed)
		m, err := p.Classify(labels)
		if err != nil {
			t.Fatal(err)
		}
		r := problems.FitEP(t, m)
		views := p.At(line(n))
		truth, stderr, got := make([]float64, n), make([]float64, n), make([]float64, n)
		latticeProbabilities(t, m, views, 4001, truth, stderr)
		noise += floats.Sum(stderr) / (4 * n)
		paired := corrected.New(m, r, corrected.Paired)
		for k, q := range []infer.Posterior{
			infer.Gaussian{Gaussian: r.Q}, corrected.NewEvidence(m, r), corrected.New(m, r, corrected.Factorised), paired,
		} {
			q.Expect(views, positive, got, stderr)
			sum[k] += floats.Distance(got, truth, 1) / (4 * n)
		}
		if paired.Declined() > 0 {
			t.Errorf("seed %d: %d views without a paired correction", seed, paired.Declined())
		}
	}
	t.Logf("mean error of the probability: EP %.5f, evidence %.5f, factorised %.5f, paired %.5f; standard error of the truth %.5f", sum[0], sum[1], sum[2], sum[3], noise)
	if sum[1] > 0.6*sum[0] || sum[2] > 0.5*sum[0] || sum[3] > 0.2*sum[2] || noise > 1.5e-4 {
		t.Errorf("mean errors %v", sum)
	}
}

// At the inputs of the terms themselves, where the value determines one of those at the
// terms, the paired correction is to be had as well, whatever rounding leaves of that.
func TestPairedAtTheInputs(t *testing.T) {
	m := problems.Classification(t, 60, 3)
	c := corrected.New(m, problems.FitEP(t, m), corrected.Paired)
	var mean, variance, one, oneVariance [60]float64
	c.Moments(m.Views, mean[:], variance[:])
	for j := range one {
		c.Moments(m.Views.Slice(j, j+1), one[j:j+1], oneVariance[j:j+1])
	}
	if !floats.EqualApprox(mean[:], one[:], 1e-9) || !floats.EqualApprox(variance[:], oneVariance[:], 1e-9) {
		t.Error("one by one the marginals are others")
	}
	if c.Declined() > 0 {
		t.Errorf("%d of 120 views without a paired correction", c.Declined())
	}
}

// latticeProbabilities are P(y = +1) by exact.Lattice, with standard errors.
func latticeProbabilities(tb testing.TB, m *infer.Model, views *gauss.Views, points int, value, stderr []float64) {
	tb.Helper()
	const sets = 16
	l, err := exact.NewLattice(m, sets, points, 1)
	if err != nil {
		tb.Fatal(err)
	}
	spread := l.Spread(views)
	each := make([]float64, sets)
	for j := range value {
		clear(each)
		for s := range each {
			for k := range l.Points() {
				centre, weight := l.Point(s, k)
				each[s] += weight * normal.CDF((views.Offset(j)+floats.Dot(centre, views.Row(j)))/math.Sqrt(1+spread[j]))
			}
		}
		mean, sd := stat.MeanStdDev(each, nil)
		value[j], stderr[j] = mean, stat.StdErr(sd, sets)
	}
}

// Weighted points and independent draws, which share no random number, find the same
// probabilities: of 60 z-scores that are correlated the largest is below 4.5.
func TestLatticeAgainstDraws(t *testing.T) {
	const n = 60
	p, labels := problems.Process(t, 15, 2)
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	views := p.At(line(n))
	value, stderr, want, wantErr := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	latticeProbabilities(t, m, views, 251, value, stderr)
	drawn, err := exact.Sampler{Draws: 20_000, EvidencePoints: 1, Seed: 5}.Fit(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	drawn.Expect(views, positive, want, wantErr)
	for j := range value {
		if z := math.Abs(value[j]-want[j]) / math.Hypot(stderr[j], wantErr[j]); !(z < 4.5) {
			t.Errorf("view %d: %v ± %v by points and %v ± %v by draws", j, value[j], stderr[j], want[j], wantErr[j])
		}
	}
}

// A step is followed to the accuracy stated, although no node knows where it is: the
// posterior of one label at its own input is N(f; 0, w)Φ(f), up to its constant.
func TestCorrectionOfAStep(t *testing.T) {
	const w = 20
	m := &infer.Model{
		Views: gauss.NewViews(mat.NewDense(1, 1, []float64{math.Sqrt(w)}), nil, nil),
		Terms: []factor.Factor{positive},
	}
	c := corrected.New(m, problems.FitEP(t, m), corrected.Factorised)
	for _, threshold := range []float64{-1, 0.3, 4} {
		var above, all float64
		for k := -400000; k < 400000; k++ { // midpoints of cells that meet at the threshold
			f := threshold + (float64(k)+0.5)*1e-4
			l, _, _ := positive.Log(f)
			p := math.Exp(l - f*f/(2*w))
			all += p
			if k >= 0 {
				above += p
			}
		}
		var got, stderr [1]float64
		c.Expect(m.Views, factor.Step{T: threshold, Above: 1}, got[:], stderr[:])
		if math.Abs(got[0]-above/all) > 0.001 {
			t.Errorf("P(f > %v) = %v, want %v", threshold, got[0], above/all)
		}
	}
}

// The same bytes on any number of cores.
func TestCorrectionsOnAnyNumberOfCores(t *testing.T) {
	p, labels := problems.Process(t, 12, 1)
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	r := problems.FitEP(t, m)
	views := p.At(line(150))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, q := range []infer.Posterior{corrected.NewEvidence(m, r), corrected.New(m, r, corrected.Paired)} {
		var got [2][]float64
		for k, cores := range []int{1, 3} {
			runtime.GOMAXPROCS(cores)
			got[k] = make([]float64, 150)
			q.Expect(views, positive, got[k], make([]float64, 150))
		}
		if !floats.Equal(got[0], got[1]) {
			t.Errorf("%T differs with the number of cores", q)
		}
	}
}

func BenchmarkExpect1000(b *testing.B) {
	p, labels := problems.Process(b, 15, 1)
	m, err := p.Classify(labels)
	if err != nil {
		b.Fatal(err)
	}
	r := problems.FitEP(b, m)
	views := p.At(line(1000))
	value, stderr := make([]float64, 1000), make([]float64, 1000)
	for name, q := range map[string]infer.Posterior{
		"ep":        infer.Gaussian{Gaussian: r.Q},
		"corrected": corrected.New(m, r, corrected.Factorised),
		"paired":    corrected.New(m, r, corrected.Paired),
		"evidence":  corrected.NewEvidence(m, r),
	} {
		b.Run("method="+name+"/n=15", func(b *testing.B) {
			for b.Loop() {
				q.Expect(views, positive, value, stderr)
			}
		})
	}
}

package audit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lossep/lossep/normal"
)

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// Pooled frequencies by hand: 0 1 | 0 | 1 1 with half a case at either end.
func TestIsotonicByHand(t *testing.T) {
	p, y := []float64{0.1, 0.2, 0.3, 0.6, 0.7}, []int{0, 1, 0, 1, 1}
	// From below: ½ of ½ falls to ½/1½ with the first; the next two make 1 of 2; the last
	// two are 2 of 2, and half a negative case above makes them 2 of 2½.
	got := isotonic(p, y, ones(5), []float64{0, 0.1, 0.25, 0.3, 0.45, 0.6, 0.9, 1})
	want := []float64{1.0 / 3, 1.0 / 3, 0.5, 0.5, (0.5 + 0.8) / 2, 0.8, 0.8, 0.8}
	for i := range want {
		near(t, "isotonic", got[i], want[i])
	}
}

// Isotonic frequencies increase, and keep the weight of positive cases but for the half
// cases.
func TestIsotonicLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		n := 2 + rng.IntN(60)
		p, w, y := make([]float64, n), make([]float64, n), make([]int, n)
		for i := range p {
			p[i] = math.Round(20*rng.Float64()) / 20 // with ties
			w[i] = 0.5 + rng.Float64()
			y[i] = rng.IntN(2)
		}
		at := slices.Clone(p)
		slices.Sort(at)
		mended := isotonic(p, y, w, at)
		if !slices.IsSorted(mended) || mended[0] <= 0 || mended[n-1] >= 1 {
			t.Fatalf("p %v, y %v: %v", p, y, mended)
		}
		mended = isotonic(p, y, w, p)
		sum, positive, total := 0.0, 0.0, 0.0
		for i := range p {
			sum += w[i] * mended[i]
			positive += w[i] * float64(y[i])
			total += w[i]
		}
		if math.Abs(sum-positive) > 0.5 {
			t.Fatalf("%v expected, %v observed of %v", sum, positive, total)
		}
	}
}

// Probabilities that are twice as sure as they should be are mended by all, out of
// sample: the log loss falls to that of the truth, to a hundredth.
func TestRecalibrate(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	draw := func(n int) (truth, stated []float64, y []int) {
		for range n {
			f := rng.NormFloat64()
			truth, stated = append(truth, normal.CDF(f)), append(stated, normal.CDF(2*f+0.5))
			label := 0
			if rng.Float64() < normal.CDF(f) {
				label = 1
			}
			y = append(y, label)
		}
		return truth, stated, y
	}
	logLoss := func(p []float64, y []int) float64 {
		sum := 0.0
		for i := range p {
			sum -= math.Log(float64(y[i])*p[i] + float64(1-y[i])*(1-p[i]))
		}
		return sum / float64(len(p))
	}
	_, p, y := draw(500)
	truth, q, label := draw(20_000)
	best, before := logLoss(truth, label), logLoss(q, label)
	if before < best+0.05 {
		t.Fatalf("nothing to mend: %v and %v", before, best)
	}
	for _, r := range Recalibrations() {
		mended, err := r.recalibrate(context.Background(), p, y, ones(len(p)), q, 1)
		if err != nil {
			t.Fatal(err)
		}
		// Steps of isotonic frequencies from 500 cases cost a little more.
		if after := logLoss(mended, label); after > best+0.02 {
			t.Errorf("%s: %v, the truth has %v and what was stated %v", r, after, best, before)
		}
	}
	// All probabilities the same, and cases all of one outcome.
	for _, r := range Recalibrations() {
		for _, y := range [][]int{{0, 1, 1, 0}, {1, 1, 1, 1}} {
			mended, err := r.recalibrate(context.Background(), []float64{0.3, 0.3, 0.3, 0.3}, y, ones(4), []float64{0, 0.3, 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range mended {
				if !(m > 0 && m < 1) {
					t.Errorf("%s of %v: %v", r, y, mended)
				}
			}
		}
	}
}

// Half of the cases are positive, and one in fifty where decisions are made, which weights say:
// probabilities that are right there stay so by every way to recalibrate.
func TestRecalibrateByWeights(t *testing.T) {
	const share = 0.02
	rng := rand.New(rand.NewPCG(9, 10))
	n := 500
	p, w, y := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range p {
		y[i] = i % 2
		w[i] = []float64{2 * (1 - share), 2 * share}[y[i]]
		// x is N(2y, 1), so that the log odds are 2x − 2 more than those of the share.
		x := 2*float64(y[i]) + rng.NormFloat64()
		p[i] = 1 / (1 + (1-share)/share*math.Exp(2-2*x))
	}
	at := []float64{0.005, 0.02, 0.05}
	for _, r := range Recalibrations() {
		mended, err := r.recalibrate(t.Context(), p, y, w, at, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k, q := range mended {
			if off := math.Abs(odds(q) - odds(at[k])); off > 1 { // the sample's odds are 49 times as high: log 49 is 3.9
				t.Errorf("%s: %v for %v", r, q, at[k])
			}
		}
	}
}

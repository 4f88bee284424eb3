package gp_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

func settled(t *testing.T, p *gp.Inducing, x *mat.Dense, terms gp.Terms) (gp.Engine, *pass.Result) {
	t.Helper()
	l := gp.NewEngine(p, p.Shards(x, terms, &gp.ViewBuffer{Bytes: 1 << 30}, 0), nil)
	r, err := pass.Settle(context.Background(), l, pass.Settings{Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged {
		t.Fatal(r.Status)
	}
	return l, r
}

// With every input an inducing one nothing is approximated: the evidence, the means and
// the variances are those of the full process.
func TestAllInputsInduceTheFullProcess(t *testing.T) {
	x, terms := problems.Smooth(150, 2, 1)
	for _, text := range []string{"matern32(variance=1.5, lengthscale=0.7) + constant", "matern12 + white(variance=0.3)"} {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		full, err := gp.New(k, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := infer.EP{Schedule: infer.Parallel}.Fit(context.Background(), &infer.Model{Views: full.Views(), Terms: terms.Factors})
		if err != nil {
			t.Fatal(err)
		}
		p, err := gp.NewInducing(k, x)
		if err != nil {
			t.Fatal(err)
		}
		l, r := settled(t, p, x, terms)
		sums, err := l.Look(context.Background(), r.Q.Naturals(), pass.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := pass.Objective(infer.Propagation{}, r.Q, sums.Value); math.Abs(got-want.LogEvidence) > 1e-6 {
			t.Errorf("%s: log evidence %v, of the full process %v", text, got, want.LogEvidence)
		}
		at, _ := problems.Smooth(50, 2, 2)
		var mean, variance, fullMean, fullVariance [50]float64
		infer.Gaussian{Gaussian: r.Q[0]}.Moments(p.At(at), mean[:], variance[:])
		infer.Gaussian{Gaussian: want.Q}.Moments(full.At(at), fullMean[:], fullVariance[:])
		for i := range mean {
			if math.Abs(mean[i]-fullMean[i]) > 1e-6 || math.Abs(variance[i]-fullVariance[i]) > 1e-6 {
				t.Errorf("%s: N(%v, %v), of the full process N(%v, %v)", text, mean[i], variance[i], fullMean[i], fullVariance[i])
			}
		}
	}
}

// The gradient is that of the evidence, which EP is run for anew at every step of the
// difference; the differences are good to about 1e-6.
func TestInducingEvidenceGradient(t *testing.T) {
	x, terms := problems.Smooth(90, 2, 3)
	for _, text := range problems.Kernels {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		// As many inducing points as the rank of the kernel allows, to stay clear of jitter.
		m := 12
		for m > 1 {
			if p, err := gp.NewInducing(k, x.Slice(0, m, 0, 2).(*mat.Dense)); err == nil && p.Jitter() == 0 {
				break
			}
			m--
		}
		z := x.Slice(0, m, 0, 2).(*mat.Dense)
		evidence := func(logs []float64) (float64, []float64) {
			p, err := gp.NewInducing(k.With(logs), z)
			if err != nil {
				t.Fatal(err)
			}
			l, r := settled(t, p, x, terms)
			grad, sums, err := p.EvidenceGradient(context.Background(), l, r.Q, pass.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return pass.Objective(infer.Propagation{}, r.Q, sums.Value), grad
		}
		logs := k.Params(nil)
		_, grad := evidence(logs)
		for i, name := range k.ParamNames() {
			const h = 1e-4
			at := logs[i]
			logs[i] = at + h
			above, _ := evidence(logs)
			logs[i] = at - h
			below, _ := evidence(logs)
			logs[i] = at
			if slope := (above - below) / (2 * h); math.Abs(slope-grad[i]) > 1e-5*(1+math.Abs(slope)) {
				t.Errorf("%s with %d points: ∂/∂log %s is %v, by differences %v", text, m, name, grad[i], slope)
			}
		}
	}
}

// Views that are made again in every pass give the same bits as those that are kept.
func TestKeptViewsAreTheSame(t *testing.T) {
	x, terms := problems.Smooth(2500, 3, 4)
	k, err := kernel.Parse("matern32(ard) + constant", 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gp.NewInducing(k, x.Slice(0, 40, 0, 3).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	var q [2]*gauss.Natural
	for i, memory := range []int64{0, 1 << 30} {
		l := pass.NewLocal(p.Shards(x, terms, &gp.ViewBuffer{Bytes: memory}, 0), nil)
		r, err := pass.Settle(context.Background(), l, pass.Settings{Tolerance: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		q[i] = r.Q[0].Natural()
	}
	if !slices.Equal(q[0].H, q[1].H) || !mat.Equal(q[0].P, q[1].P) {
		t.Error("other bits")
	}
}

// The predictor gives the moments that the views give, whatever the sign of the sites'
// precisions.
func TestInducingPredictor(t *testing.T) {
	x, terms := problems.Smooth(300, 2, 6)
	k, err := kernel.Parse("matern32(variance=2) + constant + white(variance=0.2)", 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gp.NewInducing(k, x.Slice(0, 25, 0, 2).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	_, r := settled(t, p, x, terms)
	at, _ := problems.Smooth(70, 2, 7)
	for _, negative := range []bool{false, true} {
		q := r.Q[0]
		if negative {
			n := gauss.NewNatural(25)
			n.Times(q.Natural(), 0.5)
			for i := range 25 {
				n.P.SetSym(i, i, n.P.At(i, i)+0.1)
			}
			q = gauss.NewGaussian(25)
			if err := q.Exchange(n); err != nil {
				t.Fatal(err)
			}
		}
		predictor, ok := p.Predictor(q)
		if !ok || predictor.Raised() != negative {
			t.Fatal("another predictor")
		}
		var mean, variance, wantMean, wantVariance [70]float64
		predictor.Moments(at, mean[:], variance[:])
		infer.Gaussian{Gaussian: q}.Moments(p.At(at), wantMean[:], wantVariance[:])
		for i := range mean {
			if math.Abs(mean[i]-wantMean[i]) > 1e-9 || math.Abs(variance[i]-wantVariance[i]) > 1e-9 {
				t.Errorf("N(%v, %v), by views N(%v, %v)", mean[i], variance[i], wantMean[i], wantVariance[i])
			}
		}
	}
}

// Going over each shard several times in a pass comes to the same fixed point. It makes
// passes fewer, by a lot where there is one shard (7 to 3) and by one where there are more.
func TestSweepsComeToTheSameFixedPoint(t *testing.T) {
	x, terms := problems.Smooth(1600, 3, 4)
	k, err := kernel.Parse("rbf(lengthscale=1, variance=4)", 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gp.NewInducing(k, x.Slice(0, 40, 0, 3).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	settle := func(size, sweeps int) (*gauss.Natural, int) {
		e := gp.NewEngine(p, p.Shards(x, terms, nil, size), nil)
		r, err := pass.Settle(context.Background(), e, pass.Settings{Tolerance: 1e-9, Sweeps: sweeps})
		if err != nil || !r.Status.Converged {
			t.Fatal(r, err)
		}
		return r.Q[0].Natural(), r.Status.Sweeps
	}
	want, passes := settle(1600, 1)
	for _, size := range []int{1600, 400} {
		got, fewer := settle(size, 3)
		// The last step is below 1e-9 standard deviations of every view; precisions are up to
		// 1600, the number of rows.
		if !floats.EqualApprox(got.H, want.H, 1e-5) || !mat.EqualApprox(got.P, want.P, 1e-5) {
			t.Errorf("another fixed point in shards of %d", size)
		}
		if size == 1600 && fewer >= passes {
			t.Errorf("%d passes with three sweeps, %d with one", fewer, passes)
		}
	}
}

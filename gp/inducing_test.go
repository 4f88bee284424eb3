package gp

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// list is terms that have a place in memory each.
type list []factor.Factor

func (l list) Len() int                 { return len(l) }
func (l list) Term(i int) factor.Factor { return l[i] }

// sparseProblem is labels of a smooth function of random inputs.
func sparseProblem(n, d int, seed uint64) (*mat.Dense, list) {
	rng := rand.New(rand.NewPCG(seed, 0))
	x := mat.NewDense(n, d, nil)
	terms := make(list, n)
	for i := range n {
		sum := 0.0
		for k := range d {
			v := rng.NormFloat64()
			x.Set(i, k, v)
			sum += math.Sin(2*v + float64(k))
		}
		y := 1.0
		if sum+0.5*rng.NormFloat64() < 0 {
			y = -1
		}
		terms[i] = factor.Probit{Y: y}
	}
	return x, terms
}

func settled(t *testing.T, p *Inducing, x *mat.Dense, terms Terms) (Engine, *pass.Result) {
	t.Helper()
	l := NewEngine(p, p.Shards(x, terms, &Room{Bytes: 1 << 30}, 0), nil)
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
	x, terms := sparseProblem(150, 2, 1)
	for _, text := range []string{"matern32(variance=1.5, lengthscale=0.7) + constant", "matern12 + white(variance=0.3)"} {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		full, err := New(k, x)
		if err != nil {
			t.Fatal(err)
		}
		want, err := infer.EP{Schedule: infer.Parallel}.Fit(context.Background(), &infer.Model{Views: full.Views(), Terms: terms})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewInducing(k, x)
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
		at, _ := sparseProblem(50, 2, 2)
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

// every is one kernel of each family, alone and composed.
var every = []string{
	"rbf(variance=1.3, lengthscale=0.8)", "rbf(variance=0.9, lengthscale=[0.8, 1.7])",
	"matern12(variance=1.3, lengthscale=0.8)", "matern12(variance=0.9, lengthscale=[0.8, 1.7])",
	"matern32(variance=1.3, lengthscale=0.8)", "matern32(variance=0.9, lengthscale=[0.8, 1.7])",
	"matern52(variance=1.3, lengthscale=0.8)", "matern52(variance=0.9, lengthscale=[0.8, 1.7])",
	"linear(variance=0.6)", "linear(variance=[0.6, 1.4])",
	"periodic(variance=1.2, lengthscale=1.1, period=2.3)",
	"constant(variance=0.7)", "matern32 + white(variance=0.4)",
	"matern32(variance=1.1, lengthscale=0.9) * linear(variance=0.8) + constant(variance=0.5)",
	"(rbf(variance=1.1, lengthscale=1.9) + constant(variance=0.4)) * (linear(variance=0.8) + white(variance=0.3))",
}

// The gradient is that of the evidence, which EP is run for anew at every step of the
// difference; the differences are good to about 1e-6.
func TestInducingEvidenceGradient(t *testing.T) {
	x, terms := sparseProblem(90, 2, 3)
	for _, text := range every {
		k, err := kernel.Parse(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		// As many inducing points as the rank of the kernel allows, to stay clear of jitter.
		m := 12
		for m > 1 {
			if p, err := NewInducing(k, x.Slice(0, m, 0, 2).(*mat.Dense)); err == nil && p.Jitter() == 0 {
				break
			}
			m--
		}
		z := x.Slice(0, m, 0, 2).(*mat.Dense)
		evidence := func(logs []float64) (float64, []float64) {
			p, err := NewInducing(k.With(logs), z)
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
	x, terms := sparseProblem(2500, 3, 4)
	k, err := kernel.Parse("matern32(ard) + constant", 3)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewInducing(k, x.Slice(0, 40, 0, 3).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	var q [2]*gauss.Natural
	for i, memory := range []int64{0, 1 << 30} {
		l := pass.NewLocal(p.Shards(x, terms, &Room{Bytes: memory}, 0), nil)
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

// Pivots explain the variance: of a kernel of known rank all of it, with no more points
// than that; and they never choose a row twice, or a copy of one.
func TestPivots(t *testing.T) {
	x, _ := sparseProblem(400, 3, 5)
	for i := range 200 {
		x.SetRow(200+i, x.RawRowView(i))
	}
	for text, rank := range map[string]int{"linear + constant": 4, "constant": 1, "rbf(lengthscale=0.05)": 200} {
		k, err := kernel.Parse(text, 3)
		if err != nil {
			t.Fatal(err)
		}
		p := NewPivots(k, x, nil, rand.New(rand.NewPCG(1, 2)))
		// Who grows on until there are as many as wanted, or nothing is left, has to come to an end.
		if got := p.Grow(400, 0); got != rank || p.Share() > 1e-8 || !p.finished {
			t.Errorf("%s: %d points leave %v, finished %v", text, got, p.Share(), p.finished)
		}
	}
	// The share left is what the views leave of the variances.
	k, err := kernel.Parse("matern32", 3)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPivots(k, x, nil, rand.New(rand.NewPCG(1, 2)))
	m := p.Grow(30, 0)
	induced, err := NewInducing(k, p.Points(m))
	if err != nil {
		t.Fatal(err)
	}
	left, views := 0.0, induced.At(x)
	for i := range 400 {
		left += views.Residual(i) / 400
	}
	if m != 30 || math.Abs(left-p.Share()) > 1e-10 {
		t.Errorf("%d points leave %v, their views %v", m, p.Share(), left)
	}
}

// The predictor gives the moments that the views give, whatever the sign of the sites'
// precisions.
func TestInducingPredictor(t *testing.T) {
	x, terms := sparseProblem(300, 2, 6)
	k, err := kernel.Parse("matern32(variance=2) + constant + white(variance=0.2)", 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewInducing(k, x.Slice(0, 25, 0, 2).(*mat.Dense))
	if err != nil {
		t.Fatal(err)
	}
	_, r := settled(t, p, x, terms)
	at, _ := sparseProblem(70, 2, 7)
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
		if !ok || (predictor.added != nil) != negative {
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

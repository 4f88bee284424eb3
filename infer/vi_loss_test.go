package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
)

// withUtility adds a decision at points to a model.
func withUtility(t testing.TB, m *infer.Model, points *gauss.Views, o decision.Outcome, table decision.Table) *infer.Model {
	t.Helper()
	u, err := decision.NewUtility(o, points.Len(), nil, table)
	if err != nil {
		t.Fatal(err)
	}
	return &infer.Model{Views: m.Views, Terms: m.Terms, Points: points, Utility: u}
}

// reactor is the decision to leave a reactor on or shut it down.
func reactor(t testing.TB, table decision.Table) *infer.Model {
	return withUtility(t, problems.Clutter(reactorData...), gauss.NewViews(mat.NewDense(1, 1, []float64{10}), nil, nil), decision.Exceeds(2.2), table)
}

func grid(n int) []float64 { return floats.Span(make([]float64, n), -10, 10) }

// TestLossVIReactor: theory's row. The utility is a term in closed form, so nothing
// is drawn.
func TestLossVIReactor(t *testing.T) {
	r, err := infer.LossVI{}.Fit(ctx, reactor(t, decision.Table{{1, 0.01}, {0.9, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	mean, variance := clutterMoments(r.Q)
	problems.Near(t, "mean", mean, -2.232, 5e-4)
	problems.Near(t, "variance", variance, 1.247, 5e-4)
	if !slices.Equal(r.Sites.Actions, []int{0}) || !r.Status.Converged || r.StdErr != 0 || r.Status.Floor != 0 {
		t.Errorf("actions %v, error %v, floor %v: %v", r.Sites.Actions, r.StdErr, r.Status.Floor, r.Status)
	}
}

// TestLossVIFloor: a utility of zero on a half line is raised, visibly. The answer is
// that of the table that says so itself.
func TestLossVIFloor(t *testing.T) {
	const floor = 0.02
	r, err := infer.LossVI{Floor: floor}.Fit(ctx, reactor(t, decision.Table{{1, 0}, {0.9, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := infer.LossVI{}.Fit(ctx, reactor(t, decision.Table{{1 + floor, floor}, {0.9, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Floor != floor || !r.Status.Converged || r.LogEvidence != want.LogEvidence || want.Status.Floor != 0 {
		t.Errorf("raised by %v to a bound of %v, want %v and %v: %v", r.Status.Floor, r.LogEvidence, floor, want.LogEvidence, r.Status)
	}
	// Far more of q is above a threshold at its mean.
	m := reactor(t, decision.Table{{1, 0}, {0, 1}})
	u, err := decision.NewUtility(decision.Exceeds(-2.3), 1, nil, decision.Table{{1, 0}, {0, 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	m.Utility = u
	r, err = infer.LossVI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Floor != 1e-3 {
		t.Errorf("raised by %v: %v", r.Status.Floor, r.Status)
	}
}

// ramp is the utility base + Σ_j max(f_j, 0)², averaged over residuals by ignoring
// them: it has points without.
type ramp struct{ base float64 }

func (ramp) Select(actions []int, _, _ []float64) { clear(actions) }

func (r ramp) LogMean(_ []int, m, _, d1, d2 []float64) float64 {
	sum := r.base
	for j, f := range m {
		d1[j], d2[j] = 2*max(f, 0), 0
		if f > 0 {
			sum += f * f
			d2[j] = 2
		}
	}
	for j := range d1 {
		d1[j] /= sum
		d2[j] /= sum
	}
	return math.Log(sum)
}

// TestLossVIFloorAtDraws: the same where the expectation is drawn.
func TestLossVIFloorAtDraws(t *testing.T) {
	_, m := problems.TwoPoint(t)
	m.Points, m.Utility = m.Views, ramp{}
	o := infer.LossVI{Draws: 128, Floor: 0.01}
	r, err := o.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if !(r.Status.Floor > 0) || !r.Status.Converged {
		t.Fatalf("raised by %v: %v", r.Status.Floor, r.Status)
	}
	m.Utility = ramp{base: r.Status.Floor}
	want, err := o.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if want.Status.Floor != 0 {
		t.Errorf("a utility above zero was raised by %v", want.Status.Floor)
	}
	problems.Near(t, "bound", r.LogEvidence, want.LogEvidence, 1e-9)
	for i, x := range want.Q.Mean() {
		problems.Near(t, "mean", r.Q.Mean()[i], x, 1e-6)
	}
}

// TestLossVIOfAConstantUtility is VI, to the bit but for the constant.
func TestLossVIOfAConstantUtility(t *testing.T) {
	p, m := problems.DrawnProcess(t, rand.New(rand.NewPCG(8, 8)), 8, 4, 2)
	plain, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	r, err := infer.LossVI{}.Fit(ctx, withUtility(t, m, problems.ViewsAt(p, grid(11)...), decision.Probit(), decision.Table{{0.5, 0.5}, {0.2, 0.1}}))
	if err != nil {
		t.Fatal(err)
	}
	problems.Near(t, "bound", r.LogEvidence, plain.LogEvidence+math.Log(0.5), 1e-12)
	problems.Near(t, "mean log-utility", r.MeanLogUtility, math.Log(0.5), 1e-14)
	for i, x := range plain.Q.Mean() {
		problems.Near(t, "mean", r.Q.Mean()[i], x, 1e-8)
		for j := range plain.Q.Mean() {
			problems.Near(t, "precision", r.Q.Natural().P.At(i, j), plain.Q.Natural().P.At(i, j), 1e-8)
		}
	}
	if !r.Status.Converged || r.StdErr > 1e-15 {
		t.Errorf("standard error %v: %v", r.StdErr, r.Status)
	}
}

// TestLossVIOfAProbit: a utility Φ(f) at one point is a probit term, of which VI
// knows the expectation by quadrature. Draws must find the same.
func TestLossVIOfAProbit(t *testing.T) {
	p, m := problems.DrawnProcess(t, rand.New(rand.NewPCG(4, 4)), 5, 4, 2)
	// The point is where an input is, so that it has no residual.
	at := m.Views.Slice(2, 3)
	label := m.Terms[2].(factor.Probit).Y
	table := decision.Table{{1, 0}, {1, 0}}
	if label > 0 {
		table = decision.Table{{0, 1}, {0, 1}}
	}
	a := mat.NewDense(6, m.Dim(), nil)
	for i := range 5 {
		a.SetRow(i, m.Views.Row(i))
	}
	a.SetRow(5, at.Row(0))
	twice := &infer.Model{Views: gauss.NewViews(a, nil, nil), Terms: append(slices.Clone(m.Terms), m.Terms[2])}
	want, err := infer.VI{}.Fit(ctx, twice)
	if err != nil {
		t.Fatal(err)
	}
	r, err := infer.LossVI{Draws: 8192}.Fit(ctx, withUtility(t, m, at, decision.Probit(), table))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged || !(r.StdErr > 0 && r.StdErr < 1e-3) {
		t.Errorf("standard error %v: %v", r.StdErr, r.Status)
	}
	problems.Near(t, "bound", r.LogEvidence, want.LogEvidence, 5*r.StdErr)
	got, sd := make([]float64, 5), make([]float64, 5)
	expected := make([]float64, 5)
	views := p.Views()
	r.Moments(views, got, sd)
	want.Moments(views, expected, sd)
	for i := range got {
		problems.Near(t, "mean", got[i], expected[i], 0.01*math.Sqrt(sd[i])) // of order 1/√draws
	}
}

// TestLossVIPaper: the paper's problem in small converges, reproduces itself, ends at
// a stationary point of the bound for its actions, and chooses them itself.
func TestLossVIPaper(t *testing.T) {
	p, two := problems.TwoPoint(t)
	table := decision.Table{{1, 0}, {0.5, 1}}
	m := withUtility(t, two, problems.ViewsAt(p, grid(201)...), decision.Probit(), table)
	rises := 0
	last := math.Inf(1)
	o := infer.LossVI{Draws: 256, Seed: 3}
	o.Trace = func(s infer.VIStep) {
		if s.Iteration > 0 && s.Bound < last-1e-12 {
			t.Errorf("the bound fell from %v to %v", last, s.Bound)
		}
		last = s.Bound
		rises++
	}
	r, err := o.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Status.Converged || r.Status.ActionsHeld || r.ActionCycle != 0 || rises < 5 {
		t.Errorf("%v after %d iterations", r.Status, rises)
	}
	chosen := slices.Repeat([]int{-1}, 201)
	mean, variance := make([]float64, 201), make([]float64, 201)
	r.Moments(m.Points, mean, variance)
	m.Utility.Select(chosen, mean, variance)
	if !slices.Equal(chosen, r.Sites.Actions) {
		t.Error("the actions are not those of highest expected utility under q")
	}
	cores := runtime.GOMAXPROCS(1)
	again, err := o.Fit(ctx, m)
	runtime.GOMAXPROCS(cores)
	if err != nil {
		t.Fatal(err)
	}
	if again.LogEvidence != r.LogEvidence || !slices.Equal(again.Q.Mean(), r.Q.Mean()) {
		t.Error("the same seed gave another result on one core")
	}
	o.Seed = 4
	other, err := o.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	// Two independent estimates of the bound differ by their errors.
	problems.Near(t, "bound with another seed", other.LogEvidence, r.LogEvidence, 5*math.Hypot(r.StdErr, other.StdErr))
	plain, err := infer.VI{}.Fit(ctx, two)
	if err != nil {
		t.Fatal(err)
	}
	if floats.Distance(plain.Q.Mean(), r.Q.Mean(), 2) < 1e-3 {
		t.Error("the utility did not move q")
	}
}

// fickle prefers, whatever q is, the action that it does not have.
type fickle struct{ factor.Utility }

func (f fickle) Select(actions []int, _, _ []float64) {
	for j, a := range actions {
		actions[j] = (a + 1) % 2
	}
}

// TestLossVICycle: alternating actions are recognised, and the better ones are held.
func TestLossVICycle(t *testing.T) {
	p, two := problems.TwoPoint(t)
	m := withUtility(t, two, problems.ViewsAt(p, -3, 3, 6), decision.Probit(), decision.Table{{1, 0.1}, {0.5, 1}})
	honest := m.Utility
	m.Utility = fickle{honest}
	r, err := infer.LossVI{Draws: 128}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if r.ActionCycle != 2 || !r.Status.ActionsHeld || !r.Status.Converged {
		t.Fatalf("a cycle of %d: %+v", r.ActionCycle, r.Status)
	}
	for a := range 2 {
		m.Utility = stubborn{honest, a}
		held, err := infer.LossVI{Draws: 128}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		if held.LogEvidence > r.LogEvidence+1e-9 {
			t.Errorf("action %d everywhere has a bound of %v, %v was held with %v", a, held.LogEvidence, r.Sites.Actions, r.LogEvidence)
		}
		if r.Sites.Actions[0] == a {
			problems.Near(t, "bound of the actions held", held.LogEvidence, r.LogEvidence, 1e-9)
		}
	}
}

// stubborn always takes the same action.
type stubborn struct {
	factor.Utility
	action int
}

func (s stubborn) Select(actions []int, _, _ []float64) {
	for j := range actions {
		actions[j] = s.action
	}
}

func TestLossVIErrors(t *testing.T) {
	stepped := withUtility(t, problems.Clutter(reactorData...), gauss.NewViews(mat.NewDense(2, 1, []float64{10, 9}), nil, nil), decision.Exceeds(-2), decision.Table{{1, 0.5}, {0.2, 1}})
	var unsupported *infer.UnsupportedError
	if _, err := (infer.LossVI{}).Fit(ctx, stepped); !errors.As(err, &unsupported) {
		t.Errorf("steps at two points: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := (infer.LossVI{}).Fit(ended, stepped); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	m := reactor(t, decision.Table{{1, 0.01}, {0.9, 1}})
	r, err := infer.LossVI{VI: infer.VI{MaxIterations: 2}}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status.Converged || r.Status.Reason == "" {
		t.Errorf("after 2 iterations: %+v", r.Status)
	}
	m.Utility = nil
	plain, err := infer.LossVI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	vi, err := infer.VI{}.Fit(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	if plain.LogEvidence != vi.LogEvidence {
		t.Errorf("without a utility %v, VI %v", plain.LogEvidence, vi.LogEvidence)
	}
}

func ExampleLossVI() {
	// Leave a reactor on (0) or shut it down (1)? It melts if φ exceeds 2.2.
	u, err := decision.NewUtility(decision.Exceeds(2.2), 1, nil, decision.Table{{1, 0.01}, {0.9, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := problems.Clutter(-1.1, -2.6, -4, 5.7, -1.1)
	m.Utility, m.Points = u, m.Views.Slice(0, 1)
	r, err := infer.LossVI{}.Fit(context.Background(), m)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	r.Moments(m.Points, mean, variance)
	fmt.Printf("φ ~ N(%.3f, %.3f), action %d, raised by %v\n", mean[0], variance[0], r.Sites.Actions[0], r.Status.Floor)
	// Output: φ ~ N(-2.232, 1.247), action 0, raised by 0
}

func BenchmarkLossVI(b *testing.B) {
	p, m := problems.DrawnProcess(b, rand.New(rand.NewPCG(1, 2)), 15, math.Exp(3), math.E)
	m = withUtility(b, m, problems.ViewsAt(p, grid(201)...), decision.Probit(), decision.Table{{1, 0}, {0.5, 1}})
	for _, draws := range []int{256, 512, 1024} {
		b.Run(fmt.Sprintf("draws=%d", draws), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := infer.LossVI{Draws: draws}.Fit(ctx, m)
				if err != nil || !r.Status.Converged {
					b.Fatal(err, r.Status)
				}
				b.ReportMetric(float64(r.Status.Sweeps), "iterations")
				b.ReportMetric(r.StdErr, "stderr")
			}
		})
	}
}

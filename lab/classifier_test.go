package lab_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/kernel"

	"github.com/lossep/lossep/lab"
)

// randomClassifier has n points of d coordinates on [−3, 3], labelled by a wavy border
// with some noise.
func randomClassifier(seed uint64, n, d int) lab.Classifier {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	c := lab.Classifier{Kernel: "rbf(variance=4, lengthscale=1.5)", Utility: [][]float64{{1, 0}, {0.5, 1}}}
	for range n {
		x := make([]float64, d)
		for k := range x {
			x[k] = 3 * (2*rng.Float64() - 1)
		}
		y := 1
		if x[0]+math.Sin(2*x[d-1])+0.5*rng.NormFloat64() < 0 {
			y = 0
		}
		c.X, c.Labels = append(c.X, x), append(c.Labels, y)
	}
	c.Grid = &lab.Grid{}
	for range d {
		c.Grid.From, c.Grid.To = append(c.Grid.From, -3), append(c.Grid.To, 3)
		c.Grid.Points = append(c.Grid.Points, []int{1: 201, 2: 41}[d])
	}
	return c
}

// twoPoints is the data of the paper's Figure 2.
func twoPoints() lab.Classifier {
	return lab.Classifier{
		X: [][]float64{{-math.Sqrt2}, {math.Sqrt2}}, Labels: []int{0, 1},
		Kernel:  kernel.RBF(math.Exp(3), math.E).String(),
		Utility: [][]float64{{1, 0}, {0.5, 1}},
		Grid:    &lab.Grid{From: []float64{-10}, To: []float64{10}, Points: []int{201}},
	}
}

func solveClassifier(t *testing.T, c lab.Classifier) *lab.ClassifierView {
	t.Helper()
	v, err := c.Solve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func method(t *testing.T, v *lab.ClassifierView, name string) lab.ClassifierAnswer {
	t.Helper()
	for _, m := range v.Methods {
		if m.Method == name {
			return m
		}
	}
	t.Fatalf("no %s; left out are %v", name, v.LeftOut)
	return lab.ClassifierAnswer{}
}

// The two-point data: evidences and the best expected utility, which quadrature in two
// dimensions gives.
func TestClassifierTwoPoints(t *testing.T) {
	v := solveClassifier(t, twoPoints())
	for name, want := range map[string]float64{"ep": -1.8539174, "vi": -1.9792007, "laplace": -2.0857669} {
		near(t, name+" log evidence", *method(t, v, name).LogEvidence, want, 5e-8)
	}
	e := v.Exact
	// Four and a half standard errors: one in 150,000.
	near(t, "exact log evidence", e.LogEvidence, -1.8548257, 4.5*e.LogEvidenceError)
	most := 0.0
	for _, s := range e.StdErr {
		most = max(most, s)
	}
	near(t, "best expected utility", e.ExpectedUtility, 0.7943744, 4.5*most)
	if len(v.CalibrationAxes[0]) != 201 {
		t.Errorf("calibrated on %d points", len(v.CalibrationAxes[0]))
	}
}

// The exact probabilities are those of quadrature, to the standard errors given; and
// of methods, corrected EP is nearest.
func TestClassifierExact(t *testing.T) {
	c := twoPoints()
	v := solveClassifier(t, c)
	process, err := gp.New(kernel.RBF(math.Exp(3), math.E), mat.NewDense(2, 1, []float64{-math.Sqrt2, math.Sqrt2}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := process.Classify([]int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	grid, err := exact.Grid{}.Fit(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	n := len(v.Axes[0])
	want, stderr := make([]float64, n), make([]float64, n)
	decision.Probit().Probabilities(grid, process.At(mat.NewDense(n, 1, v.Axes[0])), want, stderr)
	sum := 0.0
	for j, p := range v.Exact.Probability {
		z := (p - want[j]) / v.Exact.StdErr[j]
		sum += z * z / float64(n)
		if math.Abs(z) > 4.5 {
			t.Errorf("P(+1 | %v) = %v ± %v, want %v", v.Axes[0][j], p, v.Exact.StdErr[j], want[j])
		}
	}
	// Neighbours share their draws, so that the mean square is of few degrees of freedom.
	if sum < 0.01 || sum > 8 {
		t.Errorf("standard errors are off by a factor of about %v", math.Sqrt(sum))
	}
	worst := map[string]float64{}
	for _, m := range v.Methods {
		for j, p := range m.Probability {
			worst[m.Method] = max(worst[m.Method], math.Abs(p-want[j]))
		}
	}
	if !(worst["corrected"] < 1e-3 && worst["corrected"] < worst["ep"] && worst["ep"] < worst["vi"] && worst["vi"] < worst["laplace"]) {
		t.Errorf("errors of probabilities: %v", worst)
	}
}

// Five points in the plane, from Shogun's tests, made with GPML.
func TestClassifierFivePoints(t *testing.T) {
	v := solveClassifier(t, lab.Classifier{
		X:       [][]float64{{-1.07932, -1.83544}, {1.15768, 2.91702}, {3.26631, -3.85663}, {1.79009, 0.11949}, {-3.66051, 1.75159}},
		Labels:  []int{0, 1, 1, 1, 0},
		Kernel:  "rbf(variance=2.25, lengthscale=2)",
		Utility: [][]float64{{1, 0}, {0, 1}},
	})
	near(t, "EP log evidence", *method(t, v, "ep").LogEvidence, -3.38359489, 5e-9)
	// Gauss–Hermite quadrature in five dimensions, 24 and 30 nodes each; four and a half
	// standard errors as above.
	near(t, "exact log evidence", v.Exact.LogEvidence, -3.3834701, 4.5*v.Exact.LogEvidenceError)
	for k := range 2 {
		if a := v.Axes[k]; len(a) != 41 || a[0] > -4.5 || a[40] < 3.6 {
			t.Errorf("axis %d has %d points from %v to %v", k, len(a), a[0], a[len(a)-1])
		}
	}
}

// Regret and flips, once more from what is in the view.
func TestClassifierRegret(t *testing.T) {
	c := randomClassifier(5, 12, 2)
	c.Utility = [][]float64{{1, 0}, {0.7, 0.6}, {0, 1}}
	c.Grid.Points = []int{15, 21}
	v := solveClassifier(t, c)
	n := float64(15 * 21)
	wrong := 0
	for _, m := range v.Methods {
		var flips, doubtful int
		var loss, span float64
		for j, p := range v.Exact.Probability {
			worth := func(a int) float64 { return c.Utility[a][0]*(1-p) + c.Utility[a][1]*p }
			best, worst := max(worth(0), worth(1), worth(2)), min(worth(0), worth(1), worth(2))
			near(t, "worth of the best action", worth(v.Exact.Action[j]), best, 1e-12)
			loss += (best - worth(m.Action[j])) / n
			span += (best - worst) / n
			if m.Action[j] != v.Exact.Action[j] {
				flips++
				// Actions 0, 1 and 2 are best up to 1/3, up to 7/11 and beyond.
				if e := 2 * v.Exact.StdErr[j]; math.Abs(p-1.0/3) < e || math.Abs(p-7.0/11) < e {
					doubtful++
				}
			}
		}
		wrong += flips
		if doubtful != *m.DoubtfulFlips {
			t.Errorf("%s: %d flips in doubt, want %d", m.Method, *m.DoubtfulFlips, doubtful)
		}
		if flips != *m.Flips {
			t.Errorf("%s: %d flips, want %d", m.Method, *m.Flips, flips)
		}
		near(t, m.Method+" regret", m.Regret.Absolute, loss, 1e-12)
		near(t, m.Method+" normalised regret", m.Regret.Normalised, loss/span, 1e-12)
		near(t, m.Method+" utility", m.Regret.Utility, v.Exact.ExpectedUtility-loss, 1e-12)
		if (m.Regret.StdErr > 0) != (flips > 0) {
			t.Errorf("%s: %d flips and a standard error of %v", m.Method, flips, m.Regret.StdErr)
		}
		near(t, "ratio of standard errors", m.Regret.NormalisedStdErr*span, m.Regret.StdErr, 1e-12)
	}
	if wrong == 0 {
		t.Error("no method is ever wrong: this tests nothing")
	}
}

// The grid is read with the first coordinate fastest.
func TestClassifierOrder(t *testing.T) {
	v := solveClassifier(t, lab.Classifier{
		X: [][]float64{{2, 0}, {-2, 0}}, Labels: []int{1, 0}, Utility: [][]float64{{1, 0}, {0, 1}},
		Grid: &lab.Grid{From: []float64{-2, -1}, To: []float64{2, 1}, Points: []int{5, 3}},
	})
	p := method(t, v, "ep").Probability
	if len(p) != 15 {
		t.Fatalf("%d points", len(p))
	}
	for j := range 3 {
		for i := range 4 {
			if !(p[j*5+i] < p[j*5+i+1]) {
				t.Errorf("line %d: probabilities %v do not rise to the right", j, p[j*5:j*5+5])
				break
			}
		}
		near(t, "the middle", p[j*5+2], 0.5, 1e-9)
	}
}

// One class alone, one point alone, points on top of each other: all have answers.
func TestClassifierSmall(t *testing.T) {
	for _, c := range []lab.Classifier{
		{X: [][]float64{{1}, {2}, {3}}, Labels: []int{1, 1, 1}},
		{X: [][]float64{{1, 1}}, Labels: []int{0}},
		{X: [][]float64{{1}, {1}, {1}}, Labels: []int{1, 0, 1}},
		{X: [][]float64{{1, 2}, {1, 3}}, Labels: []int{1, 0}, Kernel: "linear + constant"},
		{X: [][]float64{{1e6}}, Labels: []int{1}},
		{X: [][]float64{{0}, {1e-9}}, Labels: []int{1, 0}},
	} {
		c.Utility = [][]float64{{1, 0}, {0, 1}}
		v := solveClassifier(t, c)
		if len(v.Methods) != 6 || v.Exact == nil {
			t.Errorf("%+v: left out %v and %q", c, v.LeftOut, v.ExactLeftOut)
		}
		for _, m := range v.Methods {
			if !m.Converged {
				t.Errorf("%+v: %s: %s", c, m.Method, m.Status)
			}
		}
	}
}

// Where draws are out of reach there is no exact answer, and nothing is judged by it.
func TestClassifierWithoutExact(t *testing.T) {
	c := randomClassifier(1, 80, 1)
	for i := range c.Labels {
		c.Labels[i] = 1 - i*7919%13%2 // nothing to do with where they are
	}
	c.Kernel, c.Grid.Points = "rbf(variance=1e4, lengthscale=0.3)", []int{2}
	v := solveClassifier(t, c)
	if v.Exact != nil || !strings.Contains(v.ExactLeftOut, "use fewer points") {
		t.Errorf("exact %v, %q", v.Exact, v.ExactLeftOut)
	}
	for _, m := range v.Methods {
		if m.Flips != nil || m.Regret != nil || len(m.Probability) != 2 {
			t.Errorf("%s: flips %v and regret %v against nothing", m.Method, m.Flips, m.Regret)
		}
	}
}

// An exact answer that would take most of the time there is is left out, whatever the number
// of outcomes, and says why; the others are there.
func TestClassifierWithoutLateExact(t *testing.T) {
	two := twoPoints()
	three := two
	three.Labels, three.Utility = []int{0, 2}, [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for _, c := range []lab.Classifier{two, three} {
		v, err := c.Solve(hurried{t.Context()})
		if err != nil {
			t.Fatal(err)
		}
		if v.Exact != nil || !strings.Contains(v.ExactLeftOut, "longer than this view may") || len(v.Methods) < 4 {
			t.Errorf("exact %v, %q, %d methods", v.Exact, v.ExactLeftOut, len(v.Methods))
		}
	}
}

// hurried is a context whose deadline is always near, and never there.
type hurried struct{ context.Context }

func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(time.Microsecond), true }

// A draw of every proposal is 100 percent of them.
func TestClassifierAcceptance(t *testing.T) {
	v := solveClassifier(t, lab.Classifier{X: [][]float64{{0}}, Labels: []int{1}, Kernel: "rbf(variance=1e-3)", Utility: [][]float64{{1, 0}, {0, 1}}})
	if v.Exact == nil || strings.Contains(v.Exact.Status, "e+") {
		t.Errorf("%+v", v.Exact)
	}
}

// A method that would take too long is left out, and says why.
func TestClassifierLeavesOut(t *testing.T) {
	c := randomClassifier(1, 10, 2)
	c.Kernel, c.Grid.Points = "rbf(variance=1e4, lengthscale=0.3)", []int{lab.MaxPlane, lab.MaxPlane}
	v := solveClassifier(t, c)
	if len(v.LeftOut) != 1 || v.LeftOut[0].Method != "corrected" || !strings.Contains(v.LeftOut[0].Reason, "coarser grid") {
		t.Errorf("left out %v", v.LeftOut)
	}
	if len(v.Methods) != 5 || v.Exact == nil {
		t.Errorf("%d methods and exact %v", len(v.Methods), v.Exact)
	}
}

// Exact probabilities of three outcomes are ratios of evidences, with a new case of each
// outcome and without it, to the standard errors given; and what is in doubt, decided
// otherwise and lost follows from them.
func TestThreeExact(t *testing.T) {
	c := lab.Classifier{
		X: [][]float64{{-2}, {-1}, {0.3}, {1.5}}, Labels: []int{0, 1, 2, 1}, Kernel: "rbf(variance=4, lengthscale=1)",
		Utility: [][]float64{{3, 0, 1}, {0, 3, 2}, {2, 1, 3}, {2, 2, 2}},
		Grid:    &lab.Grid{From: []float64{-3}, To: []float64{3}, Points: []int{9}},
	}
	v := solveClassifier(t, c)
	e := v.Exact
	evidence := func(x, y []float64) float64 {
		o := &gp.Outcomes{Of: make([]int, len(y)), Number: 3}
		for i := range y {
			o.Of[i] = int(y[i])
		}
		p, err := gp.NewOutcomes(kernel.RBF(4, 1), mat.NewDense(len(x), 1, x), o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := exact.Sampler{Draws: 2, EvidencePoints: 1 << 15, Seed: 3}.Fit(t.Context(), p.Model())
		if err != nil {
			t.Fatal(err)
		}
		return r.LogEvidence
	}
	x, y := []float64{-2, -1, 0.3, 1.5}, []float64{0, 1, 2, 1}
	own := evidence(x, y)
	near(t, "log evidence", e.LogEvidence, own, 4.5*e.LogEvidenceError+1e-5)
	squares := 0.0
	for j, z := range v.Axes[0] {
		best, worth := e.Action[j], make([]float64, 4)
		for k := range 3 {
			want := math.Exp(evidence(append(x[:4:4], z), append(y[:4:4], float64(k))) - own)
			d := (e.Probabilities[k][j] - want) / e.StdErrs[k][j]
			squares += d * d / 27
			if math.Abs(d) > 4.5 {
				t.Errorf("P(%d | %v) = %v ± %v, want %v", k, z, e.Probabilities[k][j], e.StdErrs[k][j], want)
			}
			for a := range worth {
				worth[a] += c.Utility[a][k] * e.Probabilities[k][j]
			}
		}
		near(t, "worth of the best action", worth[best], slices.Max(worth), 1e-12)
	}
	// Neighbours share their draws, so that the mean square is of few degrees of freedom.
	if squares < 0.05 || squares > 8 {
		t.Errorf("standard errors are off by a factor of about %v", math.Sqrt(squares))
	}
	for _, m := range v.Methods {
		flips, loss := 0, 0.0
		for j, a := range m.Action {
			if a != e.Action[j] {
				flips++
			}
			for k := range 3 {
				loss += (c.Utility[e.Action[j]][k] - c.Utility[a][k]) * e.Probabilities[k][j] / 9
			}
		}
		if *m.Flips != flips || *m.DoubtfulFlips > flips {
			t.Errorf("%s: %d flips, %d in doubt, and %d are seen", m.Method, *m.Flips, *m.DoubtfulFlips, flips)
		}
		near(t, m.Method+" regret", m.Regret.Absolute, loss, 1e-12)
	}
}

// Three outcomes: each is probable where its points are, probabilities add up to one, a
// costly mistake makes its region smaller, and what is for two outcomes says so.
func TestThreeOutcomes(t *testing.T) {
	c := lab.Classifier{
		X:      [][]float64{{-2, 0}, {-1.5, 0.5}, {2, 0}, {1.5, 0.5}, {0, 2.5}, {0.3, 2}},
		Labels: []int{0, 0, 1, 1, 2, 2}, Kernel: "rbf(variance=9, lengthscale=1.5)",
		Utility: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		Grid:    &lab.Grid{From: []float64{-2, 0}, To: []float64{2, 2.5}, Points: []int{9, 6}},
	}
	v, err := c.Solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if v.Exact == nil || len(v.Methods) != 4 || len(v.LeftOut) != 2 {
		t.Fatalf("exact %v, %d methods, left out %v and %q", v.Exact, len(v.Methods), v.LeftOut, v.ExactLeftOut)
	}
	at := map[int]int{0: 0, 8: 1, 5*9 + 4: 2} // corners and the middle of the upper edge
	for _, a := range v.Methods {
		if !a.Converged || a.Probability != nil {
			t.Errorf("%+v", a)
		}
		for i, y := range at {
			if a.Action[i] != y || a.Probabilities[y][i] < 0.5 {
				t.Errorf("%s: at point %d action %d with %v", a.Method, i, a.Action[i], a.Probabilities[y][i])
			}
		}
		for i := range a.Action {
			if sum := a.Probabilities[0][i] + a.Probabilities[1][i] + a.Probabilities[2][i]; math.Abs(sum-1) > 1e-9 {
				t.Errorf("%s: probabilities at point %d add up to %v", a.Method, i, sum)
			}
		}
	}
	taken := func(v *lab.ClassifierView) (n int) {
		for _, a := range v.Methods[0].Action {
			if a == 2 {
				n++
			}
		}
		return n
	}
	before := taken(v)
	c.Utility = [][]float64{{1, 0, 0.9}, {0, 1, 0.9}, {0, 0, 1}}
	if v, err = c.Solve(t.Context()); err != nil || taken(v) >= before {
		t.Errorf("%v: action 2 is taken at %d points, and was at %d", err, taken(v), before)
	}
	c.Labels[0] = 3
	if _, err := c.Solve(context.Background()); err == nil || !strings.Contains(err.Error(), "labels[0]: 3 is not a label; with a utility of 3 outcomes give 0 to 2") {
		t.Error(err)
	}
}

// Far from all points every action is worth the same, and which of them is taken is nobody's
// mistake.
func TestTiesAreInDoubt(t *testing.T) {
	v := solveClassifier(t, lab.Classifier{
		X: [][]float64{{-1, 0}, {1, 0}, {0, 1}}, Labels: []int{0, 1, 2}, Kernel: "rbf(lengthscale=0.05)",
		Utility: [][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		Grid:    &lab.Grid{From: []float64{-2, -2}, To: []float64{2, 2}, Points: []int{7, 7}},
	})
	if v.Exact == nil || v.Exact.Doubtful < 40 {
		t.Fatalf("%+v", v.Exact)
	}
	for _, m := range v.Methods {
		if *m.Flips != *m.DoubtfulFlips {
			t.Errorf("%s: %d flips, of which %d in doubt", m.Method, *m.Flips, *m.DoubtfulFlips)
		}
	}
}

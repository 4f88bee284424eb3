package gp_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
)

// repeated are the cases as often as they count, and which of them are copies of which.
func repeated(x *mat.Dense, o *gp.Outcomes) (*mat.Dense, *gp.Outcomes, [][]int) {
	var rows []float64
	all, copies := &gp.Outcomes{Number: o.Number}, make([][]int, len(o.Of))
	for i, y := range o.Of {
		for range int(o.Counts[i]) {
			copies[i] = append(copies[i], len(all.Of))
			all.Of = append(all.Of, y)
			rows = append(rows, x.RawRowView(i)...)
		}
	}
	return mat.NewDense(len(all.Of), 2, rows), all, copies
}

// withContest is the model of the process with random costs at some points.
func withContest(t *testing.T, p *gp.Process, z *mat.Dense, number int) *infer.Model {
	t.Helper()
	rng := rand.New(rand.NewPCG(16, 40))
	table := make(decision.Table, number)
	for a := range table {
		table[a] = make([]float64, number)
		for c := range table[a] {
			table[a][c] = rng.Float64()
		}
	}
	points, maps := p.OutcomesPoints(z)
	u, err := decision.NewContest(maps, nil, table)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Model()
	m.Utility, m.Points = u, points
	return m
}

// A case that counts k times is k cases, to every method that several outcomes have: evidence,
// probabilities, and what is predicted without it. 1e-8 is what sites that have settled to 1e-11
// or so and the jitter of equal rows leave.
func TestCountedOutcomesAreCopies(t *testing.T) {
	const tolerance = 1e-8
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(16, 41))
	ep := func(s infer.Schedule) func(*infer.Model) (*infer.Result, error) {
		return func(m *infer.Model) (*infer.Result, error) {
			r, err := infer.EP{Schedule: s, Tolerance: 1e-11}.Fit(ctx, m)
			if err != nil {
				return nil, err
			}
			return &r.Result, nil
		}
	}
	methods := map[string]func(*infer.Model) (*infer.Result, error){
		"EP, one by one": ep(infer.Sequential), "EP, all at once": ep(infer.Parallel),
		"VI":      func(m *infer.Model) (*infer.Result, error) { return infer.VI{Tolerance: 1e-10}.Fit(ctx, m) },
		"Laplace": func(m *infer.Model) (*infer.Result, error) { return infer.Laplace{Tolerance: 1e-11}.Fit(ctx, m) },
		"Loss-EP": ep(infer.Parallel),
	}
	for trial := range 8 {
		number, n := 3+trial%2, 5+rng.IntN(6)
		x, o := contest(rng, n, number)
		for range n {
			o.Counts = append(o.Counts, float64(1+rng.IntN(4)))
		}
		k := kernel.RBF(math.Exp(rng.NormFloat64()), math.Exp(0.5*rng.NormFloat64()))
		many, all, copies := repeated(x, o)
		z := mat.NewDense(4, 2, nil)
		for i := range 4 {
			z.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
		}
		one, err := gp.NewOutcomes(k, x, o)
		if err != nil {
			t.Fatal(err)
		}
		explicit, err := gp.NewOutcomes(k, many, all)
		if err != nil {
			t.Fatal(err)
		}
		for name, method := range methods {
			fit := func(p *gp.Process) *infer.Result {
				m := p.Model()
				if name == "Loss-EP" {
					m = withContest(t, p, z, number)
				}
				r, err := method(m)
				if err != nil || !r.Status.Converged {
					t.Fatalf("%s, trial %d: %v, %v", name, trial, err, r)
				}
				return r
			}
			got, want := fit(one), fit(explicit)
			if math.Abs(got.LogEvidence-want.LogEvidence) > tolerance*(1+math.Abs(want.LogEvidence)) {
				t.Errorf("%s, trial %d: log evidence %v, with copies %v", name, trial, got.LogEvidence, want.LogEvidence)
			}
			for i := range 4 {
				p, q := classes(one.OutcomesAt(got.Q, z.RawRowView(i))), classes(explicit.OutcomesAt(want.Q, z.RawRowView(i)))
				if !floats.EqualApprox(p, q, tolerance) {
					t.Errorf("%s, trial %d: probabilities %v, with copies %v", name, trial, p, q)
				}
			}
			out, without := one.LeaveOut(got.Q, got.Sites.Terms), explicit.LeaveOut(want.Q, want.Sites.Terms)
			for i := range n {
				var mean []float64
				var cov *mat.SymDense
				if !out.Cases([]int{i}, func(_ int, m []float64, c *mat.SymDense) { mean, cov = m, c }) {
					t.Fatalf("%s, trial %d: no posterior without case %d", name, trial, i)
				}
				without.Cases(copies[i], func(_ int, m []float64, c *mat.SymDense) {
					if !floats.EqualApprox(mean, m, tolerance) || !mat.EqualApprox(cov, c, tolerance) {
						t.Errorf("%s, trial %d: without case %d %v %v, with copies %v %v", name, trial, i, mean, cov, m, c)
					}
				})
			}
		}
	}
}

// The gradient of the evidence holds whatever cases count, below and above one. Differences of
// evidences that have settled to 1e-11 are good to some 1e-6 relative to the largest.
func TestCountedOutcomesGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 42))
	for _, number := range []int{3, 4} {
		x, o := contest(rng, 12, number)
		for i := range o.Of {
			o.Counts = append(o.Counts, []float64{1, 0.4, 2, 3.5, 0.05, 20}[i%6])
		}
		for _, k := range []kernel.Kernel{problems.Parse(t, "rbf(variance=1.3, lengthscale=[0.8, 1.7])", 2), problems.Parse(t, "matern32(variance=4, lengthscale=1.5) + constant", 2)} {
			p, r := settledOutcomes(t, k, x, o)
			got := p.EvidenceGradient(r, nil)
			want := fd.Gradient(nil, func(logs []float64) float64 {
				_, r := settledOutcomes(t, k.With(logs), x, o)
				return r.LogEvidence
			}, k.Params(nil), &fd.Settings{Formula: fd.Central, Step: 1e-4})
			if !floats.EqualApprox(got, want, 1e-5) {
				t.Errorf("%d outcomes, %v: gradient %v, by differences %v", number, k, got, want)
			}
		}
	}
}

// Counts interpolate: as one goes to zero the case is gone, and at one nothing jumps.
func TestCountedOutcomesInterpolate(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 43))
	for _, number := range []int{3, 5} {
		x, o := contest(rng, 10, number)
		k := kernel.RBF(2, 1)
		at := func(w float64) (float64, []float64) {
			c := *o
			c.Counts = []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, w}
			p, r := settledOutcomes(t, k, x, &c)
			return r.LogEvidence, classes(p.OutcomesAt(r.Q, []float64{0.1, 0.2}))
		}
		few := &gp.Outcomes{Of: o.Of[:9], Number: number}
		p, r := settledOutcomes(t, k, x.Slice(0, 9, 0, 2).(*mat.Dense), few)
		// To the first order the change is in proportion to the count.
		evidence, probabilities := at(1e-6)
		if want := classes(p.OutcomesAt(r.Q, []float64{0.1, 0.2})); math.Abs(evidence-r.LogEvidence) > 1e-5 || !floats.EqualApprox(probabilities, want, 1e-6) {
			t.Errorf("a count of 1e-6: %v %v, and without the case %v %v", evidence, probabilities, r.LogEvidence, want)
		}
		last := math.Inf(1)
		for _, w := range []float64{1e-3, 0.1, 0.5, 0.9, 1 - 1e-7, 1, 1 + 1e-7, 1.1, 1.5, 2, 10} {
			evidence, probabilities := at(w)
			if !(evidence < last) {
				t.Errorf("the evidence rises to %v at a count of %v", evidence, w)
			}
			last = evidence
			if math.Abs(w-1) < 1e-6 {
				exactly, same := at(1)
				if math.Abs(exactly-evidence) > 1e-6 || !floats.EqualApprox(probabilities, same, 1e-6) {
					t.Errorf("a count of %v: %v %v, and of one %v %v", w, evidence, probabilities, exactly, same)
				}
			}
		}
	}
}

// Two halves of a case are the case but for what expectation propagation loses, which is less than
// a hundredth of the probabilities here; of the exact terms the powers multiply.
func TestHalvesOfOutcomesAreWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 44))
	for range 10 {
		x, o := contest(rng, 12, 3)
		k := kernel.RBF(math.Exp(rng.NormFloat64()), 1)
		twice := *o
		for range o.Of {
			twice.Counts = append(twice.Counts, 2)
		}
		many, halves, _ := repeated(x, &twice)
		for range halves.Of {
			halves.Counts = append(halves.Counts, 0.5)
		}
		p, r := settledOutcomes(t, k, x, o)
		q, s := settledOutcomes(t, k, many, halves)
		for range 5 {
			z := []float64{rng.NormFloat64(), rng.NormFloat64()}
			got, want := classes(q.OutcomesAt(s.Q, z)), classes(p.OutcomesAt(r.Q, z))
			if !floats.EqualApprox(got, want, 0.01) {
				t.Errorf("by halves %v, whole %v", got, want)
			}
		}
	}
}

// Random problems with counts between 0.1 and 1000: what converges is finite, and what does not
// says so.
func TestCountedOutcomesRobustness(t *testing.T) {
	unsettled := 0
	for seed := range 100 {
		rng := rand.New(rand.NewPCG(uint64(seed), 45))
		number, n := 3+rng.IntN(4), 2+rng.IntN(14)
		x, o := contest(rng, n, number)
		for i := range n {
			if i > 0 && rng.IntN(5) == 0 {
				x.SetRow(i, x.RawRowView(rng.IntN(i)))
			}
			o.Counts = append(o.Counts, math.Pow(10, 4*rng.Float64()-1))
		}
		logs := func(most float64) float64 { return math.Pow(10, most*(2*rng.Float64()-1)) }
		k := kernel.Sum(kernel.Matern32(logs(3), logs(2)), kernel.Constant(logs(2)))
		p, err := gp.NewOutcomes(k, x, o)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r, err := infer.EP{Schedule: infer.Schedule(rng.IntN(2))}.Fit(context.Background(), p.Model())
		if err != nil || !r.Status.Converged {
			t.Logf("seed %d, %v: %v, %v", seed, k, err, r)
			if err == nil && r.Status.Reason == "" {
				t.Errorf("seed %d: not converged, and no reason given", seed)
			}
			unsettled++
			continue
		}
		if math.IsNaN(r.LogEvidence) || r.LogEvidence > 1e-6 {
			t.Errorf("seed %d: log evidence %v", seed, r.LogEvidence)
		}
		if f, ok := p.OutcomesPredictor(context.Background(), r.Sites.Terms); ok {
			f.Moments(x, func(i int, mean []float64, cov *mat.SymDense) {
				if math.IsNaN(floats.Sum(mean)) || math.IsNaN(mat.Sum(cov)) {
					t.Errorf("seed %d: NaN at row %d", seed, i)
				}
			})
		}
		out := p.LeaveOut(r.Q, r.Sites.Terms)
		for i := range n {
			out.Cases([]int{i}, func(_ int, mean []float64, cov *mat.SymDense) {
				if math.IsNaN(floats.Sum(mean)) || math.IsNaN(mat.Sum(cov)) {
					t.Errorf("seed %d: NaN without case %d", seed, i)
				}
			})
		}
	}
	t.Logf("%d of 100 problems did not settle", unsettled)
}

// What would need the copies themselves refuses counts by a typed error.
func TestCountedOutcomesHaveNoReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 46))
	x, o := contest(rng, 4, 3)
	o.Counts = []float64{1, 2, 1, 1}
	p, err := gp.NewOutcomes(kernel.RBF(1, 1), x, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	_, sampled := exact.Sampler{}.Fit(ctx, p.Model())
	_, chains := exact.NUTS{}.Fit(ctx, p.Model())
	for _, err := range []error{sampled, chains} {
		if unsupported := (*infer.UnsupportedError)(nil); !errors.As(err, &unsupported) {
			t.Errorf("%v", err)
		}
	}
	o.Counts = []float64{1, 1, 1, 1}
	if p, err = gp.NewOutcomes(kernel.RBF(1, 1), x, o); err != nil {
		t.Fatal(err)
	}
	if _, err := (exact.Sampler{Draws: 16}).Fit(ctx, p.Model()); err != nil {
		t.Errorf("counts of one: %v", err)
	}
}

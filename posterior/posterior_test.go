package posterior_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
)

const outcomes = 3

// problem is rows with their labels, of two outcomes and of three.
type problem struct {
	x          *mat.Dense
	two, three []int
	kernel     kernel.Kernel
}

func newProblem(t *testing.T) *problem {
	t.Helper()
	k, err := kernel.Parse("rbf(variance=2, lengthscale=1.5) + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	p := &problem{x: mat.NewDense(14, 2, nil), kernel: k}
	for i := range 14 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		p.x.SetRow(i, []float64{a, b})
		two, three := 0, rng.IntN(outcomes)
		if a+0.5*rng.NormFloat64() > 0 {
			two = 1
		}
		p.two, p.three = append(p.two, two), append(p.three, three)
	}
	return p
}

// full is the process of two outcomes, or of three, with what EP finds.
func (p *problem) full(t *testing.T, several bool) (*gp.Process, *infer.Model, *infer.Result) {
	t.Helper()
	cases := gp.Cases(&gp.Outcomes{Of: p.three, Number: outcomes})
	if !several {
		v := gp.Values{}
		for _, y := range p.two {
			v.Factors = append(v.Factors, decision.Probit()[y])
		}
		cases = v
	}
	process, err := cases.Process(p.kernel, p.x, new(gp.Scratch))
	if err != nil {
		t.Fatal(err)
	}
	m := cases.Model(process)
	r, err := infer.EP{}.Fit(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return process, m, &r.Result
}

// made is a posterior, and how it is made of a state.
type made struct {
	posterior.Posterior
	again func(posterior.State) (posterior.Posterior, error)
}

// all are all implementations.
func (p *problem) all(t *testing.T) map[string]made {
	t.Helper()
	two, model, r := p.full(t, false)
	three, more, s := p.full(t, true)
	z := mat.DenseCopyOf(p.x.Slice(0, 5, 0, 2))
	seen, err := gp.NewInducing(p.kernel, z)
	if err != nil {
		t.Fatal(err)
	}
	q := gauss.NewGaussians(outcomes, 5)
	for c, one := range q {
		n := gauss.NewNatural(5)
		n.SetStandard()
		n.H[c], n.H[c+1] = 1, -0.5
		n.P.SetSym(c, c, 3)
		if err := one.Exchange(n); err != nil {
			t.Fatal(err)
		}
	}
	binary, largest := posterior.Outcomes(decision.Probit()), posterior.Largest(outcomes)
	full := func(s posterior.State) (posterior.Posterior, error) {
		return posterior.NewFull(t.Context(), two, binary, s.Sites, s.Calibration)
	}
	joint := func(s posterior.State) (posterior.Posterior, error) {
		return posterior.NewJoint(t.Context(), three, largest, s.Sites, s.Calibration)
	}
	inducing := func(s posterior.State) (posterior.Posterior, error) {
		return posterior.NewInducing(seen, binary, s.Functions[0], s.Sites), nil
	}
	independent := func(s posterior.State) (posterior.Posterior, error) {
		return posterior.NewIndependent(seen, largest, s.Functions, s.Sites), nil
	}
	all := make(map[string]made)
	for name, m := range map[string]struct {
		make  func(posterior.State) (posterior.Posterior, error)
		state posterior.State
	}{
		"full":        {full, posterior.State{Sites: r.Sites.Terms}},
		"joint":       {joint, posterior.State{Sites: s.Sites.Terms}},
		"inducing":    {inducing, posterior.State{Functions: q[:1]}},
		"independent": {independent, posterior.State{Functions: q}},
	} {
		one, err := m.make(m.state)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = made{one, m.make}
	}
	// The others are made of those.
	of := all["full"].Posterior.(*posterior.Full)
	all["refined"] = made{posterior.NewRefined(of, corrected.New(model, r, corrected.Factorised)), nil}
	all["mixture"] = made{posterior.NewMixture([]float64{0.25, 0.75}, []posterior.Posterior{of, of}), nil}
	all["drawn"] = made{posterior.NewDrawn(two, binary, draws(t, model, 500).Draws), nil}
	all["drawn joint"] = made{posterior.NewDrawnJoint(three, largest, draws(t, more, 500).Draws), nil}
	return all
}

func draws(t *testing.T, m *infer.Model, n int) *exact.Sampled {
	t.Helper()
	r, err := exact.Sampler{Draws: n, EvidencePoints: 1 << 13, Seed: 3}.Fit(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What an outcome makes known of other cases is the same of two outcomes by one function and by one for each.
func TestBeliefs(t *testing.T) {
	p := newProblem(t)
	one, _, r := p.full(t, false)
	full, err := posterior.NewFull(t.Context(), one, posterior.Outcomes(decision.Probit()), r.Sites.Terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := &gp.Outcomes{Of: p.two, Number: 2}
	each, err := gp.NewOutcomes(p.kernel, p.x, cases)
	if err != nil {
		t.Fatal(err)
	}
	s, err := infer.EP{}.Fit(t.Context(), each.Model())
	if err != nil {
		t.Fatal(err)
	}
	joint, err := posterior.NewJoint(t.Context(), each, posterior.Largest(2), s.Sites.Terms, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(4, 2, []float64{0.1, -0.4, 2, 2, -1, 0.7, 0.1, -0.4})
	a, b := full.Belief(x), joint.Belief(x)
	for i := range 4 {
		for j := -1; j < 4; j++ {
			for y := range 2 {
				got, want := make([]float64, 2), make([]float64, 2)
				a.After(want, i, j, y)
				b.After(got, i, j, y)
				// Both have settled to 1e-6 or so, and probabilities of several have ten digits.
				if !floats.EqualApprox(got, want, 1e-5) {
					t.Errorf("case %d after outcome %d of case %d: %v, want %v", i, y, j, got, want)
				}
			}
		}
	}
}

// The derivatives of the logarithm of a probability are its differences.
func TestDerivativesOfOutcomes(t *testing.T) {
	l := posterior.Largest(3)
	mean, cov := []float64{0.3, -0.5, 0.9}, mat.NewSymDense(3, []float64{1, 0.2, -0.3, 0.2, 0.5, 0.1, -0.3, 0.1, 2})
	for y := range 3 {
		logP := func(m []float64) float64 {
			p, c := make([]float64, 3), mat.NewSymDense(3, nil)
			c.CopySym(cov)
			l.Joint(p, slices.Clone(m), c)
			return math.Log(p[y])
		}
		grad, hess := l.Derivatives(y, mean, cov)
		const step = 1e-4
		for a := range 3 {
			up, down := slices.Clone(mean), slices.Clone(mean)
			up[a] += step
			down[a] -= step
			more, _ := l.Derivatives(y, up, cov)
			less, _ := l.Derivatives(y, down, cov)
			// Differences are right to the square of the step.
			if want := (logP(up) - logP(down)) / (2 * step); math.Abs(grad[a]-want) > 1e-6 {
				t.Errorf("slope of outcome %d in %d: %v, want %v", y, a, grad[a], want)
			}
			for b := range 3 {
				if want := (more[b] - less[b]) / (2 * step); math.Abs(hess.At(a, b)-want) > 1e-6 {
					t.Errorf("bend of outcome %d in %d and %d: %v, want %v", y, a, b, hess.At(a, b), want)
				}
			}
		}
	}
}

// Probabilities by draws are ratios of evidence: of the rows with the outcome in a new case, over that of the rows.
func TestDrawnProbabilities(t *testing.T) {
	p := newProblem(t)
	z := []float64{0.3, -0.8}
	more := &problem{x: mat.NewDense(15, 2, append(slices.Clone(p.x.RawMatrix().Data), z...)), kernel: p.kernel}
	for _, several := range []bool{false, true} {
		process, model, _ := p.full(t, several)
		r := draws(t, model, 4000)
		number, drawn := 2, posterior.NewDrawn(process, posterior.Outcomes(decision.Probit()), r.Draws)
		if several {
			number, drawn = outcomes, posterior.NewDrawnJoint(process, posterior.Largest(outcomes), r.Draws)
		}
		at := mat.NewDense(1, 2, z)
		got, errs := drawn.Probabilities(at)[0], make([]float64, number)
		drawn.Given(at, func(_ int, p [][]float64) {
			for y := range errs {
				errs[y] = drawn.StdErr(p[y])
			}
		})
		for y := range number {
			more.two, more.three = append(slices.Clone(p.two), y), append(slices.Clone(p.three), y)
			_, with, _ := more.full(t, several)
			e := draws(t, with, 2)
			want := math.Exp(e.LogEvidence - r.LogEvidence)
			// Four standard errors of both.
			if off := 4 * (errs[y] + want*(e.LogEvidenceError+r.LogEvidenceError)); !(math.Abs(got[y]-want) <= off && off < 0.05) {
				t.Errorf("%d outcomes, %d: %v, want %v within %v", number, y, got[y], want, off)
			}
		}
		if several {
			continue
		}
		one := drawn.Predict(at)[0]
		sum, mean, square := 0.0, 0.0, 0.0
		for _, n := range one.Normals {
			sum, mean, square = sum+n.Weight, mean+n.Weight*n.Mean, square+n.Weight*(n.Variance+n.Mean*n.Mean)
		}
		// The variance of draws is over one less than their number.
		if v := square - mean*mean; math.Abs(sum-1) > 1e-12 || math.Abs(mean-one.Mean) > 1e-9 || math.Abs(v-one.Variance) > one.Variance/3000 {
			t.Errorf("normals of weight %v, mean %v and variance %v stand for %v and %v", sum, mean, v, one.Mean, one.Variance)
		}
	}
}

// What holds for every posterior: probabilities are numbers that add up to one, and the same by
// either way to ask for them, whatever the other rows; and what is made of its state again is the
// same to the last bit.
func TestPosteriors(t *testing.T) {
	p := newProblem(t)
	x := mat.NewDense(3, 2, []float64{0.1, -0.4, 2, 2, -30, 7})
	for name, m := range p.all(t) {
		t.Run(name, func(t *testing.T) {
			predictions, alone := m.Predict(x), m.Probabilities(mat.NewDense(1, 2, x.RawRowView(1)))
			probabilities := m.Probabilities(x)
			for i, one := range predictions {
				// Each is accurate by itself, and marginals that are tabulated have seven digits.
				if sum := floats.Sum(one.Probabilities); !one.IsFinite() || math.Abs(sum-1) > 1e-7 {
					t.Errorf("row %d: %+v, which add up to %v", i, one, sum)
				}
				if !slices.Equal(one.Probabilities, probabilities[i]) {
					t.Errorf("row %d: %v, and by themselves %v", i, one.Probabilities, probabilities[i])
				}
			}
			if !slices.Equal(alone[0], probabilities[1]) {
				t.Errorf("%v, alone %v", probabilities[1], alone[0])
			}
			n, _ := m.Inputs().Dims()
			if rows := m.Extremes(); slices.Min(rows) < 0 || slices.Max(rows) >= n {
				t.Errorf("rows %v of %d inputs", rows, n)
			}
			if m.again == nil {
				return
			}
			again, err := m.again(m.State())
			if err != nil {
				t.Fatal(err)
			}
			if got := again.Probabilities(x); !slices.EqualFunc(got, probabilities, slices.Equal) {
				t.Errorf("made again %v, before %v", got, probabilities)
			}
		})
	}
}

// The posterior without a row is the one that is made without the row's sites.
func TestLeaveOut(t *testing.T) {
	p := newProblem(t)
	all := p.all(t)
	for name, c := range map[string]struct {
		labels []int
		of     made
		sites  int // of a row
	}{
		"full": {p.two, all["full"], 1}, "mixture": {p.two, all["full"], 1}, "joint": {p.three, all["joint"], outcomes - 1},
	} {
		for _, unit := range [][]int{nil, {2, 5, 9}} {
			var units [][]int
			for i := range c.labels {
				if unit != nil && !slices.Contains(unit, i) {
					units = append(units, []int{i})
				}
			}
			if unit != nil {
				units = append(units, unit)
			}
			seen := 0
			err := all[name].Posterior.(posterior.LeaveOut).LeaveOut(t.Context(), c.labels, units, func(i int, got []float64, logP float64) {
				seen++
				state := c.of.State()
				state.Sites = slices.Clone(state.Sites)
				out := []int{i}
				if slices.Contains(unit, i) {
					out = unit
				}
				for _, row := range out {
					clear(state.Sites[row*c.sites : (row+1)*c.sites])
				}
				without, err := c.of.again(state)
				if err != nil {
					t.Fatal(err)
				}
				want := without.Probabilities(mat.NewDense(1, 2, p.x.RawRowView(i)))[0]
				// Both are exact but for rounding, which taking out magnifies by the precisions.
				if !floats.EqualApprox(got, want, 1e-9) || math.Abs(logP-math.Log(want[c.labels[i]])) > 1e-8 {
					t.Errorf("%s, unit %v, row %d: %v and %v, made without it %v", name, unit, i, got, logP, want)
				}
			})
			if err != nil || seen != len(c.labels) {
				t.Errorf("%s: %d rows, %v", name, seen, err)
			}
		}
	}
}

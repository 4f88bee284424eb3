package search

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/pass"
)

// A search on thousands of rows ends where little is to be gained, its points leave little
// of the variance, its bound is below the evidence, and its probabilities are those of the
// full process with the same kernel.
func TestInduce(t *testing.T) {
	x, terms := problems.Smooth(1200, 2, 8)
	k, err := kernel.Parse("matern32(ard) + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Induce(context.Background(), k, x, terms, InduceOptions{Memory: 1 << 28})
	if err != nil {
		t.Fatal(err)
	}
	// It is ended by a step that promises little by the curvature that the search has seen; so
	// does the step by the curvature itself.
	left := promised(t, f, x, terms)
	if f.Stop != Stationary || !(left >= 0 && left <= worthPerRow*1200) || f.Bound > f.LogEvidence || f.Lost > TolerableLoss(1200) {
		t.Errorf("%v, gradient %v, %v to be gained, evidence %v, bound %v, lost %v", f.Stop, f.Gradient, left, f.LogEvidence, f.Bound, f.Lost)
	}
	whole, err := gp.New(f.Process.Kernel(), x)
	if err != nil {
		t.Fatal(err)
	}
	ep, err := infer.EP{Schedule: infer.Parallel}.Fit(context.Background(), &infer.Model{Views: whole.Views(), Terms: terms.Factors})
	if err != nil {
		t.Fatal(err)
	}
	if f.Bound > ep.LogEvidence {
		t.Errorf("the bound %v exceeds the evidence of the full process, %v", f.Bound, ep.LogEvidence)
	}
	at, _ := problems.Smooth(200, 2, 9)
	var p, q, none [200]float64
	infer.Gaussian{Gaussian: f.Result.Q[0]}.Expect(f.Process.At(at), factor.Probit{Y: 1}, p[:], none[:])
	infer.Gaussian{Gaussian: ep.Q}.Expect(whole.At(at), factor.Probit{Y: 1}, q[:], none[:])
	differ := 0.0
	for i := range p {
		differ += math.Abs(p[i]-q[i]) / float64(len(p))
	}
	if differ > 0.005 {
		t.Errorf("probabilities differ by %v on average with %d points", differ, f.Process.Dim())
	}
}

// promised is what Newton's step from where a search ended would gain with the points found,
// ½ gᵀH⁻¹g. The curvature H is from gradients a little before and behind in each parameter.
func promised(t *testing.T, f *Induced, x *mat.Dense, terms gp.Terms) float64 {
	t.Helper()
	const h = 0.01
	e := &sparse{x: x, terms: terms, driver: gp.InMemory(x, terms, &gp.ViewBuffer{Bytes: 1 << 28}, 0), z: f.Process.Points()}
	o := &objective{kernel: f.Process.Kernel(), evidence: e, prior: newPrior(f.Process.Kernel(), x, 0, tuning{})}
	d := len(f.Gradient)
	bend := mat.NewDense(d, d, nil)
	for k := range d {
		for _, sign := range []float64{-1, 1} {
			logs := f.Process.Kernel().Params(nil)
			logs[k] += sign * h
			at, err := o.at(context.Background(), logs, nil, 1e-9)
			if err != nil || at == nil {
				t.Fatal(err, o.failure)
			}
			if ok, err := o.differentiate(context.Background(), at); !ok {
				t.Fatal(err)
			}
			for j, g := range at.slope {
				bend.Set(k, j, bend.At(k, j)-sign*g/(2*h))
			}
		}
	}
	g := mat.NewVecDense(d, f.Gradient)
	var step mat.VecDense
	if err := step.SolveVec(bend, g); err != nil {
		t.Fatal(err)
	}
	return 0.5 * mat.Dot(g, &step)
}

// A search sees rows from few points, and its result from as many as were asked for: with all
// rows as points it is the full process with the kernel found.
func TestInduceWidens(t *testing.T) {
	const n = 440
	x, terms := problems.Smooth(n, 3, 12)
	k, err := kernel.Parse("matern32 + constant", 3)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	o := InduceOptions{Points: n, Memory: 1 << 28, Pass: func(p Passed) {
		if p.Points < n {
			most = max(most, p.Points)
		}
	}}
	// Evaluations are counted on when there are more points.
	number := 0
	o.Progress = func(e Evaluation) {
		if e.Number <= number {
			t.Errorf("evaluation %d comes after %d", e.Number, number)
		}
		number = e.Number
	}
	f, err := Induce(context.Background(), k, x, terms, o)
	if err != nil {
		t.Fatal(err)
	}
	if most != searchPoints(n, 1) || f.Process.Dim() != n || f.Stop != Stationary || f.Evaluations != number {
		t.Errorf("%d points for the search, which ended %v after %d evaluations, of which %d were reported, and %d for the result", most, f.Stop, f.Evaluations, number, f.Process.Dim())
	}
	whole, err := gp.New(f.Process.Kernel(), x)
	if err != nil {
		t.Fatal(err)
	}
	ep, err := infer.EP{}.Fit(context.Background(), &infer.Model{Views: whole.Views(), Terms: terms.Factors})
	if err != nil {
		t.Fatal(err)
	}
	// The evidence is stationary in what is left of finalTolerance.
	if math.Abs(f.LogEvidence-ep.LogEvidence) > 1e-6 {
		t.Errorf("evidence %v, of the full process %v", f.LogEvidence, ep.LogEvidence)
	}
	o.Fixed, o.Points, number = true, n-1, 0
	if f, err = Induce(context.Background(), f.Process.Kernel(), x, terms, o); err != nil || f.Process.Dim() != n-1 {
		t.Errorf("with the kernel held there are %d points, %v", f.Process.Dim(), err)
	}
}

// narrow makes passes from at most so many points.
type narrow struct {
	gp.Driver
	most int
}

func (d narrow) Drive(p *gp.Inducing, before gp.Engine) (gp.Engine, error) {
	if p.Dim() > d.most {
		return nil, errors.New("too many")
	}
	return d.Driver.Drive(p, before)
}

// Where expectation propagation fails with all points, what the search found with fewer is
// not lost: it is the same as when no more had been asked for, but for a word about it.
func TestInduceKeepsFewer(t *testing.T) {
	const n = 440
	x, terms := problems.Smooth(n, 2, 12)
	k, err := kernel.Parse("matern32 + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	o := InduceOptions{Points: searchPoints(n, 1), Memory: 1 << 28}
	want, err := Induce(context.Background(), k, x, terms, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Points, o.Driver = n, narrow{gp.InMemory(x, terms, &gp.ViewBuffer{Bytes: o.Memory}, 0), searchPoints(n, 1)}
	got, err := Induce(context.Background(), k, x, terms, o)
	if err != nil {
		t.Fatal(err)
	}
	// Sites converge from another start, and the evidence is of the second order in what is left.
	if got.Fewer == nil || want.Fewer != nil || !mat.Equal(got.Process.Points(), want.Process.Points()) || math.Abs(got.LogEvidence-want.LogEvidence) > 1e-8*n {
		t.Errorf("evidence %v from %d points (%v), %v from %d", got.LogEvidence, got.Process.Dim(), got.Fewer, want.LogEvidence, want.Process.Dim())
	}
	if !slices.Equal(got.Process.Kernel().Params(nil), want.Process.Kernel().Params(nil)) || got.Share != want.Share || got.Lost != want.Lost {
		t.Errorf("%v, %v and %v left; without failure %v, %v and %v", got.Process.Kernel(), got.Share, got.Lost, want.Process.Kernel(), want.Share, want.Lost)
	}
	o.Fixed = true
	if got, err = Induce(context.Background(), k, x, terms, o); err != nil || got.Fewer == nil || got.Process.Dim() != searchPoints(n, 1) || !got.Result.Status.Converged {
		t.Errorf("with the kernel held: %+v, %v", got, err)
	}
}

// A search that is taken up where it was interrupted ends with the same bits, also where more
// points are to come in at its end.
func TestInduceResumes(t *testing.T) {
	k, err := kernel.Parse("matern32 + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ rows, points, levels int }{{9000, 20, 2}, {440, 330, 1}} {
		x, terms := problems.Smooth(c.rows, 2, 10)
		var came []Checkpoint
		o := InduceOptions{Points: c.points, Memory: 1 << 28, Checkpoint: func(c Checkpoint) { came = append(came, c) }}
		want, err := Induce(context.Background(), k, x, terms, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(came) != c.levels {
			t.Fatalf("%d rows: %d checkpoints", c.rows, len(came))
		}
		o.Resume, o.Checkpoint = &came[c.levels-1], nil
		got, err := Induce(context.Background(), k, x, terms, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.LogEvidence != want.LogEvidence || !slices.Equal(allSites(t, got.Engine), allSites(t, want.Engine)) || !mat.Equal(got.Process.Points(), want.Process.Points()) || got.Process.Dim() != c.points {
			t.Errorf("%d rows: evidence %v from %d points when resumed, %v from %d when not", c.rows, got.LogEvidence, got.Process.Dim(), want.LogEvidence, want.Process.Dim())
		}
	}
}

func allSites(t *testing.T, e gp.Engine) []gauss.Scalar {
	t.Helper()
	sites, err := e.Sites(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return sites
}

var hard = flag.Bool("hard", false, "2,000 hard problems, which take minutes, in place of 40 smaller ones")

// Hard problems: repeated rows, one class, extreme scales, any number of points. Whatever
// comes out is finite, and what has not converged says so. 2,000 of them take minutes; the
// short run has fewer.
func TestManyHardProblems(t *testing.T) {
	number := 40
	if *hard {
		number = 2000
	}
	open := 0
	for seed := range number {
		rng := rand.New(rand.NewPCG(uint64(seed), 77))
		n := 1 + int(math.Exp(rng.Float64()*math.Log(3000)))
		if !*hard {
			n = min(n, 300)
		}
		d := 1 + rng.IntN(4)
		x, terms := problems.Smooth(n, d, uint64(seed))
		scale := math.Pow(10, 6*rng.Float64()-3)
		x.Scale(scale, x)
		if rng.IntN(3) == 0 { // repeated rows
			for i := range n {
				x.SetRow(i, x.RawRowView(rng.IntN(1+n/4)))
			}
		}
		switch rng.IntN(5) {
		case 0: // one class
			for i := range terms.Factors {
				terms.Factors[i] = factor.Probit{Y: 1}
			}
		case 1:
			for i := range terms.Factors {
				terms.Factors[i] = factor.Logit{Y: terms.Factors[i].(factor.Probit).Y}
			}
		case 2:
			for i := range terms.Factors {
				terms.Factors[i] = factor.RobustProbit{Y: terms.Factors[i].(factor.Probit).Y, Noise: math.Pow(10, -1-4*rng.Float64())}
			}
		}
		text := problems.Kernels[rng.IntN(len(problems.Kernels))]
		if d != 2 {
			text = []string{"matern32 + constant", "rbf", "matern12 + linear", "periodic"}[rng.IntN(4)]
		}
		k, err := kernel.Parse(text, d)
		if err != nil {
			t.Fatal(err)
		}
		logs := k.Params(nil)
		for i := range logs {
			logs[i] += 3 * rng.NormFloat64()
		}
		k = k.With(logs)
		pivots := NewPivots(k, x, nil, rng)
		m := pivots.Grow(1+rng.IntN(n), 0)
		if m == 0 {
			t.Errorf("problem %d: no point for %v", seed, k)
			continue
		}
		p, err := gp.NewInducing(k, pivots.Points(m))
		if err != nil {
			t.Errorf("problem %d: %v", seed, err)
			continue
		}
		l := gp.NewEngine(p, p.Shards(x, terms, nil, 0), nil)
		r, err := converge(context.Background(), p, l, x, terms, pass.Settings{})
		if err != nil {
			t.Errorf("problem %d, %d rows, %d points, %v: %v", seed, n, m, k, err)
			continue
		}
		if !r.Status.Converged {
			open++
			t.Logf("problem %d, %d rows, %d points, %v: %v", seed, n, m, k, r.Status)
			if r.Status.Reason == "" {
				t.Errorf("problem %d: not converged for no reason", seed)
			}
		}
		mean, variance := make([]float64, n), make([]float64, n)
		r.Q[0].Predict(p.At(x), mean, variance, new(gauss.Workspace))
		sums, err := l.Look(context.Background(), r.Q.Naturals(), pass.Options{}, nil)
		if err != nil {
			t.Errorf("problem %d: %v", seed, err)
			continue
		}
		if e := pass.Objective(infer.Propagation{}, r.Q, sums.Value); sums.Skipped == 0 && (math.IsNaN(e) || math.IsInf(e, 0)) {
			t.Errorf("problem %d: evidence %v", seed, e)
		}
		for i := range mean {
			if math.IsNaN(mean[i]) || math.IsInf(mean[i], 0) || !(variance[i] >= 0) || math.IsInf(variance[i], 0) {
				t.Errorf("problem %d: N(%v, %v) at row %d", seed, mean[i], variance[i], i)
				break
			}
		}
	}
	t.Logf("%d of %d have not converged", open, number)
	if open > number/500 {
		t.Errorf("%d of %d have not converged", open, number)
	}
}

// What is reported of passes counts every evaluation once, also those with more points at the end
// of a search, never more of them than announced, and never goes back. The few evaluations at
// the end do not change why the search stopped because they are few.
func TestInducePassesAreCounted(t *testing.T) {
	const n = 440
	x, terms := problems.Smooth(n, 2, 12)
	k, err := kernel.Parse("matern32 + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fixed bool
		most  int // evaluations, 0 for the default
	}{{false, 0}, {true, 0}, {false, 2}, {true, 2}} {
		var told []Passed
		tried := 0
		o := InduceOptions{Points: searchPoints(n, 1), Fixed: c.fixed, Memory: 1 << 28, Pass: func(p Passed) { told = append(told, p) }}
		o.Progress = func(Evaluation) { tried++ }
		o.MaxEvaluations = c.most
		narrow, err := Induce(context.Background(), k, x, terms, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Points = 0 // as many as it takes, which are more
		if _, err := Induce(context.Background(), k, x, terms, o); err != nil {
			t.Fatal(err)
		}
		for _, p := range told {
			if p.Evaluation < 1 || p.Evaluation > p.Evaluations {
				t.Errorf("%+v: told of %+v", c, p)
			}
		}
		told, tried = nil, 0
		o.Points = 330
		wide, err := Induce(context.Background(), k, x, terms, o)
		if err != nil {
			t.Fatal(err)
		}
		last := told[len(told)-1]
		// It is reported once there is something to go by, and then there is always a pass left.
		if first := told[0]; first.Done != 0 || last.Done < 0.3 {
			t.Errorf("%+v: told of %+v at first and of %+v at last", c, first, last)
		}
		if last.Points != 330 || last.Evaluation != tried || !c.fixed && wide.Evaluations != tried {
			t.Errorf("%+v: %d evaluations, told of %+v, and %d at the end", c, tried, last, wide.Evaluations)
		}
		for i, p := range told {
			if p.Evaluation < 1 || p.Evaluation > p.Evaluations || !(p.Done >= 0 && p.Done < 1) || p.Held != c.fixed {
				t.Errorf("%+v: told of %+v", c, p)
			}
			if i > 0 && (p.Evaluation < told[i-1].Evaluation || p.Evaluations > told[i-1].Evaluations || p.Done < told[i-1].Done) {
				t.Errorf("%+v: told of %+v after %+v", c, p, told[i-1])
			}
		}
		if c.fixed {
			continue
		}
		if narrow.SearchRows != n || wide.SearchRows != n || wide.Evaluations <= narrow.Evaluations {
			t.Errorf("%d evaluations on %d rows with more points, %d on %d without", wide.Evaluations, wide.SearchRows, narrow.Evaluations, narrow.SearchRows)
		}
		if usedUp := wide.Evaluations == narrow.Evaluations+fewEvaluations; usedUp && wide.Stop != narrow.Stop {
			t.Errorf("%+v: stopped as %v, and with more points as %v", c, narrow.Stop, wide.Stop)
		}
	}
}

// Beyond SearchRows the search ends on a sample, and all rows are seen with the kernel that it
// found: the result is that of this kernel and these points, settled, and one that is taken up
// from any checkpoint has the same bits.
func TestInduceHoldsTheKernelOfASample(t *testing.T) {
	const n = SearchRows + 1000
	x, terms := problems.Smooth(n, 2, 10)
	k, err := kernel.Parse("matern32 + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	var came []Checkpoint
	var told []Passed
	o := InduceOptions{Points: 8, Memory: 1 << 28, Checkpoint: func(c Checkpoint) { came = append(came, c) }, Pass: func(p Passed) { told = append(told, p) }}
	o.MaxEvaluations = 3
	want, err := Induce(context.Background(), k, x, terms, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(came) != 3 || want.SearchRows != SearchRows || want.Evaluations == 0 || want.Gradient != nil || !want.Result.Status.Converged {
		t.Fatalf("%d checkpoints, %d evaluations on %d rows, gradient %v, %+v", len(came), want.Evaluations, want.SearchRows, want.Gradient, want.Result.Status)
	}
	if !slices.Equal(k.With(came[2].Logs).Params(nil), want.Process.Kernel().Params(nil)) {
		t.Errorf("%v with all rows, and %v with the sample", want.Process.Kernel(), came[2].Logs)
	}
	for i, p := range told {
		if p.Held != (p.Rows == n) || p.Held && p.Evaluation != 1 || i > 0 && p.Rows > told[i-1].Rows && p.Done < told[i-1].Done {
			t.Errorf("told of %+v", p)
		}
	}
	process, err := gp.NewInducing(want.Process.Kernel(), want.Process.Points())
	if err != nil {
		t.Fatal(err)
	}
	l := gp.NewEngine(process, process.Shards(x, terms, nil, 0), nil)
	r, err := pass.Settle(context.Background(), l, pass.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := l.Look(context.Background(), r.Q.Naturals(), pass.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The evidence is of the second order in what is left to settle.
	if log := pass.Objective(infer.Propagation{}, r.Q, sums.Value); math.Abs(log-want.LogEvidence) > 1e-8*n {
		t.Errorf("evidence %v, settled by itself %v", want.LogEvidence, log)
	}
	for level := 1; level <= 2; level++ {
		o.Resume, o.Checkpoint, o.Pass = &came[level], nil, nil
		got, err := Induce(context.Background(), k, x, terms, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.LogEvidence != want.LogEvidence || !slices.Equal(allSites(t, got.Engine), allSites(t, want.Engine)) || got.Evaluations != want.Evaluations || got.Stop != want.Stop || got.SearchRows != want.SearchRows {
			t.Errorf("evidence %v after %d evaluations when resumed, %v after %d when not", got.LogEvidence, got.Evaluations, want.LogEvidence, want.Evaluations)
		}
	}
}

// Samples and inducing points are dealt from the order that is given, and so do not depend on how
// rows stand. Passes over all rows, which go over them where they stand, come to the same fixed
// point as far as they go: the last step is finalTolerance of a standard deviation at most, of which
// a tenth is left, and a standard deviation is less than one in a probability.
func TestInduceDealsFromAnOrder(t *testing.T) {
	const n = SearchRows + 1000
	x, terms := problems.Smooth(n, 2, 10)
	k, err := kernel.Parse("matern32 + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	o := InduceOptions{Points: 12, Memory: 1 << 28}
	o.MaxEvaluations = 3
	want, err := Induce(context.Background(), k, x, terms, o)
	if err != nil {
		t.Fatal(err)
	}
	shuffled := rand.New(rand.NewPCG(1, 1)).Perm(n)
	moved := mat.NewDense(n, 2, nil)
	o.Order = make([]int, n)
	for i, row := range shuffled {
		moved.SetRow(i, x.RawRowView(row))
		o.Order[row] = i
	}
	got, err := Induce(context.Background(), k, moved, terms.Part(shuffled), o)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(got.Process.Points(), want.Process.Points()) {
		t.Error("other inducing points")
	}
	// The sample of the search is the same to the bit, and its prior, of all rows, to rounding.
	if far := floats.Distance(got.Process.Kernel().Params(nil), want.Process.Kernel().Params(nil), math.Inf(1)); far > 1e-9 {
		t.Errorf("log parameters differ by %.2g", far)
	}
	at := x.Slice(0, 500, 0, 2).(*mat.Dense)
	var mean, variance [2][]float64
	for i, f := range []*Induced{got, want} {
		mean[i], variance[i] = make([]float64, 500), make([]float64, 500)
		f.Result.Q[0].Predict(f.Process.At(at), mean[i], variance[i], new(gauss.Workspace))
	}
	worst := 0.0
	for i := range 500 {
		p := normal.CDF(mean[0][i] / math.Sqrt(1+variance[0][i]))
		worst = max(worst, math.Abs(p-normal.CDF(mean[1][i]/math.Sqrt(1+variance[1][i]))))
	}
	t.Logf("probabilities differ by up to %.2g", worst)
	if worst > 1e-6 {
		t.Errorf("probabilities differ by up to %.2g", worst)
	}
}

// A search with several functions finds a kernel that is as good as that of all rows.
func TestInduceOutcomes(t *testing.T) {
	k, err := kernel.Parse("rbf + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 51))
	x, o := problems.Sectors(rng, 400, 3, 0.15)
	found, err := Induce(context.Background(), k, x, o, InduceOptions{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if !found.Result.Status.Converged || found.Bound > found.LogEvidence {
		t.Errorf("status %v, evidence %v, bound %v", found.Result.Status, found.LogEvidence, found.Bound)
	}
	loss, tests := 0.0, 300
	nx, no := problems.Sectors(rng, tests, 3, 0.15)
	predictors, ok := found.Process.Predictors(found.Result.Q)
	if !ok {
		t.Fatal("no predictors")
	}
	mean, variance := make([][]float64, 3), make([][]float64, 3)
	for c := range mean {
		mean[c], variance[c] = make([]float64, tests), make([]float64, tests)
	}
	predictors.Moments(nx, mean, variance)
	for i := range tests {
		p := make([]float64, 3)
		factor.OutcomeProbabilities(p, []float64{mean[0][i], mean[1][i], mean[2][i]}, []float64{variance[0][i], variance[1][i], variance[2][i]})
		loss -= math.Log(p[no.Of[i]]) / float64(tests)
	}
	// Outcomes by the angle, with a noise of 0.15 of a turn: knowing the rule leaves 0.75.
	if loss > 0.95 {
		t.Errorf("log loss %v", loss)
	}
}

// Pivots explain the variance: of a kernel of known rank all of it, with no more points
// than that; and they never choose a row twice, or a copy of one.
func TestPivots(t *testing.T) {
	x, _ := problems.Smooth(400, 3, 5)
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
	induced, err := gp.NewInducing(k, p.Points(m))
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

// Rows that count twice are rows that stand there twice, to a search.
func TestCountedRowsAreCopies(t *testing.T) {
	x, terms := problems.Smooth(40, 2, 5)
	terms.Counts = make([]float64, 40)
	twice, all := mat.NewDense(60, 2, nil), []factor.Factor(nil)
	for i := range terms.Counts {
		terms.Counts[i] = float64(1 + i%2)
		for range 1 + i%2 {
			twice.SetRow(len(all), x.RawRowView(i))
			all = append(all, terms.Factors[i])
		}
	}
	k, err := kernel.Parse("rbf(variance=1.3, lengthscale=0.8)", 2)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Optimise(context.Background(), k, x, terms, Options{Tolerance: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	// Both priors are centred on the scale of the inputs, which copies move a little.
	full, err := gp.New(fit.Process.Kernel(), twice)
	if err != nil {
		t.Fatal(err)
	}
	copies, err := infer.EP{}.Fit(context.Background(), &infer.Model{Views: full.Views(), Terms: all})
	if err != nil || math.Abs(copies.LogEvidence-fit.EP.LogEvidence) > 1e-6 { // the jitter of equal rows
		t.Errorf("%v: log evidence %v, with copies %v", err, fit.EP.LogEvidence, copies.LogEvidence)
	}
}

// Inducing points are chosen by the curvature of each row's own term, as often as it counts: what
// the bound lacks is the sum over the rows.
func TestPointsAreChosenByEachTerm(t *testing.T) {
	x, terms := problems.Smooth(60, 2, 5)
	k, err := kernel.Parse("rbf(variance=1.3, lengthscale=0.8)", 2)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Induce(t.Context(), k, x, terms, InduceOptions{Points: 10, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &induction{last: &sparseFit{process: found.Process, result: found.Result}}
	once := s.weights(x, terms)
	other := gp.Values{Factors: slices.Clone(terms.Factors), Counts: slices.Repeat([]float64{1}, 60)}
	other.Counts[3] = 7
	other.Factors[4] = factor.Logit{Y: 1}
	changed := s.weights(x, other)
	for i := range once {
		want := once[i]
		switch i {
		case 3:
			want *= 7
		case 4: // a logit bends less than a probit, at any value
			if !(changed[i] < once[i] && changed[i] > 0) {
				t.Errorf("a logit weighs %v, a probit %v", changed[i], once[i])
			}
			continue
		}
		if changed[i] != want {
			t.Errorf("row %d weighs %v, want %v", i, changed[i], want)
		}
	}
	o := &gp.Outcomes{Of: make([]int, 60), Number: 3, Counts: slices.Repeat([]float64{2}, 60)}
	s.last.result = &pass.Result{Q: gauss.Gaussians{found.Result.Q[0], found.Result.Q[0], found.Result.Q[0]}}
	twice := s.weights(x, o)
	o.Counts = nil
	for i, w := range s.weights(x, o) {
		if twice[i] != 2*w || !(w > 0) {
			t.Errorf("row %d of three outcomes weighs %v, and %v when it counts twice", i, w, twice[i])
		}
	}
}

// A kernel of few dimensions has as many points, and not all that there may be for what hardly varies.
func TestInduceFewDimensions(t *testing.T) {
	const n, d = 800, 3
	x, terms := problems.Smooth(n, d, 4)
	k, err := kernel.Parse("linear + constant + rbf(variance=1e-7, lengthscale=0.3)", d)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Induce(context.Background(), k, x, terms, InduceOptions{Memory: 1 << 28, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	if m := f.Process.Dim(); m < d+1 || m > 2*(d+1) || f.Share > noShare {
		t.Errorf("%d points leave %g of the variance", m, f.Share)
	}
}

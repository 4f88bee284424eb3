package search

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// InduceOptions of Induce. The zero value is ready to use.
type InduceOptions struct {
	Options // of the search for hyperparameters
	// Fixed keeps the hyperparameters that the kernel has.
	Fixed bool
	// Points is the number of inducing points; 0 stands for as many as it takes, see
	// Induce.
	Points int
	// Most is the most that are chosen where Points is 0; 0 stands for MostPoints.
	Most int
	// Power is that of power expectation propagation; see infer.Propagation.
	Power float64
	// Memory is how many bytes views may take up.
	Memory int64
	// ShardRows is the number of rows of a shard; see gp.Inducing.Shards.
	ShardRows int
	// Sweeps is how often a pass goes over a shard; see pass.Options.
	Sweeps int
	// Driver, if set, makes passes over all rows in place of this machine. It has to cut them
	// into the same shards.
	Driver gp.Driver
	// Order, if set, is an order of the rows that samples and inducing points are dealt from, so
	// that they do not depend on how rows stand; nil stands for the order they have.
	Order []int
	// Weights, if set, makes some rows count for more than others when inducing points
	// are chosen: it is given the predictive mean and variance of the latent value, and
	// what it returns takes the place of the term's expected curvature there.
	Weights func(mean, variance float64) float64
	// Pass, if set, is called with every pass.
	Pass func(Passed)
	// Draft says that AddEffects goes on from the result. With more rows than a search looks at
	// evidence and bound are left to it.
	Draft bool
	// Withdrawn are columns that effects alone tell of, and the kernel does not.
	Withdrawn []int
	// Beside, if set, is what is known of effects beside which the process stands. The
	// search then begins with the hyperparameters of the kernel, and on as many rows as it may look at. Sums are
	// those of the effects on the rows, on all functions row by row; nil if these are not in memory.
	Beside effects.Set
	Sums   []effects.Moment
	// Tuned are logarithms of the hyperparameters of the terms to start from; nil for the means of their priors.
	Tuned  []float64
	buffer *gp.ViewBuffer // for views, nil for a new one
	// Resume is where an earlier search had come to, nil at the beginning; Checkpoint, if
	// set, is called with where the search has come to, so that it can be taken up there. A
	// search that is resumed ends with the same bits as one that was not interrupted.
	Resume     *Checkpoint
	Checkpoint func(Checkpoint)
}

// Passed is what InduceOptions.Pass is called with.
type Passed struct {
	Rows, Points int     // that are looked at
	Held         bool    // the kernel is not searched for with as many rows
	Evaluation   int     // of the evidence, with as many rows
	Evaluations  int     // the most that there will be with as many rows
	Done         float64 // share of the work that is over, if all evaluations are needed; 0 where it is not known yet
	Pass         int
	Residual     float64
	LogEvidence  float64 // with rows as they were seen during the pass
}

// Induced is a process approximated with inducing points, and what expectation propagation found
// for it.
type Induced struct {
	Process *gp.Inducing
	Result  *pass.Result
	// Engine has the sites of all rows, and is ready for more passes.
	Engine gp.Engine
	buffer *gp.ViewBuffer // of its views
	// LogEvidence is that of the model with inducing points. Bound is a lower bound on
	// the log evidence of the model without.
	LogEvidence, Bound float64
	LogPrior           float64
	Gradient           []float64 // of LogEvidence + LogPrior in the log parameters; nil if they were held with all rows
	AtBound            []bool
	// Share is the part of the variance of the rows that the inducing points leave, and
	// Lost about how much lower the bound is for it, in nats per row.
	Share, Lost float64
	// Fewer is why there are fewer points than there were to be: expectation propagation
	// failed with all of them, and those of the search are kept. Otherwise it is nil.
	Fewer error
	// draft says that there is no evidence; see InduceOptions.Draft.
	draft bool
	// SearchRows is the number of rows that the search ended on, and Evaluations how many
	// evaluations it took with as many.
	SearchRows, Evaluations int
	Tuned                   []float64 // see Fit
	// Stop is why it ended. That the few evaluations with all points are used up, which may
	// follow a search with fewer, is no reason of their own.
	Stop Stop
}

// Induce finds inducing points for the rows of x, the hyperparameters that maximise
// log Z_EP plus a weak prior, and expectation propagation's fixed point.
//
// The search looks at a random sample of the rows first and then at samples eight times
// as large, up to all of them or 25,000, where few evaluations are left to do. More rows
// are seen with the kernel that a sample of 25,000 found. In each it chooses
// points by Pivots, with weights that are the expected curvature of the terms under the
// posterior so far: half the weighted residual variance is what the variational bound
// lacks for want of points. They are held while the search climbs the evidence, and are
// chosen again when the hyperparameters have moved.
//
// A search sees its rows from at most a quarter as many points as there are rows. Where more
// are asked for, or needed, they come in at its end, for a few evaluations: few points tell
// roughly what a kernel is like.
//
// When Points is 0 there are so many that the bound lacks at most TolerableLoss, or
// that it gained less than that by the last half of them, or MostPoints, if that is less.
//
// Errors are those of Optimise.
func Induce(ctx context.Context, k kernel.Kernel, x *mat.Dense, terms gp.Terms, o InduceOptions) (*Induced, error) {
	n, _ := x.Dims()
	if terms.Len() != n {
		panic(fmt.Sprintf("search: %d terms for %d inputs", terms.Len(), n))
	}
	s := &induction{kernel: k, x: x, terms: terms, opt: o, buffer: o.buffer, prior: newPrior(k, x, o.Shrinkage, newTuning(terms))}
	s.prior.withdraw(k, o.Withdrawn)
	if s.buffer == nil {
		s.buffer = &gp.ViewBuffer{Bytes: o.Memory}
	}
	s.order = deal(rand.New(rand.NewPCG(o.Seed, 1)), n, min(n, SearchRows))
	size := n
	if n > SearchRows {
		s.levels, size = []int{n}, SearchRows
		if o.Fixed { // a sample to choose points by
			size = min(size, n/stepUp)
		}
	}
	for ; ; size /= stepUp {
		s.levels = append(s.levels, size)
		if size/stepUp < fewestRows || o.Fixed && len(s.levels) == 2 {
			break
		}
	}
	slices.Reverse(s.levels)
	if o.Beside != nil {
		levels := 1 // all rows
		if n > SearchRows {
			levels = 2
		}
		s.levels = s.levels[len(s.levels)-levels:]
	}
	return s.run(ctx)
}

// induction is one run of Induce.
type induction struct {
	kernel kernel.Kernel
	x      *mat.Dense
	terms  gp.Terms
	opt    InduceOptions
	buffer *gp.ViewBuffer // of the views of rows
	prior  prior
	order  []int // of rows, as far as there are levels of some of them
	levels []int // numbers of rows, the last is all

	at        Checkpoint
	round     int // of choosing points with so many rows
	evaluated int // evaluations with so many rows, in earlier rounds
	timing
	memory memory
	last   *sparseFit // what the search came to so far, nil at the start
	fewer  error      // why there are fewer points than there were to be
}

func (s *induction) run(ctx context.Context) (*Induced, error) {
	if s.opt.Resume != nil {
		s.at = *s.opt.Resume
		s.memory = memory{s.at.Steps, s.at.Falls}
	} else {
		s.at.Logs = newTuning(s.terms).start(s.kernel.Params(nil))
		copy(s.at.Logs[s.kernel.NumParams():], s.opt.Tuned)
		if !s.opt.Fixed && s.opt.Start == nil {
			s.at.Logs = slices.Clone(s.prior.mean)
		}
		if !s.opt.Fixed {
			s.prior.clamp(s.at.Logs)
		}
	}
	var found *Induced
	resumed := s.opt.Resume != nil
	s.at.Level = min(s.at.Level, len(s.levels)-1)
	for ; s.at.Level < len(s.levels); s.at.Level++ {
		x, terms, beside := s.rows(s.levels[s.at.Level])
		e := &sparse{x: x, terms: terms, tuning: tuning{newTuning(s.terms).terms, terms}, effects: s.opt.Beside, beside: beside, driver: s.driver(x, terms), options: pass.Options{Rule: infer.Propagation{Power: s.opt.Power}, Sweeps: s.opt.Sweeps}}
		again := true
		s.evaluated = 0
		for s.round = 0; again; s.round++ {
			if !resumed {
				s.choose(x, terms, s.levels[s.at.Level] > SearchRows)
			}
			if s.round == 0 && !resumed && s.opt.Checkpoint != nil {
				s.opt.Checkpoint(s.checkpoint())
			}
			resumed = false
			var err error
			if again, err = s.climb(ctx, e, &found); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// driver makes passes over all rows, or over some.
func (s *induction) driver(x *mat.Dense, terms gp.Terms) gp.Driver {
	if x == s.x && s.opt.Driver != nil {
		return s.opt.Driver
	}
	return gp.InMemory(x, terms, s.buffer, s.opt.ShardRows)
}

const (
	// movedFar is by how much a log parameter may move before points are chosen again,
	// mostRounds how often they are chosen for as many rows.
	movedFar   = 0.25
	mostRounds = 2
	// slackGradient is the gradient in a log parameter at which a search ends: curvatures
	// are well above one where there are thousands of rows, so that what is left to gain is
	// a few hundredths of a nat.
	slackGradient = 0.3
	// worthPerRow is the gain in log evidence per row for which a search goes on. Log
	// losses of a hundred thousand test rows are known to a thousandth.
	worthPerRow = 5e-5
)

// climb runs expectation propagation with the points chosen, and moves the
// hyperparameters up the evidence. It reports whether points have to be chosen again.
func (s *induction) climb(ctx context.Context, e *sparse, found **Induced) (again bool, err error) {
	e.z = s.points()
	last := s.at.Level == len(s.levels)-1
	n := e.rows()
	o := &objective{kernel: s.kernel, evidence: e, prior: s.prior, pace: pace{slack: 1, worth: worthPerRow}}
	budget := max(s.firstRound()-s.evaluated, min(s.firstRound(), fewEvaluations))
	if s.opt.Progress != nil {
		o.progress = func(e Evaluation) {
			e.Number += s.evaluated
			s.opt.Progress(e)
		}
	}
	e.held = s.held(s.at.Level)
	e.draft = s.opt.Draft && last && n > SearchRows
	if s.limit = s.evaluations(s.at.Level); s.round > 0 && !s.opt.Fixed {
		s.limit = s.evaluated + budget + s.wide()
	}
	if s.opt.Pass != nil {
		e.trace = func(p pass.Step) {
			number := s.evaluated + o.evaluations
			s.opt.Pass(Passed{
				Rows: n, Points: len(s.at.Points), Held: e.held, Evaluation: number, Evaluations: s.limit, Done: s.done(number, p.Number),
				Pass: p.Number, Residual: p.Residual, LogEvidence: p.Objective,
			})
		}
	}
	tolerance := s.opt.Tolerance
	if tolerance == 0 {
		tolerance = max(slackGradient, 1e-5*float64(n))
	}
	first := s.at.Level == 0 && s.round == 0
	at, err := o.at(ctx, s.at.Logs, nil, e.first(o, last && !first && !s.at.Fewer, tolerance))
	if err != nil {
		return false, err
	}
	if at == nil {
		return false, &StartError{Starts: 1, Err: o.failure}
	}
	stop := Stationary
	if !e.held {
		switch ok, err := o.differentiate(ctx, at); {
		case err != nil:
			return false, err
		case !ok:
			return false, &StartError{Starts: 1, Err: fmt.Errorf("the gradient of kernel %v is not finite", at.kernelOf())}
		}
		at, stop, err = ascent{objective: o, tolerance: tolerance, budget: budget}.climb(ctx, at, &s.memory)
		if err != nil {
			return false, err
		}
	}
	far := 0.0
	for k, v := range at.logs {
		far = max(far, math.Abs(v-s.at.Logs[k]))
	}
	s.at.Logs = at.logs
	s.last = at.fitted.(*sparseFit)
	// The first points were chosen without weights.
	again = s.round+1 < mostRounds && (first || far > movedFar) && !(last && (n > SearchRows || s.firstRound() <= fewEvaluations)) && !(s.opt.Fixed && s.at.Fewer)
	s.evaluated, o.evaluations = s.evaluated+o.evaluations, 0
	if !again && last && s.at.Fewer {
		if at, stop, err = s.widen(ctx, ascent{objective: o, tolerance: tolerance, budget: fewEvaluations}, e, at, stop); err != nil {
			return false, err
		}
		s.evaluated, o.evaluations = s.evaluated+o.evaluations, 0
	}
	if !again && !e.held {
		s.at.SearchRows, s.at.Evaluations, s.at.Stop = n, s.evaluated, stop
	}
	if !again && last {
		*found, err = s.finish(ctx, o, e, at)
	}
	if !again && !last {
		s.memory = s.memory.scaled(float64(s.levels[s.at.Level+1])/float64(n), prior{}) // so many rows outweigh it
	}
	return again, err
}

// widen goes on from the point that a search with fewer points ended at, with all of them, for
// a few evaluations: what is left of the way to the kernel that all of them would find is
// short. It returns the same point where there is no result with all of them, and why the
// search stopped: at the point that these evaluations came to, or else where it did before.
func (s *induction) widen(ctx context.Context, on ascent, e *sparse, at *point, stop Stop) (*point, Stop, error) {
	before, z := s.at, e.z
	if !e.held {
		s.limit = s.evaluated + on.budget
	}
	s.round++
	s.choose(e.x, e.terms, true)
	e.z = s.points()
	next, err := on.at(ctx, at.logs, nil, e.first(on.objective, true, on.tolerance))
	if err == nil && next != nil && e.held {
		if f := next.fitted.(*sparseFit); !f.result.Status.Converged {
			on.failure, next = &NotConvergedError{Kernel: f.process.Kernel(), Status: f.result.Status}, nil
		}
	} else if err == nil && next != nil {
		var ok bool
		if ok, err = on.differentiate(ctx, next); ok {
			var wide Stop
			if next, wide, err = on.climb(ctx, next, &s.memory); wide != Exhausted {
				stop = wide
			}
		} else {
			next = nil // there is no gradient to report
		}
	}
	switch {
	case err != nil:
		return nil, stop, err
	case next == nil:
		s.fewer = fmt.Errorf("with %d inducing points: %w", len(s.at.Points), on.failure)
		s.at, e.z, e.engine, e.converged = before, z, nil, nil
		return at, stop, nil
	}
	s.at.Logs, s.last = next.logs, next.fitted.(*sparseFit)
	return next, stop, nil
}

// finish lets the sites converge for good, and finds the bound.
func (s *induction) finish(ctx context.Context, o *objective, e *sparse, at *point) (*Induced, error) {
	s.over = true
	var err error
	if at.tolerance > 0 && !e.draft {
		if at, err = o.refine(ctx, at, 0); err != nil {
			return nil, err
		}
	}
	f := at.fitted.(*sparseFit)
	e.tune(f.logs)
	out := &Induced{
		Process: f.process, Tuned: f.logs, Result: f.result, Engine: e.engine, buffer: s.buffer, LogEvidence: f.log, LogPrior: at.logPrior,
		Gradient: at.slope, AtBound: make([]bool, len(at.logs)), Share: s.at.Share, Lost: s.at.Lost,
		Fewer: s.fewer, SearchRows: s.at.SearchRows, Evaluations: s.at.Evaluations, Stop: s.at.Stop, draft: e.draft,
	}
	if !s.opt.Fixed {
		for k, x := range at.logs {
			out.AtBound[k] = s.prior.sd[k] > 0 && (x <= s.prior.low(k) || x >= s.prior.high(k))
		}
	}
	if e.draft {
		return out, nil
	}
	variational := pass.Options{Rule: infer.Variational{}}
	sums, err := e.engine.Look(ctx, f.result.Q.Naturals(), variational, nil)
	if err != nil {
		return nil, err
	}
	out.Bound = pass.Objective(infer.Variational{}, f.result.Q, sums.Value)
	return out, nil
}

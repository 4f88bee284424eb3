package nuts

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// chain is one Markov chain: where it is and how it moves.
type chain struct {
	index    int
	target   Target
	rng      *rand.Rand
	metric   *metric
	stepSize float64
	maxDepth int

	pool      statePool
	current   *state
	gradients int // evaluations of the density so far
}

// InitError says that a chain found no starting point with a finite log
// density and gradient.
type InitError struct {
	Chain int
	Tries int // 1 if the point was given
}

func (e *InitError) Error() string {
	if e.Tries == 1 {
		return fmt.Sprintf("nuts: chain %d: log density or gradient is not finite at the given starting point", e.Chain)
	}
	return fmt.Sprintf("nuts: chain %d: log density or gradient was not finite at %d random starting points; give Init or another InitScale", e.Chain, e.Tries)
}

const maxInitTries = 100

// newChain finds a starting point and a first step size.
func newChain(target Target, index int, opt Options) (*chain, error) {
	dim := target.Dim()
	// One stream per chain; the odd multiplier (2⁶⁴ over the golden ratio)
	// sets the streams of neighbouring chains far apart.
	source := rand.NewPCG(opt.Seed, (uint64(index)+1)*0x9e3779b97f4a7c15)
	c := &chain{
		index:    index,
		target:   target,
		rng:      rand.New(source),
		metric:   unitMetric(dim),
		stepSize: 1,
		maxDepth: opt.MaxDepth,
		pool:     statePool{dim: dim},
	}
	c.current = c.pool.get()
	if opt.Init != nil {
		copy(c.current.position, opt.Init[index])
		if !c.evaluate() {
			return nil, &InitError{Chain: index, Tries: 1}
		}
	} else if !c.findStart(opt.InitScale) {
		return nil, &InitError{Chain: index, Tries: maxInitTries}
	}
	return c, c.findStepSize()
}

func (c *chain) findStart(scale float64) bool {
	for range maxInitTries {
		for i := range c.current.position {
			c.current.position[i] = scale * c.rng.NormFloat64()
		}
		if c.evaluate() {
			return true
		}
	}
	return false
}

// evaluate computes density and gradient at the current position and reports
// whether a chain can start there.
func (c *chain) evaluate() bool {
	s := c.current
	s.logDensity = c.target.LogDensity(s.position, s.gradient)
	c.gradients++
	finite := !math.IsNaN(s.logDensity) && !math.IsInf(s.logDensity, 0)
	return finite && allFinite(s.gradient) && allFinite(s.position)
}

// refresh gives s a new momentum and everything that follows from it and from
// the metric of the moment.
func (c *chain) refresh(s *state) {
	c.metric.drawMomentum(s.momentum, c.rng)
	c.metric.mulInverse(s.velocity, s.momentum)
	c.metric.mulInverse(s.acceleration, s.gradient)
	s.setEnergy()
}

// run warms the chain up and records its draws.
func (c *chain) run(ctx context.Context, opt Options) (Chain, error) {
	if err := c.warmUp(ctx, opt); err != nil {
		return Chain{}, err
	}
	out := newChainRecord(opt.Draws, c.pool.dim)
	for i := range opt.Draws {
		tr := c.transition(ctx)
		if ctx.Err() != nil {
			return Chain{}, stopped(ctx)
		}
		copy(out.Draws[i], c.current.position)
		out.LogDensity[i] = c.current.logDensity
		out.Energy[i] = c.current.energy
		out.Accept[i] = tr.acceptStat()
		out.Depth[i] = tr.depth
		out.Divergent[i] = tr.divergent
		if tr.divergent {
			out.Divergences++
		} else if tr.depth == c.maxDepth {
			out.Saturations++
		}
	}
	out.StepSize = c.stepSize
	out.MeanAccept = floats.Sum(out.Accept) / float64(opt.Draws)
	out.Gradients = c.gradients
	return out, nil
}

// warmUp adapts step size and metric; both stay fixed afterwards, as the chain
// leaves the target invariant only then.
func (c *chain) warmUp(ctx context.Context, opt Options) error {
	windows := newSchedule(opt.Warmup)
	estimate := newMoments(c.pool.dim)
	adapt := dualAveraging{target: opt.TargetAccept}
	adapt.restart(c.stepSize)
	for i := range opt.Warmup {
		tr := c.transition(ctx)
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		c.stepSize = adapt.update(tr.acceptStat())
		if i >= windows.start && len(windows.ends) > 0 {
			estimate.add(c.current.position)
			if i+1 == windows.ends[0] {
				windows.ends = windows.ends[1:]
				c.metric = estimate.estimate()
				estimate.reset()
				if err := c.findStepSize(); err != nil {
					return err
				}
				adapt.restart(c.stepSize)
			}
		}
	}
	c.stepSize = adapt.averaged()
	return nil
}

func stopped(ctx context.Context) error {
	return fmt.Errorf("nuts: stopped before the last draw: %w", context.Cause(ctx))
}

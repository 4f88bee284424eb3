package nuts

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// maxEnergyError is how far H may rise above its starting value before the
// trajectory counts as divergent: the integrator has left the level set, as
// exp(−1000) has no chance of being picked. The value is Stan's.
const maxEnergyError = 1000

// cancelDepth is the depth of the subtrees before which a cancelled context is
// noticed: every 2^5 gradients, often enough for slow densities and too seldom
// to cost anything for fast ones.
const cancelDepth = 5

// tree is a stretch of a trajectory: its two ends in the order of travel, the
// point picked from it so far, the sum of its momenta and the log of its total
// weight Σ exp(H₀ − H).
type tree struct {
	begin, end, pick *state
	momentumSum      []float64
	logWeight        float64
}

// trajectory is what one transition reports about itself.
type trajectory struct {
	startEnergy float64
	leapfrogs   int
	acceptSum   float64 // Σ min(1, exp(H₀ − H)) over all new points, used or not
	depth       int
	divergent   bool
}

// acceptStat is the average acceptance probability that adaptation steers.
func (t *trajectory) acceptStat() float64 { return t.acceptSum / float64(t.leapfrogs) }

// transition moves the chain by one multinomial NUTS step. When the context is
// cancelled it may stop early, which leaves the chain valid but the move
// biased; the caller gives up then.
func (c *chain) transition(ctx context.Context) trajectory {
	start := c.current
	c.refresh(start)
	tr := trajectory{startEnergy: start.energy}
	whole := c.leaf(start, 0)

	for tr.depth < c.maxDepth && ctx.Err() == nil {
		forward := c.rng.Uint64()&1 == 0
		var fresh tree
		var ok bool
		if forward {
			fresh, ok = c.build(ctx, whole.end, tr.depth, c.stepSize, &tr)
		} else {
			fresh, ok = c.build(ctx, whole.begin, tr.depth, -c.stepSize, &tr)
		}
		if !ok {
			break
		}
		if !allFinite(fresh.pick.position) {
			// The density claims to be finite at infinity; no draw is taken there.
			tr.divergent = true
			c.discard(fresh)
			break
		}
		tr.depth++
		// Biased progressive sampling: the new half is preferred, which keeps
		// the target invariant and moves further (Betancourt 2017, A.3.2).
		pick := whole.pick
		total, share := mix(whole.logWeight, fresh.logWeight)
		if c.rng.Float64()*(1-share) < share {
			pick = fresh.pick
		}
		var turning bool
		if forward {
			whole, turning = c.join(whole, fresh, pick, total)
		} else {
			fresh.begin, fresh.end = fresh.end, fresh.begin
			whole, turning = c.join(fresh, whole, pick, total)
		}
		if turning {
			break
		}
	}

	c.current = whole.pick
	c.pool.release(whole.begin)
	c.pool.release(whole.end)
	c.pool.releaseSum(whole.momentumSum)
	c.gradients += tr.leapfrogs
	return tr
}

// build extends the trajectory by 2^depth leapfrog steps beyond from. It
// reports false, with nothing left to release, when the subtree diverges or
// turns anywhere inside: such a subtree could not have led back to the start.
func (c *chain) build(ctx context.Context, from *state, depth int, step float64, tr *trajectory) (tree, bool) {
	if depth == 0 {
		return c.advance(from, step, tr)
	}
	if depth == cancelDepth && ctx.Err() != nil {
		return tree{}, false
	}
	inner, ok := c.build(ctx, from, depth-1, step, tr)
	if !ok {
		return tree{}, false
	}
	outer, ok := c.build(ctx, inner.end, depth-1, step, tr)
	if !ok {
		c.discard(inner)
		return tree{}, false
	}
	// Within a subtree every point is picked in proportion to its weight.
	pick := inner.pick
	total, share := mix(inner.logWeight, outer.logWeight)
	if c.rng.Float64() < share {
		pick = outer.pick
	}
	joined, turning := c.join(inner, outer, pick, total)
	if turning {
		c.discard(joined)
		return tree{}, false
	}
	return joined, true
}

// advance takes one leapfrog step and makes its end a tree of one point.
func (c *chain) advance(from *state, step float64, tr *trajectory) (tree, bool) {
	next := c.pool.get()
	leapfrog(c.target, c.metric, from, next, step)
	tr.leapfrogs++
	logWeight := tr.startEnergy - next.energy
	tr.acceptSum += math.Exp(min(0, logWeight))
	if logWeight < -maxEnergyError {
		tr.divergent = true
		next.refs = 1
		c.pool.release(next)
		return tree{}, false
	}
	return c.leaf(next, logWeight), true
}

// leaf hands s over to a tree of one point.
func (c *chain) leaf(s *state, logWeight float64) tree {
	s.refs = 3
	sum := c.pool.getSum()
	copy(sum, s.momentum)
	return tree{begin: s, end: s, pick: s, momentumSum: sum, logWeight: logWeight}
}

func (c *chain) discard(t tree) {
	c.pool.release(t.begin)
	c.pool.release(t.end)
	c.pool.release(t.pick)
	c.pool.releaseSum(t.momentumSum)
}

// join glues b behind a, keeps pick (one of their picks) and reports whether
// the result makes a U-turn.
func (c *chain) join(a, b tree, pick *state, logWeight float64) (joined tree, turning bool) {
	turning = uTurn(a, b)
	floats.Add(a.momentumSum, b.momentumSum)
	c.pool.releaseSum(b.momentumSum)
	if pick == a.pick {
		c.pool.release(b.pick)
	} else {
		c.pool.release(a.pick)
	}
	c.pool.release(a.end)
	c.pool.release(b.begin)
	return tree{
		begin: a.begin, end: b.end, pick: pick,
		momentumSum: a.momentumSum,
		logWeight:   logWeight,
	}, turning
}

// uTurn is the generalised criterion: a stretch turns when the velocity at
// either end no longer points along ρ, the sum of the momenta (which stands for
// the distance travelled). Besides the whole stretch it looks at a with the
// first point of b and at b with the last point of a; without these a step
// size near resonance lets trajectories wrap around between the checks.
func uTurn(a, b tree) bool {
	n := len(a.momentumSum)
	sumA, sumB := a.momentumSum[:n], b.momentumSum[:n]
	lastA, firstB := a.end.momentum[:n], b.begin.momentum[:n]
	vBeginA, vEndA := a.begin.velocity[:n], a.end.velocity[:n]
	vBeginB, vEndB := b.begin.velocity[:n], b.end.velocity[:n]
	// Six dot products in one pass: this runs once per leapfrog step.
	var whole0, whole1, left0, left1, right0, right1 float64
	for i := range sumA {
		whole := sumA[i] + sumB[i]
		left := sumA[i] + firstB[i]
		right := lastA[i] + sumB[i]
		whole0 += vBeginA[i] * whole
		whole1 += vEndB[i] * whole
		left0 += vBeginA[i] * left
		left1 += vBeginB[i] * left
		right0 += vEndA[i] * right
		right1 += vEndB[i] * right
	}
	return !(whole0 > 0 && whole1 > 0 && left0 > 0 && left1 > 0 && right0 > 0 && right1 > 0)
}

// mix returns log(eᵃ + eᵇ) and the share eᵇ/(eᵃ + eᵇ).
func mix(a, b float64) (total, share float64) {
	if b <= a {
		ratio := math.Exp(b - a)
		return a + math.Log1p(ratio), ratio / (1 + ratio)
	}
	ratio := math.Exp(a - b)
	return b + math.Log1p(ratio), 1 / (1 + ratio)
}

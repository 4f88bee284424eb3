package infer

import (
	"cmp"
	"context"
	"slices"
)

// Decider is a run of inference with a utility, as the choice of its actions sees it.
type Decider interface {
	// Visit goes on a little, with the actions chosen anew.
	Visit(ctx context.Context) error
	// Settle goes on with the actions held, and reports whether all came to rest.
	Settle(ctx context.Context) (bool, error)
	// Evidence is that of the actions, where all came to rest.
	Evidence(ctx context.Context) (float64, error)
	// Actions are those in force. They may be written to.
	Actions() []int
	// Select writes those of highest expected utility, as it is now.
	Select(actions []int)
	// Keep returns what leads back here, and lets all come to rest again.
	Keep() (back func(ctx context.Context) error)
}

// Choices is how actions were chosen.
type Choices struct {
	// Rounds is how many times they were chosen anew after all had come to rest.
	Rounds int
	// Held says that they do not come to rest by themselves: see Decide.
	Held bool
	// Cycle is the number of choices that follow each other for ever; 0 for none.
	Cycle int
}

// freeVisits is how many times actions are chosen before they are first held.
const freeVisits = 5

// Decide chooses actions together with inference. They are chosen freely for a few visits;
// then they are held while all else comes to rest, and chosen again. That ends when they are
// chosen again as they were. When they come back to an earlier choice, or to one under which
// nothing comes to rest, the one of highest evidence, that is, expected utility, is held: of
// those that alternate, or of all.
func Decide(ctx context.Context, d Decider) (c Choices, err error) {
	for range freeVisits {
		if err := d.Visit(ctx); err != nil {
			return c, err
		}
	}
	var rounds []round
	for {
		settled, err := d.Settle(ctx)
		evidence := 0.0
		if settled && err == nil {
			evidence, err = d.Evidence(ctx)
		}
		if !settled || err != nil {
			if ctx.Err() != nil || len(rounds) == 0 {
				return c, err
			}
			return c.hold(ctx, rounds)
		}
		rounds = append(rounds, round{slices.Clone(d.Actions()), evidence, d.Keep()})
		next := slices.Clone(d.Actions())
		d.Select(next)
		if slices.Equal(next, d.Actions()) {
			return c, nil
		}
		if seen := slices.IndexFunc(rounds, func(r round) bool { return slices.Equal(r.actions, next) }); seen >= 0 {
			c.Cycle = len(rounds) - seen
			return c.hold(ctx, rounds[seen:])
		}
		c.Rounds++
		copy(d.Actions(), next)
	}
}

// round is a choice of actions under which all came to rest.
type round struct {
	actions  []int
	evidence float64
	back     func(context.Context) error
}

// hold goes back to the best of some rounds.
func (c Choices) hold(ctx context.Context, rounds []round) (Choices, error) {
	c.Held = true
	best := slices.MaxFunc(rounds, func(a, b round) int { return cmp.Compare(a.evidence, b.evidence) })
	return c, best.back(ctx)
}

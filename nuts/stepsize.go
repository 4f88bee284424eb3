package nuts

import (
	"fmt"
	"math"
)

// dualAveraging is Nesterov's scheme as Hoffman and Gelman (2014, section 3.2)
// use it: log ε follows the running mean of (target − acceptance), and a
// weighted average of the iterates is what remains after adaptation.
type dualAveraging struct {
	target float64 // acceptance aimed at
	center float64 // log ε that iterates shrink to
	count  float64
	error  float64 // running mean of target − acceptance
	mean   float64 // averaged log ε
}

// The constants of Hoffman and Gelman.
const (
	adaptShrinkage = 0.05 // γ: how strongly iterates are held at center
	adaptDelay     = 10   // t₀: damps the first iterates
	adaptForget    = 0.75 // κ: how fast early iterates leave the average
)

// restart begins anew around ten times the given step size: it is cheaper to
// come down from steps too long than up from steps too short.
func (d *dualAveraging) restart(stepSize float64) {
	*d = dualAveraging{target: d.target, center: math.Log(10 * stepSize)}
}

// update learns one acceptance statistic and returns the next step size.
func (d *dualAveraging) update(accept float64) float64 {
	d.count++
	rate := 1 / (d.count + adaptDelay)
	d.error += rate * (d.target - accept - d.error)
	logStep := d.center - d.error*math.Sqrt(d.count)/adaptShrinkage
	weight := math.Pow(d.count, -adaptForget)
	d.mean += weight * (logStep - d.mean)
	return math.Exp(logStep)
}

func (d *dualAveraging) averaged() float64 { return math.Exp(d.mean) }

// StepSizeError says that no leapfrog step size changes the density by a
// reasonable amount at the starting point of a chain.
type StepSizeError struct {
	Chain    int
	StepSize float64 // where the search gave up: far too small or far too large
}

func (e *StepSizeError) Error() string {
	if e.StepSize > 1 {
		return fmt.Sprintf("nuts: chain %d: the log density is flat even for steps of %g; it may be improper", e.Chain, e.StepSize)
	}
	return fmt.Sprintf("nuts: chain %d: steps of %g still change the log density too much; check its gradient and continuity", e.Chain, e.StepSize)
}

const (
	minStepSize = 1e-300
	maxStepSize = 1e7
)

// findStepSize doubles or halves the step size from its present value until
// the acceptance of a single step crosses the usual 0.8, which puts the dual
// averaging within a factor of two of sense.
func (c *chain) findStepSize() error {
	threshold := math.Log(0.8)
	probe := c.pool.get()
	probe.refs = 1
	defer c.pool.release(probe)
	accepts := func() bool {
		c.refresh(c.current)
		leapfrog(c.target, c.metric, c.current, probe, c.stepSize)
		c.gradients++
		return c.current.energy-probe.energy > threshold
	}
	grow := accepts()
	for {
		if grow {
			c.stepSize *= 2
		} else {
			c.stepSize /= 2
		}
		if c.stepSize < minStepSize || c.stepSize > maxStepSize {
			return &StepSizeError{Chain: c.index, StepSize: c.stepSize}
		}
		if accepts() != grow {
			return nil
		}
	}
}

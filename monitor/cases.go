package monitor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Cases are decided cases in the order of time.
type Cases struct {
	X *mat.Dense // encoded rows
	Decisions
}

// part are the cases of a window.
func (c *Cases) part(s Span) *Cases {
	_, d := c.X.Dims()
	return &Cases{c.X.Slice(s.From, s.To, 0, d).(*mat.Dense), c.Part(s.From, s.To)}
}

// Decisions are what is known of the costs of decisions: Categories, or Numbers.
type Decisions interface {
	Len() int
	// Expected is what a decision is expected to cost by the model, and Bounds are the least and the most that it can.
	Expected(i int) float64
	Bounds(i int) (least, most float64)
	// Realised is what it cost, if its outcome is known.
	Realised(i int) (cost float64, known bool)
	// Part are those from one to before another.
	Part(from, to int) Decisions
	// calibrated is the calibration by these, whose outcomes are known.
	calibrated() calibration
	// score notes how well those whose outcome is known were predicted.
	score(w *Window)
}

// Categories are decisions on outcomes that are categories.
type Categories struct {
	Probabilities [][]float64 // of the outcomes
	Costs         [][]float64 // of the action taken, under each outcome; of utilities the negative
	Outcomes      []int       // −1 where it is not known; nil if none is
}

// Len implements Decisions.
func (c *Categories) Len() int { return len(c.Probabilities) }

// Expected implements Decisions.
func (c *Categories) Expected(i int) float64 { return dot(c.Probabilities[i], c.Costs[i]) }

// Bounds implements Decisions.
func (c *Categories) Bounds(i int) (least, most float64) {
	return slices.Min(c.Costs[i]), slices.Max(c.Costs[i])
}

// Realised implements Decisions.
func (c *Categories) Realised(i int) (cost float64, known bool) {
	if c.Outcomes == nil || c.Outcomes[i] < 0 {
		return 0, false
	}
	return c.Costs[i][c.Outcomes[i]], true
}

// Part implements Decisions.
func (c *Categories) Part(from, to int) Decisions {
	p := &Categories{Probabilities: c.Probabilities[from:to], Costs: c.Costs[from:to]}
	if c.Outcomes != nil {
		p.Outcomes = c.Outcomes[from:to]
	}
	return p
}

func (c *Categories) calibrated() calibration { return newTilt(c).fit(c) }

func (c *Categories) score(w *Window) {
	known := new(Categories)
	for i, y := range c.Outcomes {
		if y >= 0 {
			known.Probabilities, known.Outcomes = append(known.Probabilities, c.Probabilities[i]), append(known.Outcomes, y)
		}
	}
	slope := slopeOf(known)
	w.Slope = &slope
}

// Numbers are decisions on outcomes that are numbers. Costs are from 0 on.
type Numbers struct {
	Means, Variances []float64 // of the cost of the action taken, by the model
	Costs            []float64 // what it cost, NaN where the outcome is not known
	Inside           []float64 // the part of the outcome in an interval that should have 90 % of all
}

// Len implements Decisions.
func (c *Numbers) Len() int { return len(c.Means) }

// Expected implements Decisions.
func (c *Numbers) Expected(i int) float64 { return c.Means[i] }

// Bounds implements Decisions.
func (c *Numbers) Bounds(int) (least, most float64) { return 0, math.Inf(1) }

// Realised implements Decisions.
func (c *Numbers) Realised(i int) (cost float64, known bool) {
	return c.Costs[i], !math.IsNaN(c.Costs[i])
}

// Part implements Decisions.
func (c *Numbers) Part(from, to int) Decisions {
	return &Numbers{c.Means[from:to], c.Variances[from:to], c.Costs[from:to], c.Inside[from:to]}
}

func (c *Numbers) calibrated() calibration { return newLine(c) }

func (c *Numbers) score(w *Window) {
	inside, known := 0.0, 0.0
	for i, cost := range c.Costs {
		if !math.IsNaN(cost) {
			inside, known = inside+c.Inside[i], known+1
		}
	}
	inside /= known
	w.Coverage = &inside
}

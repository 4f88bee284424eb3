package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
)

// Part is what the audited decisions are for the cases with one value of the column By.
type Part struct {
	Value    string `json:"value"`
	Cases    int    `json:"cases"`
	Positive int    `json:"positive"`
	// Cost is that per case of the part; nil where there are fewer than two independent
	// cases.
	Cost *Measure `json:"cost"`
	// Difference is what a case of the part costs more than one of the others, and P the
	// probability of a difference this large if there were none, after Holm's correction
	// among all parts.
	Difference *Measure `json:"difference"`
	P          float64  `json:"p_corrected"`
	Counts     []Count  `json:"counts"`
	// Predicted is the mean probability of the positive outcome, and Excess by how much
	// its observed frequency exceeds that. More than two outcomes have none that is positive.
	Predicted float64  `json:"predicted"`
	Excess    *Measure `json:"excess"`
}

// mostParts is how many values a column may have to tell cases apart by.
const mostParts = 30

// tellApart reads the column By.
func (a *Audit) tellApart() error {
	if a.opt.By == "" {
		return nil
	}
	var err error
	if a.by, err = a.subject.Texts(a.opt.By); err != nil {
		return err
	}
	for i, w := range a.weights {
		if w > 0 && !slices.Contains(a.values, a.by[i]) {
			if a.values = append(a.values, a.by[i]); len(a.values) > mostParts {
				return &lossep.InputError{What: "by", Msg: fmt.Sprintf("%q has more than %d different values; give a column of few, such as one of ranges", a.opt.By, mostParts)}
			}
		}
	}
	slices.Sort(a.values)
	return nil
}

// parts are what the decisions are for each value.
func (a *Audit) parts(s *Score, probability []float64) []Part {
	var all []Part
	var p []float64
	for _, value := range a.values {
		part := a.ofValue(value, s, probability)
		all = append(all, part)
		p = append(p, part.P)
	}
	for k, q := range compare.Holm(p) {
		all[k].P = q
	}
	return all
}

// ofValue is one of them.
func (a *Audit) ofValue(value string, s *Score, probability []float64) Part {
	part := Part{Value: value, P: 1}
	n := a.len()
	in, cost, excess := make([]float64, n), make([]float64, n), make([]float64, n)
	weight := 0.0
	for i, w := range a.weights {
		if w == 0 || a.by[i] != value {
			continue
		}
		part.Cases++
		in[i], cost[i] = 1, s.losses[i]
		if !a.several() {
			part.Positive += a.outcome(i)
			part.Predicted += w * probability[i]
			excess[i] = float64(a.outcome(i)) - probability[i]
		}
		weight += w
	}
	part.Predicted /= weight
	if e, err := a.cases.Ratio(cost, in, a.possible(s.decider.choices), Level); err == nil {
		part.Cost = measure(e)
	}
	if e, err := a.cases.Ratio(excess, in, &compare.Range{Least: -1, Most: 1}, Level); err == nil && !a.several() {
		part.Excess = measure(e)
	}
	part.Counts = a.counts(s, in)
	if part.Cost != nil && part.Cases < a.rows {
		e := a.apart(s, in)
		part.Difference, part.P = measure(e), e.P(0)
	}
	return part
}

// apart is what cases of a part cost more than those of the rest. A case of the lowest
// and one of the highest cost could have been in either.
func (a *Audit) apart(s *Score, in []float64) compare.Estimate {
	r := a.possible(s.decider.choices)
	rng := rand.New(rand.NewPCG(a.opt.Fit.Seed, 3<<32))
	return a.cases.Bootstrap(func(weights []float64) float64 {
		extra := weights[a.len():]
		sums := [2]float64{extra[0]*r.Least + extra[1]*r.Most, extra[2]*r.Least + extra[3]*r.Most}
		totals := [2]float64{extra[0] + extra[1], extra[2] + extra[3]}
		for i, w := range weights[:a.len()] {
			side := 1 - int(in[i])
			sums[side] += w * s.losses[i]
			totals[side] += w
		}
		return sums[0]/totals[0] - sums[1]/totals[1]
	}, s.losses, 4, Level, rng)
}

package audit

import (
	"fmt"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
)

// Comparison is what Method costs more than Than, per case, on the same folds.
type Comparison struct {
	Method string `json:"method"`
	Than   string `json:"than"`
	// Difference is MeanCost of Method less that of Than, with its interval.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// P is the probability of a difference this large if there were none, by the test
	// of Nadeau and Bengio (2003), and Adjusted the same after Holm's correction.
	P        float64 `json:"p"`
	Adjusted float64 `json:"p_holm"`
	// Flips is the number of decisions that differ, of all Decisions in all repeats.
	Flips     int `json:"flips"`
	Decisions int `json:"decisions"`
}

// Significant tells whether a difference is more than chance at Level.
func (c Comparison) Significant() bool { return c.Adjusted < 1-Level }

// comparisons are those of all others with the first.
func (a *Audit) comparisons(scores []Score) ([]Comparison, error) {
	var all []Comparison
	for _, s := range scores[1:] {
		c, err := a.against(s, scores[0])
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return adjusted(all), nil
}

// calibrations compare what depends on the utility with what does not.
func (a *Audit) calibrations(scores []Score) ([]Comparison, error) {
	all := []Comparison{}
	for _, pair := range [][2]lossep.Method{{lossep.LossEP, lossep.EP}, {lossep.LossVI, lossep.VI}} {
		calibrated, plain := find(scores, string(pair[0])), find(scores, string(pair[1]))
		if calibrated == nil || plain == nil {
			continue
		}
		c, err := a.against(*calibrated, *plain)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return adjusted(all), nil
}

func (a *Audit) against(s, than Score) (Comparison, error) {
	diff := make([]float64, len(s.folds))
	c := Comparison{Method: s.Method, Than: than.Method}
	for n := range diff {
		diff[n] = s.folds[n] - than.folds[n]
		for k, action := range s.actions[n] {
			c.Decisions++
			if action != than.actions[n][k] {
				c.Flips++
			}
		}
	}
	e, err := compare.Resampled(diff, a.opt.Folds, Level)
	if err != nil {
		return c, fmt.Errorf("%s against %s: %w", s.Method, than.Method, err)
	}
	c.Difference, c.Low, c.High, c.P = e.Mean, e.Low, e.High, e.P(0)
	return c, nil
}

func adjusted(all []Comparison) []Comparison {
	p := make([]float64, len(all))
	for i, c := range all {
		p[i] = c.P
	}
	for i, q := range compare.Holm(p) {
		all[i].Adjusted = q
	}
	return all
}

func find(scores []Score, name string) *Score {
	for i := range scores {
		if scores[i].Method == name {
			return &scores[i]
		}
	}
	return nil
}

// Flip counts the decisions on which two models differ.
type Flip struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Count int    `json:"count"`
	// Cost is what B's decisions cost more than A's in those cases together.
	Cost float64 `json:"cost"`
	// Rows are the rows, from 1, that were decided differently in any repeat.
	Rows []int `json:"rows"`
}

// flips compares each pair of methods, and each with probit regression.
func (a *Audit) flips(scores []Score, folds []*Fold) []Flip {
	var all []Flip
	models := len(a.models())
	for i, s := range scores[:models] {
		for _, other := range scores[i+1 : models] {
			flip := Flip{A: s.Method, B: other.Method, Rows: []int{}}
			seen := make([]bool, a.problem.Len())
			for n, f := range folds {
				for k, row := range f.Rows {
					if x, y := s.actions[n][k], other.actions[n][k]; x != y {
						flip.Count++
						flip.Cost += a.realised(row, y) - a.realised(row, x)
						seen[row] = true
					}
				}
			}
			for row, differs := range seen {
				if differs {
					flip.Rows = append(flip.Rows, row+1)
				}
			}
			all = append(all, flip)
		}
	}
	return all
}

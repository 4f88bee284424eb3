package audit

import (
	"fmt"
	"math"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
)

// Comparison is what Method costs more than Than, per case, on the same cases.
type Comparison struct {
	Method string `json:"method"`
	Than   string `json:"than"`
	// Difference is MeanCost of Method less that of Than, with its interval.
	Difference float64 `json:"difference"`
	StdErr     float64 `json:"std_err"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// P is the probability of a difference this large if there were none. Corrected is
	// what it is after Holm's correction, among those that are corrected together; a
	// comparison that is stated beforehand stands alone, and there it is P.
	P         float64 `json:"p"`
	Corrected float64 `json:"p_corrected"`
	// Flips is the number of decisions that differ, of all Decisions in all repeats.
	Flips     int `json:"flips"`
	Decisions int `json:"decisions"`
	// Identical says that there is nothing to compare: no decision differs.
	Identical bool `json:"identical"`
	// Headline says that the comparison is one stated before looking: with the best
	// action that is the same for all, and with a threshold of one half.
	Headline bool `json:"headline"`
	// Needed is about how many cases like these would tell a difference of this size in
	// four of five samples; 0 where these suffice, none would, or too few differ to say.
	Needed int `json:"cases_needed,omitempty"`
	// TooFew says that hardly any case costs more or less by the one than by the other, so
	// that no difference between them could be called significant, or none could be relied
	// on: together they are fewer than five of the largest difference there could be.
	TooFew bool `json:"too_few"`
}

// Significant tells whether a difference is more than chance at Level.
func (c Comparison) Significant() bool { return c.Corrected < 1-Level }

// Better tells whether Method costs less than Than by more than chance.
func (c Comparison) Better() bool { return c.Significant() && c.Difference < 0 }

// power is that at which Needed is stated, up to mostNeeded: a difference that takes more
// is as good as none.
const (
	power      = 0.8
	mostNeeded = 1e6
)

// comparisons are those of all others with the first. What chance may bring is
// corrected among models that differ in at least one decision: a model that decides the
// same is the same, and has no say in what the others mean. Recalibrations are another
// question than other models, and are corrected among themselves.
func (a *Audit) comparisons(scores []Score, bestConstant string) ([]Comparison, error) {
	all := make([]Comparison, len(scores)-1)
	if err := each(len(all), func(k int) (err error) {
		all[k], err = a.against(scores[k+1], scores[0])
		return err
	}); err != nil {
		return nil, err
	}
	var models, mended []int
	for k, s := range scores[1:] {
		all[k].Headline = s.Method == bestConstant || s.Method == OneHalf || s.Method == Likeliest
		switch {
		case s.Quality == nil || all[k].Identical:
		case s.Kind == Recalibrated:
			mended = append(mended, k)
		default:
			models = append(models, k)
		}
	}
	correct(all, models)
	correct(all, mended)
	return all, nil
}

// calibrations compare what depends on the utility with what does not.
func (a *Audit) calibrations(scores []Score) ([]Comparison, error) {
	var pairs [][2]string
	for _, method := range lossep.Methods() {
		if calibrated, plain := string(method), string(method.Plain()); find(scores, calibrated) != nil && find(scores, plain) != nil {
			pairs = append(pairs, [2]string{calibrated, plain})
		}
	}
	return a.pairs(scores, pairs)
}

// recalibrations compare probabilities with what they are after recalibration, corrected
// within each column.
func (a *Audit) recalibrations(scores []Score) ([]Comparison, error) {
	all := []Comparison{}
	for _, column := range a.opt.Probabilities {
		var pairs [][2]string
		for _, r := range a.opt.Recalibrations {
			pairs = append(pairs, [2]string{recalibrated(column, r), column})
		}
		of, err := a.pairs(scores, pairs)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

// pairs compares the first of each with the second, corrected among those that differ.
func (a *Audit) pairs(scores []Score, pairs [][2]string) ([]Comparison, error) {
	all := make([]Comparison, len(pairs))
	if err := each(len(all), func(k int) (err error) {
		all[k], err = a.against(*find(scores, pairs[k][0]), *find(scores, pairs[k][1]))
		return err
	}); err != nil {
		return nil, err
	}
	var family []int
	for k, c := range all {
		if !c.Identical {
			family = append(family, k)
		}
	}
	correct(all, family)
	return all, nil
}

func (a *Audit) against(s, than Score) (Comparison, error) {
	c := Comparison{Method: s.Method, Than: than.Method, P: 1, Corrected: 1}
	for n := range s.actions {
		for k, action := range s.actions[n] {
			c.Decisions++
			if action != than.actions[n][k] {
				c.Flips++
			}
		}
	}
	if c.Identical = c.Flips == 0; c.Identical {
		return c, nil
	}
	within := a.differencesBetween(s, than)
	e, err := a.cases.Difference(s.losses, than.losses, within, Level)
	if err != nil {
		return c, fmt.Errorf("%s against %s: %w", s.Method, than.Method, err)
	}
	c.Difference, c.StdErr, c.Low, c.High, c.P = e.Mean, e.StdErr, e.Low, e.High, e.P(0)
	c.Corrected = c.P
	c.TooFew = a.tooFew(s.losses, than.losses, within)
	if needed := e.Needed(power) * float64(a.rows) / float64(e.N); c.P >= 1-Level && !c.TooFew && needed < mostNeeded {
		c.Needed = int(math.Ceil(needed))
	}
	return c, nil
}

// tooFew adds up by how much cases differ, in units of the most that they could.
func (a *Audit) tooFew(losses, others []float64, within *compare.Range) bool {
	sum := 0.0
	for i := range losses {
		sum += a.weights[i] * math.Abs(losses[i]-others[i])
	}
	// Weights are relative: what counts is the number of independent cases.
	return sum*float64(a.independent())/a.total < few*max(-within.Least, within.Most)
}

// correct makes Holm's correction within a family.
func correct(all []Comparison, family []int) {
	p := make([]float64, len(all))
	for k, c := range all {
		p[k] = c.P
	}
	p = compare.HolmAmong(p, family)
	for _, k := range family {
		all[k].Corrected = p[k]
	}
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
			seen := make([]bool, a.len())
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

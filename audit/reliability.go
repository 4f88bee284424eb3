package audit

import (
	"math"

	"github.com/lossep/lossep/compare"
)

// Quality is how good probabilities are, whatever is decided by them.
type Quality struct {
	Area      *Measure `json:"auc"`               // under the receiver operating characteristic; nil for more than two outcomes
	Precision *Measure `json:"average_precision"` // mean precision over the positive cases; likewise
	Brier     *Measure `json:"brier"`             // mean squared error
	LogLoss   *Measure `json:"log_loss"`          // mean of −log P(outcome)
	Accuracy  *Measure `json:"accuracy"`          // share on the right side of one half, or whose outcome is the most probable
}

func (a *Audit) quality(model string, folds []*Fold) (*Quality, error) {
	n := a.len()
	logs, squares, right := make([]float64, n), make([]float64, n), make([]float64, n)
	for _, f := range folds {
		for k, i := range f.Rows {
			p, part := f.Answers[model][k], a.part()
			of := p[a.outcome(i)]
			// A probability that is zero to working precision has a large, finite loss.
			logs[i] -= part * math.Log(max(of, math.SmallestNonzeroFloat64))
			squares[i] += part * brier(p, a.outcome(i))
			if mostProbable(p, a.outcome(i)) {
				right[i] += part
			}
		}
	}
	q := new(Quality)
	if !a.several() {
		rankings := a.rankings(model, folds, 1)
		q.Area, q.Precision = a.ranked(a.cases.Area, rankings), a.ranked(a.cases.Precision, rankings)
	}
	for _, m := range []struct {
		to     **Measure
		values []float64
		within *compare.Range
	}{{&q.Brier, squares, unit}, {&q.LogLoss, logs, nil}, {&q.Accuracy, right, unit}} {
		e, err := a.cases.Mean(m.values, m.within, Level)
		if err != nil {
			return nil, err
		}
		*m.to = measure(e)
	}
	return q, nil
}

// Reliability compares predicted probabilities with observed frequencies.
type Reliability struct {
	Bins []Bin `json:"bins"`
	// Error is the mean distance between the two over all cases, the expected
	// calibration error.
	Error float64 `json:"error"`
	// Excess is by how much the observed frequency of the positive outcome exceeds the
	// mean of its probabilities.
	Excess Measure `json:"excess"`
	// Area is that under the receiver operating characteristic, of one of more than two
	// outcomes against all others.
	Area *Measure `json:"auc,omitempty"`
	// Expected is what the decisions cost per case by the probabilities' own account, and
	// Surprise by how much the true cost exceeds it.
	Expected float64 `json:"expected_cost"`
	Surprise Measure `json:"surprise"`
}

// Bin is a group of cases with similar predicted probabilities.
type Bin struct {
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Count     int     `json:"count"` // of all repeats
	Predicted float64 `json:"predicted"`
	Observed  float64 `json:"observed"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
}

const reliabilityBins = 10

// trusted finds the reliability of the audited method's probabilities: of the positive
// outcome of two, of all outcomes together and of each of more.
func (a *Audit) trusted(r *Result, folds []*Fold) (err error) {
	if !a.several() {
		r.Reliable, err = a.reliability(r.Method, folds, []int{1})
		return err
	}
	var all []int
	for y := range r.Outcomes {
		one, err := a.reliability(r.Method, folds, []int{y})
		if err != nil {
			return err
		}
		one.Area = a.ranked(a.cases.Area, a.rankings(r.Method, folds, y))
		r.ReliableOf, all = append(r.ReliableOf, one), append(all, y)
	}
	r.Reliable, err = a.reliability(r.Method, folds, all)
	return err
}

// reliability is that of the probabilities of some outcomes.
func (a *Audit) reliability(model string, folds []*Fold, outcomes []int) (Reliability, error) {
	n := a.len()
	bins := make([]Bin, reliabilityBins)
	// Of each case, in what share of the repeats it is there, and with the outcome.
	in, hits := make([][]float64, reliabilityBins), make([][]float64, reliabilityBins)
	for b := range bins {
		hits[b] = make([]float64, n)
		bins[b].From, bins[b].To = float64(b)/reliabilityBins, float64(b+1)/reliabilityBins
		in[b] = make([]float64, n)
	}
	excess, surprise := make([]float64, n), make([]float64, n)
	expected := 0.0
	held := make([]float64, reliabilityBins) // the weight of each bin
	for _, f := range folds {
		for k, i := range f.Rows {
			pair, part := f.Answers[model][k], a.part()
			weight := part * a.weights[i]
			for _, y := range outcomes {
				p, met := pair[y], 0.0
				if a.outcome(i) == y {
					met = 1
				}
				b := min(int(p*reliabilityBins), reliabilityBins-1)
				bins[b].Count++
				bins[b].Predicted += weight * p
				held[b] += weight
				in[b][i] += part
				hits[b][i] += part * met
				excess[i] += part * (met - p) / float64(len(outcomes))
			}
			action := cheapest(a.costs[i], pair)
			own := a.costs[i].Expected(action, pair)
			expected += weight * own
			surprise[i] += part * (a.realised(i, action) - own)
		}
	}
	r := Reliability{Bins: bins, Expected: expected / a.total}
	for b := range bins {
		bin := &bins[b]
		if held[b] == 0 {
			continue
		}
		bin.Predicted /= held[b]
		positive := 0.0
		for i, share := range hits[b] {
			positive += share * a.weights[i]
		}
		bin.Observed = positive / held[b]
		bin.Low, bin.High = 0, 1 // all that one case tells
		if m := a.share(hits[b], in[b]); m != nil {
			bin.Observed, bin.Low, bin.High = m.Value, m.Low, m.High
		}
		r.Error += math.Abs(bin.Predicted-bin.Observed) * held[b] / (a.total * float64(len(outcomes)))
	}
	var every []int
	for action := range a.problem.Utility.Actions() {
		every = append(every, action)
	}
	e, err := a.cases.Mean(excess, &compare.Range{Least: -1, Most: 1}, Level)
	if err != nil {
		return r, err
	}
	r.Excess = *measure(e)
	e, err = a.cases.Mean(surprise, a.differences(every, every), Level)
	r.Surprise = *measure(e)
	return r, err
}

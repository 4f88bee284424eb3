package audit

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/tasks"
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
	mean := func(to **Measure, values []float64, within *compare.Range) func() error {
		return func() error {
			e, err := a.cases.Mean(values, within, Level)
			*to = measure(e)
			return err
		}
	}
	measures := []func() error{mean(&q.Brier, squares, unit), mean(&q.LogLoss, logs, nil), mean(&q.Accuracy, right, unit)}
	if !a.several() {
		rankings := a.rankings(model, folds, 1)
		measures = append(measures,
			func() error { q.Area = a.ranked(a.cases.Area, rankings); return nil },
			func() error { q.Precision = a.ranked(a.cases.Precision, rankings); return nil })
	}
	return q, each(len(measures), func(i int) error { return measures[i]() })
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
	// Expected is what the decisions cost per case by the probabilities themselves, and
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

const (
	// reliabilityBins is how many bins of equal width there are at most.
	reliabilityBins = 10
	// binCases is how many cases a bin has at least: fewer have an interval that says nothing, of
	// 15 that of a half is at most 0.25 to either side. A bin of fewer joins its neighbour.
	binCases = 15
)

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

// binned are bins before their frequencies are known.
type binned struct {
	Bin
	in, hits []float64 // of each case, in what share of the repeats it is there, and with the outcome
	weight   float64
}

func (b *binned) join(other *binned) {
	b.To, b.Count, b.weight, b.Predicted = other.To, b.Count+other.Count, b.weight+other.weight, b.Predicted+other.Predicted
	floats.Add(b.in, other.in)
	floats.Add(b.hits, other.hits)
}

// pooled joins bins of less than some weight with the next, and the last with the one before.
func pooled(bins []*binned, least float64) []*binned {
	all := bins[:1]
	for _, b := range bins[1:] {
		if last := all[len(all)-1]; last.weight < least {
			last.join(b)
		} else {
			all = append(all, b)
		}
	}
	if n := len(all); n > 1 && all[n-1].weight < least {
		all[n-2].join(all[n-1])
		all = all[:n-1]
	}
	return all
}

// reliability is that of the probabilities of some outcomes.
func (a *Audit) reliability(model string, folds []*Fold, outcomes []int) (Reliability, error) {
	n := a.len()
	bins := make([]*binned, reliabilityBins)
	for b := range bins {
		bins[b] = &binned{Bin: Bin{From: float64(b) / reliabilityBins, To: float64(b+1) / reliabilityBins}, in: make([]float64, n), hits: make([]float64, n)}
	}
	excess, surprise := make([]float64, n), make([]float64, n)
	expected := 0.0
	for _, f := range folds {
		for k, i := range f.Rows {
			pair, part := f.Answers[model][k], a.part()
			weight := part * a.weights[i]
			for _, y := range outcomes {
				p, met := pair[y], 0.0
				if a.outcome(i) == y {
					met = 1
				}
				b := bins[min(int(p*reliabilityBins), reliabilityBins-1)]
				b.Count++
				b.Predicted += weight * p
				b.weight += weight
				b.in[i] += part
				b.hits[i] += part * met
				excess[i] += part * (met - p) / float64(len(outcomes))
			}
			action := cheapest(a.costs[i], pair)
			own := a.costs[i].Expected(action, pair)
			expected += weight * own
			surprise[i] += part * (a.realised(i, action) - own)
		}
	}
	r := Reliability{Expected: expected / a.total}
	// Weights are relative: what counts is the number of independent cases, of which sums of
	// rounded weights may lack a little.
	bins = pooled(bins, binCases*(1-1e-9)*a.total/float64(a.independent()))
	tasks.For(len(bins), func(b int) { a.frequency(bins[b]) })
	for _, bin := range bins {
		r.Bins = append(r.Bins, bin.Bin)
		r.Error += math.Abs(bin.Predicted-bin.Observed) * bin.weight / (a.total * float64(len(outcomes)))
	}
	every := indices.Of(len(a.problem.Utility.Actions()))
	e, err := a.cases.Mean(excess, &compare.Range{Least: -1, Most: 1}, Level)
	if err != nil {
		return r, err
	}
	r.Excess = *measure(e)
	e, err = a.cases.Mean(surprise, a.differences(every, every), Level)
	r.Surprise = *measure(e)
	return r, err
}

// frequency is what is observed in a bin, if it has a case.
func (a *Audit) frequency(bin *binned) {
	if bin.weight == 0 {
		return
	}
	bin.Predicted /= bin.weight
	for i, share := range bin.hits {
		bin.Observed += share * a.weights[i] / bin.weight
	}
	bin.Low, bin.High = 0, 1 // all that one case tells
	if m := a.share(bin.hits, bin.in); m != nil {
		bin.Observed, bin.Low, bin.High = m.Value, m.Low, m.High
	}
}

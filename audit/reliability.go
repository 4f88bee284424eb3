package audit

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Quality is how good probabilities are, whatever is decided by them.
type Quality struct {
	LogLoss  float64 `json:"log_loss"` // mean of −log P(outcome)
	Brier    float64 `json:"brier"`    // mean squared error
	Accuracy float64 `json:"accuracy"` // share on the right side of one half
}

func (a *Audit) quality(model string, folds []*Fold) *Quality {
	q, n := new(Quality), 0.0
	for _, f := range folds {
		for k, i := range f.Rows {
			p := f.Answers[model][k]
			y := float64(a.problem.Labels[i]+1) / 2
			of := p*y + (1-p)*(1-y) // the outcome that occurred
			// A probability that is zero to working precision has a large, finite loss.
			q.LogLoss -= math.Log(max(of, math.SmallestNonzeroFloat64))
			q.Brier += (p - y) * (p - y)
			if of > 0.5 {
				q.Accuracy++
			}
			n++
		}
	}
	q.LogLoss /= n
	q.Brier /= n
	q.Accuracy /= n
	return q
}

// Reliability compares predicted probabilities with observed frequencies.
type Reliability struct {
	Bins []Bin `json:"bins"`
	// Error is the mean distance between the two over all cases, the expected
	// calibration error.
	Error float64 `json:"error"`
}

// Bin is a group of cases with similar predicted probabilities. The interval is that
// of Wilson (1927) for as many cases as there are different ones.
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

func (a *Audit) reliability(model string, folds []*Fold) Reliability {
	bins := make([]Bin, reliabilityBins)
	for b := range bins {
		bins[b].From, bins[b].To = float64(b)/reliabilityBins, float64(b+1)/reliabilityBins
	}
	total := 0.0
	for _, f := range folds {
		for k, i := range f.Rows {
			p := f.Answers[model][k]
			bin := &bins[min(int(p*reliabilityBins), reliabilityBins-1)]
			bin.Count++
			bin.Predicted += p
			bin.Observed += float64(a.problem.Labels[i]+1) / 2
			total++
		}
	}
	r := Reliability{Bins: bins}
	for b := range bins {
		bin := &bins[b]
		if bin.Count == 0 {
			continue
		}
		n := float64(bin.Count)
		bin.Predicted /= n
		bin.Observed /= n
		bin.Low, bin.High = wilson(bin.Observed, n/float64(a.opt.Repeats))
		r.Error += math.Abs(bin.Predicted-bin.Observed) * n / total
	}
	return r
}

// wilson is the interval of shares whose standard error reaches the share seen in n
// cases.
func wilson(share, n float64) (low, high float64) {
	z := distuv.UnitNormal.Quantile(0.5 + Level/2)
	centre := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return max(0, min(centre-half, share)), min(1, max(centre+half, share))
}

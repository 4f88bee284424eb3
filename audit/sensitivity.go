package audit

import "math"

// Benefit is the decision curve (Vickers and Elkin 2006): what deciding by a model is
// worth, in true positives per case, for costs at which a miss is Ratios times as bad
// as a false alarm. Where costs are multiples of a column cases count by it.
type Benefit struct {
	By     string         `json:"weighted_by,omitempty"`
	Given  float64        `json:"given_ratio"`
	Ratios []float64      `json:"ratios"`
	Curves []BenefitCurve `json:"curves"`
}

// BenefitCurve is the net benefit of one way to decide at each ratio.
type BenefitCurve struct {
	Method string    `json:"method"`
	Values []float64 `json:"values"`
}

const (
	benefitSpan  = 10.0 // the ratio given, times and divided by this
	benefitSteps = 41
)

// benefit takes TP/n − FP/n · t/(1−t) over thresholds t = 1/(1+ratio). It is nil where
// costs have no threshold in common.
func (a *Audit) benefit(audited string, folds []*Fold) *Benefit {
	t, ok := a.threshold()
	if !ok {
		return nil
	}
	_, by, _ := a.problem.Utility.Rule()
	b := &Benefit{By: by, Given: (1 - t) / t}
	for s := range benefitSteps {
		b.Ratios = append(b.Ratios, b.Given*math.Pow(benefitSpan, 2*float64(s)/(benefitSteps-1)-1))
	}
	positive := func(f *Fold, k int, t float64) bool { return true }
	b.add("treat all", a, folds, positive)
	b.add("treat none", a, folds, func(*Fold, int, float64) bool { return false })
	for _, model := range a.contenders() {
		b.add(model, a, folds, func(f *Fold, k int, t float64) bool { return f.Answers[model][k][1] > t })
	}
	return b
}

func (b *Benefit) add(name string, a *Audit, folds []*Fold, positive func(f *Fold, k int, t float64) bool) {
	c := BenefitCurve{Method: name}
	weight := func(i int) float64 { return a.weights[i] }
	if b.By != "" {
		weight = func(i int) float64 { return a.weights[i] * a.multiple(a.costs[i]) }
	}
	n := 0.0
	for i := range a.costs {
		n += weight(i)
	}
	for _, ratio := range b.Ratios {
		net := 0.0
		for _, f := range folds {
			for k, i := range f.Rows {
				switch {
				case !positive(f, k, 1/(1+ratio)):
				case a.outcome(i) == 1:
					net += a.part() * weight(i) / n
				default:
					net -= a.part() * weight(i) / (n * ratio)
				}
			}
		}
		c.Values = append(c.Values, net)
	}
	b.Curves = append(b.Curves, c)
}

// Shift is what happens if the positive outcome is Factor times as costly as stated.
type Shift struct {
	Factor float64 `json:"factor"`
	// Changed is the share of decisions that are others at the shifted costs.
	Changed float64 `json:"changed"`
	// Cost is that per case at the shifted costs, decided by them, and Kept that of the
	// decisions made by the costs as stated.
	Cost float64 `json:"cost"`
	Kept float64 `json:"kept"`
}

// shifts are the factors by which costs are shifted.
var shifts = []float64{1.0 / 4, 1.0 / 2, 1 / 1.5, 1 / 1.2, 1, 1.2, 1.5, 2, 4}

func (a *Audit) sensitivity(audited string, folds []*Fold) []Shift {
	var all []Shift
	for _, factor := range shifts {
		s := Shift{Factor: factor}
		for _, f := range folds {
			for k, i := range f.Rows {
				c, p, weight := scaled(a.costs[i], factor), f.Answers[audited][k], a.part()*a.weights[i]/a.total
				stated, shifted := cheapest(a.costs[i], p), cheapest(c, p)
				if stated != shifted {
					s.Changed += weight
				}
				s.Cost += weight * c.Table[shifted][a.outcome(i)]
				s.Kept += weight * c.Table[stated][a.outcome(i)]
			}
		}
		all = append(all, s)
	}
	return all
}

package audit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/tasks"
)

// rankings are the cases of each repeat by the probability of an outcome, the most
// probable first.
func (a *Audit) rankings(model string, folds []*Fold, outcome int) []compare.Ranking {
	rows, p := make([][]int, a.opt.Repeats), make([][]float64, a.opt.Repeats)
	for r := range p {
		p[r] = make([]float64, a.len())
	}
	for _, f := range folds {
		rows[f.Repeat] = append(rows[f.Repeat], f.Rows...)
		for k, i := range f.Rows {
			p[f.Repeat][i] = f.Answers[model][k][outcome]
		}
	}
	all := make([]compare.Ranking, a.opt.Repeats)
	for r := range all {
		all[r] = compare.Rank(rows[r], func(i int) float64 { return p[r][i] }, func(i int) bool { return a.outcome(i) == outcome })
	}
	return all
}

// ranked is a statistic of rankings with its interval; nil where all cases are of the outcome or none
// is, as of a declared grade that does not occur.
func (a *Audit) ranked(statistic func([]compare.Ranking, float64, *rand.Rand) (value, low, high float64), rankings []compare.Ranking) *Measure {
	rng := rand.New(rand.NewPCG(a.opt.Fit.Seed, 1<<32)) // the same for all models
	value, low, high := statistic(rankings, Level, rng)
	if math.IsNaN(value) || math.IsNaN(low) || math.IsNaN(high) {
		return nil
	}
	return &Measure{value, low, high}
}

// Gain is what is found among the cases most probably positive.
type Gain struct {
	// Share of all cases, those most probably positive, of which at least one is above
	// Probability.
	Share       float64 `json:"share"`
	Probability float64 `json:"probability"`
	// Cases and Found are how many that are, and how many of them are positive.
	Cases float64 `json:"cases"`
	Found float64 `json:"found"`
	// OfPositive is the share of the positive cases found, and Lift how many times as many
	// that is as among as many cases at random.
	OfPositive *Measure `json:"of_positive"`
	Lift       float64  `json:"lift"`
}

// gainShares are the depths at which gains are listed.
var gainShares = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// gains are those of a model, by probabilities averaged over repeats. Cases of equal
// probability at the edge of a share enter in part.
func (a *Audit) gains(p []float64) []Gain {
	var order []int
	positives := 0.0
	positive := make([]float64, a.len())
	for i, w := range a.weights {
		if w == 0 {
			continue
		}
		order = append(order, i)
		if a.outcome(i) == 1 {
			positive[i] = 1
			positives += w
		}
	}
	n := len(order)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[j], p[i]) })
	all := make([]Gain, len(gainShares))
	tasks.For(len(all), func(k int) {
		share, g, in := gainShares[k], &all[k], make([]float64, a.len())
		g.Share, g.Cases = share, math.Round(share*a.total)
		left := g.Cases
		for start := 0; start < n && left > 0; {
			end, weight := start, 0.0
			for end < n && p[order[end]] == p[order[start]] {
				weight += a.weights[order[end]]
				end++
			}
			part := min(1, left/weight)
			for _, i := range order[start:end] {
				in[i] = part * positive[i]
				g.Found += in[i] * a.weights[i]
			}
			g.Probability = p[order[start]]
			left -= part * weight
			start = end
		}
		if g.OfPositive = a.share(in, positive); share == 1 && g.OfPositive != nil { // which is certain
			*g.OfPositive = Measure{1, 1, 1}
		}
		g.Lift = g.Found / positives * a.total / g.Cases
	})
	return slices.DeleteFunc(all, func(g Gain) bool { return g.Cases == 0 })
}

// Cut is what deciding by a threshold on the probability gives.
type Cut struct {
	Threshold float64 `json:"threshold"`
	// Given says that this is the threshold that the costs imply.
	Given bool `json:"given"`
	// Cost is that per case at the costs as stated.
	Cost Measure `json:"cost"`
	// Numbers of cases, averaged over repeats.
	TruePositive  float64 `json:"true_positive"`
	FalsePositive float64 `json:"false_positive"`
	FalseNegative float64 `json:"false_negative"`
	TrueNegative  float64 `json:"true_negative"`
	Sensitivity   float64 `json:"sensitivity"`
	Specificity   float64 `json:"specificity"`
	// NetBenefit is TP/n − FP/n·t/(1−t) at the threshold t (Vickers and Elkin 2006).
	NetBenefit float64 `json:"net_benefit"`
}

// cutPoints are the thresholds listed besides the given one.
var cutPoints = []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95}

// cuts takes the action of the positive outcome where that is more probable than a threshold.
// It is nil for other numbers of actions than two.
func (a *Audit) cuts(model string, folds []*Fold) ([]Cut, error) {
	if len(a.problem.Utility.Actions()) != 2 {
		return nil, nil
	}
	act := a.acting()
	points := slices.Clone(cutPoints)
	given, ok := a.threshold()
	if ok { // in the place of one that is the same but for rounding
		points = slices.DeleteFunc(points, func(p float64) bool { return math.Abs(p-given) < 1e-9 })
		points = append(points, given)
		slices.Sort(points)
	}
	all := make([]Cut, len(points))
	return all, each(len(points), func(n int) error {
		t, c := points[n], &all[n]
		c.Threshold, c.Given = t, ok && t == given
		losses := make([]float64, a.len())
		var taken []int
		for _, f := range folds {
			for k, i := range f.Rows {
				action, part := 1-act, a.part()
				if f.Answers[model][k][1] > t {
					action = act
				}
				if !slices.Contains(taken, action) {
					taken = append(taken, action)
				}
				losses[i] += part * a.realised(i, action)
				switch weight := part * a.weights[i]; {
				case action == act && a.outcome(i) == 1:
					c.TruePositive += weight
				case action == act:
					c.FalsePositive += weight
				case a.outcome(i) == 1:
					c.FalseNegative += weight
				default:
					c.TrueNegative += weight
				}
			}
		}
		// Where all cases get one action the interval is that of the action.
		e, err := a.cases.Mean(losses, a.possible(taken), Level)
		if err != nil {
			return err
		}
		c.Cost = *measure(e)
		c.Sensitivity = c.TruePositive / (c.TruePositive + c.FalseNegative)
		c.Specificity = c.TrueNegative / (c.TrueNegative + c.FalsePositive)
		c.NetBenefit = (c.TruePositive - c.FalsePositive*t/(1-t)) / a.total
		return nil
	})
}

// unit is between 0 and 1.
var unit = &compare.Range{Least: 0, Most: 1}

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

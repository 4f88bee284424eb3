package numbers

import (
	"context"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/posterior"
)

// known is the distribution of an outcome that is known.
type known float64

// Mean implements decision.Distribution.
func (y known) Mean() float64 { return float64(y) }

// Quantile implements decision.Distribution.
func (y known) Quantile(float64) float64 { return float64(y) }

// Short implements decision.Distribution.
func (y known) Short(a float64) float64 { return max(a-float64(y), 0) }

// Excess implements decision.Distribution.
func (y known) Excess(a float64) float64 { return max(float64(y)-a, 0) }

// Expect implements decision.Distribution.
func (y known) Expect(g func(y float64) float64, _ ...float64) float64 { return g(float64(y)) }

// Finite implements decision.Distribution.
func (known) Finite(func(y float64) float64, ...float64) bool { return true }

// Whole implements decision.Distribution.
func (known) Whole() bool { return false }

// blend is what is known of an outcome where it may be that of several cases, or its latent value is a mixture.
type blend struct {
	parts   []Distribution
	weights []float64 // adding up to one
}

func (m blend) sum(of func(d Distribution) float64) (sum float64) {
	for k, d := range m.parts {
		sum += m.weights[k] * of(d)
	}
	return sum
}

// Mean implements decision.Distribution.
func (m blend) Mean() float64 { return m.sum(Distribution.Mean) }

// Short implements decision.Distribution.
func (m blend) Short(a float64) float64 {
	return m.sum(func(d Distribution) float64 { return d.Short(a) })
}

// Excess implements decision.Distribution.
func (m blend) Excess(a float64) float64 {
	return m.sum(func(d Distribution) float64 { return d.Excess(a) })
}

// Expect implements decision.Distribution.
func (m blend) Expect(g func(y float64) float64, kinks ...float64) float64 {
	return m.sum(func(d Distribution) float64 { return d.Expect(g, kinks...) })
}

// Finite implements decision.Distribution.
func (m blend) Finite(g func(y float64) float64, poles ...float64) bool {
	return !slices.ContainsFunc(m.parts, func(d Distribution) bool { return !d.Finite(g, poles...) })
}

// Whole implements decision.Distribution.
func (m blend) Whole() bool { return m.parts[0].Whole() }

// IsFinite implements Distribution.
func (m blend) IsFinite() bool {
	return !slices.ContainsFunc(m.parts, func(d Distribution) bool { return !d.IsFinite() })
}

// CDF implements Distribution.
func (m blend) CDF(y float64) float64 {
	return min(1, m.sum(func(d Distribution) float64 { return d.CDF(y) }))
}

// PIT implements Distribution.
func (m blend) PIT(y float64) float64 {
	return min(1, m.sum(func(d Distribution) float64 { return d.PIT(y) }))
}

// LogDensity implements Distribution.
func (m blend) LogDensity(y float64) float64 {
	logs := make([]float64, len(m.parts))
	for k, d := range m.parts {
		logs[k] = math.Log(m.weights[k]) + d.LogDensity(y)
	}
	return max(floats.LogSumExp(logs), -math.MaxFloat64)
}

// CRPS implements Distribution: E|Y − y| − ½E|Y − Y′|, where E|Y − Y′| is 4E(Y − EY)F(Y), with half of the probability of a
// count itself.
func (m blend) CRPS(y float64) float64 {
	mean := m.Mean()
	apart := m.Expect(func(x float64) float64 { return math.Abs(x - y) }, y)
	return max(0, apart-2*m.Expect(func(x float64) float64 { return (x - mean) * m.PIT(x) }))
}

// Quantile implements decision.Distribution: between those of the parts, by halving.
func (m blend) Quantile(p float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, d := range m.parts {
		q := d.Quantile(p)
		lo, hi = min(lo, q), max(hi, q)
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if m.Whole() {
			mid = math.Floor(mid)
		}
		if mid >= hi || mid < lo || !m.Whole() && !(hi-lo > 1e-12*(math.Abs(lo)+math.Abs(hi))) {
			break
		}
		if m.CDF(mid) >= p {
			hi = mid
		} else if lo = mid; m.Whole() {
			lo++
		}
	}
	return hi
}

// OutcomeWorth is what it would be worth to know the outcome of a case before acting: by how much the expected cost would
// fall, E c(a, y) of the best action a less the mean of the least cost under each outcome. It is the most that any further
// information can be worth.
func OutcomeWorth(s decision.Stake, d Distribution, c decision.NumberChoice) float64 {
	return spared(c.Expected, d.Expect(func(y float64) float64 { return s.Choose(known(y)).Expected }))
}

// spared is by how much one expectation is less than another: what rounding and quadrature leave is nothing.
func spared(without, with float64) float64 {
	if worth := without - with; worth > 1e-9*math.Abs(without) {
		return worth
	}
	return 0
}

// CheckAsk says, before any work, whether the model can answer under costs, as lossep.Model.CheckAsk does.
func (m *Model) CheckAsk(ask lossep.Ask, costs *decision.NumberCosts) error {
	if ask.Labels {
		if err := m.checkLabels(); err != nil {
			return err
		}
	}
	if len(ask.Columns) > 0 && m.x == nil {
		return lossep.WithoutRows(m.summary.Rows)
	}
	for _, column := range ask.Columns {
		if slices.Contains(costs.Columns(), column) {
			return inputf("ask", "%q says what actions cost, and what it is worth to know that is not computed; ask about others, or give costs without it", column)
		}
		if _, err := lossep.PlacesOf(m.recipe, column); err != nil {
			return err
		}
	}
	return nil
}

// Measuring values the measurement of columns that are not known, as lossep.Model.ColumnWorth does: the value is
// thought to be that of one of the nearest training rows in all other columns.
type Measuring struct {
	model  *Model
	donors *posterior.Donors
	places [][]int // of each column
}

// Measuring is that of the columns asked about, which were checked.
func (m *Model) Measuring(ask lossep.Ask) (*Measuring, error) {
	v := &Measuring{model: m}
	if len(ask.Columns) > 0 {
		v.donors = posterior.NewDonors(m.x, m.coding.Numbers(), m.shares(m.x))
	}
	for _, column := range ask.Columns {
		at, err := lossep.PlacesOf(m.recipe, column)
		if err != nil {
			return nil, err
		}
		v.places = append(v.places, at)
	}
	return v, nil
}

// Worth is what it would be worth to measure each of the columns in a case whose encoded features are given: with d_s the
// distribution with the value of row s, and c(d) the expected cost of the best action, c(mean of d_s) − mean of c(d_s).
func (v *Measuring) Worth(ctx context.Context, row []float64, s decision.Stake) (worth []float64, err error) {
	m := v.model
	for _, at := range v.places {
		open := slices.Clone(row)
		for _, place := range at {
			open[place] = math.NaN()
		}
		of := lossep.VariantsOf(v.donors, open, at)
		cases, err := m.Predict(mat.NewDense(len(of.Cases), len(row), slices.Concat(of.Cases...)))
		if err != nil {
			return nil, err
		}
		all, with := blend{}, 0.0
		for numbers, share := range grouped(of.Numbers, of.Shares) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			one := blend{weights: of.Companions}
			for c, number := range numbers {
				one.parts = append(one.parts, cases[number])
				all.parts, all.weights = append(all.parts, cases[number]), append(all.weights, share*of.Companions[c])
			}
			with += share * s.Choose(one).Expected
		}
		worth = append(worth, spared(s.Choose(all).Expected, with))
	}
	return worth, nil
}

// grouped are the numbers of the cases of each share, of shares that have the same the sum.
func grouped(numbers []int, shares []float64) iter.Seq2[[]int, float64] {
	each := len(numbers) / len(shares)
	of := func(k int) []int { return numbers[k*each : (k+1)*each] }
	return func(yield func([]int, float64) bool) {
		done := make([]bool, len(shares))
		for k := range shares {
			if done[k] {
				continue
			}
			sum := 0.0
			for l := k; l < len(shares); l++ {
				if slices.Equal(of(k), of(l)) {
					sum, done[l] = sum+shares[l], true
				}
			}
			if !yield(of(k), sum) {
				return
			}
		}
	}
}

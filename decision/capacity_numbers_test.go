package decision

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/normal"
)

// bell is a normal distribution, whole one whose outcomes are taken for counts.
type bell struct {
	mean, sd float64
	whole    bool
}

func (b bell) Mean() float64 { return b.mean }
func (b bell) Quantile(p float64) float64 {
	if q := b.mean + b.sd*normal.Quantile(p); !b.whole {
		return q
	} else {
		return max(0, math.Round(q))
	}
}

func (b bell) Short(a float64) float64 {
	c, f := normal.CDFDensity((a - b.mean) / b.sd)
	return (a-b.mean)*c + b.sd*f
}
func (b bell) Excess(a float64) float64 { return b.Short(a) - (a - b.mean) }
func (b bell) Expect(g func(y float64) float64, _ ...float64) (sum float64) {
	total := 0.0
	for z := -8.0; z <= 8; z += 1.0 / 16 {
		w := math.Exp(-z * z / 2)
		sum, total = sum+w*g(b.mean+b.sd*z), total+w
	}
	return sum / total
}
func (bell) Finite(func(y float64) float64, ...float64) bool { return true }
func (b bell) Whole() bool                                   { return b.whole }

// orders are cases with means and spreads of all sizes.
func orders(rng *rand.Rand, n int, whole bool, stake func(i int) Stake) (cases []NumberCase) {
	for i := range n {
		d := bell{5 + 20*rng.Float64(), 1 + 4*rng.Float64(), whole}
		cases = append(cases, NumberCase{stake(i), d, [][]float64{{1}}})
	}
	return cases
}

func total(choices []NumberChoice) (sum, cost float64) {
	for _, c := range choices {
		sum, cost = sum+c.Action, cost+c.Expected
	}
	return sum, cost
}

// Quantiles at the shadow price take the whole of the capacity, at equal marginal costs, and the price is the slope of the
// total cost. Fine steps come to the same.
func TestAllocateNumbersAlongQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	c, err := AbsoluteError().Within([]Capacity{{"action", 250}})
	if err != nil {
		t.Fatal(err)
	}
	var costs []Pinball
	cases := orders(rng, 20, false, func(int) Stake {
		p := Pinball{1 + 15*rng.Float64(), 1 + 5*rng.Float64()}
		costs = append(costs, p)
		return Stake{Loss: p}
	})
	at := func(most float64, of []NumberCase) ([]NumberChoice, *Allocation) {
		c.All[0].Most = most
		choices, out, err := c.AllocateNumbers(of)
		if err != nil {
			t.Fatal(err)
		}
		return choices, out
	}
	choices, out := at(250, cases)
	sum, cost := total(choices)
	if math.Abs(sum-250) > 1e-9 || math.Abs(cost-out.Cost) > 1e-9 || out.Prices[0] <= 0 || out.Cost-out.Bound > 1e-9 {
		t.Errorf("%v used at %v, cost %v, %+v", sum, out.Prices[0], cost, out)
	}
	for n, x := range choices {
		d := cases[n].Of.(bell)
		slope := (costs[n].Under+costs[n].Over)*normal.CDF((x.Action-d.mean)/d.sd) - costs[n].Under + out.Prices[0]
		if x.Action > 0 && math.Abs(slope) > 1e-8 || x.Action == 0 && slope < 0 {
			t.Errorf("case %d: action %v with a slope of %v", n, x.Action, slope)
		}
	}
	_, more := at(251, cases)
	_, less := at(249, cases)
	if slope := (less.Cost - more.Cost) / 2; math.Abs(slope-out.Prices[0]) > 1e-2*slope || !(out.Ranges[0][0] < out.Prices[0] && out.Ranges[0][1] > out.Prices[0]) {
		t.Errorf("price %v in %v, and one more saves %v", out.Prices[0], out.Ranges[0], slope)
	}
	if _, loose := at(1e6, cases); loose.Prices[0] != 0 || loose.Cost != loose.Free {
		t.Errorf("without a shortage: %+v", loose)
	}
	narrow := slices.Clone(cases) // of outcomes that are nearly known costs are straight below them: all is used, none better than the other
	for n := range narrow {
		narrow[n].Stake, narrow[n].Of = Stake{Loss: Pinball{15, 5}}, bell{mean: 20, sd: 0.01}
	}
	same, of := at(250, narrow)
	if sum, cost := total(same); math.Abs(sum-250) > 1e-9 || math.Abs(of.Prices[0]-15) > 1e-6 || math.Abs(cost-15*(20*20-250)) > 1e-6 || of.Cost-of.Bound > 1e-6 {
		t.Errorf("straight costs: %v used at %v for %v", sum, of.Prices, cost)
	}
	fine := append([]NumberCase(nil), cases...)
	for n := range fine {
		fine[n].Actions = Actions{To: 50, Step: 0.05}
	}
	stepped, of := at(250, fine)
	if sum, _ := total(stepped); sum > 250+1e-9 || of.Cost < out.Cost-1e-9 || of.Cost > out.Cost+0.05 {
		t.Errorf("steps: %v used at a cost of %v, and quantiles cost %v", sum, of.Cost, out.Cost)
	}
}

// Counts, whose steps are taken one by one, cost what dynamic programming finds.
func TestAllocateNumbersAgainstDynamicProgramming(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		formula := Formula{Of: func(a, y float64) float64 { return 9*max(y-a, 0) + 2*max(a-y, 0) + 5 }}
		cases := orders(rng, 6, true, func(i int) Stake {
			switch {
			case i == 0:
				return Stake{Loss: formula, Actions: Actions{List: []float64{0, 3, 7, 12}}}
			default:
				return Stake{Loss: Pinball{1 + 15*rng.Float64(), 1 + 5*rng.Float64()}}
			}
		})
		const most = 40
		c, err := AbsoluteError().Within([]Capacity{{"action", most}})
		if err != nil {
			t.Fatal(err)
		}
		choices, out, err := c.AllocateNumbers(cases)
		if err != nil {
			t.Fatal(err)
		}
		best := make([]float64, most+1) // by what is used at most
		for _, of := range cases {
			next := make([]float64, most+1)
			for b := range next {
				next[b] = math.Inf(1)
				for a := 0; a <= b; a++ {
					if of.Actions.List == nil || float64(a) == of.Actions.Nearest(float64(a)) {
						next[b] = min(next[b], best[b-a]+of.Expected(float64(a), of.Of))
					}
				}
			}
			best = next
		}
		if sum, cost := total(choices); sum > most || math.Abs(cost-best[most]) > 1e-9 {
			t.Errorf("seed %d: %v used at a cost of %v, and it could be %v (gap %v)", seed, sum, cost, best[most], out.Cost-out.Bound)
		}
	}
}

// Named actions take what their efforts say, and what cannot be shared out is refused.
func TestAllocateNumbersNamed(t *testing.T) {
	s, err := ParseNumberSpec("vans.yaml", []byte("costs:\n  small: 40 + 3*max(outcome - 10, 0)\n  large: 60\neffort:\n  large: 2\n  hours: {small: 1, large: size}\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseNumberJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	c, err := again.Within([]Capacity{{"large", 5}, {"hours", 100}})
	if err != nil {
		t.Fatal(err)
	}
	var cases []NumberCase
	for i := range 10 {
		efforts, err := c.Efforts(func(string) (float64, error) { return 3, nil })
		if err != nil {
			t.Fatal(err)
		}
		stake, err := again.Stake(nil)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, NumberCase{stake, bell{mean: float64(10 + 2*i), sd: 1}, efforts})
	}
	choices, out, err := c.AllocateNumbers(cases)
	if err != nil {
		t.Fatal(err)
	}
	for n, x := range choices {
		if want := n >= 8; (x.Action == 1) != want {
			t.Errorf("case %d: action %v", n, x.Action)
		}
	}
	if out.Used[0] != 4 || out.Used[1] != 8+6 {
		t.Errorf("used %v", out.Used)
	}
	if _, err := again.Within([]Capacity{{"van", 1}}); err == nil || !strings.Contains(err.Error(), `the capacity "van" is that of no action`) {
		t.Errorf("%v", err)
	}
	one, err := AbsoluteError().Within([]Capacity{{"action", 3}})
	if err != nil {
		t.Fatal(err)
	}
	squares := Stake{Loss: Formula{Of: func(a, y float64) float64 { return (a - y) * (a - y) }}}
	var fault *SpecError
	for what, of := range map[string]Stake{"squares": squares, "long": {Loss: Pinball{1, 1}, Actions: Actions{To: 1, Step: 1e-4}}} {
		if _, _, err := one.AllocateNumbers([]NumberCase{{of, bell{mean: 5, sd: 1}, [][]float64{{1}}}}); !errors.As(err, &fault) {
			t.Errorf("%s: %v", what, err)
		}
	}
	far := Stake{Loss: Pinball{1, 1}, Actions: Actions{From: 4, To: 9}}
	var limit *LimitError
	if _, _, err := one.AllocateNumbers([]NumberCase{{far, bell{mean: 5, sd: 1}, [][]float64{{1}}}}); !errors.As(err, &limit) || limit.Least != 4 {
		t.Errorf("from 4: %v", err)
	}
}

package decision

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// enumerate is the least cost within limits of efforts that are whole numbers, by dynamic
// programming over cases and what is left of each limit.
func enumerate(costs [][]float64, limits []Limit) float64 {
	type left struct{ a, b int }
	start := left{}
	for l, limit := range limits {
		if l == 0 {
			start.a = int(limit.Most)
		} else {
			start.b = int(limit.Most)
		}
	}
	now := map[left]float64{start: 0}
	for n := range costs {
		next := make(map[left]float64)
		for at, cost := range now {
			for a, c := range costs[n] {
				to := at
				to.a -= int(limits[0].Efforts[n][a])
				if len(limits) > 1 {
					to.b -= int(limits[1].Efforts[n][a])
				}
				if to.a < 0 || to.b < 0 {
					continue
				}
				if old, seen := next[to]; !seen || cost+c < old {
					next[to] = cost + c
				}
			}
		}
		now = next
	}
	best := math.Inf(1)
	for _, cost := range now {
		best = min(best, cost)
	}
	return best
}

// allocation is a random problem: action 0 takes nothing, the others whole efforts up to most.
func allocation(rng *rand.Rand, limits, most int) ([][]float64, []Limit) {
	cases, actions := 1+rng.IntN(10), 2+rng.IntN(3)
	costs, all := make([][]float64, cases), make([]Limit, limits)
	for l := range all {
		all[l] = Limit{Name: fmt.Sprint("limit ", l), Most: float64(rng.IntN(2 + cases*most/2)), Efforts: make([][]float64, cases)}
	}
	for n := range costs {
		costs[n] = make([]float64, actions)
		for l := range all {
			all[l].Efforts[n] = make([]float64, actions)
		}
		for a := range actions {
			costs[n][a] = rng.Float64() * 10
			for l := range all {
				if a > 0 && (limits == 1 || a%limits == l) {
					all[l].Efforts[n][a] = float64(1 + rng.IntN(most))
				}
			}
		}
	}
	return costs, all
}

// TestAllocateAgainstEnumeration: of small problems the optimum is known. It is reached, and known to be.
func TestAllocateAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 13))
	for trial := range 1000 {
		limits, most := 1+trial%2, 1+trial/2%4
		costs, of := allocation(rng, limits, most)
		got, err := Allocate(costs, of)
		if err != nil {
			t.Fatal(trial, err)
		}
		want := enumerate(costs, of)
		const rounding = 1e-9 // of sums of ten numbers below ten
		if math.Abs(got.Cost-want) > rounding || math.Abs(got.Bound-want) > rounding || got.Free > want+rounding {
			t.Errorf("%d: cost %v, bound %v, free %v; the optimum is %v", trial, got.Cost, got.Bound, got.Free, want)
		}
		sum := 0.0
		for n, a := range got.Actions {
			sum += costs[n][a]
		}
		for l, limit := range of {
			used := 0.0
			for n, a := range got.Actions {
				used += limit.Efforts[n][a]
			}
			if used != got.Used[l] || used > limit.Most {
				t.Errorf("%d: %v used, said to be %v of %v", trial, used, got.Used[l], limit.Most)
			}
		}
		if sum != got.Cost {
			t.Errorf("%d: cost %v, said to be %v", trial, sum, got.Cost)
		}
	}
}

// TestAllocateEnds: where efforts are no whole numbers, sums of them differ by rounding, of which no action may
// be undone for another and back for ever. What the search does not end with stays between bound and cost.
func TestAllocateEnds(t *testing.T) {
	for _, cases := range []int{10, 100, 400} {
		for limits := 1; limits <= 3; limits++ {
			rng := rand.New(rand.NewPCG(uint64(cases), uint64(limits)))
			exact := 0
			for range 20 {
				costs, all := make([][]float64, cases), make([]Limit, limits)
				for l := range all {
					all[l] = Limit{Name: fmt.Sprint(l), Most: float64(3 * cases), Efforts: make([][]float64, cases)}
				}
				for n := range costs {
					costs[n] = []float64{rng.ExpFloat64() * 100, rng.ExpFloat64() * 50, 20}
					for l := range all {
						all[l].Efforts[n] = []float64{0, 5 + rng.Float64()*5, 10 + 30*rng.Float64()}
					}
				}
				got, err := Allocate(costs, all)
				if err != nil {
					t.Fatal(err)
				}
				for l, limit := range all {
					if got.Used[l] > limit.Most*(1+roundingOfSums) {
						t.Errorf("%d cases: %v used of %v", cases, got.Used[l], limit.Most)
					}
				}
				if got.Bound > got.Cost || got.Bound < got.Free {
					t.Errorf("%d cases: bound %v, cost %v, without limits %v", cases, got.Bound, got.Cost, got.Free)
				}
				if got.Bound == got.Cost {
					exact++
				}
			}
			t.Logf("%d cases, %d limits: the optimum in %d of 20", cases, limits, exact)
			if limits == 1 && exact < 20 {
				t.Errorf("%d cases, one limit: the optimum in %d of 20 only", cases, exact)
			}
		}
	}
}

// TestEqualEffortsBesideTheLimit: of 1000 minutes 990 can be used where each visit takes 30, and no other allocation
// uses them better.
func TestEqualEffortsBesideTheLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 13))
	costs, limit := make([][]float64, 3000), Limit{Name: "minutes", Most: 1000}
	for n := range costs {
		costs[n] = []float64{rng.ExpFloat64(), 0}
		limit.Efforts = append(limit.Efforts, []float64{0, 30})
	}
	got, err := Allocate(costs, []Limit{limit})
	if err != nil || got.Used[0] != 990 || got.Bound != got.Cost {
		t.Errorf("%v used, bound %v of %v, %v", got.Used, got.Bound, got.Cost, err)
	}
}

// TestShadowPriceIsFiniteDifference: with equal efforts one more unit saves what the price says.
func TestShadowPriceIsFiniteDifference(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 13))
	for trial := range 200 {
		costs, of := allocation(rng, 1, 1)
		got, err := Allocate(costs, of)
		if err != nil {
			t.Fatal(err)
		}
		before := enumerate(costs, of)
		of[0].Most++
		// Both are differences of sums of ten numbers below ten.
		if saved := before - enumerate(costs, of); math.Abs(saved-got.Prices[0]) > 1e-9 {
			t.Errorf("%d: price %v, one more saves %v", trial, got.Prices[0], saved)
		}
	}
}

// TestPricesDecideCasesAlone: deciding every case by cost and priced effort uses no more than the
// limit but for the cases that are indifferent.
func TestPricesDecideCasesAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 13))
	const cases, most = 5000, 700
	costs, limit := make([][]float64, cases), Limit{Name: "visits", Most: most}
	for n := range costs {
		costs[n] = []float64{20 * rng.Float64(), 10 * rng.Float64()}
		limit.Efforts = append(limit.Efforts, []float64{0, 1})
	}
	got, err := Allocate(costs, []Limit{limit})
	if err != nil {
		t.Fatal(err)
	}
	used := 0
	for _, c := range costs {
		if c[1]+got.Prices[0] < c[0] {
			used++
		}
	}
	if used != most || got.Used[0] != most {
		t.Errorf("%d and %v visits of %d", used, got.Used[0], most)
	}
}

func TestAllocateRefuses(t *testing.T) {
	costs := [][]float64{{1, 2}, {3, 1}}
	var limited *LimitError
	_, err := Allocate(costs, []Limit{{Name: "hours", Most: 3, Efforts: [][]float64{{2, 4}, {2, 3}}}})
	if !errors.As(err, &limited) || limited.Least != 4 {
		t.Errorf("efforts above the limit: %v", err)
	}
	if _, err := Allocate(costs, []Limit{{Name: "hours", Most: math.NaN(), Efforts: costs}}); !errors.As(err, &limited) {
		t.Errorf("a limit that is not a number: %v", err)
	}
	got, err := Allocate(nil, []Limit{{Name: "hours", Most: 3}})
	if err != nil || got.Cost != 0 || len(got.Actions) != 0 {
		t.Errorf("no cases: %+v, %v", got, err)
	}
}

// TestIntervalsOfPricesAndCosts: of 400 days from a known population the intervals hold the price and
// the cost of the population in about 95 %: between 92 % and 98 % for chance, whose standard error is 1.1 %.
func TestIntervalsOfPricesAndCosts(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 13))
	const cases, most, days = 400, 60, 400
	// Savings are exponential with mean 5, and a visit takes 1 or 2 hours. At price λ a visit of e hours
	// is made where the saving is above λe: use is n·(exp(−λ/5) + 2·exp(−2λ/5))/2, and what is not saved is
	// E min(s, λe) = 5(1 − exp(−λe/5)), less λ·limit.
	use := func(price float64) float64 { return cases / 2 * (math.Exp(-price/5) + 2*math.Exp(-2*price/5)) }
	low, high := 0.0, 100.0
	for range 100 {
		if mid := (low + high) / 2; use(mid) > most {
			low = mid
		} else {
			high = mid
		}
	}
	cost := cases/2*(5*(1-math.Exp(-low/5))+5*(1-math.Exp(-2*low/5))) - low*most
	prices, costs := 0, 0
	for range days {
		table, limit := make([][]float64, cases), Limit{Name: "hours", Most: most}
		for n := range table {
			table[n] = []float64{5 * rng.ExpFloat64(), 0}
			limit.Efforts = append(limit.Efforts, []float64{0, float64(1 + n%2)})
		}
		got, err := Allocate(table, []Limit{limit})
		if err != nil {
			t.Fatal(err)
		}
		if r := got.Ranges[0]; r[0] <= low && low <= r[1] {
			prices++
		}
		if math.Abs(got.Cost-got.Free-cost) <= 1.96*got.StdErr {
			costs++
		}
	}
	t.Logf("price %.3f held in %d, cost %.1f in %d of %d days", low, prices, cost, costs, days)
	for what, held := range map[string]int{"price": prices, "cost": costs} {
		if held < 92*days/100 || held > 98*days/100 {
			t.Errorf("the interval of the %s holds it in %d of %d days", what, held, days)
		}
	}
}

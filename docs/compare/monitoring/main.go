// Command monitoring draws streams of cases for a year, or a quarter where there is drift, decided daily, and counts alarms: how many streams
// without drift ever have one, and after how many days drift of several sizes is found.
//
//	go run ./monitoring [-streams 200] [-only 0]
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/monitor"
)

const (
	perDay    = 40
	year      = 365 // of streams without drift
	quarter   = 90  // of the others
	reference = 500
)

// change is what is different from the first day on.
type change struct {
	name string
	// mean is that of the input; shift is added to the log odds of the outcome, and odds to those of the
	// whole population, by which cases are drawn.
	mean, shift, odds float64
}

// cases have one input x; the outcome has the log odds x + shift, and the model believes in x. A missed
// positive costs 5, a false alarm 1.
func cases(rng *rand.Rand, n int, c change) *monitor.Cases {
	inputs, out := mat.NewDense(n, 1, nil), new(monitor.Categories)
	for i := 0; i < n; {
		x := c.mean + rng.NormFloat64()
		y := 0
		if rng.Float64() < 1/(1+math.Exp(-(x+c.shift))) {
			y = 1
		}
		// Prior shift: cases of one outcome become more frequent, and are like those before.
		if c.odds > 0 && y == 0 && rng.Float64() > math.Exp(-c.odds) || c.odds < 0 && y == 1 && rng.Float64() > math.Exp(c.odds) {
			continue
		}
		p := 1 / (1 + math.Exp(-x))
		costs := []float64{0, 5}
		if p > 1.0/6 {
			costs = []float64{1, 0}
		}
		inputs.Set(i, 0, x)
		out.Probabilities, out.Costs, out.Outcomes = append(out.Probabilities, []float64{1 - p, p}), append(out.Costs, costs), append(out.Outcomes, y)
		i++
	}
	return &monitor.Cases{X: inputs, Decisions: out}
}

func main() {
	streams := flag.Int("streams", 200, "streams of each kind")
	only := flag.Int("only", -1, "the number of one kind, from 0, in place of all")
	flag.Parse()
	changes := []change{
		{name: "none"},
		{name: "covariate shift, mean −0.5", mean: -0.5},
		{name: "covariate shift, mean −1", mean: -1},
		{name: "prior shift, odds × 0.5", odds: -math.Ln2},
		{name: "prior shift, odds × 0.25", odds: -2 * math.Ln2},
		{name: "concept drift, log odds −0.5", shift: -0.5},
		{name: "concept drift, log odds −1", shift: -1},
	}
	o := monitor.Options{Level: monitor.DefaultLevel, Tolerance: monitor.DefaultTolerance, Numbers: 1, Columns: []monitor.Column{{Name: "x", At: []int{0}}}}
	for k, c := range changes {
		if *only >= 0 && k != *only {
			continue
		}
		length := quarter
		if k == 0 {
			length = year
		}
		var delays []int
		kinds := make(map[monitor.Kind]int)
		cost := 0.0
		for s := range *streams {
			rng := rand.New(rand.NewPCG(uint64(s), uint64(k)))
			before, now := cases(rng, reference, change{}), cases(rng, length*perDay, c)
			var days []monitor.Span
			for d := range length {
				days = append(days, monitor.Span{Name: fmt.Sprint(d + 1), From: d * perDay, To: (d + 1) * perDay})
			}
			var r *monitor.Result
			for _, upto := range []int{10, 30, length} { // days after the first alarm change nothing
				var err error
				if r, err = monitor.Watch(before, now, days[:upto], o); err != nil {
					panic(err)
				}
				if len(r.Alarms) > 0 {
					break
				}
			}
			for i := range now.Len() {
				realised, _ := now.Realised(i)
				cost += realised / float64(*streams*length*perDay)
			}
			first := length + 1
			for _, a := range r.Alarms {
				kinds[a.Kind]++
				var day int
				fmt.Sscan(a.Window, &day)
				first = min(first, day)
			}
			delays = append(delays, first)
		}
		slices.Sort(delays)
		within := 0
		for _, d := range delays {
			if d <= length {
				within++
			}
		}
		fmt.Printf("%-30s cost %.3f; alarms in %d of %d streams of %d days (inputs %d, outcomes %d); days to the first: median %d, 90 %% %d\n", c.name, cost, within, *streams, length, kinds[monitor.Inputs], kinds[monitor.Outcomes], delays[len(delays)/2], delays[len(delays)*9/10])
	}
}

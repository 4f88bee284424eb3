package decision_test

import (
	"fmt"

	"github.com/lossep/lossep/decision"
)

// A false alarm costs 1, a missed alarm 10: raise the alarm from 9.1 % on.
func ExampleStakes() {
	s := decision.Stakes{Table: decision.Table{{0, 10}, {1, 0}}, Costs: true}
	p, b, _ := s.Threshold()
	fmt.Printf("alarm when P > %.4f, that is, z > %.4f\n", p, b)
	c := s.Choose(make([]float64, 2), []float64{0.8, 0.2})
	fmt.Printf("expected costs %.2f: action %d, cheaper by %.2f\n", c.Expected, c.Action, c.Margin)
	// Output:
	// alarm when P > 0.0909, that is, z > -1.3352
	// expected costs [2.00 0.80]: action 1, cheaper by 1.20
}

// Asking a colleague is a third action, worth 0.8 whatever the outcome.
func ExampleStakes_Best() {
	s := decision.Stakes{Table: decision.Table{{1, 0}, {0, 1}, {0.8, 0.8}}}
	for _, p := range []float64{0.1, 0.4, 0.9} {
		fmt.Println(p, s.Best([]float64{1 - p, p}, -1))
	}
	// Output:
	// 0.1 0
	// 0.4 2
	// 0.9 1
}

// What acting on an approximation loses, when 0.6 is the true probability at two of
// three points and the approximation took it for less than a half at one of them.
func ExampleUtility_Regret() {
	u, err := decision.NewUtility(decision.Probit(), 3, nil, decision.Table{{1, 0}, {0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := u.Regret([]int{0, 1, 0}, decision.Pairs([]float64{0.2, 0.6, 0.6}))
	fmt.Printf("%.4f of at most %.4f, normalised %.3f\n", r.Absolute, r.Best-r.Worst, r.Normalised)
	// Output: 0.0667 of at most 0.3333, normalised 0.200
}

func ExampleTable_Check() {
	fmt.Println(decision.Table{{1, 0.01}, {-0.9, 1}}.Check(2))
	// Output: table of costs or utilities, row 2, column 1: -0.9 is negative; utilities are at least 0, so add the same amount to every entry
}

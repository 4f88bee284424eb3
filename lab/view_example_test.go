package lab_test

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/lab"
)

// The paper's Figure 1: only Loss-EP shuts the reactor down, as one should, and every
// method would do so if the threshold were low enough.
func ExampleReactorRequest_Solve() {
	v, err := lab.ReactorRequest{
		Data:      []float64{-1.1, -2.6, -4, 5.7, -1.1},
		Utility:   [][]float64{{1, 0.01}, {0.9, 1}}, // leave on, shut down; below and above the threshold
		Threshold: 2.2,
	}.Solve(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range v.Answers {
		fmt.Printf("%-8s action %d, P(state > 2.2) = %.3f, shuts down for thresholds up to %.1f\n", a.Method, *a.Action, a.ProbabilityAbove, a.Ranges[0].To)
	}
	// Output:
	// exact    action 1, P(state > 2.2) = 0.151, shuts down for thresholds up to 5.5
	// ep       action 0, P(state > 2.2) = 0.003, shuts down for thresholds up to -0.1
	// loss-ep  action 1, P(state > 2.2) = 0.374, shuts down for thresholds up to 3.5
	// vi       action 0, P(state > 2.2) = 0.000, shuts down for thresholds up to -0.7
	// loss-vi  action 0, P(state > 2.2) = 0.000, shuts down for thresholds up to -0.7
}

// Five points on the line. Action 1 is the safe one: it is worth 0.9 even when the
// label is −1.
func ExampleClassifier_Solve() {
	v, err := lab.Classifier{
		X:       [][]float64{{-2}, {-1}, {0}, {1.5}, {3}},
		Labels:  []int{0, 0, 1, 1, 0},
		Kernel:  "rbf(variance=20, lengthscale=1)",
		Utility: [][]float64{{1, 0}, {0.9, 1}},
		Grid:    &lab.Grid{From: []float64{-4}, To: []float64{4}, Points: []int{161}},
	}.Solve(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("action 1 where P(+1) is above %.3f\n", *v.Needs)
	for _, m := range v.Methods {
		fmt.Printf("%-9s another action at %2d of 161 points, regret %.3f\n", m.Method, *m.Flips, m.Regret.Normalised)
	}
	// Output:
	// action 1 where P(+1) is above 0.091
	// corrected another action at  0 of 161 points, regret 0.000
	// ep        another action at  4 of 161 points, regret 0.001
	// loss-ep   another action at  4 of 161 points, regret 0.001
	// vi        another action at  1 of 161 points, regret 0.000
	// loss-vi   another action at  2 of 161 points, regret 0.000
	// laplace   another action at 21 of 161 points, regret 0.014
}

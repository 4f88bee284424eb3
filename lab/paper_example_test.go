package lab_test

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/lab"
)

// The reactor of Figure 1: of the approximations only Loss-EP shuts it down, which
// is right.
func ExampleNewReactor() {
	r, err := lab.NewFigure1(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range r.Curves {
		fmt.Printf("%s: P(φ > %v) = %.3f, action %d\n", c.Method, r.Threshold, c.Exceeds, *c.Action)
	}
	// Output:
	// exact: P(φ > 2.2) = 0.151, action 1
	// vi: P(φ > 2.2) = 0.000, action 0
	// loss-vi: P(φ > 2.2) = 0.000, action 0
	// ep: P(φ > 2.2) = 0.003, action 0
	// loss-ep: P(φ > 2.2) = 0.374, action 1
}

// A small run of the simulation behind Table 1, from a seed.
func ExampleSimulation_Run() {
	s := lab.NewSimulation(3, 2, 20)
	trials, err := s.Run(context.Background(), nil, func(*lab.Trial) error { return nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	t := lab.NewTable1(trials)
	fmt.Println(len(t.Cells), "cells of", len(t.Cells[0].Scores), "methods")
	// Output: 15 cells of 7 methods
}

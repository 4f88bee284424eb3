package audit_test

import (
	"context"
	"fmt"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
)

// What screening decisions cost, where a missed cancer costs as much as twenty unneeded
// biopsies, from 150 past cases.
func Example() {
	var rows []int
	for i := range 150 {
		rows = append(rows, i)
	}
	costs, err := decision.ParseCosts(example.Costs)
	if err != nil {
		panic(err)
	}
	a, err := audit.New(context.Background(), example.Table().Subset(rows), audit.Options{
		Fit: lossep.Options{
			Data:    recipe.Options{Target: example.Target, Positive: example.Positive},
			Utility: costs, Method: lossep.EP, Kernel: "rbf(variance=100, lengthscale=10)", Fixed: true,
		},
		Methods: []lossep.Method{lossep.LossEP},
		Folds:   5,
	})
	if err != nil {
		panic(err)
	}
	folds, err := a.Run(context.Background(), nil, func(*audit.Fold) error { return nil })
	if err != nil {
		panic(err)
	}
	r, err := a.Summarise(folds)
	if err != nil {
		panic(err)
	}
	for _, s := range r.Methods {
		fmt.Printf("%-20s %.2f\n", s.Method, s.MeanCost)
	}
	fmt.Println(r.Verdicts[len(r.Verdicts)-1].Reason)
	// Output:
	// ep                   0.13
	// loss-ep              0.13
	// probit regression    0.12
	// threshold one half   0.55
	// always negative      11.07
	// always positive      0.45
	// calibration makes no significant difference
}

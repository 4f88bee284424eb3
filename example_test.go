package lossep_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Screening: a missed cancer costs twenty times an unneeded biopsy. The model is
// fitted to two thirds of the rows and decides the others.
func Example() {
	ctx := context.Background()
	costs, err := decision.ParseCosts("fn=20,fp=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := lossep.Fit(ctx, example.Training(), lossep.Options{
		Data:    recipe.Options{Target: "diagnosis", Positive: "malignant"},
		Utility: costs,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := recipe.NewReader(context.Background(), bytes.NewReader(example.HeldOutCSV()), example.Name, model.Recipe(), table.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	missed, alarms, n := 0, 0, 0
	for d, err := range model.Decisions(ctx, rows, nil, true) {
		if err != nil {
			fmt.Println(err)
			return
		}
		n++
		switch y, _, _ := d.Row.Label(); {
		case y == 1 && d.Action == 0:
			missed++
		case y == 0 && d.Action == 1:
			alarms++
		}
	}
	fmt.Printf("%d masses: %d cancers missed, %d unneeded biopsies\n", n, missed, alarms)
	// Output:
	// 189 masses: 0 cancers missed, 23 unneeded biopsies
}

// A model file is all that is needed to decide later, under other costs too.
func ExampleLoad() {
	ctx := context.Background()
	rows, err := table.Read(context.Background(), strings.NewReader("age,smokes,ill\n61,yes,1\n35,no,0\n52,yes,1\n44,no,0\n58,no,1\n29,yes,0\n"), "past.csv", table.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	costs, _ := decision.ParseCosts("fn=5,fp=1")
	fitted, err := lossep.Fit(ctx, rows, lossep.Options{Utility: costs, Kernel: "rbf(variance=4, lengthscale=2)", Fixed: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer // Save and Load do the same with a path
	if err := fitted.Write(&file); err != nil {
		fmt.Println(err)
		return
	}
	model, err := lossep.Read(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	features := make([]float64, model.Recipe().Dim())
	if _, err := model.Recipe().Encode(map[string]any{"age": 47, "smokes": "no"}, features); err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(1, len(features), features)
	other, _ := decision.ParseCosts("fn=1,fp=5")
	other, _ = model.Bind(other)
	for _, s := range []*decision.Spec{model.Utility(), other} {
		stakes, _ := s.Stakes(nil) // the costs are the same in all cases
		decisions, err := model.Decide(x, stakes)
		if err != nil {
			fmt.Println(err)
			return
		}
		d := decisions[0]
		fmt.Printf("P(ill) = %.2f: treat as %s, expected cost %.2f\n", d.Probability(), costs.Actions()[d.Action], d.Expected[d.Action])
	}
	// Output:
	// P(ill) = 0.42: treat as positive, expected cost 0.58
	// P(ill) = 0.42: treat as negative, expected cost 0.42
}

// A model is calibrated to other costs than those it was fitted for.
func ExampleModel_Calibrate() {
	ctx := context.Background()
	rows, err := table.Read(context.Background(), strings.NewReader("age,smokes,ill\n61,yes,1\n35,no,0\n52,yes,1\n44,no,0\n58,no,1\n29,yes,0\n"), "past.csv", table.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	costs, _ := decision.ParseCosts("fn=5,fp=1")
	model, err := lossep.Fit(ctx, rows, lossep.Options{Utility: costs, Kernel: "rbf(variance=4, lengthscale=2)", Fixed: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	other, _ := decision.ParseCosts("fn=40,fp=1")
	other, _ = model.Bind(other)
	calibrated, err := model.Calibrate(ctx, other)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Method(), "becomes", calibrated.Method())
	fmt.Println(calibrated.Utility().RuleLine())
	fmt.Println("converged:", calibrated.Summary().Status.Converged)
	// Output:
	// corrected becomes loss-ep
	// positive if P(1) > 0.0243902, else negative
	// converged: true
}

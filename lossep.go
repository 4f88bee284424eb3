// Package lossep makes Bayesian decisions when mistakes do not cost the same.
//
// Fit learns from a table of past cases, whose outcome is known, and from what actions
// cost or bring under each outcome. The Model it returns predicts and decides new
// cases: as a matrix (Predict, Decide) or as a stream of rows in bounded memory
// (Predictions, Decisions). Consult tells which other methods would act otherwise, and
// Calibrate gives the model that serves other costs best. Save and Load keep it in a
// file.
//
//	past, err := table.Read(context.Background(), file, "train.csv", table.Format{})
//	costs, err := decision.ParseCosts("fn=5,fp=1")
//	model, err := lossep.Fit(ctx, past, lossep.Options{
//		Data:    recipe.Options{Target: "class", Positive: "bad"},
//		Utility: costs,
//	})
//
// The classifier is a Gaussian process; its kernel is found by the evidence of
// expectation propagation. How its posterior is then approximated is a Method. Prepare
// and Learn are the steps of a fit by themselves, for those who want to look at what is
// going to be fitted, or to compare methods that share all the rest.
//
// The packages below it hold the method, from the ground up: normal and level3
// (numbers and matrices), gauss (Gaussians seen through linear views), factor (the
// terms of a model), infer (expectation propagation, its calibration to a utility,
// and everything to compare it with), kernel and gp (Gaussian processes), decision
// (what actions are worth), table and recipe (rows of text as numbers) and reactor (the paper's
// one-dimensional decision).
package lossep

import (
	"context"

	"github.com/lossep/lossep/table"
)

// Fit fits a model to a table of past cases.
//
// Errors are those of Prepare, the context's, and *infer.ImproperError where no
// approximation exists. A run that did not converge is a Model whose Summary says so.
func Fit(ctx context.Context, t *table.Table, o Options) (*Model, error) {
	p, err := PrepareSettled(ctx, t, o)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx)
}

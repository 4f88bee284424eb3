package exact_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/problems"
)

var (
	trials       = flag.Int("trials", 50, "number of random problems on which sampling and exact answers are compared")
	calibrations = flag.Int("calibrations", 150, "number of simulations behind the calibration of sampling")
)

var ctx = context.Background()

// TestReferencesOnAnyNumberOfCores: the same bytes on one core and on several.
func TestReferencesOnAnyNumberOfCores(t *testing.T) {
	p, m := problems.DrawnProcess(t, rand.New(rand.NewPCG(1, 1)), 12, 20, 2)
	_, two := problems.TwoPoint(t)
	at := problems.ViewsAt(p, -9, -7, -5, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	atTwo := gauss.NewViews(mat.NewDense(40, 2, problems.StandardNormals(rand.New(rand.NewPCG(2, 2)), 80)), nil, nil)
	answers := func(procs int) (all []float64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		ask := func(q infer.Posterior, v *gauss.Views) {
			x, y := make([]float64, v.Len()), make([]float64, v.Len())
			q.Expect(v, factor.Probit{Y: 1}, x, y)
			all = append(append(all, x...), y...)
			q.Moments(v, x, y)
			all = append(append(all, x...), y...)
		}
		e, err := exact.Sampler{Draws: 3000, Seed: 5}.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		ask(e, at)
		all = append(all, e.LogEvidence)
		var s exact.NUTS
		s.Warmup, s.Draws = 100, 50
		n, err := s.Fit(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		ask(n, at)
		g, err := exact.Grid{}.Fit(ctx, two)
		if err != nil {
			t.Fatal(err)
		}
		ask(g, atTwo)
		return append(all, g.LogEvidence)
	}
	if !slices.Equal(answers(1), answers(4)) {
		t.Error("answers on one core and on four differ")
	}
}

func TestUnsupportedModels(t *testing.T) {
	_, probit := problems.DrawnProcess(t, rand.New(rand.NewPCG(1, 1)), 5, 1, 1)
	clutter := problems.Clutter(make([]float64, exact.MaxMixtureTerms+1)...)
	wrongLabel := &infer.Model{Views: problems.Clutter(0).Views, Terms: []factor.Factor{factor.Probit{Y: 2}}}
	for name, fit := range map[string]func() error{
		"exact of clutter":     func() error { _, err := exact.Sampler{}.Fit(ctx, clutter); return err },
		"exact of a label 2":   func() error { _, err := exact.Sampler{}.Fit(ctx, wrongLabel); return err },
		"one draw":             func() error { _, err := exact.Sampler{Draws: 1}.Fit(ctx, probit); return err },
		"mixture of 21 terms":  func() error { _, err := exact.Mixture{}.Fit(ctx, clutter); return err },
		"mixture in 5 dims":    func() error { _, err := exact.Mixture{}.Fit(ctx, probit); return err },
		"mixture of probit":    func() error { _, err := exact.Mixture{}.Fit(ctx, wrongLabel); return err },
		"grid in 5 dimensions": func() error { _, err := exact.Grid{}.Fit(ctx, probit); return err },
	} {
		err := fit()
		if _, ok := err.(*infer.UnsupportedError); !ok {
			t.Errorf("%s: error %v, want an UnsupportedError", name, err)
		}
	}
}

// TestReferencesEndWithTheContext: every method gives up when asked to.
func TestReferencesEndWithTheContext(t *testing.T) {
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, m := problems.TwoPoint(t)
	_, independent := exact.Sampler{}.Fit(ended, m)
	_, grid := exact.Grid{}.Fit(ended, m)
	_, sampling := exact.NUTS{}.Fit(ended, m)
	_, mixture := exact.Mixture{}.Fit(ended, problems.Clutter(1))
	for name, err := range map[string]error{"Exact": independent, "Grid": grid, "NUTS": sampling, "Mixture": mixture} {
		if err == nil {
			t.Errorf("%s did not notice that its context ended", name)
		}
	}
}

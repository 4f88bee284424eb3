package gp_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

func TestScratch(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{-math.Sqrt2, math.Sqrt2})
	p, err := gp.New(kernel.RBF(math.Exp(3), math.E), x)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := p.Classify([]float64{-1, 1})
	for _, s := range []infer.Schedule{infer.Sequential, infer.Parallel} {
		r, err := infer.EP{Schedule: s}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		mean, v := make([]float64, 2), make([]float64, 2)
		var ws gauss.Workspace
		c := mat.NewSymDense(2, nil)
		r.Q.Marginals(m.Views, mean, v, &ws)
		r.Q.Cross(m.Views, c, &ws)
		fmt.Println(mean, v, c.At(0, 1), r.LogEvidence, r.Status, p.Jitter())
	}
	grid := mat.NewDense(201, 1, nil)
	for j := range 201 {
		grid.Set(j, 0, -10+0.1*float64(j))
	}
	m.Points = p.At(grid)
	u, _ := decision.NewUtility(decision.Probit(), 201, nil, decision.Table{{1, 0}, {.5, 1}})
	m.Utility = u
	for _, s := range []infer.Schedule{infer.Sequential, infer.Parallel} {
		for _, d := range []float64{1, .5} {
			r, err := infer.EP{Schedule: s, Damping: d}.Fit(context.Background(), m)
			if err != nil {
				t.Fatal(err)
			}
			mean, v := make([]float64, 2), make([]float64, 2)
			var ws gauss.Workspace
			c := mat.NewSymDense(2, nil)
			for _, q := range []*gauss.Gaussian{r.Q, r.Tilted} {
				q.Marginals(m.Views, mean, v, &ws)
				q.Cross(m.Views, c, &ws)
				fmt.Println(mean, v, c.At(0, 1), r.LogEvidence, r.Status)
			}
		}
	}
	x = mat.NewDense(5, 2, []float64{-1.07932, -1.83544, 1.15768, 2.91702, 3.26631, -3.85663, 1.79009, 0.11949, -3.66051, 1.75159})
	p, _ = gp.New(kernel.RBF(2.25, 2), x)
	m, _ = p.Classify([]float64{-1, 1, 1, 1, -1})
	r, _ := infer.EP{}.Fit(context.Background(), m)
	mean, v := make([]float64, 5), make([]float64, 5)
	var ws gauss.Workspace
	r.Q.Marginals(m.Views, mean, v, &ws)
	fmt.Println(r.LogEvidence, mean, p.Kernel().ParamNames(), p.EvidenceGradient(r, nil), r.Status)
}

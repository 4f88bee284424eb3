package infer_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/infer"
)

func TestCorrectionsScratch(t *testing.T) {
	var e [5]float64
	for seed := range uint64(8) {
		p, labels := process(t, 15, seed)
		m, _ := p.Classify(labels)
		r, _ := infer.EP{}.Fit(context.Background(), m)
		z := mat.NewDense(200, 1, nil)
		for j := range 200 {
			z.Set(j, 0, -10+20*float64(j)/199)
		}
		views := p.At(z)
		ex, err := infer.Exact{Draws: 100000}.Fit(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		var v [5][200]float64
		var s [200]float64
		ex.Expect(views, factor.Probit{Y: 1}, v[4][:], s[:])
		infer.Gaussian{Gaussian: r.Q}.Expect(views, factor.Probit{Y: 1}, v[0][:], s[:])
		for k := range 2 {
			t0 := time.Now()
			infer.NewCorrected(m, r, infer.Correction(k)).Expect(views, factor.Probit{Y: 1}, v[1+k][:], s[:])
			fmt.Println(time.Since(t0))
		}
		infer.NewEvidence(m, r).Expect(views, factor.Probit{Y: 1}, v[3][:], s[:])
		for j := range 200 {
			for k := range 4 {
				e[k] += math.Abs(v[k][j]-v[4][j]) / 1600
			}
		}
	}
	fmt.Println(e)
}

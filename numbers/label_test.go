package numbers

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/posterior"
)

// With normal noise of variance σ² a label at j leaves case i the variance v_i − c²/(v_j + σ²), whatever it is, and the best
// action costs (under + over)·φ(z) standard deviations of the outcome: what a label is worth is known.
func TestLabelWorthOfNormalNoise(t *testing.T) {
	costs, err := decision.ParseNumberCosts("under=3,over=1")
	if err != nil {
		t.Fatal(err)
	}
	o := lossep.Options{Kernel: "rbf"}
	o.Data.Target, o.Data.Features = "y", []string{"x"}
	p, err := Prepare(sold(t, false), o, costs)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	noise, ok := m.family.(normalNoise)
	if !ok || !m.shape.Transform.plain() {
		t.Fatal(m.shape)
	}
	x := mat.NewDense(7, 1, []float64{-3, -1.5, -0.5, 0.2, 1, 2.5, 4}) // some of them beyond the training rows
	got, err := m.LabelWorth(context.Background(), x, []decision.Stake{{Loss: decision.Pinball{Under: 3, Over: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	known := m.posterior.(*posterior.Full).Values(x)
	each := 4 * math.Exp(normal.LogDensity(normal.Quantile(0.75))) * m.shape.Transform.Scale
	for j, worth := range got {
		want := 0.0
		for i := range got {
			c := known.Cov.At(i, j)
			before := known.Cov.At(i, i) + noise.variance
			want += each * (math.Sqrt(before) - math.Sqrt(before-c*c/(known.Cov.At(j, j)+noise.variance))) / 7
		}
		if math.Abs(worth-want) > 0.01*want { // see labelNodes
			t.Errorf("case %d: %v, want %v", j, worth, want)
		}
	}
	if _, err := m.LabelWorth(context.Background(), mat.NewDense(MostLabelled+1, 1, nil), []decision.Stake{{Loss: decision.Pinball{Under: 3, Over: 1}}}); err == nil {
		t.Error("too many cases are taken")
	}
}

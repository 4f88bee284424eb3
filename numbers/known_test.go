package numbers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/table"
)

// studies are outcomes that were measured with standard errors of 0.3 to 3.
func studies(t *testing.T, change func(i int, sd string) string) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	text := "a,b,sd,y\n"
	for i := range 40 {
		a, b, sd := rng.NormFloat64(), rng.NormFloat64(), 0.3*math.Pow(10, rng.Float64())
		text += fmt.Sprintf("%.6f,%.6f,%s,%.6f\n", a, b, change(i, fmt.Sprintf("%.6f", sd)), 7+4*smooth(a, b)+sd*rng.NormFloat64())
	}
	data, err := table.Read(context.Background(), strings.NewReader(text), "studies.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func asIs(_ int, sd string) string { return sd }

// With noise that is known predictions are those of exact regression without the noise, and the log density of rows left out is
// that of outcomes with it.
func TestKnownNoiseIsExactRegression(t *testing.T) {
	data, o := studies(t, asIs), lossep.Options{Kernel: "rbf + constant", Seed: 1}
	o.Data.Target, o.Data.NoiseSD = "y", "sd"
	for _, method := range []lossep.Method{lossep.EP, lossep.VI, lossep.Laplace, lossep.LossEP} {
		o.Method = method
		p, m := fitBy(t, data, o, "under=3,over=1")
		known := map[float64]float64{} // by outcome, as rows are put in order
		sds, err := data.Floats("sd")
		if err != nil {
			t.Fatal(err)
		}
		y, err := data.Floats("y")
		if err != nil {
			t.Fatal(err)
		}
		for i, sd := range sds {
			known[y[i]] = sd
		}
		precisions := make([]float64, p.Len())
		for i, y := range p.Values {
			precisions[i] = 1 / (known[y] * known[y])
		}
		isRegression(t, m, p.X, p.Values, precisions, 1e-9)
		if want, got := leftOutDensity(t, m, p, precisions), m.Summary().LeaveOneOut.LogDensity; !near(got, want, 1e-8) {
			t.Errorf("%s: log density %.12g of rows left out, exactly %.12g", method, got, want)
		}
	}
}

// leftOutDensity is the mean of log N(y; y − α/P, 1/P), where P are the diagonal of (K + Σ)⁻¹ and α = (K + Σ)⁻¹y.
func leftOutDensity(t *testing.T, m *numbers.Model, p *numbers.Problem, precisions []float64) (sum float64) {
	k, err := kernel.ParseColumns(m.Kernel(), kernel.Columns{Numbers: 2})
	if err != nil {
		t.Fatal(err)
	}
	shape, n := m.Shape().Transform, p.Len()
	var gram mat.SymDense
	k.Gram(&gram, p.X)
	z := mat.NewVecDense(n, nil)
	for i, y := range p.Values {
		gram.SetSym(i, i, gram.At(i, i)+1/(precisions[i]*shape.Scale*shape.Scale))
		z.SetVec(i, (y-shape.Mean)/shape.Scale)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(&gram); err != nil {
		t.Fatal(err)
	}
	var alpha mat.VecDense
	alpha.MulVec(&inverse, z)
	for i := range n {
		precision, off := inverse.At(i, i), alpha.AtVec(i)
		sum += (0.5*math.Log(precision/(2*math.Pi)) - 0.5*off*off/precision - math.Log(shape.Scale)) / float64(n)
	}
	return sum
}

func TestKnownNoiseIsChecked(t *testing.T) {
	costs, err := decision.ParseNumberCosts("under=3,over=1")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{"-1": "line 5, column 3", "": "missing", "x": "line 5", "1e-9": "not more than a millionth"} {
		data := studies(t, func(i int, sd string) string {
			if i == 3 {
				return value
			}
			return sd
		})
		o := lossep.Options{Kernel: "rbf + constant"}
		o.Data.Target, o.Data.NoiseSD, o.Data.Impute = "y", "sd", true
		if _, err := numbers.Prepare(data, o, costs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", value, err, want)
		}
	}
	o := lossep.Options{Kernel: "rbf + constant"}
	o.Data.Target, o.Data.NoiseSD = "y", "sd"
	p, m := fitBy(t, studies(t, asIs), o, "under=3,over=1")
	// An outcome of a case tells as much as its noise lets it, which is not known of a case to come.
	if _, err := m.LabelWorth(context.Background(), p.X, nil); err == nil || !strings.Contains(err.Error(), "noise") {
		t.Errorf("what a label is worth: %v", err)
	}
	if err := m.CheckAsk(lossep.Ask{Labels: true}, costs); err == nil || !strings.Contains(err.Error(), "noise") {
		t.Errorf("asking for it: %v", err)
	}
	if _, err := m.Update(context.Background(), studies(t, asIs), lossep.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), "noise") {
		t.Errorf("an update: %v", err)
	}
}

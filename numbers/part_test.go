package numbers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/table"
)

// waves are rows of two columns, of which the second matters less: two kernels explain them about as well.
func waves(t *testing.T, rows int, seed uint64) *table.Table {
	rng := rand.New(rand.NewPCG(seed, 3))
	return tableOf(t, "waves", "a,b,c,y", rows, func(int) string {
		a, b, c := 2*rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		return fmt.Sprintf("%.6f,%.6f,%.6f,%.9f", a, b, c, math.Sin(a)+0.4*b+0.2*b*c+0.5*rng.NormFloat64())
	})
}

// A model of several kernels predicts the mixture of what they predict, with and without each row, of every method, after an update and
// once read; and says of a label what it says of the kernels, too.
func TestKernelsAreMixed(t *testing.T) {
	o := lossep.Options{Seed: 1}
	o.Data.Target = "y"
	p, err := Prepare(waves(t, 90, 2), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.others) == 0 {
		t.Fatalf("one kernel: %v", m.Results())
	}
	isMixture(t, m)
	for i, d := range saved(t, m).predict(m.x) {
		if want := m.predict(m.x)[i]; d.Quantile(0.1) != want.Quantile(0.1) || d.CDF(1) != want.CDF(1) {
			t.Fatal("another distribution once the model is read")
		}
	}
	// The log density of rows left out is that of the mixture of what the parts say without them.
	left, err := m.cavities(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, y := range m.values {
		density := 0.0
		for k, part := range m.parts() {
			d := m.alone(part).predictAt(m.x.RawRowView(i), left[k][i].Mean(), left[k][i].Variance())
			density += part.weight * math.Exp(d.LogDensity(y))
		}
		sum += math.Log(density) / float64(len(m.values))
	}
	if got := m.summary.LeaveOneOut.LogDensity; math.Abs(got-sum) > 1e-9 {
		t.Errorf("log density %.12g of rows left out, and the mixture's is %.12g", got, sum)
	}
	next, err := m.Update(t.Context(), waves(t, 30, 4), lossep.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(next.others) != len(m.others) || len(next.values) != 120 {
		t.Fatalf("%d parts of %d rows", len(next.parts()), len(next.values))
	}
	isMixture(t, next)
	isMixture(t, saved(t, next))
	by, err := m.by(t.Context(), p, lossep.VI)
	if err != nil {
		t.Fatal(err)
	}
	isMixture(t, by)
	worth, err := m.LabelWorth(t.Context(), gp.RowsOf(m.x, []int{0, 1, 2, 3}), []decision.Stake{{Loss: decision.Pinball{Under: 3, Over: 1}}})
	for _, w := range worth {
		if !(w > 0) {
			t.Errorf("labels are worth %v, %v", worth, err)
		}
	}
}

// isMixture compares probabilities with the sum of those of the parts, each from its own posterior.
func isMixture(t *testing.T, m *Model) {
	t.Helper()
	sum := 0.0
	for _, p := range m.parts() {
		sum += p.weight
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("weights add up to %v", sum)
	}
	for i, d := range m.predict(m.x)[:10] {
		for _, y := range []float64{-1, 0, 0.7} {
			want := 0.0
			for _, p := range m.parts() {
				latent := p.posterior.Predict(m.x)[i]
				want += p.weight * m.alone(p).predictAt(m.x.RawRowView(i), latent.Mean, latent.Variance).CDF(y)
			}
			if got := d.CDF(y); math.Abs(got-want) > 1e-12 {
				t.Errorf("row %d: P(y ≤ %v) is %.14g, and that of the mixture %.14g", i, y, got, want)
			}
		}
	}
}

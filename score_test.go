package lossep_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// scoredTable is rows whose outcome has the probability p, with some power of it as a score and its probit as z.
func scoredTable(t *testing.T, n int, power float64, seed uint64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	b.WriteString("a,score,b,c,z,late\n")
	for range n {
		x, c := [2]float64{rng.NormFloat64(), rng.NormFloat64()}, rng.IntN(4)
		p := normal.CDF(1.2*x[0] - 0.8*x[1]*x[1] + 0.5*float64(c))
		late := "no"
		if rng.Float64() < p {
			late = "yes"
		}
		score := math.Pow(p, power)
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g,c%d,%.17g,%s\n", x[0], score, x[1], c, normal.Quantile(score), late)
	}
	read, err := table.Read(context.Background(), strings.NewReader(b.String()), "table.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func fitScored(t *testing.T, rows *table.Table, o lossep.Options) *lossep.Model {
	t.Helper()
	o.Data.Target, o.Data.Positive = "late", "yes"
	p, err := lossep.Prepare(rows, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The term of a score is that of a linear kernel of its probit alone, which no other term sees: in the full process
// a linear kernel of a column z of it and a kernel with no length scale to speak of in z are the same.
func TestScoreIsALinearTerm(t *testing.T) {
	t.Parallel()
	rows, other := scoredTable(t, 150, 2, 1), scoredTable(t, 60, 2, 2)
	options := func(kernel string, data recipe.Options) lossep.Options {
		data.KeepScale = true
		return lossep.Options{Kernel: kernel, Fixed: true, Method: lossep.EP, Data: data}
	}
	scored := fitScored(t, rows, options("score(variance=2.5) + rbf(variance=0.8, lengthscale=[1.5, 0.7]) + constant(variance=4)",
		recipe.Options{Score: "score", Features: []string{"a", "b"}}))
	linear := fitScored(t, rows, options("linear(variance=[1e-100, 1e-100, 2.5]) + rbf(variance=0.8, lengthscale=[1.5, 0.7, 1e100]) + constant(variance=4)",
		recipe.Options{Features: []string{"a", "b", "z"}}))
	want := probabilities(t, linear, other)
	for i, p := range probabilities(t, scored, other) {
		if !(math.Abs(p-want[i]) < 1e-8) { // of a fixed point found to 1e-10
			t.Errorf("row %d: %v, and %v with a linear kernel", i, p, want[i])
		}
	}
	if a, b := scored.Summary().LogEvidence, linear.Summary().LogEvidence; !(math.Abs(a-b) < 1e-8*math.Abs(b)) {
		t.Errorf("log evidence %v, and %v with a linear kernel", a, b)
	}
}

// A score that is right is left as it is, and one that is not is corrected: with the candidates of the full process,
// and with inducing points and effects, out of a model file, too.
func TestScoreIsCorrected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows   int
		kernel string
	}{
		"candidates": {300, lossep.AutoKernel},
		"effects":    {2500, lossep.ManyRowsKernel + " + " + lossep.AutoEffects},
	} {
		for _, power := range []float64{1, 2} {
			t.Run(fmt.Sprintf("%s, power %v", name, power), func(t *testing.T) {
				t.Parallel()
				m := fitScored(t, scoredTable(t, c.rows, power, 3), lossep.Options{
					Kernel: c.kernel, Seed: 1, Method: lossep.EP, Data: recipe.Options{Score: "score", Drop: []string{"z"}},
				})
				for _, tried := range m.Summary().Candidates {
					if !strings.Contains(tried.Kernel, "score(") {
						t.Errorf("the candidate %s has no term of the score", tried.Kernel)
					}
				}
				for _, term := range terms(m) {
					if strings.Contains(term, "score") {
						t.Errorf("%s is an effect of the score", term)
					}
				}
				again, err := lossep.Read(strings.NewReader(string(written(t, m))))
				if err != nil {
					t.Fatal(err)
				}
				worse := paired{} // than the probability that the rows were drawn with
				rows := scoredTable(t, 4000, power, 4)
				late, _ := rows.Texts("late")
				z, _ := rows.Texts("z")
				for i, p := range probabilities(t, again, rows) {
					probit := 0.0
					fmt.Sscan(z[i], &probit)
					truth := math.Pow(normal.CDF(probit), 1/power)
					if late[i] != "yes" {
						p, truth = 1-p, 1-truth
					}
					worse.add(-math.Log(p), -math.Log(truth))
				}
				// Of the 0.08 nats that a square of the probability loses nine tenths come back with 300 rows.
				if difference, _ := worse.values(); !(difference < 0.01) {
					t.Errorf("log loss is %.4f nats above that of the truth", difference)
				}
			})
		}
	}
}

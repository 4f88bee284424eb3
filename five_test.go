package lossep_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

func costs(t testing.TB, text string) *decision.Spec {
	t.Helper()
	s, err := decision.ParseCosts(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tableOf(t testing.TB, text string) *table.Table {
	t.Helper()
	rows, err := table.Read(context.Background(), strings.NewReader(text), "test.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

const fivePoints = `x1,x2,class
-1.07932,-1.83544,no
1.15768,2.91702,yes
3.26631,-3.85663,yes
1.79009,0.11949,yes
-3.66051,1.75159,no
`

// Five points in the plane: the evidence and the means of EP as in Shogun's tests,
// which were made with GPML.
func TestFivePoints(t *testing.T) {
	m, err := lossep.Fit(context.Background(), tableOf(t, fivePoints), lossep.Options{
		Data: recipe.Options{KeepScale: true}, Utility: costs(t, "fn=1,fp=1"), Method: lossep.EP,
		Kernel: "rbf(variance=2.25, lengthscale=2)", Fixed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	// Half a unit of the last digit printed there.
	if got, want := m.Summary().LogEvidence, -3.38359489; math.Abs(got-want) > 5e-9 {
		t.Errorf("log evidence %.9f, want %.8f", got, want)
	}
	rd, err := recipe.NewReader(context.Background(), strings.NewReader(fivePoints), "", m.Recipe(), table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{-0.8824857, 1.1326122, 1.0160338, 1.0791577, -1.0163779}
	i := 0
	for p, err := range m.Predictions(context.Background(), rd) {
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.Mean-want[i]) > 5e-8 {
			t.Errorf("mean %d: %.8f, want %.7f", i, p.Mean, want[i])
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d rows", i)
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
}

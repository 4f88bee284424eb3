package orthant

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestFactorisation(t *testing.T) {
	t.Parallel()
	const n = 40
	cov := probitGP(n, math.Exp(3), 1, 3)
	lower := make([]float64, n)
	for i := range lower {
		lower[i] = 0.1 * float64(i%7)
		if i%11 == 0 {
			lower[i] = math.Inf(-1)
		}
	}
	f, start, err := factorise(cov, lower)
	if err != nil {
		t.Fatal(err)
	}
	seen := slices.Sorted(slices.Values(f.order))
	for i, v := range seen {
		if v != i {
			t.Fatalf("order %v is no permutation", f.order)
		}
	}
	full := func(k int) []float64 { return append(slices.Clone(f.row(k)), 1) }
	for i := range n {
		for j := range i + 1 {
			got := f.diag[i] * f.diag[j] * floats.Dot(full(i)[:j+1], full(j))
			want := cov.At(f.order[i], f.order[j])
			if math.Abs(got-want) > 1e-12*21 { // variances are 21
				t.Errorf("entry (%d, %d) multiplies out to %g, want %g", i, j, got, want)
			}
		}
		if f.lower[i] != lower[f.order[i]] {
			t.Errorf("bound %d did not follow its variable", i)
		}
		if math.IsInf(f.lower[i], -1) != (i >= f.bounded) {
			t.Errorf("variable %d with bound %g on the wrong side of %d", i, f.lower[i], f.bounded)
		}
	}
	if len(start) != f.bounded {
		t.Fatalf("%d starting values for %d bounded variables", len(start), f.bounded)
	}
	for k := range start {
		if x := f.diag[k] * (start[k] + floats.Dot(f.row(k), start[:k])); x <= f.lower[k] {
			t.Errorf("start %d at %g, bound %g", k, x, f.lower[k])
		}
	}
}

// TestOrderingHelps compares the bound with that of the order given: the
// reordering is worth its code only if it brings the bound down.
func TestOrderingHelps(t *testing.T) {
	t.Parallel()
	const n = 60
	cov := probitGP(n, math.Exp(3), math.E, 1)
	ordered := mustNew(t, cov, make([]float64, n))

	// Force every choice by bounds that fall steeply in the order given, take
	// the factor, then put the true bounds back.
	falling := make([]float64, n)
	for i := range falling {
		falling[i] = -math.Pow(100, float64(i))
	}
	f, _, err := factorise(cov, falling)
	if err != nil {
		t.Fatal(err)
	}
	start := make([]float64, n)
	for k := range n {
		f.lower[k] = 0
		start[k] = 1 - floats.Dot(f.row(k), start[:k])
	}
	tangents, err := saddle(f, start)
	if err != nil {
		t.Fatal(err)
	}
	unordered := Region{factor: *f}
	unordered.setTilt(tangents)
	if !slices.IsSorted(unordered.order) {
		t.Fatal("the comparison is not in the order given")
	}
	if gain := unordered.bound - ordered.bound; gain < 0.5 {
		t.Errorf("reordering lowers the log bound by %g only", gain)
	}
}

package recipe_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// TestOwnedTablesKeepTheirCells: a table that is held by its encoded rows reads as before, bit for bit, and is encoded
// alike, again too.
func TestOwnedTablesKeepTheirCells(t *testing.T) {
	const rows = 2*table.SegmentRows + 100
	rng := rand.New(rand.NewPCG(1, 0))
	columns := []table.Values{{Name: "y"}, {Name: "normal"}, {Name: "far"}, {Name: "amount"}, {Name: "whole"}, {Name: "gaps"}, {Name: "wide"}}
	for j := range columns {
		columns[j].Numbers = make([]float64, rows)
	}
	for i := range rows {
		z := rng.NormFloat64()
		gap := z
		if i%9 == 0 {
			gap = math.NaN()
		}
		wide := math.Ldexp(z, -40) // beside two that make its scale 1: nearly all are kept as they are
		if i < 2 {
			wide = 1e3
		}
		for j, v := range []float64{float64(i % 2), z, 1e9 + z, math.Exp(3 * z), math.Round(40 * z), gap, wide} {
			columns[j].Numbers[i] = v
		}
	}
	plain := make([][]float64, len(columns))
	for j := range columns {
		plain[j] = slices.Clone(columns[j].Numbers)
	}
	o := recipe.Options{Target: "y", Impute: true}
	tableOf := func() *table.Table {
		of := slices.Clone(columns)
		for j := range of {
			of[j].Numbers = slices.Clone(plain[j])
		}
		made, err := table.NewTable("rows", of)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	apart, owned := tableOf(), tableOf().Owned()
	want, err := recipe.Learn(apart, o)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for range 2 { // the second time from what is held
		got, err := recipe.Learn(owned, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.X.RawMatrix().Data, want.X.RawMatrix().Data) {
			t.Fatal("the rows are encoded otherwise")
		}
	}
	for j := range columns {
		for k, segment := range apart.Cells(j).Segments() {
			if owned.Cells(j).IsHeld(k) {
				held++
			}
			now := owned.Cells(j).Segment(k)
			for i, cell := range segment {
				bits := math.Float64bits(cell)
				if at := owned.Cells(j).At(k*table.SegmentRows + i); math.Float64bits(at) != bits || math.Float64bits(now[i]) != bits {
					t.Fatalf("column %s, row %d: %v, was %v", columns[j].Name, k*table.SegmentRows+i, at, cell)
				}
			}
		}
	}
	// All but the outcome and the wide column.
	if want := 5 * 3; held != want {
		t.Errorf("%d segments are held by the rows, want %d", held, want)
	}
}

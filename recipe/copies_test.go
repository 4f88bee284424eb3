package recipe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// numeric is a recipe of so many numeric columns.
func numericRecipe(columns int) *Recipe {
	r := &Recipe{Columns: make([]Column, columns)}
	for j := range r.Columns {
		r.Columns[j] = Column{Name: string(rune('a' + j)), Kind: Numeric}
	}
	return r
}

func TestRowsThatComeAgain(t *testing.T) {
	// levels is how many different values a column has.
	for _, c := range []struct {
		name            string
		columns, levels int
		rows, again     int
		copies          bool
	}{
		{"fine columns, a tenth again", 4, 1 << 30, 300, 30, true},
		{"fine columns, one again", 4, 1 << 30, 300, 1, true},
		{"fine columns, none again", 4, 1 << 30, 300, 0, false},
		{"coarse columns", 4, 3, 300, 0, false},
		{"coarse columns, a tenth again besides", 4, 3, 300, 30, false},
		{"ages and weights, half again", 6, 50, 300, 150, true},
		{"one column", 1, 1 << 30, 300, 100, false},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		x := mat.NewDense(c.rows+c.again, c.columns, nil)
		for i := range c.rows + c.again {
			for j := range c.columns {
				x.Set(i, j, float64(rng.IntN(c.levels)))
				if i >= c.rows {
					x.Set(i, j, x.At(i-c.rows, j))
				}
			}
		}
		r := numericRecipe(c.columns)
		numbers := r.Copies(x)
		if got := numbers != nil; got != c.copies {
			t.Fatalf("%s: copies found: %v, want %v", c.name, got, c.copies)
		}
		if numbers == nil {
			continue
		}
		for i := range numbers {
			for k := range i {
				if same := mat.Equal(x.RowView(i), x.RowView(k)); same != (numbers[i] == numbers[k]) {
					t.Fatalf("%s: rows %d and %d have the numbers %d and %d, the same entries: %v", c.name, k, i, numbers[k], numbers[i], same)
				}
			}
		}
	}
}

// Rounded digests are those of what rows hold, in whatever order columns stand; the last digits of
// an entry do not count, and what counts tells rows apart.
func TestRoundedDigests(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	r := numericRecipe(2)
	turned := &Recipe{Columns: []Column{r.Columns[1], r.Columns[0]}}
	for j := range turned.Columns {
		turned.Columns[j].Name = fmt.Sprintf("other %d", j)
	}
	const n = 1000
	x, other, moved := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		a, b := rng.NormFloat64(), float64(rng.IntN(9))/4
		x.SetRow(i, []float64{a, b})
		other.SetRow(i, []float64{b * (1 + 1e-15), a * (1 - 1e-15)})
		moved.SetRow(i, []float64{a + 1e-5, b})
	}
	digests := r.RoundedDigests(x)
	if !slices.Equal(turned.RoundedDigests(other), digests) {
		t.Error("other digests of other last digits, with columns of other names in another order")
	}
	for i, d := range r.RoundedDigests(moved) {
		if d == digests[i] {
			t.Errorf("row %d: the same digest of another row", i)
		}
	}
}

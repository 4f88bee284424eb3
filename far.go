package lossep

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// FarError says that a case has no prediction: its values are so far from those of the
// training rows that what the kernel makes of them is no number.
type FarError struct {
	Row int // of the matrix that was given, from 0
	// Column is the one whose value is farthest out; empty if none is farther out than
	// those of the training rows.
	Column string
	// Feature is what that value became, in standard deviations from the mean of the
	// training rows if Standardised.
	Feature      float64
	Standardised bool
}

func (e *FarError) Error() string {
	place := fmt.Sprintf("row %d", e.Row+1)
	if e.Column != "" {
		place += fmt.Sprintf(", column %q", e.Column)
	}
	return place + ": " + e.Problem() + "; " + e.Fix()
}

// Problem says what is wrong, without the place.
func (e *FarError) Problem() string {
	switch {
	case e.Column == "":
		return "the model has no finite prediction for these values"
	case e.Standardised:
		return fmt.Sprintf("the value is too far from those of the training rows, %.3g standard deviations from their mean: no prediction can be computed", e.Feature)
	}
	return fmt.Sprintf("%.3g is too far from the values of the training rows: no prediction can be computed", e.Feature)
}

// Fix says what to do about it.
func (e *FarError) Fix() string { return "correct the value, or leave the row out" }

// In is the same error about a row of a file.
func (e *FarError) In(place *table.Error) *table.Error {
	place.ColumnName, place.Msg, place.Fix, place.Err = e.Column, e.Problem(), e.Fix(), e
	return place
}

// checkFeatures refuses the first row with a feature beyond Farthest. NaN is one that is not known.
func (m *Model) checkFeatures(x *mat.Dense) error {
	return CheckFar(x, m.recipe, m.coding, m.opinions[0].Inputs())
}

// CheckFar refuses the first row with a feature beyond Farthest, of those that a model with these
// training rows is to be predicted, with a *FarError. NaN is a feature that is not known.
func CheckFar(x *mat.Dense, r *recipe.Recipe, c *recipe.Coding, known *mat.Dense) error {
	n, d := x.Dims()
	if n > 0 && d != c.Len() {
		panic(fmt.Sprintf("lossep: rows of %d entries, not of %d as the recipe encodes them", d, c.Len()))
	}
	for i := range n {
		if slices.ContainsFunc(x.RawRowView(i), func(z float64) bool { return math.Abs(z) > Farthest }) {
			return Far(x, i, r, c, known)
		}
	}
	return nil
}

// far is the error of a row.
func (m *Model) far(x *mat.Dense, row int) error {
	return Far(x, row, m.recipe, m.coding, m.opinions[0].Inputs())
}

// Far is the error of a row, given the training rows.
func Far(x *mat.Dense, row int, r *recipe.Recipe, c *recipe.Coding, known *mat.Dense) *FarError {
	e := &FarError{Row: row, Standardised: r.Standardize}
	most := 1.0 // as far as the farthest training row
	z := x.RawRowView(row)
	n, _ := known.Dims()
	for k := range c.Numbers() {
		reach := 1.0
		for i := range n {
			reach = max(reach, math.Abs(known.At(i, k)))
		}
		if ratio := math.Abs(z[k]) / reach; ratio > most {
			e.Column, e.Feature, most = c.Name(k), z[k], ratio
		}
	}
	return e
}

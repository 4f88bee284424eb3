package lossep

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/recipe"
)

// CostColumns are those of training rows that costs were made of and that cannot be had from
// features: costs of rows are found again from them.
type CostColumns struct {
	Names  []string
	Values *mat.Dense // by row and name, +Inf where there is no number; nil without names
}

// KeepCosts keeps those of columns of costs that are no numbers of the encoded rows x.
func KeepCosts(r *recipe.Recipe, x *mat.Dense, names []string, values func(row int, column string) (float64, error)) (c CostColumns) {
	for _, name := range names {
		if _, numeric := r.Values(x, name); !numeric {
			c.Names = append(c.Names, name)
		}
	}
	n, _ := x.Dims()
	c.Read(n, values)
	return c
}

// Read reads the columns of n rows.
func (c *CostColumns) Read(n int, values func(row int, column string) (float64, error)) {
	if len(c.Names) == 0 {
		return
	}
	c.Values = mat.NewDense(n, len(c.Names), nil)
	for i := range n {
		for k, name := range c.Names {
			x, err := values(i, name)
			if err != nil { // it is missing, or what stands in for others
				x = math.Inf(1)
			}
			c.Values.Set(i, k, x)
		}
	}
}

// Some are those of the given rows.
func (c CostColumns) Some(rows []int) CostColumns {
	if c.Values == nil {
		return c
	}
	return CostColumns{c.Names, gp.RowsOf(c.Values, rows)}
}

// With are the columns of the given rows, and after them those of others.
func (c CostColumns) With(rows []int, others CostColumns) CostColumns {
	if c.Values == nil {
		return c
	}
	return CostColumns{c.Names, stacked(c.Values, rows, others.Values)}
}

// Of gives the numbers of encoded training rows, as they were before they were encoded but for rounding.
func (c CostColumns) Of(r *recipe.Recipe, x *mat.Dense) func(row int, column string) (float64, error) {
	columns := make(map[string][]float64)
	return func(row int, name string) (float64, error) {
		values, read := columns[name]
		if !read {
			var ok bool
			if k := slices.Index(c.Names, name); k >= 0 {
				values = mat.Col(nil, k, c.Values)
			} else if values, ok = r.Values(x, name); !ok {
				return 0, inputf("utility", "calibration needs the column %q of the training rows, and a model keeps numeric columns that make features and those of its costs only; fit again with these costs and the method loss-ep", name)
			}
			columns[name] = values
		}
		if values[row]-values[row] != 0 { // NaN or infinite
			return 0, &InputError{What: "utility", Err: expr.ErrMissing, Msg: fmt.Sprintf("calibration needs the column %q of the training rows, and it is missing in some of them; say what stands in for it, such as default(%s, 0)", name, expr.Name(name))}
		}
		return values[row], nil
	}
}

// stacked are some rows of a matrix, and below them those of another, which may be nil.
func stacked(a *mat.Dense, rows []int, b *mat.Dense) *mat.Dense {
	switch {
	case len(rows) == 0:
		return b
	case b == nil:
		return gp.RowsOf(a, rows)
	}
	var all mat.Dense
	all.Stack(gp.RowsOf(a, rows), b)
	return &all
}

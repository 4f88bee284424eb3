package gp

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// Terms are the terms of many rows, without a place in memory for each. They are SingleTerms,
// a pass.Counter as well where not all count once, or CoupledTerms.
type Terms interface {
	Len() int
}

// SingleTerms are on the value of one function each.
type SingleTerms interface {
	Terms
	// Term is that of row i. It is called by several goroutines at a time.
	Term(i int) factor.Factor
}

// TunedTerms have hyperparameters of their own, such as the variance of noise, which a search moves
// together with those of the kernel.
type TunedTerms interface {
	SingleTerms
	// Hyperpriors are those of the logarithms of the hyperparameters.
	Hyperpriors() []kernel.Prior
	// Tune sets them, for the rows of all parts, and Tuned are those that were set last, nil for none.
	Tune(logs []float64)
	Tuned() []float64
	// Fork is a copy that is tuned by itself, as by a search at the same time.
	Fork() TunedTerms
}

// CoupledTerms are on the values of several functions each, which are independent and have the
// same kernel; see pass.Coupled.
type CoupledTerms interface {
	Terms
	Functions() int
	Joint(i int) factor.Multi
	Count(i int) float64
}

// Functions is how many functions terms have a value of each.
func Functions(t Terms) int {
	if c, ok := t.(CoupledTerms); ok {
		return c.Functions()
	}
	return 1
}

// Part are the terms of some rows.
func Part(t Terms, rows []int) Terms {
	if c, ok := t.(CoupledTerms); ok {
		return someCoupled{c, rows}
	}
	return some{t.(SingleTerms), rows}
}

// RowsOf are some rows of a matrix.
func RowsOf(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	some := mat.NewDense(len(rows), d, nil)
	for k, i := range rows {
		some.SetRow(k, x.RawRowView(i))
	}
	return some
}

type some struct {
	SingleTerms
	rows []int
}

func (t some) Len() int                 { return len(t.rows) }
func (t some) Term(i int) factor.Factor { return t.SingleTerms.Term(t.rows[i]) }
func (t some) Count(i int) float64      { return CountOf(t.SingleTerms, t.rows[i]) }

type someCoupled struct {
	CoupledTerms
	rows []int
}

func (t someCoupled) Len() int                 { return len(t.rows) }
func (t someCoupled) Joint(i int) factor.Multi { return t.CoupledTerms.Joint(t.rows[i]) }
func (t someCoupled) Count(i int) float64      { return t.CoupledTerms.Count(t.rows[i]) }

// CountOf is how often term i counts.
func CountOf(t Terms, i int) float64 {
	if c, ok := t.(pass.Counter); ok {
		return c.Count(i)
	}
	return 1
}

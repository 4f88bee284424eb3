package gp

import (
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Cases are the terms of rows as a process of all of them takes them. They are Values, with one
// view of each row, or *Outcomes, with C−1.
type Cases interface {
	Terms
	// Views is the number of views of a case.
	Views() int
	// Process is the process with kernel k at the rows of x, with the views of the cases there.
	Process(k kernel.Kernel, x *mat.Dense, s *Scratch) (*Process, error)
	// Model is the model of the cases on the views of their process.
	Model(p *Process) *infer.Model
	// Part are some of the cases.
	Part(rows []int) Cases
	// Fold takes numbers of all views, such as slopes in their values, to numbers of each
	// function at all rows.
	Fold(views []float64) [][]float64
}

// CasesOf are the cases with these terms, which are SingleTerms or Cases themselves.
func CasesOf(t Terms) Cases {
	if c, ok := t.(Cases); ok {
		return c
	}
	single := t.(SingleTerms)
	v := Values{Factors: make([]factor.Factor, t.Len()), Counts: make([]float64, t.Len())}
	once := true
	for i := range v.Factors {
		v.Factors[i], v.Counts[i] = single.Term(i), CountOf(t, i)
		once = once && v.Counts[i] == 1
	}
	if once {
		v.Counts = nil
	}
	return v
}

// Values are cases with one term on the value of one function each.
type Values struct {
	Factors []factor.Factor
	Counts  []float64 // how often each of them counts; nil if once
}

// Len implements Terms.
func (v Values) Len() int { return len(v.Factors) }

// Term implements SingleTerms.
func (v Values) Term(i int) factor.Factor { return v.Factors[i] }

// Count implements pass.Counter.
func (v Values) Count(i int) float64 {
	if v.Counts == nil {
		return 1
	}
	return v.Counts[i]
}

// Views implements Cases.
func (v Values) Views() int { return 1 }

// Process implements Cases.
func (v Values) Process(k kernel.Kernel, x *mat.Dense, _ *Scratch) (*Process, error) {
	return New(k, x)
}

// Model implements Cases.
func (v Values) Model(p *Process) *infer.Model {
	return &infer.Model{Views: p.views, Terms: v.Factors, Counts: v.Counts}
}

// Part implements Cases.
func (v Values) Part(rows []int) Cases {
	var part Values
	for _, row := range rows {
		part.Factors = append(part.Factors, v.Factors[row])
		if v.Counts != nil {
			part.Counts = append(part.Counts, v.Counts[row])
		}
	}
	return part
}

// Fold implements Cases.
func (v Values) Fold(views []float64) [][]float64 { return [][]float64{views} }

package infer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// Model is v ~ N(0, I) seen through views, with a term on each view and, where a
// decision is at stake, a utility on the points that stand for p(x). Its density is
// N(v; 0, I) · Π_i (E t_i(b_i + a_i·v + e_i))^w_i with w_i its count, times U(a, v) for the utility.
type Model struct {
	Views *gauss.Views
	Terms []factor.Factor
	// Counts is how often each term counts, as if it stood there so many times, on a view
	// with a residual of its own each time; it need not be whole. Nil stands for once each.
	Counts []float64
	// Shared is how many views in a row are those of one case and share a noise u ~ N(0, 1),
	// which is not integrated out as a residual is: 0 where views have none. A case that counts
	// w times is as many copies with a noise of their own, and its views hold the mean of
	// these, of variance 1/w.
	Shared int

	// Utility is one more factor, on the views in Points. Nil stands for none.
	Utility factor.Utility
	Points  *gauss.Views
}

// Dim is the dimension of v.
func (m *Model) Dim() int { return m.Views.Dim() }

// Count is how often term i counts.
func (m *Model) Count(i int) float64 {
	if m.Counts == nil {
		return 1
	}
	return m.Counts[i]
}

// mostCopies bounds the terms of Copies: more have no reference anyway.
const mostCopies = 10_000

// Copies is the model with every term as often as it counts. It is an *UnsupportedError of
// the method if terms do not count a whole number of times, or far too often.
func (m *Model) Copies(method string) (*Model, error) {
	if m.Counts == nil {
		return m, nil
	}
	if err := m.CheckCopies(method); err != nil {
		return nil, err
	}
	total := 0.0
	for i, count := range m.Counts {
		if count != math.Trunc(count) {
			return nil, &UnsupportedError{method, fmt.Sprintf("term %d counts %v times, which is not a whole number; use NUTS", i+1, count)}
		}
		total += count
	}
	if total > mostCopies {
		return nil, &UnsupportedError{method, fmt.Sprintf("terms count %v times in all, and at most %d can be had; use NUTS", total, mostCopies)}
	}
	n := int(total)
	a, b, r := mat.NewDense(n, m.Dim(), nil), make([]float64, n), make([]float64, n)
	c := &Model{Terms: make([]factor.Factor, 0, n), Utility: m.Utility, Points: m.Points}
	for i, t := range m.Terms {
		for range int(m.Counts[i]) {
			k := len(c.Terms)
			a.SetRow(k, m.Views.Row(i))
			b[k], r[k] = m.Views.Offset(i), m.Views.Residual(i)
			c.Terms = append(c.Terms, t)
		}
	}
	c.Views = gauss.NewViews(a, b, r)
	return c, nil
}

// Plain is the model without its utility.
func (m *Model) Plain() *Model {
	return &Model{Views: m.Views, Terms: m.Terms, Counts: m.Counts, Shared: m.Shared}
}

// seen is term i when s_i = a_i·v is N(mean, variance).
func (m *Model) seen(i int, mean, variance float64) Seen {
	return Seen{
		Term: m.Terms[i], Count: m.Count(i), Offset: m.Views.Offset(i), Residual: m.Views.Residual(i),
		Mean: mean, Variance: variance,
	}
}

// Check panics on what only a mistake in a program can cause.
func (m *Model) Check() {
	if len(m.Terms) != m.Views.Len() {
		panic(fmt.Sprintf("infer: %d terms on %d views", len(m.Terms), m.Views.Len()))
	}
	if m.Counts != nil && len(m.Counts) != len(m.Terms) {
		panic(fmt.Sprintf("infer: %d counts of %d terms", len(m.Counts), len(m.Terms)))
	}
	for i, count := range m.Counts {
		if !(count > 0 && count <= math.MaxFloat64) {
			panic(fmt.Sprintf("infer: term %d counts %v times", i+1, count))
		}
		if m.Shared > 0 && count != m.Counts[i-i%m.Shared] {
			panic(fmt.Sprintf("infer: term %d counts %v times, and the first of its case %v", i+1, count, m.Counts[i-i%m.Shared]))
		}
	}
	if m.Utility != nil && m.Points.Dim() != m.Dim() {
		panic(fmt.Sprintf("infer: points look at %d dimensions, the model has %d", m.Points.Dim(), m.Dim()))
	}
}

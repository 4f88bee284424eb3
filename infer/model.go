package infer

import (
	"fmt"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
)

// Model is v ~ N(0, I) seen through views, with a term on each view and, where a
// decision is at stake, a utility on the points that stand for p(x). Its density is
// N(v; 0, I) · Π_i E t_i(b_i + a_i·v + e_i), times U(a, v) for the utility.
type Model struct {
	Views *gauss.Views
	Terms []factor.Factor

	// Utility is one more factor, on the views in Points. Nil stands for none.
	Utility factor.Utility
	Points  *gauss.Views
}

// Dim is the dimension of v.
func (m *Model) Dim() int { return m.Views.Dim() }

// check panics on what only a mistake in a program can cause.
func (m *Model) check() {
	if len(m.Terms) != m.Views.Len() {
		panic(fmt.Sprintf("infer: %d terms on %d views", len(m.Terms), m.Views.Len()))
	}
	if m.Utility != nil && m.Points.Dim() != m.Dim() {
		panic(fmt.Sprintf("infer: points look at %d dimensions, the model has %d", m.Points.Dim(), m.Dim()))
	}
}

package pass

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Arrow is what sites come to on values a·v + w_g, where rows share effects w of groups: a Gaussian factor
// of v and all effects. Effects are independent given v, so that its precision has the shape of an arrow.
type Arrow struct {
	V      *gauss.Natural // Σνa and Στaaᵀ
	Cross  *mat.Dense     // C: Στa over the rows of each group
	Groups []gauss.Scalar // Σν and Στ likewise
}

// NewArrow is that of no sites.
func NewArrow(m, groups int) *Arrow {
	return &Arrow{gauss.NewNatural(m), mat.NewDense(groups, m, nil), make([]gauss.Scalar, groups)}
}

// TimesScalars multiplies by sites of rows, seen by views and in the groups given.
func (a *Arrow) TimesScalars(views *gauss.Views, sites []gauss.Scalar, groups []int32, ws *gauss.Workspace) {
	a.V.TimesScalars(views, sites, ws)
	for i, s := range sites {
		g := int(groups[i])
		floats.AddScaled(a.Cross.RawRowView(g), s.Tau, views.Row(i))
		a.Groups[g] = a.Groups[g].Times(s)
	}
}

// Times multiplies by another to a power.
func (a *Arrow) Times(o *Arrow, power float64) {
	a.V.Times(o.V, power)
	a.timesGroups(o, power)
}

// timesGroups is Times but for V.
func (a *Arrow) timesGroups(o *Arrow, power float64) {
	for g, s := range o.Groups {
		floats.AddScaled(a.Cross.RawRowView(g), power, o.Cross.RawRowView(g))
		a.Groups[g] = a.Groups[g].Times(s.Power(power))
	}
}

// proper tells whether effects have a variance given v.
func (a *Arrow) proper(variance float64) bool {
	return !slices.ContainsFunc(a.Groups, func(s gauss.Scalar) bool { return !(1/variance+s.Tau > 0) })
}

// Given are the effects as views of v, with the prior N(0, σ²): given v an effect is
// N((B − C·v)/P, 1/P) with P = 1/σ² + Στ.
func (a *Arrow) Given(variance float64) *gauss.Views {
	n, m := a.Cross.Dims()
	slopes, b, r := mat.NewDense(n, m, nil), make([]float64, n), make([]float64, n)
	for g, s := range a.Groups {
		r[g] = 1 / (1/variance + s.Tau)
		b[g] = r[g] * s.Nu
		floats.AddScaled(slopes.RawRowView(g), -r[g], a.Cross.RawRowView(g))
	}
	return gauss.NewViews(slopes, b, r)
}

// Marginal is what is left of it on v: each group by itself takes CB/P from Σνa and CCᵀ/P from Στaaᵀ.
func (a *Arrow) Marginal(variance float64) *gauss.Natural {
	n := gauss.NewNatural(a.V.Dim())
	n.CopyFrom(a.V)
	taken := make([]gauss.Scalar, len(a.Groups))
	for g, s := range a.Groups {
		p := 1/variance + s.Tau
		taken[g] = gauss.Scalar{Nu: -s.Nu / p, Tau: -1 / p}
	}
	n.TimesScalars(gauss.NewViews(a.Cross, nil, nil), taken, new(gauss.Workspace))
	return n
}

// LogPartition is what the effects have in the logarithm of its integral under the prior, beside that of the marginal.
func (a *Arrow) LogPartition(variance float64) (sum float64) {
	for _, s := range a.Groups {
		p := 1/variance + s.Tau
		sum += 0.5 * (s.Nu*s.Nu/p - math.Log(variance*p))
	}
	return sum
}

// Power is it to a power.
func (a *Arrow) Power(power float64) *Arrow {
	c := NewArrow(a.V.Dim(), len(a.Groups))
	c.Times(a, power)
	return c
}

// Among is it among more groups: group g becomes places[g].
func (a *Arrow) Among(groups int, places []int) *Arrow {
	c := NewArrow(a.V.Dim(), groups)
	c.V.CopyFrom(a.V)
	for g, at := range places {
		c.Cross.SetRow(at, a.Cross.RawRowView(g))
		c.Groups[at] = a.Groups[g]
	}
	return c
}

// ArrowOf is the one whose marginal beside the standard Gaussian is q, and that gives the effects as they
// are given.
func ArrowOf(q *gauss.Gaussian, given *gauss.Views, variance float64) *Arrow {
	a := NewArrow(q.Dim(), given.Len())
	put := make([]gauss.Scalar, given.Len())
	for g := range a.Groups {
		p := 1 / given.Residual(g)
		a.Groups[g] = gauss.Scalar{Nu: p * given.Offset(g), Tau: p - 1/variance}
		floats.AddScaled(a.Cross.RawRowView(g), -p, given.Row(g))
		put[g] = gauss.Scalar{Nu: given.Offset(g), Tau: given.Residual(g)} // B/P and 1/P
	}
	prior := gauss.NewNatural(q.Dim())
	prior.SetStandard()
	a.V.CopyFrom(q.Natural())
	a.V.Times(prior, -1)
	a.V.TimesScalars(gauss.NewViews(a.Cross, nil, nil), put, new(gauss.Workspace))
	return a
}

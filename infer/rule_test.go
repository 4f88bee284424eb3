package infer_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Whatever the rule, the power and how often a term counts: Rho is the derivative of Value in
// the residual variance.
func TestRules(t *testing.T) {
	rules := []infer.Rule{infer.Propagation{}, infer.Propagation{Power: 0.5}, infer.Variational{}, infer.Curvature{}}
	for _, term := range []factor.Factor{factor.Probit{Y: 1}, factor.Logit{Y: -1}, factor.Gaussian{Y: 0.3, Variance: 0.5}} {
		for _, rule := range rules {
			for _, count := range []float64{0.3, 1, 1.7, 40} {
				seen := infer.Seen{Term: term, Count: count, Offset: 0.2, Residual: 0.4}
				site := settled(t, rule, seen, gauss.Scalar{Nu: 0.3, Tau: 0.8})
				q := gauss.Scalar{Nu: 0.3, Tau: 0.8}.Times(site)
				seen.Mean, seen.Variance = q.Mean(), q.Variance()
				p, ok := rule.Project(seen, site)
				if !ok {
					t.Fatalf("%T %v times %T: no projection", rule, count, term)
				}
				at := func(r float64) float64 {
					other := seen
					other.Residual = r
					p, _ := rule.Project(other, site)
					return p.Value
				}
				// Central differences of step 1e-4 are good to 1e-8 of the value.
				want := fd.Derivative(at, seen.Residual, &fd.Settings{Formula: fd.Central, Step: 1e-4})
				if math.Abs(p.Rho-want) > 1e-7*(1+math.Abs(want)+count) {
					t.Errorf("%T %v times %T: Rho %v, want %v", rule, count, term, p.Rho, want)
				}
			}
		}
	}
}

// settled is the site of one term beside everything else.
func settled(t *testing.T, rule infer.Rule, seen infer.Seen, rest gauss.Scalar) (site gauss.Scalar) {
	t.Helper()
	for range 500 {
		q := rest.Times(site)
		seen.Mean, seen.Variance = q.Mean(), q.Variance()
		p, ok := rule.Project(seen, site)
		if !ok {
			t.Fatalf("%+v: no projection", seen)
		}
		if p.Residual < 1e-13 {
			return p.Site
		}
		site = gauss.Scalar{Nu: (site.Nu + p.Site.Nu) / 2, Tau: (site.Tau + p.Site.Tau) / 2}
	}
	t.Fatalf("%T %+v does not settle", rule, seen)
	return site
}

// A term that counts n times is n copies of it, each with its own site: one of them has the
// n-th part of what is asked for, when it sees the others' parts as the rest.
func TestCopies(t *testing.T) {
	rest := gauss.Scalar{Nu: -0.7, Tau: 0.1}
	for _, rule := range []infer.Rule{infer.Propagation{}, infer.Propagation{Power: 0.25}, infer.Variational{}, infer.Curvature{}} {
		for _, n := range []float64{2, 3, 1000} {
			seen := infer.Seen{Term: factor.Probit{Y: 1}, Count: n, Residual: 0.2}
			all := settled(t, rule, seen, rest)
			one := gauss.Scalar{Nu: all.Nu / n, Tau: all.Tau / n}
			q := rest.Times(all)
			seen.Count, seen.Mean, seen.Variance = 1, q.Mean(), q.Variance()
			p, _ := rule.Project(seen, one)
			if math.Abs(p.Site.Nu-one.Nu) > 1e-11 || math.Abs(p.Site.Tau-one.Tau) > 1e-11 { // rounding of what settled
				t.Errorf("%T: one of %v copies asks for %v and has %v", rule, n, p.Site, one)
			}
		}
	}
}

package infer

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/internal/tasks"
)

// ratios are the factorised corrections log R_i of all terms, tabulated once so that a
// marginal takes no evaluation of a term.
//
// Of the view at which f is asked log R_i sees nothing but the correlation ρ of f with s_i:
// given f = m + √w·x the value s_i is N(m_i + ρσ_i·x, σ_i²(1−ρ²)). So it is a function of ρ
// and x alone, and of −ρ and x what it is of ρ and −x. It is tabulated at the nodes in x for
// equally spaced ρ from 0 to 1, and cubic in ρ between these. A term then takes as many
// multiplications as four times the nodes, whatever it is.
type ratios []ratio

// ratio is the table of one term.
type ratio struct {
	sd    float64
	cells int // of the correlation, 0 for a term that f tells nothing about
	// logs has a row for each of the correlations −1/cells, 0, 1/cells, …, 1, with a number
	// for each node.
	logs []float64
}

const (
	// tabulatedFrom is the number of terms from which on tables are made. Where there are
	// fewer nothing takes long.
	tabulatedFrom = 8
	// tabulatedNodes is the most nodes there are tables for. The variance of f is then up to
	// a hundred times the noise of outcomes.
	tabulatedNodes = 9*nodeStep + 1
	// cellsPerUnit says how fine a table is: for a unit of s_i, over which a term bends, five
	// standard deviations of f away from the mean.
	cellsPerUnit = 4
	fewestCells  = 16
	mostCells    = 160
	// uncorrelated is the correlation below which a term is left out. The sites have the
	// moments of their terms, so that log R varies with the third power of ρ.
	uncorrelated = 0.01
)

// slow tells whether a term is integrated numerically, as the power of a row that counts more
// or less than once is: its tables, which may need thousands of numbers, take longer than all
// that would be read from them.
func (c *Corrected) slow() bool {
	return slices.ContainsFunc(c.terms, func(t exchange) bool {
		power, ok := t.term.(factor.Power)
		return ok && power.Alpha != 1
	})
}

// tablesOf are those of rules of different numbers of nodes, each made when it is first
// asked for.
func (c *Corrected) tablesOf() []func() ratios {
	all := make([]func() ratios, (tabulatedNodes-1)/nodeStep+1)
	for k := range all {
		n := k*nodeStep + 1
		all[k] = sync.OnceValue(func() ratios {
			r := make(ratios, len(c.terms))
			tasks.For(len(r), func(i int) { r[i] = c.tabulate(i, n) })
			return r
		})
	}
	return all
}

// tabulate is the table of term i for n nodes.
func (c *Corrected) tabulate(i, n int) ratio {
	t := ratio{sd: math.Sqrt(c.variance[i])}
	if !(t.sd > 0) {
		return t
	}
	t.cells = min(max(fewestCells, int(math.Ceil(5*t.sd*cellsPerUnit))), mostCells)
	t.logs = make([]float64, (t.cells+2)*n)
	for row := range t.cells + 2 {
		rho := float64(row-1) / float64(t.cells)
		for k := range n {
			t.logs[row*n+k] = c.logRatio(i, c.mean[i]+rho*t.sd*node(k, n), c.variance[i]*(1-rho*rho))
		}
	}
	return t
}

// add adds log R at all nodes for a correlation of size rho: the cubic through the four rows
// that are nearest.
func (t *ratio) add(dst []float64, rho float64) {
	n := len(dst)
	at := min(rho, 1) * float64(t.cells) // but for rounding rho is at most 1
	cell := min(int(at), t.cells-2)
	u := at - float64(cell)
	for k, weight := range [4]float64{
		-u * (u - 1) * (u - 2) / 6, (u + 1) * (u - 1) * (u - 2) / 2,
		-(u + 1) * u * (u - 2) / 2, (u + 1) * u * (u - 1) / 6,
	} {
		floats.AddScaled(dst, weight, t.logs[(cell+k)*n:(cell+k+1)*n])
	}
}

// tabulated does what evaluated does for the factorised correction, by the tables. It
// reports false where there are none.
func (c *Corrected) tabulated(s *correction, sd float64, cov []float64) bool {
	n := nodes(sd)
	if c.tables == nil || s.refine > 1 || n > tabulatedNodes {
		return false
	}
	s.reset(n)
	for k, x := range s.x {
		s.p[k] = -0.5 * x * x
	}
	clear(s.minus)
	of := c.tables[(n-1)/nodeStep]()
	for i := range of {
		t := &of[i]
		rho := math.Abs(cov[i]) / (sd * t.sd)
		switch {
		case t.cells == 0 || rho < uncorrelated:
		case cov[i] < 0:
			t.add(s.minus, rho)
		default:
			t.add(s.p, rho)
		}
	}
	for k, l := range s.minus {
		s.p[n-1-k] += l
	}
	return true
}

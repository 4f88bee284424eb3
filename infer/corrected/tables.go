package corrected

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/lanes"
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
	inverse float64 // of the standard deviation of s_i
	cells   int     // of the correlation, 0 for a term that f tells nothing about
	// logs has a row for each of the correlations −1/cells, 0, 1/cells, …, 1, with a number
	// for each node, and zeros up to a multiple of lanes.Octet.
	logs []float64
}

// octets is n rounded up to a multiple of lanes.Octet.
func octets(n int) int { return (n + lanes.Octet - 1) / lanes.Octet * lanes.Octet }

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

// tablesOf are those of rules of different numbers of nodes, each made when it is first
// asked for.
func (c *Posterior) tablesOf() []func() ratios {
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

// cellsOf is how many cells there are for a standard deviation of s_i.
func cellsOf(sd float64) int {
	return int(min(max(fewestCells, math.Ceil(5*sd*cellsPerUnit)), mostCells)) // a number until it is small
}

// TableBytes is what the tables take once values as uncertain as the prior has those at the
// terms have been asked about.
func (c *Posterior) TableBytes() (bytes float64) {
	width := 0
	for n := nodes(0); c.tables != nil && n <= min(nodes(c.widest), tabulatedNodes); n += nodeStep {
		width += octets(n)
	}
	for _, v := range c.variance {
		if v > 0 {
			bytes += 8 * float64((cellsOf(math.Sqrt(v))+2)*width)
		}
	}
	return bytes
}

// LeastTableBytes is the least that the tables of so many terms take: of values that are
// hardly uncertain.
func LeastTableBytes(terms int) float64 {
	return 8 * float64(terms) * float64((fewestCells+2)*octets(nodes(0)))
}

// tabulate is the table of term i for n nodes.
func (c *Posterior) tabulate(i, n int) ratio {
	sd := math.Sqrt(c.variance[i])
	t := ratio{inverse: 1 / sd}
	if !(sd > 0) {
		return t
	}
	t.cells = cellsOf(sd)
	width := octets(n)
	t.logs = make([]float64, (t.cells+2)*width)
	for row := range t.cells + 2 {
		rho := float64(row-1) / float64(t.cells)
		for k := range n {
			t.logs[row*width+k] = c.logRatio(i, c.mean[i]+rho*sd*node(k, n), c.variance[i]*(1-rho*rho))
		}
	}
	return t
}

// add adds log R at all nodes for a correlation of size rho: the cubic through the four rows
// that are nearest.
func (t *ratio) add(dst []float64, rho float64, weights *[4]float64) {
	width := len(dst)
	at := min(rho, 1) * float64(t.cells) // but for rounding rho is at most 1
	cell := min(int(at), t.cells-2)
	u := at - float64(cell)
	// The products of u + 1, u, u − 1 and u − 2 without one of them.
	outer, inner := (u-1)*(u-2), (u+1)*u
	weights[0], weights[1] = outer*u*(-1./6), outer*(u+1)*0.5
	weights[2], weights[3] = inner*(u-2)*-0.5, inner*(u-1)*(1./6)
	lanes.Blend(dst, weights, t.logs[cell*width:(cell+4)*width])
}

// tabulation is scratch for marginals from tables.
type tabulation struct {
	rows        []int     // values with the same number of nodes
	inverse     []float64 // of their standard deviations
	plus, minus []float64 // sums over terms of either sign of the correlation, row by row
	weights     [4]float64
}

// tabulated finds the marginals of those values for which there are tables, and reports
// which these are. A table is read for all values with the same number of nodes before the
// next: all of them together are too large to be read for each from near memory. Sums are over
// the terms in their order, whatever the other values.
func (c *Posterior) tabulated(s *correction, mean, variance []float64, cov *mat.Dense, use func(j int, m Marginal)) (done []bool) {
	done = make([]bool, len(mean))
	t := &s.tabulation
	for k, tables := range c.tables {
		n := k*nodeStep + 1
		t.rows, t.inverse = t.rows[:0], t.inverse[:0]
		for j, w := range variance {
			if sd := math.Sqrt(w); finite.All(w, mean[j]) && w > 0 && nodes(sd) == n {
				t.rows, t.inverse = append(t.rows, j), append(t.inverse, 1/sd)
				done[j] = true
			}
		}
		if len(t.rows) == 0 {
			continue
		}
		width := octets(n)
		size := len(t.rows) * width
		t.plus, t.minus = slices.Grow(t.plus[:0], size)[:size], slices.Grow(t.minus[:0], size)[:size]
		clear(t.plus)
		clear(t.minus)
		of := tables()
		raw := cov.RawMatrix()
		for i := range of {
			one := &of[i]
			if one.cells == 0 {
				continue
			}
			for r, j := range t.rows {
				rho := raw.Data[j*raw.Stride+i] * t.inverse[r] * one.inverse
				switch {
				case rho >= uncorrelated:
					one.add(t.plus[r*width:(r+1)*width], rho, &t.weights)
				case rho <= -uncorrelated:
					one.add(t.minus[r*width:(r+1)*width], -rho, &t.weights)
				}
			}
		}
		s.reset(n)
		for r, j := range t.rows {
			plus, minus := t.plus[r*width:r*width+n], t.minus[r*width:r*width+n]
			for k, x := range s.x {
				s.p[k] = plus[k] + minus[n-1-k] - 0.5*x*x
			}
			s.normalise()
			use(j, Marginal{mean[j], math.Sqrt(variance[j]), s})
		}
	}
	return done
}

package gp

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Outcomes are the outcomes of the inputs of a process, each one of several.
//
// There is a latent function f_c for each outcome, independent and with the same kernel, and the
// outcome is the c of the largest f_c(x) + ε_c with ε_c ~ N(0, 1): the multinomial probit model. Given u = ε_y, the outcome is y where f_y − f_j + u exceeds the noise of
// every other j, so that
//
//	P(y | f) = E_u Π_{j≠y} Φ(f_y(x) − f_j(x) + u).
//
// A case is C−1 probit terms on views f_y − f_j + u of one Gaussian, which holds the u of
// every case beside the functions. The covariance of the views (n, j) and (m, k) is
// k(x_n, x_m)·(e_y − e_j)·(e_y − e_k) + [n = m]. Two outcomes are the binary model of
// f = (f_1 − f_0)/√2, which has the same kernel.
//
// Approximated with inducing points they are CoupledTerms: a case is one term on the values of all
// functions, each of which has a posterior of its own, independent of the others.
type Outcomes struct {
	Of     []int // by input, from 0
	Number int   // how many there are, C
	// Counts is how often each case counts, as if it stood there so many times, with a u of its
	// own each time; it need not be whole. The u of the views is the mean of these, N(0, 1/w), see
	// infer.Model. Nil stands for once each.
	Counts []float64
}

// RobustOutcomes are outcomes of which each was noted down wrongly with probability Noise; see factor.RobustLargest. They
// are CoupledTerms and no Cases: such a term is a sum, and has no factors that would be terms on the views of a case.
type RobustOutcomes struct {
	Noted *Outcomes
	Noise float64
}

// Len implements Terms.
func (o RobustOutcomes) Len() int { return o.Noted.Len() }

// Functions implements CoupledTerms.
func (o RobustOutcomes) Functions() int { return o.Noted.Functions() }

// Joint implements CoupledTerms.
func (o RobustOutcomes) Joint(i int) factor.Multi {
	return factor.RobustLargest{Largest: factor.Largest{Outcome: o.Noted.Of[i]}, Noise: o.Noise}
}

// Count implements CoupledTerms.
func (o RobustOutcomes) Count(i int) float64 { return o.Noted.Count(i) }

// Len implements Terms.
func (o *Outcomes) Len() int { return len(o.Of) }

// Functions implements CoupledTerms.
func (o *Outcomes) Functions() int { return o.Number }

// Joint implements CoupledTerms.
func (o *Outcomes) Joint(i int) factor.Multi { return factor.Largest{Outcome: o.Of[i]} }

// Count implements CoupledTerms.
func (o *Outcomes) Count(i int) float64 {
	if o.Counts == nil {
		return 1
	}
	return o.Counts[i]
}

// Views is the number of views of a case, C−1.
func (o *Outcomes) Views() int { return o.Number - 1 }

// Terms are the terms of all views, case by case.
func (o *Outcomes) Terms() []factor.Factor {
	terms := make([]factor.Factor, len(o.Of)*o.Views())
	for i := range terms {
		terms[i] = factor.NewProbit(1)
	}
	return terms
}

// counts is how often the terms of all views count, nil if once.
func (o *Outcomes) counts() []float64 {
	if o.Counts == nil {
		return nil
	}
	all := make([]float64, 0, len(o.Of)*o.Views())
	for _, w := range o.Counts {
		for range o.Views() {
			all = append(all, w)
		}
	}
	return all
}

// rival is the j of the k-th view of a case with outcome y: the others, in order.
func rival(y, k int) int {
	if k < y {
		return k
	}
	return k + 1
}

// products are (e_y − e_j)·(e_z − e_l) of the views of a case with outcome y and of one with
// z, row by row, for all pairs of y and z.
func (o *Outcomes) products() [][][]float64 {
	views := o.Views()
	all := make([][][]float64, o.Number)
	for y := range all {
		all[y] = make([][]float64, o.Number)
		for z := range all[y] {
			all[y][z] = make([]float64, views*views)
			for p := range views {
				for q := range views {
					for c := range o.Number {
						all[y][z][p*views+q] += sign(c, y, p) * sign(c, z, q)
					}
				}
			}
		}
	}
	return all
}

// outcomesMatrices let a search allocate the covariances of its processes once.
type outcomesMatrices struct{ gram, views *mat.SymDense }

// covariance is that of the views of the functions with kernel k at the rows of x.
func (o *Outcomes) covariance(k kernel.Kernel, x *mat.Dense, m *outcomesMatrices) *mat.SymDense {
	if m.gram == nil {
		m.gram, m.views = mat.NewSymDense(len(o.Of), nil), mat.NewSymDense(len(o.Of)*o.Views(), nil)
	}
	k.Gram(m.gram, x)
	products, views, n := o.products(), o.Views(), len(o.Of)
	g, a := m.gram.RawSymmetric(), m.views.RawSymmetric()
	for i, y := range o.Of {
		for p := range views {
			row := a.Data[(i*views+p)*a.Stride : (i*views+p)*a.Stride+n*views]
			for m := i; m < n; m++ {
				cov, of, to := g.Data[i*g.Stride+m], products[y][o.Of[m]][p*views:(p+1)*views], row[m*views:(m+1)*views]
				for q, v := range of {
					to[q] = cov * v
				}
			}
			for q := range views {
				row[i*views+q] += 1 / o.Count(i)
			}
		}
	}
	return m.views
}

// reduce is Σ W_(n,j)(m,k) times the product of the views, for pairs of inputs n and m: what
// a gradient in the covariance of the views is as one in that of one function.
func (o *Outcomes) reduce(weight *mat.SymDense) *mat.SymDense {
	products, views, n := o.products(), o.Views(), len(o.Of)
	w, reduced := weight.RawSymmetric(), mat.NewSymDense(n, nil)
	r := reduced.RawSymmetric()
	for i, y := range o.Of {
		for p := range views {
			row := w.Data[(i*views+p)*w.Stride : (i*views+p)*w.Stride+n*views]
			for m := i + 1; m < n; m++ {
				of, from := products[y][o.Of[m]][p*views:(p+1)*views], row[m*views:(m+1)*views]
				sum := 0.0
				for q, v := range of {
					sum += v * from[q]
				}
				r.Data[i*r.Stride+m] += sum
			}
			// Of the block on the diagonal there is the upper half.
			own := products[y][y]
			r.Data[i*r.Stride+i] += own[p*views+p] * row[i*views+p]
			for q := p + 1; q < views; q++ {
				r.Data[i*r.Stride+i] += 2 * own[p*views+q] * row[i*views+q]
			}
		}
	}
	return reduced
}

// Part implements Cases.
func (o *Outcomes) Part(rows []int) Cases {
	p := &Outcomes{Of: make([]int, len(rows)), Number: o.Number}
	for i, row := range rows {
		p.Of[i] = o.Of[row]
		if o.Counts != nil {
			p.Counts = append(p.Counts, o.Counts[row])
		}
	}
	return p
}

// NewOutcomes is the process with kernel k at the rows of x, which it keeps, seen by the
// outcomes there. Its views are those of the cases, C−1 for each.
func NewOutcomes(k kernel.Kernel, x *mat.Dense, o *Outcomes) (*Process, error) {
	if rows, _ := x.Dims(); rows != len(o.Of) {
		panic(fmt.Sprintf("gp: %d outcomes of %d inputs", len(o.Of), rows))
	}
	if o.Counts != nil && len(o.Counts) != len(o.Of) {
		panic(fmt.Sprintf("gp: %d counts of %d outcomes", len(o.Counts), len(o.Of)))
	}
	return o.Process(k, x, new(Scratch))
}

// Process implements Cases.
func (o *Outcomes) Process(k kernel.Kernel, x *mat.Dense, s *Scratch) (*Process, error) {
	root, err := gauss.NewRoot(o.covariance(k, x, &s.covariance))
	if err != nil {
		return nil, fmt.Errorf("gp: kernel %v: %w", k, err)
	}
	return &Process{kernel: k, x: x, basis: k.Basis(x), root: root, views: root.Views(), outcomes: o}, nil
}

// LeaveOut gives the views of cases without the terms of these cases.
type LeaveOut struct {
	process *Process
	sites   []gauss.Scalar
	mean    []float64
	white   *mat.Dense
}

// LeaveOut prepares for leaving out cases, given the Gaussian and the sites that make it.
func (p *Process) LeaveOut(q *gauss.Gaussian, sites []gauss.Scalar) *LeaveOut {
	n, dim := p.views.Len(), p.views.Dim()
	l := &LeaveOut{process: p, sites: sites, mean: make([]float64, n), white: mat.NewDense(n, dim, nil)}
	p.views.At(l.mean, q.Mean())
	q.Whiten(l.white, p.views, new(gauss.Workspace))
	return l
}

// Cases calls use with the mean and covariance of the views of each of some cases without the
// sites of all of them: C−1 of f_y − f_j + u, with u ~ N(0, 1) as before any data, or the one
// of f where the process has no outcomes. It reports false where there is no such posterior.
//
// With C the covariance of all these views, m their mean and (ν, T) their sites, they are
// (I − CT)⁻¹(m − Cν) and (I − CT)⁻¹C, so that C is not inverted: that of equal rows cannot be.
// A case that counts w times goes with all of its copies. What is left of its u is the mean of
// theirs, N(0, 1/w), and that of one has 1 − 1/w more.
func (l *LeaveOut) Cases(cases []int, use func(i int, mean []float64, cov *mat.SymDense)) bool {
	views := 1
	if o := l.process.outcomes; o != nil {
		views = o.Views()
	}
	var at []int
	for _, i := range cases {
		for v := range views {
			at = append(at, i*views+v)
		}
	}
	n := len(at)
	rows := mat.NewDense(n, l.process.views.Dim(), nil)
	for p, view := range at {
		rows.SetRow(p, l.white.RawRowView(view))
	}
	c := mat.NewSymDense(n, nil)
	c.SymOuterK(1, rows)
	left, right := mat.NewDense(n, n, nil), mat.NewDense(n, n+1, nil)
	for p, view := range at {
		mean := l.mean[view]
		for q, other := range at {
			s := l.sites[other]
			left.Set(p, q, -c.At(p, q)*s.Tau)
			right.Set(p, q, c.At(p, q))
			mean -= c.At(p, q) * s.Nu
		}
		left.Set(p, p, 1+left.At(p, p))
		right.Set(p, n, mean)
	}
	var solved mat.Dense
	if solved.Solve(left, right) != nil {
		return false
	}
	for k, i := range cases {
		from, own := k*views, 0.0
		if o := l.process.outcomes; o != nil {
			own = 1 - 1/o.Count(i)
		}
		mean, cov := make([]float64, views), mat.NewSymDense(views, nil)
		for p := range views {
			mean[p] = solved.At(from+p, n)
			for q := p; q < views; q++ {
				cov.SetSym(p, q, own+0.5*(solved.At(from+p, from+q)+solved.At(from+q, from+p)))
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(cov) {
			return false
		}
		use(i, mean, cov)
	}
	return true
}

// Model is the model of the outcomes.
func (p *Process) Model() *infer.Model { return p.outcomes.Model(p) }

// Model implements Cases.
func (o *Outcomes) Model(p *Process) *infer.Model {
	return &infer.Model{Views: p.views, Terms: o.Terms(), Counts: o.counts(), Shared: o.Views()}
}

// Package pass goes over many rows in blocks, and replaces their terms by sites of a
// Gaussian q in few dimensions.
//
// The rows of a shard are terms on views f = a·v + e of a vector v of M dimensions, with
// M far below the number of rows, as inducing points make them. A pass over a shard is a
// pure function of q, the rows and their sites,
//
//	(q, rows, sites) → (sums, sites′),
//
// and what it needs of the rows comes block by block: their views, then in matrix
// products the marginals of q, then for each row by itself the new site, then in a
// matrix product the sum of what the sites have changed. Within a shard each block sees
// what the one before it has changed. Shards begin from the same q; what they changed is
// added up in their order. How rows are cut into shards and blocks depends on their
// number and on M alone, so that a result has the same bits on any number of cores and,
// where shards are sent elsewhere, of machines.
//
// Rows may have a term on the values of several functions at once, which have the same views of
// a vector each (see Coupled). Then there is a q for each function, independent of the others,
// a row has as many sites, one after the other, and everything is summed for each by itself.
//
// A pass over N rows takes 2NM² operations for each function, and NM² more where the views have to be made
// again. Over updates sites, Look only reads, and Gradient also says how the evidence
// depends on the views. Settle drives passes to a fixed point; Local runs them on the
// processors of this machine.
package pass

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/level3"
)

// Rows are what a shard sees of v, or of several such vectors. They are Single or Coupled.
type Rows interface {
	// Len is the number of rows.
	Len() int
	// Dim is the dimension M of v.
	Dim() int
	// Views are those of the rows from i up to, not including, j. They are valid until
	// the next call.
	Views(i, j int) *gauss.Views
}

// Single are rows with a term on one value each.
type Single interface {
	Rows
	// Term is the term of row i. It is called by several goroutines at a time.
	Term(i int) factor.Factor
}

// Counter are Rows, or others with terms, that do not all count once.
type Counter interface {
	// Count is how often row i counts; see infer.Model.
	Count(i int) float64
}

// Coupled are rows with a term on the values of several functions each. All functions have the
// same views, each of a vector of its own.
type Coupled interface {
	Rows
	// Functions is how many there are.
	Functions() int
	// Joint is the term of row i. It is called by several goroutines at a time.
	Joint(i int) factor.Multi
	// Count is how often row i counts.
	Count(i int) float64
}

// Functions is the number of functions that rows have a value of each.
func Functions(rows Rows) int {
	if c, ok := rows.(Coupled); ok {
		return c.Functions()
	}
	return 1
}

// BlockRows is the number of rows in a block of a shard of n rows when v has m dimensions.
// A block is followed by a Cholesky factor, m³/3 operations, at half the speed of a product;
// with 4m rows that is a twelfth of the block's own work. Of many rows there are at most 64 blocks,
// so that each is worth sharing out where m is small. Where rows are few there are eight
// blocks all the same, so that sites see each other's updates, or as many as leave m/2 rows
// to each: of fewer the factors would take most of the time.
func BlockRows(n, m int) int {
	whole := max(1024, (max(4*m, n/64)+127)/128*128)
	return min(whole, max(64, (max(n/8, m/2)+63)/64*64))
}

// Over goes over the rows once. It writes the new sites to next, which may be the old
// ones, and returns what they change. The error is gauss.ErrImproper when q is not
// proper to begin with.
func Over(q gauss.Naturals, rows Rows, sites, next []gauss.Scalar, o Options) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	sums := NewSums(w.functions, rows.Dim())
	sweep := func(from, to int, views *gauss.Views) {
		k := w.functions
		w.project(views, sites[from*k:to*k], from, sums)
		for c, now := range w.q {
			steps := w.stepsOf(c, to-from)
			for i, s := range steps {
				steps[i] = gauss.Scalar{Nu: o.damping() * s.Nu, Tau: o.damping() * s.Tau}
			}
			w.next[c].SetTimesScalars(now.Natural(), views, steps, &w.ws)
		}
		if w.q.Exchange(w.next) != nil {
			// The block as a whole asks for too much: it keeps its sites.
			sums.Skipped += to - from
			copy(next[from*k:to*k], sites[from*k:to*k])
			return
		}
		for c := range w.q {
			for i, step := range w.stepsOf(c, to-from) {
				next[(from+i)*k+c] = sites[(from+i)*k+c].Times(step)
			}
		}
	}
	w.each(sweep)
	for range o.Sweeps - 1 {
		sites, sums = next, &Sums{Change: sums.Change}
		w.each(sweep)
	}
	sums.Change.SetProduct(w.q.Naturals(), q, -1)
	return sums, nil
}

// Gather is what sites come to: Σ ν·a and Σ τ·aaᵀ.
func Gather(rows Rows, sites []gauss.Scalar) gauss.Naturals {
	k := Functions(rows)
	sum := gauss.NewNaturals(k, rows.Dim())
	var ws gauss.Workspace
	size := BlockRows(rows.Len(), rows.Dim())
	own := make([]gauss.Scalar, size)
	for from := 0; from < rows.Len(); from += size {
		to := min(from+size, rows.Len())
		wake(rows, k)
		views := rows.Views(from, to)
		for c, one := range sum {
			for i := range to - from {
				own[i] = sites[(from+i)*k+c]
			}
			one.TimesScalars(views, own[:to-from], &ws)
		}
	}
	return sum
}

// See is called with what Look sees of a block of rows, of which i is the first: the means and variances of
// their values without them, one for each function, row after row, or NaN where that is not proper. Blocks of a shard
// come one after the other, those of different shards at the same time.
type See func(i int, mean, variance []float64)

// Look finds the sums of a pass that changes nothing, at one and the same q. Where see is
// not nil it is called for all rows, each with its own sites taken out of q; it must not keep
// what it is given.
func Look(q gauss.Naturals, rows Rows, sites []gauss.Scalar, o Options, see See) (*Sums, error) {
	return look(q, rows, sites, o, see, nil, false)
}

// look is Look that keeps the marginals of the rows, unless kept is nil, or reads them where they are known.
func look(q gauss.Naturals, rows Rows, sites []gauss.Scalar, o Options, see See, kept *marginals, known bool) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	sums := NewSums(w.functions, rows.Dim())
	k := w.functions
	var mean, variance []float64
	if see != nil {
		mean, variance = make([]float64, k*w.size), make([]float64, k*w.size)
	}
	w.each(func(from, to int, views *gauss.Views) {
		if !known {
			w.marginals(views, from)
		}
		if kept != nil {
			for c := range k {
				at := from*k + c*(to-from)
				exchange(w.mean[c*w.size:], kept.mean[at:at+to-from], known)
				exchange(w.variance[c*w.size:], kept.variance[at:at+to-from], known)
			}
		}
		w.projectAll(views, sites[from*k:to*k], from, sums)
		if see == nil {
			return
		}
		n := to - from
		level3.Share(rowWork/10*float64(n*k), (n+chunk-1)/chunk, func(task int) {
			for i := task * chunk; i < min((task+1)*chunk, n); i++ {
				for c := range k {
					of := views.Of(c)
					m, v := without(w.mean[c*w.size+i], w.variance[c*w.size+i], sites[(from+i)*k+c])
					mean[i*k+c], variance[i*k+c] = m+of.Offset(i), v+of.Residual(i)
				}
			}
		})
		see(from, mean[:n*k], variance[:n*k])
	})
	return sums, nil
}

// without are the moments m and v without a site, or NaN where that is not proper.
func without(m, v float64, site gauss.Scalar) (mean, variance float64) {
	if v <= 0 {
		return 0, 0
	}
	cavity := gauss.ScalarFromMoments(m, v).Over(site)
	if !cavity.Proper() {
		return math.NaN(), math.NaN()
	}
	return cavity.Mean(), cavity.Variance()
}

// Slopes are how the evidence of expectation propagation depends on the views, at a
// fixed point, where the sites are stationary: with μ and Σ the moments of q, m and c₀
// those of a·v, and g and η the derivatives of log Z at the cavity,
//
//	ρ = ½(g² − η),  β = ν − τm,
//	∂log Z/∂a = βμ − τΣa (the residual variance held) and ∂log Z/∂r = ρ.
//
// With several functions, which have the same views, both are sums over them.
//
// The rows of a block are handed over one block after another: gradient has a row
// ∂log Z/∂a − 2ρa for each, which is the derivative when the residual is what a leaves of
// a fixed variance. The sums have AᵀRA with R = diag(2ρ) as the P of the first Change.
func Slopes(q gauss.Naturals, rows Rows, sites []gauss.Scalar, o Options, block func(from, to int, gradient *mat.Dense, rho []float64)) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	k := w.functions
	sums := NewSums(k, rows.Dim())
	twice := make([]gauss.Scalar, w.size)
	rho := make([]float64, w.size)
	w.each(func(from, to int, views *gauss.Views) {
		n := to - from
		w.project(views, sites[from*k:to*k], from, sums)
		for i := range n {
			rho[i] = 0
			for c := range k {
				rho[i] += w.found[c*w.size+i].Rho
			}
			twice[i] = gauss.Scalar{Tau: 2 * rho[i]}
		}
		gradient := mat.NewDense(n, rows.Dim(), w.gradient(0, n))
		for c, one := range w.q {
			covariances := gradient
			if c > 0 {
				covariances = mat.NewDense(n, rows.Dim(), w.gradient(1, n))
			}
			one.Covariances(covariances, views, &w.ws)
			mu, means := one.Mean(), w.mean[c*w.size:]
			level3.Share(4*rowWork*float64(n), (n+chunk-1)/chunk, func(task int) {
				for i := task * chunk; i < min((task+1)*chunk, n); i++ {
					s := sites[(from+i)*k+c]
					beta, row := s.Nu-s.Tau*means[i], gradient.RawRowView(i)
					for d, x := range covariances.RawRowView(i) {
						slope := beta*mu[d] - s.Tau*x
						if c > 0 {
							slope += row[d]
						}
						row[d] = slope
					}
				}
			})
		}
		level3.Share(4*rowWork*float64(n), (n+chunk-1)/chunk, func(task int) {
			for i := task * chunk; i < min((task+1)*chunk, n); i++ {
				a, row := views.Row(i), gradient.RawRowView(i)
				for d := range row {
					row[d] -= 2 * rho[i] * a[d]
				}
			}
		})
		sums.Change[0].TimesScalars(views, twice[:n], &w.ws)
		block(from, to, gradient, rho[:n])
	})
	return sums, nil
}

// work is the scratch of a pass. Passes that follow each other use the same. What there is of
// every row and function stands function by function, size numbers apart.
type work struct {
	q              gauss.Gaussians // after the blocks so far
	next           gauss.Naturals  // natural parameters that it is to have
	rows           Rows
	single         Single  // the rows, or nil
	coupled        Coupled // likewise
	opt            Options
	size           int
	functions      int
	ws             gauss.Workspace
	mean, variance []float64
	found          []infer.Projection
	steps          []gauss.Scalar
	parts          []Sums // of the chunks of a block
	joints         []joint
	gradients      [2][]float64
}

var works sync.Pool

func newWork(q gauss.Naturals, rows Rows, o Options) (*work, error) {
	size, k := min(BlockRows(rows.Len(), rows.Dim()), rows.Len()), Functions(rows)
	w, _ := works.Get().(*work)
	if w == nil || w.q.Dim() != rows.Dim() || len(w.q) != k || len(w.mean) < k*size {
		w = &work{
			q: gauss.NewGaussians(k, rows.Dim()), next: gauss.NewNaturals(k, rows.Dim()),
			mean: make([]float64, k*size), variance: make([]float64, k*size),
			found: make([]infer.Projection, k*size), steps: make([]gauss.Scalar, k*size),
			parts: make([]Sums, (size+chunk-1)/chunk), joints: make([]joint, (size+chunk-1)/chunk),
		}
	}
	w.rows, w.opt, w.size, w.functions = rows, o, size, k
	w.single, _ = rows.(Single)
	if w.coupled, _ = rows.(Coupled); w.coupled != nil {
		w.single = nil
	}
	w.next.CopyFrom(q)
	if err := w.q.Exchange(w.next); err != nil {
		return nil, err
	}
	return w, nil
}

// leave makes way for the next pass.
func (w *work) leave() {
	w.rows, w.single, w.coupled = nil, nil, nil
	w.ws.Forget()
	works.Put(w)
}

// gradient is room for the gradients of n rows.
func (w *work) gradient(which, n int) []float64 {
	if need := n * w.q.Dim(); len(w.gradients[which]) < need {
		w.gradients[which] = make([]float64, need)
	}
	return w.gradients[which][:n*w.q.Dim()]
}

// stepsOf are the steps of the first n rows of a block for a function.
func (w *work) stepsOf(c, n int) []gauss.Scalar { return w.steps[c*w.size : c*w.size+n] }

// each hands over one block after another.
func (w *work) each(block func(from, to int, views *gauss.Views)) {
	for from := 0; from < w.rows.Len(); from += w.size {
		to := min(from+w.size, w.rows.Len())
		wake(w.rows, w.functions)
		block(from, to, w.rows.Views(from, to))
	}
}

// wake gets cores up for a block. What is left of the pass does not matter: another pass, or a gradient, mostly follows.
func wake(rows Rows, functions int) {
	m := float64(rows.Dim())
	level3.Wake(2 * float64(rows.Len()*functions) * m * m)
}

// chunk is the number of rows of one task; rowWork is what a term's moments take, in
// operations of a matrix product.
const (
	chunk   = 64
	rowWork = 5000
)

// project finds what the rule asks of every site of a block, and adds it up.
func (w *work) project(views *gauss.Views, sites []gauss.Scalar, from int, sums *Sums) {
	w.marginals(views, from)
	w.projectAll(views, sites, from, sums)
}

// marginals finds those of what the sites of a block are on, a·v and, where rows share effects, theirs.
func (w *work) marginals(views *gauss.Views, from int) {
	n := views.Len()
	if s, ok := w.rows.(*Sharing); ok {
		w.q[0].Predict(s.sites(views, from), w.mean[:n], w.variance[:n], &w.ws)
		return
	}
	for c, q := range w.q {
		q.Marginals(views, w.mean[c*w.size:c*w.size+n], w.variance[c*w.size:c*w.size+n], &w.ws)
	}
}

// exchange copies what is kept, or to it.
func exchange(now, kept []float64, known bool) {
	if known {
		copy(now, kept)
	} else {
		copy(kept, now)
	}
}

// projectAll is project with the marginals known.
func (w *work) projectAll(views *gauss.Views, sites []gauss.Scalar, from int, sums *Sums) {
	n := views.Len()
	chunks := (n + chunk - 1) / chunk
	rule := w.opt.rule()
	counter, _ := w.rows.(Counter)
	level3.Share(rowWork*float64(n*w.functions), chunks, func(task int) {
		part := &w.parts[task]
		*part = Sums{}
		for i := task * chunk; i < min((task+1)*chunk, n); i++ {
			if w.coupled != nil {
				w.projectJoint(&w.joints[task], part, views, sites, from, i)
				continue
			}
			seen := infer.Seen{
				Term: w.single.Term(from + i), Count: 1, Offset: views.Offset(i), Residual: views.Residual(i),
				Mean: w.mean[i], Variance: w.variance[i],
			}
			if counter != nil {
				seen.Count = counter.Count(from + i)
			}
			p, ok := rule.Project(seen, sites[i])
			w.found[i], w.steps[i] = p, gauss.Scalar{}
			if !ok {
				part.skip()
				continue
			}
			w.steps[i] = p.Site.Over(sites[i])
			part.Value += p.Value
			part.Residual = max(part.Residual, p.Residual)
		}
	})
	for i := range w.parts[:chunks] {
		p := &w.parts[i]
		sums.Value += p.Value
		sums.Residual = max(sums.Residual, p.Residual)
		sums.Skipped += p.Skipped
	}
}

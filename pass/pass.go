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
// A pass over N rows takes 2NM² operations, and NM² more where the views have to be made
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

// Rows are the terms of a shard and their views of v.
type Rows interface {
	// Len is the number of rows.
	Len() int
	// Dim is the dimension M of v.
	Dim() int
	// Views are those of the rows from i up to, not including, j. They are valid until
	// the next call.
	Views(i, j int) *gauss.Views
	// Term is the term of row i. It is called by several goroutines at a time.
	Term(i int) factor.Factor
}

// Counter are Rows, or others with terms, that do not all count once.
type Counter interface {
	// Count is how often row i counts; see infer.Model.
	Count(i int) float64
}

// BlockRows is the number of rows in a block of a shard of n rows when v has m dimensions.
// A block is followed by a Cholesky factor, m³/3 operations, at half the speed of a product;
// with 4m rows that is a twelfth of the block's own work. Where rows are few there are eight
// blocks all the same, so that sites see each other's updates, or as many as leave m/2 rows
// to each: of fewer the factors would take most of the time.
func BlockRows(n, m int) int {
	whole := max(1024, (4*m+127)/128*128)
	return min(whole, max(64, (max(n/8, m/2)+63)/64*64))
}

// Sums are what a pass over a shard adds up. The zero value with a Change of the right
// dimension is that of no rows.
type Sums struct {
	// Change is Σ Δν·a and Σ Δτ·aaᵀ over the rows: what their sites do to q.
	Change *gauss.Natural
	// Value is the rows' part in the objective of the rule, each seen when it was
	// visited; see Objective.
	Value float64
	// Residual is the largest relative change that a full step would make to a marginal,
	// whether its row was skipped or not; it is at least 1 where there is no step because
	// the cavity is not proper.
	Residual float64
	// Skipped is the number of rows that kept their site because their cavity, or what q
	// would have become, was not proper.
	Skipped int
}

// NewSums are those of no rows.
func NewSums(m int) *Sums { return &Sums{Change: gauss.NewNatural(m)} }

// Add takes another shard in.
func (s *Sums) Add(o *Sums) {
	s.Change.Times(o.Change, 1)
	s.Value += o.Value
	s.Residual = max(s.Residual, o.Residual)
	s.Skipped += o.Skipped
}

// Over goes over the rows once. It writes the new sites to next, which may be the old
// ones, and returns what they change. The error is gauss.ErrImproper when q is not
// proper to begin with.
func Over(q *gauss.Natural, rows Rows, sites, next []gauss.Scalar, o Options) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	sums := NewSums(rows.Dim())
	now, spare := w.now, w.spare // q as it is after the blocks so far
	now.CopyFrom(q)
	sweep := func(from, to int, views *gauss.Views) {
		w.project(views, sites[from:to], from, sums)
		for i, s := range w.steps[:to-from] {
			w.steps[i] = gauss.Scalar{Nu: o.damping() * s.Nu, Tau: o.damping() * s.Tau}
		}
		now.TimesScalars(views, w.steps[:to-from], &w.ws)
		spare.CopyFrom(now)
		if w.q.Exchange(spare) != nil {
			// The block as a whole asks for too much: it keeps its sites.
			now.CopyFrom(w.q.Natural())
			sums.Skipped += to - from
			copy(next[from:to], sites[from:to])
			return
		}
		for i, step := range w.steps[:to-from] {
			next[from+i] = sites[from+i].Times(step)
		}
	}
	w.each(sweep)
	for range o.Sweeps - 1 {
		sites, sums = next, &Sums{Change: sums.Change}
		w.each(sweep)
	}
	sums.Change.CopyFrom(now)
	sums.Change.Times(q, -1)
	return sums, nil
}

// Gather is what sites come to: Σ ν·a and Σ τ·aaᵀ.
func Gather(rows Rows, sites []gauss.Scalar) *gauss.Natural {
	sum := gauss.NewNatural(rows.Dim())
	var ws gauss.Workspace
	size := BlockRows(rows.Len(), rows.Dim())
	for from := 0; from < rows.Len(); from += size {
		to := min(from+size, rows.Len())
		sum.TimesScalars(rows.Views(from, to), sites[from:to], &ws)
	}
	return sum
}

// Look finds the sums of a pass that changes nothing, at one and the same q. Where see is
// not nil it is told of every row the mean and variance of f when the row's own site is
// taken out of q, or NaN where that is not proper. Rows come in order.
func Look(q *gauss.Natural, rows Rows, sites []gauss.Scalar, o Options, see func(i int, mean, variance float64)) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	sums := NewSums(rows.Dim())
	w.each(func(from, to int, views *gauss.Views) {
		w.project(views, sites[from:to], from, sums)
		if see == nil {
			return
		}
		for i, s := range sites[from:to] {
			mean, variance := 0.0, 0.0
			if w.variance[i] > 0 {
				mean, variance = math.NaN(), math.NaN()
				if c := gauss.ScalarFromMoments(w.mean[i], w.variance[i]).Over(s); c.Proper() {
					mean, variance = c.Mean(), c.Variance()
				}
			}
			see(from+i, mean, variance+views.Residual(i))
		}
	})
	return sums, nil
}

// Slopes are how the evidence of expectation propagation depends on the views, at a
// fixed point, where the sites are stationary: with μ and Σ the moments of q, m and c₀
// those of a·v, and g and η the derivatives of log Z at the cavity,
//
//	ρ = ½(g² − η),  β = ν − τm,
//	∂log Z/∂a = βμ − τΣa (the residual variance held) and ∂log Z/∂r = ρ.
//
// The rows of a block are handed over one block after another: gradient has a row
// ∂log Z/∂a − 2ρa for each, which is the derivative when the residual is what a leaves of
// a fixed variance. The sums have AᵀRA with R = diag(2ρ) as Change.P.
func Slopes(q *gauss.Natural, rows Rows, sites []gauss.Scalar, o Options, block func(from, to int, gradient *mat.Dense, rho []float64)) (*Sums, error) {
	w, err := newWork(q, rows, o)
	if err != nil {
		return nil, err
	}
	defer w.leave()
	sums := NewSums(rows.Dim())
	mu := w.q.Mean()
	twice := make([]gauss.Scalar, len(w.steps))
	rho := make([]float64, len(w.steps))
	w.each(func(from, to int, views *gauss.Views) {
		n := to - from
		w.project(views, sites[from:to], from, sums)
		gradient := mat.NewDense(n, rows.Dim(), w.gradient(n))
		w.q.Covariances(gradient, views, &w.ws)
		for i, f := range w.found[:n] {
			rho[i] = f.Rho
			twice[i] = gauss.Scalar{Tau: 2 * rho[i]}
		}
		level3.Share(4*rowWork*float64(n), (n+chunk-1)/chunk, func(task int) {
			for i := task * chunk; i < min((task+1)*chunk, n); i++ {
				s := sites[from+i]
				beta, a, row := s.Nu-s.Tau*w.mean[i], views.Row(i), gradient.RawRowView(i)
				for k, x := range row {
					row[k] = beta*mu[k] - s.Tau*x - 2*rho[i]*a[k]
				}
			}
		})
		sums.Change.TimesScalars(views, twice[:n], &w.ws)
		block(from, to, gradient, rho[:n])
	})
	return sums, nil
}

// work is the scratch of a pass. Passes that follow each other use the same.
type work struct {
	q              *gauss.Gaussian
	now, spare     *gauss.Natural
	rows           Rows
	opt            Options
	size           int
	ws             gauss.Workspace
	mean, variance []float64
	found          []infer.Projection
	steps          []gauss.Scalar
	parts          []Sums // of the chunks of a block
	gradients      []float64
}

var works sync.Pool

func newWork(q *gauss.Natural, rows Rows, o Options) (*work, error) {
	size := min(BlockRows(rows.Len(), rows.Dim()), rows.Len())
	w, _ := works.Get().(*work)
	if w == nil || w.q.Dim() != rows.Dim() || len(w.mean) < size {
		w = &work{
			q: gauss.NewGaussian(rows.Dim()), now: gauss.NewNatural(rows.Dim()), spare: gauss.NewNatural(rows.Dim()),
			mean: make([]float64, size), variance: make([]float64, size),
			found: make([]infer.Projection, size), steps: make([]gauss.Scalar, size),
			parts: make([]Sums, (size+chunk-1)/chunk),
		}
	}
	w.rows, w.opt, w.size = rows, o, size
	w.spare.CopyFrom(q)
	if err := w.q.Exchange(w.spare); err != nil {
		return nil, err
	}
	return w, nil
}

// leave makes way for the next pass.
func (w *work) leave() {
	w.rows = nil
	w.ws.Forget()
	works.Put(w)
}

// gradient is room for the gradients of n rows.
func (w *work) gradient(n int) []float64 {
	if need := n * w.q.Dim(); len(w.gradients) < need {
		w.gradients = make([]float64, need)
	}
	return w.gradients[:n*w.q.Dim()]
}

// each hands over one block after another.
func (w *work) each(block func(from, to int, views *gauss.Views)) {
	for from := 0; from < w.rows.Len(); from += w.size {
		to := min(from+w.size, w.rows.Len())
		block(from, to, w.rows.Views(from, to))
	}
}

// chunk is the number of rows of one task; rowWork is what a term's moments take, in
// operations of a matrix product.
const (
	chunk   = 64
	rowWork = 5000
)

// project finds what the rule asks of every site of a block, and adds it up.
func (w *work) project(views *gauss.Views, sites []gauss.Scalar, from int, sums *Sums) {
	n := len(sites)
	w.q.Marginals(views, w.mean[:n], w.variance[:n], &w.ws)
	chunks := (n + chunk - 1) / chunk
	rule := w.opt.rule()
	counter, _ := w.rows.(Counter)
	level3.Share(rowWork*float64(n), chunks, func(task int) {
		part := &w.parts[task]
		*part = Sums{}
		for i := task * chunk; i < min((task+1)*chunk, n); i++ {
			seen := infer.Seen{
				Term: w.rows.Term(from + i), Count: 1, Offset: views.Offset(i), Residual: views.Residual(i),
				Mean: w.mean[i], Variance: w.variance[i],
			}
			if counter != nil {
				seen.Count = counter.Count(from + i)
			}
			p, ok := rule.Project(seen, sites[i])
			w.found[i], w.steps[i] = p, gauss.Scalar{}
			if !ok {
				part.Skipped++
				part.Residual = max(part.Residual, 1)
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

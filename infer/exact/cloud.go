package exact

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/normal"
)

// cloud is a mixture of Gaussians over v that share one covariance and differ in
// their centres: independent draws, the states of a Markov chain or the nodes of a
// grid. Given its centre, what a view reads is Gaussian, so every question becomes
// an average over centres of something a factor answers in closed form.
type cloud struct {
	centres *mat.Dense // one row for each
	// within has the covariance around every centre; nil stands for none, when the
	// centres are values of v itself.
	within *gauss.Gaussian
}

// size is the number of centres.
func (c *cloud) size() int { return c.centres.RawMatrix().Rows }

// spread is the variance of what each view reads around a centre: r + aᵀΣa.
func (c *cloud) spread(views *gauss.Views) []float64 {
	variance := make([]float64, views.Len())
	if c.within != nil {
		c.within.Predict(views, make([]float64, views.Len()), variance, new(gauss.Workspace))
		return variance
	}
	for i := range variance {
		variance[i] = views.Residual(i)
	}
	return variance
}

// panel holds what some views read on average around all centres, one row for
// each view.
type panel struct {
	rows, means []float64
}

// read fills the panel with b_i + a_i·centre_k for the views in [i, j) and all
// centres, as one matrix product.
func (p *panel) read(c *cloud, views *gauss.Views, i, j int) {
	x := c.centres.RawMatrix()
	n := x.Rows
	p.rows = grow(p.rows, (j-i)*x.Cols)
	p.means = grow(p.means, (j-i)*n)
	for v := i; v < j; v++ {
		copy(p.rows[(v-i)*x.Cols:(v-i+1)*x.Cols], views.Row(v))
		row := p.row(v-i, n)
		for s := range row {
			row[s] = views.Offset(v)
		}
	}
	level3.Gemm(blas.NoTrans, blas.Trans, 1,
		blas64.General{Rows: j - i, Cols: x.Cols, Stride: x.Cols, Data: p.rows},
		blas64.General{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data},
		1, blas64.General{Rows: j - i, Cols: n, Stride: n, Data: p.means})
}

// row is the panel's v-th row, of n centres.
func (p *panel) row(v, n int) []float64 { return p.means[v*n : (v+1)*n] }

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

const (
	// panelViews is the number of views in one matrix product: enough for it to
	// run at speed.
	panelViews = 16
	// panelSize bounds the means in a panel, 8 MB, unless one view alone has more.
	panelSize = 1 << 20
)

// eachView calls visit for every view with the means of what it reads around all
// centres, which visit may overwrite, and the variance around each. Views are
// spread over the cores; what visit computes for one depends on no other, so the
// result is the same on any number of cores.
func (c *cloud) eachView(views *gauss.Views, visit func(i int, means []float64, variance float64)) {
	variance := c.spread(views)
	n := c.size()
	step := min(panelViews, max(1, panelSize/n))
	tasks.Each((views.Len()+step-1)/step, func() func(int) {
		var p panel
		return func(task int) {
			i, j := task*step, min((task+1)*step, views.Len())
			p.read(c, views, i, j)
			for v := i; v < j; v++ {
				visit(v, p.row(v-i, n), variance[v])
			}
		}
	})
}

// eachBlock does the same for blocks of so many views that belong together. The means are
// those of one view after the other, and cov how the views of the block vary together around
// each centre, row by row.
func (c *cloud) eachBlock(views *gauss.Views, size int, visit func(block int, means, cov []float64)) {
	cov := make([]float64, views.Len()*size)
	if c.within != nil {
		c.within.PredictBlocks(views, size, make([]float64, views.Len()), cov, new(gauss.Workspace))
	} else {
		for i := range views.Len() {
			cov[i*size+i%size] = views.Residual(i)
		}
	}
	n := c.size()
	step := max(1, min(panelViews, panelSize/n)/size)
	blocks := views.Len() / size
	tasks.Each((blocks+step-1)/step, func() func(int) {
		var p panel
		return func(task int) {
			i, j := task*step, min((task+1)*step, blocks)
			p.read(c, views, i*size, j*size)
			for b := i; b < j; b++ {
				visit(b, p.means[(b-i)*size*n:(b-i+1)*size*n], cov[b*size*size:(b+1)*size*size])
			}
		}
	})
}

// expectEach replaces every mean m by E t(f), f ~ N(m, v). The probit, which nearly
// every prediction asks for, needs neither a logarithm nor derivatives.
func expectEach(t factor.Factor, means []float64, v float64) {
	if p, ok := t.(factor.Probit); ok {
		scale := p.Y / math.Sqrt(1+v)
		for k, m := range means {
			means[k] = normal.CDF(scale * m)
		}
		return
	}
	for k, m := range means {
		l, _, _ := t.LogMean(m, v)
		means[k] = math.Exp(l)
	}
}

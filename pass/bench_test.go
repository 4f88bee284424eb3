package pass_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/pass"
)

// many are rows whose views are all in memory.
type many struct {
	a        *mat.Dense
	residual []float64
	kept     []*gauss.Views
	terms    [2]factor.Factor
}

func newMany(n, m int) *many {
	rng := rand.New(rand.NewPCG(1, 1))
	r := &many{a: mat.NewDense(n, m, nil), residual: make([]float64, n), terms: [2]factor.Factor{factor.Probit{Y: -1}, factor.Probit{Y: 1}}}
	data := r.a.RawMatrix().Data
	for i := range data {
		data[i] = (rng.Float64() - 0.5) / 16
	}
	for i := range r.residual {
		r.residual[i] = 0.1
	}
	size := pass.BlockRows(n, m)
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		r.kept = append(r.kept, gauss.NewViews(r.a.Slice(from, to, 0, m).(*mat.Dense), nil, r.residual[from:to]))
	}
	return r
}

func (r *many) Len() int                    { return len(r.residual) }
func (r *many) Dim() int                    { return r.a.RawMatrix().Cols }
func (r *many) Views(i, _ int) *gauss.Views { return r.kept[i/pass.BlockRows(r.Len(), r.Dim())] }
func (r *many) Term(i int) factor.Factor    { return r.terms[i*7919%13%2] }

// BenchmarkPass reports how long a pass takes as a multiple of its 2NM² operations at the
// speed of the matrix product, with which it takes turns:
//
//	go test ./pass -run - -bench Pass -cpu 1,2
func BenchmarkPass(b *testing.B) {
	const n, m, product = 100_000, 512, 1024
	rows := newMany(n, m)
	sites := make([]gauss.Scalar, n)
	q := gauss.NewNaturals(1, m)
	q.SetStandard()
	x, y := make([]float64, product*product), make([]float64, product*product)
	for i := range x {
		x[i] = float64(i%7) / 7
	}
	kernels, _ := level3.Selected()
	var products, passes time.Duration
	for b.Loop() {
		start := time.Now()
		for range 10 {
			kernels.Dgemm(blas.NoTrans, blas.NoTrans, product, product, product, 1, x, product, x, product, 0, y, product)
		}
		middle := time.Now()
		sums, err := pass.Over(q, rows, sites, sites, pass.Options{})
		if err != nil || sums.Skipped > 0 {
			b.Fatal(sums, err)
		}
		q.Times(sums.Change, 1)
		products += middle.Sub(start)
		passes += time.Since(middle)
	}
	speed := 10 * 2 * product * product * product / products.Seconds() * float64(b.N)
	b.ReportMetric(speed/1e9, "GFLOP/s-product")
	b.ReportMetric(passes.Seconds()*speed/float64(b.N)/(2*n*m*m), "x-operations")
}

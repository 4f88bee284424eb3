// Command update measures what it takes, and what is lost, to add 1,000 rows to a model of 100,000 in place of
// fitting all of them with the same kernel and inducing points.
//
//	go run ./update
package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/search"
)

const old, more, tested = 100_000, 1000, 5000

// labels are terms of rows.
type labels []int

func (l labels) Len() int                 { return len(l) }
func (l labels) Term(i int) factor.Factor { return factor.NewProbit(l[i]) }

// processor is what the process has taken, in seconds.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Sec+u.Stime.Sec) + 1e-6*float64(u.Utime.Usec+u.Stime.Usec)
}

// timed runs something and says what it took.
func timed[T any](what string, do func() (T, error)) T {
	start := processor()
	v, err := do()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%-34s %.2f s of processor time\n", what, processor()-start)
	return v
}

func main() {
	rng := rand.New(rand.NewPCG(1, 2))
	n := old + more + tested
	x, y := mat.NewDense(n, 4, nil), make(labels, n)
	effect := make([]float64, 200)
	for g := range effect {
		effect[g] = 0.5 * rng.NormFloat64()
	}
	for i := range n {
		a, b, c, g := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), rng.IntN(200)
		x.SetRow(i, []float64{a, b, c, float64(g)})
		if rng.Float64() < normal.CDF(math.Sin(2*a)+0.7*b-0.4*a*b+effect[g]-0.6) {
			y[i] = 1
		}
	}
	part := func(from, to int) (*mat.Dense, labels) { return x.Slice(from, to, 0, 4).(*mat.Dense), y[from:to] }
	for _, with := range []bool{false, true} {
		groups := "2"
		if with { // more groups than points are left to effects, as a fit does
			groups = "1e8"
		}
		k, err := kernel.ParseColumns("rbf(variance=1, lengthscale=[2, 2, 2, "+groups+"]) + constant(variance=1)", kernel.Columns{Numbers: 4})
		if err != nil {
			panic(err)
		}
		fmt.Printf("effects: %t\n", with)
		compare(k, part, with)
	}
}

func compare(k kernel.Kernel, part func(from, to int) (*mat.Dense, labels), with bool) {
	ctx := context.Background()
	fit := func(to int) func() (*search.Induced, error) {
		return func() (*search.Induced, error) {
			x, y := part(0, to)
			f, err := search.Induce(ctx, k, x, y, search.InduceOptions{Fixed: true, Points: 150, Memory: 1 << 30})
			return add(ctx, f, x, y, with, err)
		}
	}
	before := timed("fit of 100,000 rows", fit(old))
	timed("fit of 101,000 rows", fit(old+more))
	told := search.NewTold(before.Process, before.Result.Q, nil, nil, nil, 1)
	next := timed("update with 1,000", func() (*search.Continued, error) {
		x, y := part(old, old+more)
		return search.Continue(ctx, before.Process, told, x, y, 1, 1, 1)
	})
	same := timed("all rows, with the same points", func() (*search.Induced, error) {
		x, y := part(0, old+more)
		f := *before
		f.Process = before.Process.With(nil).Trained(nil)
		f.Engine = gp.NewEngine(f.Process, f.Process.Shards(x, y, nil, 0), nil)
		var err error
		if f.Result, err = pass.Settle(ctx, f.Engine, pass.Settings{Tolerance: 1e-5}); err != nil {
			return nil, err
		}
		return add(ctx, &f, x, y, with, nil)
	})
	x, _ := part(old+more, old+more+tested)
	a, b, c := probabilities(next.Process, next.Q[0], x), probabilities(same.Process, same.Result.Q[0], x), probabilities(before.Process, before.Result.Q[0], x)
	fmt.Printf("probabilities of %d other rows: update against all rows %s; without the new rows %s\n", tested, difference(a, b), difference(c, b))
}

// add adds the effects of the last column.
func add(ctx context.Context, f *search.Induced, x *mat.Dense, y labels, with bool, err error) (*search.Induced, error) {
	if err != nil || !with {
		return f, err
	}
	f, _, err = f.AddEffects(ctx, x, y, search.EffectOptions{Families: []effects.Family{{{Column: 3}}}, Codes: 1})
	return f, err
}

func probabilities(p *gp.Inducing, q *gauss.Gaussian, x *mat.Dense) []float64 {
	n, _ := x.Dims()
	mean, variance := make([]float64, n), make([]float64, n)
	q.Predict(p.At(x), mean, variance, new(gauss.Workspace))
	for i, m := range mean {
		mean[i] = normal.CDF(m / math.Sqrt(1+variance[i]))
	}
	return mean
}

func difference(a, b []float64) string {
	most, sum := 0.0, 0.0
	for i := range a {
		d := math.Abs(a[i] - b[i])
		most, sum = max(most, d), sum+d/float64(len(a))
	}
	return fmt.Sprintf("at most %.5f, on average %.6f", most, sum)
}

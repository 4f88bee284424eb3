package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// subset is the number of training rows, and of others to predict.
const subset = 2000

// differences compares processes with more and more inducing points with the full one, at
// the kernel that the automatic choice found, on 2,000 rows of each table.
func differences(ctx context.Context, tables []string) error {
	figure := report.Lines{
		X: report.Axis{Label: "Inducing points", Log: true},
		Y: report.Axis{Label: "Mean difference", Log: true},
	}
	fmt.Println("table          points    |p - full|  |cost - full|  s of processor time")
	for t, arg := range tables {
		words := strings.Split(arg, ":")
		if len(words) != 3 {
			return fmt.Errorf("%s: name the target and its positive outcome, as in table.csv:column:1", arg)
		}
		path := words[0]
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		x, at, y, err := rowsOf(ctx, path, words[1], words[2])
		if err != nil {
			return err
		}
		found, err := y.fit(ctx, x, at, 0, nil)
		if err != nil {
			return err
		}
		full, err := y.fit(ctx, x, at, -1, &found.kernel)
		if err != nil {
			return err
		}
		p := report.Series{Method: methods[2*t%len(methods)], Label: name + ", p"}
		cost := report.Series{Method: methods[(2*t+1)%len(methods)], Label: name + ", expected cost"}
		for _, m := range []int{10, 20, 50, 100, 200, 400, 800} {
			some, err := y.fit(ctx, x, at, m, &found.kernel)
			if err != nil {
				return err
			}
			dp, dc := some.from(full)
			fmt.Printf("%-13s  %6d    %.6f    %.6f       %.1f\n", name, m, dp, dc, some.seconds)
			p.X, p.Y = append(p.X, float64(m)), append(p.Y, dp)
			cost.X, cost.Y = append(cost.X, float64(m)), append(cost.Y, dc)
		}
		dp, dc := found.from(full)
		fmt.Printf("%-13s  %6d *  %.6f    %.6f       %.1f with the search; the full process %.1f without\n", name, found.points, dp, dc, found.seconds, full.seconds)
		figure.Series = append(figure.Series, p, cost)
	}
	fmt.Println("* chosen automatically")
	return draw("inducing-error.svg", figure)
}

// methods lend series their looks.
var methods = []string{"ep", "vi", "laplace", "loss-ep", "loss-vi", "corrected"}

// problem are the labels of training rows, and how the kernel sees their columns.
type problem struct {
	*lossep.Problem
	falseNegative float64
}

// rowsOf are 2,000 rows of a table as a kernel takes them, and as many others.
func rowsOf(ctx context.Context, path, target, positive string) (x, at *mat.Dense, p *problem, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	t, err := table.Read(ctx, f, path, table.Format{})
	if err != nil {
		return nil, nil, nil, err
	}
	order := rand.New(rand.NewPCG(1, 5)).Perm(t.Len())
	train, test := t.Subset(order[:subset]), t.Subset(order[subset:2*subset])
	o := lossep.Options{Data: recipe.Options{Target: target, Positive: positive, Impute: true}, Kernel: lossep.ManyRowsKernel}
	prepared, err := lossep.Prepare(train, o)
	if err != nil {
		return nil, nil, nil, err
	}
	if at, _, err = prepared.Recipe.Apply(test); err != nil {
		return nil, nil, nil, err
	}
	return prepared.X, at, &problem{prepared, 10}, nil
}

// Len and Term make the labels terms.
func (p *problem) Len() int                 { return p.Problem.Len() }
func (p *problem) Term(i int) factor.Factor { return factor.NewProbit(p.Labels[i]) }

// fitted is what a process says of other rows.
type fitted struct {
	kernel  kernel.Kernel
	points  int
	p       []float64
	seconds float64
	cost    float64 // of a false negative, a false positive costing one
}

// fit finds the probabilities at other rows from so many points, 0 for the automatic
// choice, −1 for the full process; by a kernel that is given, or that is searched for.
func (p *problem) fit(ctx context.Context, x, at *mat.Dense, points int, fixed *kernel.Kernel) (*fitted, error) {
	k := p.Kernel
	if fixed != nil {
		k = *fixed
	}
	n, _ := at.Dims()
	f := &fitted{p: make([]float64, n), cost: p.falseNegative, points: points}
	start := processor()
	defer func() { f.seconds = processor() - start }()
	if points < 0 {
		process, err := gp.New(k, x)
		if err != nil {
			return nil, err
		}
		terms := make([]factor.Factor, p.Len())
		for i := range terms {
			terms[i] = p.Term(i)
		}
		ep, err := infer.EP{Schedule: infer.Parallel}.Fit(ctx, &infer.Model{Views: process.Views(), Terms: terms})
		if err != nil {
			return nil, err
		}
		f.read(ep.Q, process.At(at))
		return f, nil
	}
	o := search.InduceOptions{Options: search.Options{Seed: 1}, Fixed: fixed != nil, Points: points, Memory: 1 << 28}
	found, err := search.Induce(ctx, k, x, p, o)
	if err != nil {
		return nil, err
	}
	f.kernel, f.points = found.Process.Kernel(), found.Process.Dim()
	f.read(found.Result.Q[0], found.Process.At(at))
	return f, nil
}

// read finds the probabilities of views.
func (f *fitted) read(q *gauss.Gaussian, views *gauss.Views) {
	variances := make([]float64, len(f.p))
	infer.Gaussian{Gaussian: q}.Expect(views, factor.NewProbit(1), f.p, variances)
}

// from is the mean difference in the probabilities, and in what the better of two actions
// is expected to cost by them.
func (f *fitted) from(full *fitted) (p, cost float64) {
	for i, q := range full.p {
		p += math.Abs(f.p[i]-q) / float64(len(full.p))
		cost += math.Abs(f.least(i)-full.least(i)) / float64(len(full.p))
	}
	return p, cost
}

func (f *fitted) least(i int) float64 { return min(f.cost*f.p[i], 1-f.p[i]) }

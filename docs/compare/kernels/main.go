// Command kernels tells what each of the candidates of --kernel auto predicts, for rows left out and
// for new ones. Whatever rule weighs candidates can be judged by that, without another fit:
// docs/compare/kernels.py does.
//
//	go run -C docs/compare ./kernels birthwt.train.csv,birthwt.test.csv ...
//	go run -C docs/compare ./kernels -folds 10 -seeds 1,2,3 -positive 1 pima.csv ...
//
// The last column of a table is the outcome. Prints JSON, a line for each pair of files, or
// for each fold of each table, which are those of lossep audit.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// The candidates and the bounds of searches are those of package search.
var candidates = []struct {
	name, kernel string
	shrinkage    float64
}{
	{"one", "matern32 + constant", 0},
	{"each", "matern32(ard) + constant", 0},
	{"sparse", "matern32(ard) + constant", 1},
	{"linear", "linear + constant", 0},
}

const (
	parts, fewerParts, manyRows = 5, 3, 800
	tolerance, roughly, looks   = 0.05, 0.1, 6
)

// line is what is known about one set of training rows.
type line struct {
	Table string `json:"table"`
	Seed  uint64 `json:"seed"`
	Fold  int    `json:"fold"`
	// LeftOut and New are whether training rows, in the order in which they are left out, and
	// new rows are positive.
	LeftOut    []bool      `json:"left_out"`
	New        []bool      `json:"new"`
	Candidates []predicted `json:"candidates"`
}

// predicted are probabilities of the positive outcome by a candidate.
type predicted struct {
	Name    string    `json:"name"`
	LeftOut []float64 `json:"left_out"`
	New     []float64 `json:"new"`
}

func main() {
	folds := flag.Int("folds", 0, "cut tables into so many folds")
	seeds := flag.String("seeds", "1", "seeds of the folds")
	positive := flag.String("positive", "yes", "the positive outcome")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, arg := range flag.Args() {
		err := error(nil)
		if *folds > 0 {
			err = foldsOf(ctx, arg, *positive, *folds, strings.Split(*seeds, ","))
		} else {
			err = pair(ctx, arg, *positive)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// pair compares on the training and test rows of two files.
func pair(ctx context.Context, arg, positive string) error {
	names := strings.Split(arg, ",")
	if len(names) != 2 {
		return fmt.Errorf("%s: give a table to learn from and one to predict, with a comma between", arg)
	}
	var tables [2]*table.Table
	for i, name := range names {
		var err error
		if tables[i], err = read(ctx, name); err != nil {
			return err
		}
	}
	return tell(ctx, &line{Table: filepath.Base(names[0]), Seed: 1}, nil, tables[0], tables[1], positive)
}

// foldsOf compares in the folds of an audit.
func foldsOf(ctx context.Context, name, positive string, folds int, seeds []string) error {
	t, err := read(ctx, name)
	if err != nil {
		return err
	}
	p, err := lossep.Prepare(t, options(candidates[0].kernel, positive))
	if err != nil {
		return err
	}
	for _, text := range seeds {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		of, err := p.Folds(nil, folds, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			return err
		}
		for i, s := range compare.Splits(of) {
			l := &line{Table: filepath.Base(name), Seed: seed, Fold: i}
			if err := tell(ctx, l, p.Recipe, t.Subset(s.Train), t.Subset(s.Test), positive); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell fits the candidates and prints the line. A recipe that is given is estimated anew.
func tell(ctx context.Context, l *line, recipe *recipe.Recipe, train, test *table.Table, positive string) error {
	fits := make(map[string]*search.Fit)
	for _, c := range candidates {
		o := options(c.kernel, positive)
		if recipe != nil {
			r, err := recipe.Refit(train)
			if err != nil {
				return err
			}
			o.Recipe = r
		}
		p, err := lossep.Prepare(train, o)
		if err != nil {
			return err
		}
		if p, err = lossep.Prepare(train.Subset(p.Order()), o); err != nil { // as they are gone over
			return err
		}
		x, _, err := p.Recipe.Apply(test)
		if err != nil {
			return err
		}
		if l.New == nil {
			labels, err := p.Recipe.Labels(test)
			if err != nil {
				return err
			}
			l.New = arePositive(labels)
		}
		with := search.Options{Seed: l.Seed, Shrinkage: c.shrinkage, Tolerance: tolerance}
		if earlier := fits[c.kernel]; earlier != nil {
			with.Start, with.Near = earlier.Process.Kernel().Params(nil), true
		}
		terms := make([]factor.Factor, p.Len())
		for i, y := range p.Labels {
			terms[i] = factor.NewProbit(y)
		}
		fit, err := search.Optimise(ctx, p.Kernel, p.X, gp.Values{Factors: terms}, with)
		if err != nil {
			return err
		}
		fits[c.kernel] = fit
		got := predicted{Name: c.name, New: probabilities(fit, x)}
		splits, err := splitsOf(p, l.Seed)
		if err != nil {
			return err
		}
		l.LeftOut = nil
		for _, s := range splits {
			r, err := fit.Refit(ctx, s.Train, search.Options{Tolerance: roughly, MaxEvaluations: looks})
			if err != nil {
				return err
			}
			got.LeftOut = append(got.LeftOut, probabilities(r, rows(p.X, s.Test))...)
			for _, i := range s.Test {
				l.LeftOut = append(l.LeftOut, p.Labels[i] == 1)
			}
		}
		l.Candidates = append(l.Candidates, got)
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}

// splitsOf are those by which auto compares.
func splitsOf(p *lossep.Problem, seed uint64) ([]compare.Split, error) {
	of, err := p.Folds(nil, parts, rand.New(rand.NewPCG(seed, 4)))
	if err != nil {
		return nil, err
	}
	splits := compare.Splits(of)
	if p.Len() > manyRows {
		splits = splits[:fewerParts]
	}
	return splits, nil
}

func options(kernel, positive string) lossep.Options {
	return lossep.Options{Data: recipe.Options{Target: "last", Positive: positive}, Kernel: kernel}
}

func read(ctx context.Context, name string) (*table.Table, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return table.Read(ctx, f, name, table.Format{})
}

// probabilities are those of the positive outcome.
func probabilities(fit *search.Fit, x *mat.Dense) []float64 {
	n, _ := x.Dims()
	mean, variance := make([]float64, n), make([]float64, n)
	infer.Gaussian{Gaussian: fit.EP.Q}.Moments(fit.Process.At(x), mean, variance)
	for i := range mean {
		mean[i] = normal.CDF(mean[i] / math.Sqrt(1+variance[i]))
	}
	return mean
}

func arePositive(labels []int) []bool {
	positive := make([]bool, len(labels))
	for i, y := range labels {
		positive[i] = y == 1
	}
	return positive
}

func rows(x *mat.Dense, which []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(which), d, nil)
	for k, i := range which {
		out.SetRow(k, x.RawRowView(i))
	}
	return out
}

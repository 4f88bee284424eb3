// Command gibbs compares what decisions cost by probabilities with what they cost by a generalised
// posterior (Bissiri, Holmes and Walker 2016), in which a row counts by the cost of deciding
// it wrongly and not by its likelihood: the term of a label is exp(−λ·cost)
// where f has the sign of the other one, so that the sign of f is the action itself.
//
//	go run -C docs/compare ./gibbs sonar.csv:M:1,2,3 ionosphere.csv:b:1,2,3
//
// The last column of a table is the outcome; its positive value and the seeds of the folds
// follow the name of the file. A miss costs 5 and a false alarm 1. Folds are those of lossep
// audit, and hyperparameters are found anew in each, for every λ.
package main

import (
	"context"
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

const (
	miss, alarm = 5.0, 1.0
	folds       = 10
	lambdas     = 6
)

// weights are what λ is chosen from. With 1 a row that is missed counts like an outcome of
// probability e⁻⁵, and a false alarm like one of e⁻¹.
var weights = [lambdas]float64{0.35, 0.5, 0.7, 1, 1.4, 2}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	fmt.Printf("%-12s %4s  %7s", "table", "seed", "probit")
	for _, w := range weights {
		fmt.Printf("  λ = %-4g", w)
	}
	fmt.Println("  λ by left-out cost  by its expectation   λ = 1 less probit   not settled")
	for _, arg := range os.Args[1:] {
		if err := run(ctx, arg); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// run measures a table under each of its seeds.
func run(ctx context.Context, arg string) error {
	words := strings.Split(arg, ":")
	if len(words) != 3 {
		return fmt.Errorf("%s: give the positive outcome and the seeds, as in sonar.csv:M:1,2,3", arg)
	}
	f, err := os.Open(words[0])
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := table.Read(ctx, f, words[0], table.Format{})
	if err != nil {
		return err
	}
	p, err := lossep.Prepare(t, lossep.Options{Data: recipe.Options{Target: "last", Positive: words[1]}, Kernel: "matern32 + constant"})
	if err != nil {
		return err
	}
	for _, text := range strings.Split(words[2], ",") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		// The folds of lossep audit.
		parts, err := p.Folds(nil, folds, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			return err
		}
		var s sums
		for _, split := range compare.Splits(parts) {
			if err := s.add(ctx, p, split, seed); err != nil {
				return err
			}
		}
		n := float64(p.Len())
		fmt.Printf("%-12s %4d  %7.3f", strings.TrimSuffix(filepath.Base(words[0]), ".csv"), seed, s.probit/n)
		for _, c := range s.gibbs {
			fmt.Printf("  %8.3f", c/n)
		}
		// The standard error is that of a mean over cases, each against itself.
		mean := s.less / n
		fmt.Printf("  %18.3f  %18.3f   %8.3f ± %.3f  %12d\n", s.chosen/n, s.smooth/n, mean, math.Sqrt((s.squares/n-mean*mean)/n), s.unsettled)
	}
	return nil
}

// sums are costs over the cases of all folds.
type sums struct {
	probit         float64
	gibbs          [lambdas]float64 // by each weight
	chosen, smooth float64          // by the weight of the least cost left out, and of its least expectation
	less, squares  float64          // what λ = 1 costs more than probit, and the square of that
	unsettled      int              // weights of a fold without a fit
}

func (s *sums) add(ctx context.Context, p *lossep.Problem, split compare.Split, seed uint64) error {
	x, at := rows(p.X, split.Train), rows(p.X, split.Test)
	find := func(term func(y int) factor.Factor) (*search.Fit, []float64, error) {
		terms := make([]factor.Factor, len(split.Train))
		for k, i := range split.Train {
			terms[k] = term(p.Labels[i])
		}
		fit, err := search.Optimise(ctx, p.Kernel, x, gp.Values{Factors: terms}, search.Options{Seed: seed, Tolerance: 0.05})
		if err != nil {
			return nil, nil, err
		}
		mean, variance := make([]float64, len(split.Test)), make([]float64, len(split.Test))
		infer.Gaussian{Gaussian: fit.EP.Q}.Moments(fit.Process.At(at), mean, variance)
		score := make([]float64, len(mean))
		for k := range mean {
			score[k] = mean[k] / math.Sqrt(1+variance[k])
		}
		return fit, score, nil
	}
	_, score, err := find(func(y int) factor.Factor { return factor.NewProbit(y) })
	if err != nil {
		return err
	}
	threshold := normal.Quantile(alarm / (alarm + miss))
	act := make([]bool, len(split.Test))
	for k, i := range split.Test {
		act[k] = score[k] > threshold
		s.probit += cost(p.Labels[i], act[k])
	}
	least, smoothest := math.Inf(1), math.Inf(1)
	var chosen, smooth []float64
	for w, weight := range weights {
		fit, score, err := find(func(y int) factor.Factor { return gibbs(weight, y) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.unsettled++
			s.gibbs[w] = math.NaN()
			continue
		}
		for k, i := range split.Test {
			c := cost(p.Labels[i], score[k] > 0)
			s.gibbs[w] += c
			if weight == 1 {
				d := c - cost(p.Labels[i], act[k])
				s.less += d
				s.squares += d * d
			}
		}
		// What a row would cost without itself: decided by the mean, and by a draw.
		leftOut, expected := 0.0, 0.0
		for k, i := range split.Train {
			c := fit.EP.Cavities[k]
			y := p.Labels[i]
			leftOut += cost(y, c.Mean() > 0)
			wrong := c.Mean()
			if y == 1 {
				wrong = -wrong
			}
			expected += cost(y, y == 0) * normal.CDF(wrong/math.Sqrt(c.Variance()))
		}
		if leftOut < least {
			least, chosen = leftOut, score
		}
		if expected < smoothest {
			smoothest, smooth = expected, score
		}
	}
	for k, i := range split.Test {
		s.chosen += cost(p.Labels[i], chosen[k] > 0)
		s.smooth += cost(p.Labels[i], smooth[k] > 0)
	}
	return nil
}

// gibbs is exp(−λ·cost), where f has the sign of the other outcome, and 1 where not.
func gibbs(weight float64, y int) factor.Factor {
	if y == 1 {
		return factor.Step{Below: math.Exp(-weight * miss), Above: 1}
	}
	return factor.Step{Below: 1, Above: math.Exp(-weight * alarm)}
}

// cost is that of acting, or not, on a case.
func cost(y int, act bool) float64 {
	switch {
	case y == 1 && !act:
		return miss
	case y == 0 && act:
		return alarm
	}
	return 0
}

func rows(x *mat.Dense, which []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(which), d, nil)
	for k, i := range which {
		out.SetRow(k, x.RawRowView(i))
	}
	return out
}

package numbers

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// searched is the problem of some of the rows as package search knows it, with terms that are some of all. Labels are numbers of rows.
func (p *Problem) searched(of *terms, rows []int) *search.Problem {
	return &search.Problem{
		X: gp.RowsOf(p.X, rows), Columns: p.columns(), Labels: rows, Weights: indices.Take(p.Weights, rows), Terms: of.some(rows),
		Predict: predictive{of, rows, lossep.Units(indices.Take(p.together, rows))}, Rows: dealt{p, of, rows},
		Seed: p.opt.Seed, Restarts: p.opt.Restarts, Progress: func(stage string, step int, value float64) { p.tell(stage, step, value) },
		Affords: p.affords,
	}
}

// columns are those of a row as kernels know them.
func (p *Problem) columns() kernel.Columns {
	return kernel.Columns{Numbers: p.coding.Numbers(), Codes: p.coding.Codes()}
}

// affords refuses a mixture of more posteriors than could be read again.
func (p *Problem) affords(parts int) error {
	if need := float64(parts) * posterior.FullBytes(p.Len(), p.coding.Len(), p.Len()); parts > 1 && need > float64(p.opt.MaxMemory) {
		return inputf("max memory", "a mixture of %d kernels takes %.2g GB of memory, more than %.2g GB; allow more, or name a kernel", parts, need/1e9, float64(p.opt.MaxMemory)/1e9)
	}
	return nil
}

// some are the terms of some of the rows.
func (t *terms) some(rows []int) *terms {
	return &terms{y: indices.Take(t.y, rows), weights: indices.Take(t.weights, rows), family: t.family, known: indices.Take(t.known, rows)}
}

// predictive implements search.Predictive for the terms of all rows. Fits know some of them, which are left out by units of these.
type predictive struct {
	of    *terms
	rows  []int
	units [][]int
}

func (l predictive) New(f *search.Fit, x *mat.Dense, rows []int) (_ [][]float64, logs []float64) {
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	infer.Gaussian{Gaussian: f.EP.Q}.Moments(f.Process.At(x), mean, variance)
	tuned := terms{y: l.of.y, family: l.of.family.With(f.Tuned), known: l.of.known}
	logs = make([]float64, len(rows))
	for k, i := range rows {
		logs[k], _, _ = tuned.Term(i).LogMean(mean[k], variance[k])
	}
	return nil, logs
}

func (l predictive) Without(f *search.Fit) []float64 {
	of := l.of.some(l.rows)
	_, logs, _ := of.with(of.family.With(f.Tuned)).without(context.Background(), f, l.units)
	logs = slices.Clone(logs)
	for i, l := range logs {
		if math.IsNaN(l) {
			logs[i] = math.Inf(-1)
		}
	}
	return logs
}

// Independent has no use: numbers have no probabilities.
func (predictive) Independent(_, _, _ []float64) {}

// dealt implements search.Rows for some of the rows of a problem.
type dealt struct {
	*Problem
	of   *terms
	rows []int
}

func (d dealt) Groups() []int                   { return indices.Take(d.together, d.rows) }
func (dealt) Classes() []int                    { return nil }
func (d dealt) Some(some []int) *search.Problem { return d.searched(d.of, indices.Take(d.rows, some)) }

// Folds implements search.Rows.
func (d dealt) Folds(groups []int, k int, rng *rand.Rand) ([][]int, error) {
	return deal(indices.Take(d.of.y, d.rows), groups, k, rng)
}

// kernels are fits of the full process, the one with the largest weight first: with the kernel that is given, or with the candidates,
// weighed by what they predict of rows that are left out.
func (p *Problem) kernels(ctx context.Context, m *Model, of *terms) (fits []*search.Fit, weights []float64, err error) {
	if text := p.opt.Kernel; text != "" && text != lossep.AutoKernel {
		k, err := p.parse(text)
		if err != nil {
			return nil, nil, err
		}
		o := search.Options{Seed: p.opt.Seed, Restarts: p.opt.Restarts, Progress: func(e search.Evaluation) {
			p.tell("searching for the kernel", e.Number, e.LogPosterior)
		}}
		if strings.Contains(text, "=") {
			o.Start = k.Params(nil)
		}
		fit, err := search.Optimise(ctx, k, p.X, of.some(indices.Of(p.Len())), o)
		if err != nil {
			return nil, nil, err
		}
		m.summary.Search = fit.Record()
		return []*search.Fit{fit}, []float64{1}, nil
	}
	mix, err := p.searched(of, indices.Of(p.Len())).Mix(ctx)
	if err != nil {
		return nil, nil, err
	}
	m.summary.Candidates = mix.Candidates
	order := heaviestFirst(mix.Weights)
	m.summary.Search = mix.Fits[order[0]].Record()
	return indices.Take(mix.Fits, order), indices.Take(mix.Weights, order), nil
}

// heaviestFirst are the places of weights, from the largest on.
func heaviestFirst(weights []float64) []int {
	order := indices.Of(len(weights))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(weights[j], weights[i]) })
	return order
}

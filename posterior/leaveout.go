package posterior

import (
	"context"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/pass"
)

// LeaveOut predicts training rows without them: the posterior without a row is q with that row's
// sites taken out (Vehtari, Mononen, Tolvanen, Sivula and Winther 2016).
type LeaveOut interface {
	// LeaveOut calls use for every training row with the probabilities of its outcomes by the
	// posterior without the row and the others of its unit, and with the logarithm of that of its
	// label, for several rows at a time. Rows of a unit are left out together; nil units stand for each row by
	// itself. It returns ErrImproper where there is no such posterior, or the error of the context.
	LeaveOut(ctx context.Context, labels []int, units [][]int, use func(i int, p []float64, logP float64)) error
}

// LeaveOut implements the interface.
func (p *Full) LeaveOut(ctx context.Context, labels []int, units [][]int, use func(i int, p []float64, logP float64)) error {
	return p.Cavities(ctx, units, func(i int, mean, variance float64) {
		q, logP := p.at(labels[i], mean, variance)
		use(i, q, logP)
	})
}

// Cavities calls use with the mean and variance of the latent value of every training row by q without the sites of its unit.
// Units and errors are those of LeaveOut.
func (p *Full) Cavities(ctx context.Context, units [][]int, use func(i int, mean, variance float64)) error {
	if units != nil {
		return CavitiesOf(ctx, p.process.LeaveOut(p.q, p.sites), units, use)
	}
	views := p.process.Views()
	mean, variance := make([]float64, views.Len()), make([]float64, views.Len())
	p.q.Marginals(views, mean, variance, new(gauss.Workspace))
	for i, site := range p.sites {
		cavity := gauss.ScalarFromMoments(mean[i], variance[i]).Over(site)
		if !cavity.Proper() {
			return ErrImproper
		}
		use(i, cavity.Mean()+views.Offset(i), cavity.Variance()+views.Residual(i))
	}
	return ctx.Err()
}

// CavitiesOf calls use with the moments of the one latent value of every row of units without the sites of all of its unit.
func CavitiesOf(ctx context.Context, out *gp.LeaveOut, units [][]int, use func(i int, mean, variance float64)) error {
	for _, unit := range units {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !out.Cases(unit, func(i int, mean []float64, cov *mat.SymDense) { use(i, mean[0], cov.At(0, 0)) }) {
			return ErrImproper
		}
	}
	return nil
}

// at is what the likelihood makes of a Gaussian value, and the logarithm for a label.
func (p *one) at(label int, mean, variance float64) (q []float64, logP float64) {
	q = make([]float64, p.likelihood.Len())
	p.likelihood.Gaussian(q, mean, variance)
	logP, _, _ = p.likelihood.Log(label, mean, variance)
	return q, logP
}

// LeaveOut implements the interface.
func (p *Joint) LeaveOut(ctx context.Context, labels []int, units [][]int, use func(i int, p []float64, logP float64)) error {
	all := Without(ctx, p.process.LeaveOut(p.q, p.sites), p.likelihood, labels, units)
	if err := ctx.Err(); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(q []float64) bool { return q == nil }) {
		return ErrImproper
	}
	for i, q := range all {
		use(i, q, Log(q[labels[i]]))
	}
	return nil
}

// Without are the probabilities of the outcomes of every training row without its unit, nil where
// there is no posterior without it, or the context ends first: all sites of a unit are taken out
// together. The views of a row are then those of f_y − f_j + u, with which u ~ N(0, 1) and the
// noise of j the differences of the outcome's function to each of the others are seen.
func Without(ctx context.Context, out *gp.LeaveOut, l Several, labels []int, units [][]int) [][]float64 {
	if units == nil {
		for i := range labels {
			units = append(units, []int{i})
		}
	}
	all := make([][]float64, len(labels))
	tasks.For(len(units), func(u int) {
		if ctx.Err() != nil {
			return
		}
		out.Cases(units[u], func(i int, mean []float64, cov *mat.SymDense) {
			p := make([]float64, l.Len())
			if l.Versus(p, labels[i], mean, cov); finite.All(p...) {
				all[i] = p
			}
		})
	})
	return all
}

// LeaveOut implements the interface by the mixture of what the parts predict without a row; the
// weights stay.
func (m *Mixture) LeaveOut(ctx context.Context, labels []int, units [][]int, use func(i int, p []float64, logP float64)) error {
	all := make([][]float64, len(labels))
	for _, part := range m.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := part.Posterior.(LeaveOut).LeaveOut(ctx, labels, units, func(i int, p []float64, _ float64) {
			if all[i] == nil {
				all[i] = make([]float64, len(p))
			}
			floats.AddScaled(all[i], part.Weight, p)
		})
		if err != nil {
			return err
		}
	}
	for i, q := range all {
		use(i, q, Log(q[labels[i]]))
	}
	return nil
}

// Passes leave out single rows of a posterior with inducing points, by a pass over all of them:
// nobody keeps what that takes.
type Passes struct {
	Engine gp.Engine // with the sites of the posterior
	Rule   infer.Rule
	Of     ByPasses
	// Without, if set, is what leaving a row out changes about the effects on a function there.
	Without func(row, function int) effects.Moment
}

// ByPasses is a posterior whose rows can be left out by Passes.
type ByPasses interface {
	State() State
	// left makes probabilities of moments without a row.
	left(label int, mean, variance []float64) (p []float64, logP float64, ok bool)
}

// LeaveOut implements the interface, whatever the units.
func (p Passes) LeaveOut(ctx context.Context, labels []int, _ [][]int, use func(i int, p []float64, logP float64)) error {
	functions := p.Of.State().Functions
	k := len(functions)
	var improper atomic.Bool
	see := func(first int, mean, variance []float64) {
		n := len(mean) / k
		tasks.For((n+leftTask-1)/leftTask, func(task int) {
			for j := task * leftTask; j < min((task+1)*leftTask, n); j++ {
				q, logP, ok := p.row(first+j, labels[first+j], mean[j*k:(j+1)*k], variance[j*k:(j+1)*k])
				if !ok {
					improper.Store(true)
					return
				}
				use(first+j, q, logP)
			}
		})
	}
	if _, err := p.Engine.Look(ctx, functions.Naturals(), pass.Options{Rule: p.Rule}, see); err != nil {
		return err
	}
	if improper.Load() {
		return ErrImproper
	}
	return nil
}

// leftTask is the number of rows left out that are predicted by one task.
const leftTask = 64

// row predicts a row by the moments without it, which it changes.
func (p Passes) row(row, label int, mean, variance []float64) (q []float64, logP float64, ok bool) {
	if p.Without != nil {
		for c := range mean {
			change := p.Without(row, c)
			mean[c] += change.Mean
			variance[c] += change.Variance
		}
	}
	return p.Of.left(label, mean, variance)
}

func (p *Inducing) left(label int, mean, variance []float64) (q []float64, logP float64, ok bool) {
	q, logP = p.at(label, mean[0], variance[0])
	return q, logP, variance[0] >= 0
}

func (p *Independent) left(label int, mean, variance []float64) (q []float64, logP float64, ok bool) {
	q = make([]float64, len(p.q))
	p.likelihood.Independent(q, mean, variance)
	return q, Log(q[label]), finite.All(q...)
}

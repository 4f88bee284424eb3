package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/search"
)

// setting is a kind of random problem: columns, and what a missed positive costs when a
// false alarm costs one.
type setting struct {
	columns  int
	miss     float64
	datasets int
}

// boundary asks whether inducing points should be where decisions are close, and whether
// a calibrated method makes better use of few: the normalised regret against the full
// process, over problems drawn from the process itself.
func boundary(ctx context.Context) error {
	figure := report.Lines{X: report.Axis{Label: "Inducing points", Log: true}, Y: report.Axis{Label: "Normalised regret"}}
	fmt.Println("columns  threshold  points   plain EP  curvature EP  boundary EP   boundary better in   curvature Loss-EP  boundary Loss-EP")
	for kind, s := range []setting{{2, 5, 8}, {4, 20, 6}} {
		series := make([]report.Series, 3)
		for w, label := range []string{"plain", "curvature", "boundary"} {
			series[w] = report.Series{Method: methods[3*kind+w], Label: fmt.Sprintf("%s, %d columns", label, s.columns)}
		}
		for _, points := range []int{5, 10, 20, 40, 80, 200} {
			var ep, loss [3]float64
			better := 0
			for seed := range s.datasets {
				d, err := s.draw(ctx, uint64(seed))
				if err != nil {
					return err
				}
				var own [3]float64
				for w := range 3 {
					a, b, err := d.regrets(ctx, points, w)
					if err != nil {
						return err
					}
					own[w] = a
					ep[w] += a / float64(s.datasets)
					loss[w] += b / float64(s.datasets)
				}
				if own[2] < own[1] {
					better++
				}
			}
			fmt.Printf("%7d  1/%-7.0f  %6d   %.5f   %.5f       %.5f       %d of %d               %.5f            %.5f\n", s.columns, 1+s.miss, points, ep[0], ep[1], ep[2], better, s.datasets, loss[1], loss[2])
			for w := range 3 {
				series[w].X, series[w].Y = append(series[w].X, float64(points)), append(series[w].Y, ep[w])
			}
		}
		figure.Series = append(figure.Series, series...)
	}
	return draw("inducing-boundary.svg", figure)
}

// drawn is a random problem with what the full process says of other rows.
type drawn struct {
	setting
	kernel kernel.Kernel
	x, at  *mat.Dense
	y      labels
	full   []float64
}

// draw draws the values of a process at 600 rows, 400 of them with labels, and finds what
// the full process makes of these.
func (s setting) draw(ctx context.Context, seed uint64) (*drawn, error) {
	const rows, others = 400, 200
	rng := rand.New(rand.NewPCG(seed, uint64(s.columns)))
	d := &drawn{setting: s, kernel: kernel.Matern32(6, 0.35*math.Sqrt(float64(s.columns)))}
	all := mat.NewDense(rows+others, s.columns, nil)
	for i := range rows + others {
		for k := range s.columns {
			all.Set(i, k, 2*rng.Float64()-1)
		}
	}
	prior, err := gp.New(d.kernel, all)
	if err != nil {
		return nil, err
	}
	v := make([]float64, rows+others)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	views, terms := prior.Views(), make([]factor.Factor, rows)
	for i := range rows {
		f := rng.NormFloat64()
		for k, a := range views.Row(i) {
			f += a * v[k]
		}
		d.y = append(d.y, 0)
		if f > 0 {
			d.y[i] = 1
		}
		terms[i] = d.y.Term(i)
	}
	d.x, d.at = all.Slice(0, rows, 0, s.columns).(*mat.Dense), all.Slice(rows, rows+others, 0, s.columns).(*mat.Dense)
	process, err := gp.New(d.kernel, d.x)
	if err != nil {
		return nil, err
	}
	ep, err := infer.EP{Schedule: infer.Parallel}.Fit(ctx, &infer.Model{Views: process.Views(), Terms: terms})
	if err != nil {
		return nil, err
	}
	d.full = make([]float64, others)
	infer.Gaussian{Gaussian: ep.Q}.Expect(process.At(d.at), factor.NewProbit(1), d.full, make([]float64, others))
	return d, nil
}

// regrets are those of EP and of Loss-EP with so many points, chosen without weights (0),
// by the curvature of the terms (1), or by how near rows are to the boundary as well (2).
func (d *drawn) regrets(ctx context.Context, points, weights int) (ep, loss float64, err error) {
	o := search.InduceOptions{Options: search.Options{Seed: 1}, Fixed: true, Points: points, Memory: 1 << 26}
	at := normal.Quantile(1 / (1 + d.miss))
	switch weights {
	case 0:
		o.Weights = func(_, _ float64) float64 { return 1 }
	case 2:
		o.Weights = func(mean, variance float64) float64 {
			z := (mean - at*math.Sqrt(1+variance)) / math.Sqrt(variance+0.1)
			return math.Exp(-0.5*z*z) + 0.02
		}
	}
	found, err := search.Induce(ctx, d.kernel, d.x, d.y, o)
	if err != nil {
		return 0, 0, err
	}
	ep = d.regret(found.Result.Q[0], found.Process.At(d.at))
	u, err := decision.NewUtility(decision.Probit(), len(d.y), nil, decision.Table{{d.miss, 0}, {d.miss - 1, d.miss}})
	if err != nil {
		return 0, 0, err
	}
	r, err := pass.Calibrate(ctx, found.Engine, u, found.Process.At(d.x), pass.Settings{Warm: true, Tolerance: 1e-5})
	if err != nil {
		return 0, 0, err
	}
	return ep, d.regret(r.Q[0], found.Process.At(d.at)), nil
}

// regret is what actions by q cost beyond those by the full process, by whose
// probabilities costs are counted, as a part of what the worst actions would.
func (d *drawn) regret(q *gauss.Gaussian, views *gauss.Views) float64 {
	p := make([]float64, len(d.full))
	infer.Gaussian{Gaussian: q}.Expect(views, factor.NewProbit(1), p, make([]float64, len(p)))
	lost, worst := 0.0, 0.0
	for i, truth := range d.full {
		stake := math.Abs(d.miss*truth - (1 - truth))
		worst += stake
		if (d.miss*truth > 1-truth) != (d.miss*p[i] > 1-p[i]) {
			lost += stake
		}
	}
	return lost / worst
}

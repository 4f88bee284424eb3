package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/search"
)

// Recalibration is a way to mend probabilities by what happened to other cases with
// probabilities like them.
type Recalibration string

// Ways to recalibrate.
const (
	// Isotonic takes the frequencies that increase with the probability and are nearest
	// to what was observed (Zadrozny and Elkan 2002).
	Isotonic Recalibration = "isotonic"
	// Platt shifts and scales the log odds (Platt 1999).
	Platt Recalibration = "platt"
	// Process is a Gaussian process over the probability alone.
	Process Recalibration = "gp"
)

// Recalibrations lists the ways to recalibrate.
func Recalibrations() []Recalibration { return []Recalibration{Isotonic, Platt, Process} }

// recalibrate learns from cases with probabilities p and outcomes y, each of some
// weight, and mends the probabilities of others.
func (r Recalibration) recalibrate(ctx context.Context, p []float64, y []int, weight, others []float64, seed uint64) ([]float64, error) {
	switch r {
	case Isotonic:
		return isotonic(p, y, weight, others), nil
	case Platt:
		return platt(p, y, weight, others), nil
	}
	mended, err := process(ctx, p, y, weight, others, seed)
	if err != nil {
		return nil, fmt.Errorf("recalibration by a Gaussian process: %w", err)
	}
	return mended, nil
}

// isotonic pools adjacent violators: cases in order of p form blocks with one frequency
// each, and a block joins the one before as long as it is not above it. Half a positive
// case stands below all and half a negative one above, without which the frequencies
// would end at 0 and 1, as if no mistake could be made there. Between the cases learned
// from, frequencies are interpolated.
func isotonic(p []float64, y []int, weight, others []float64) []float64 {
	type block struct{ sum, weight, from, to float64 }
	order := indices.Of(len(p))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	const half = 0.5
	blocks := []block{{half, half, 0, 0}}
	join := func(b block) {
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum*b.weight < b.sum*last.weight && last.to < b.from {
				break
			}
			b = block{last.sum + b.sum, last.weight + b.weight, last.from, b.to}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for _, i := range order {
		join(block{weight[i] * float64(y[i]), weight[i], p[i], p[i]})
	}
	join(block{0, half, 1, 1})
	mended := make([]float64, len(others))
	for k, q := range others {
		next := slices.IndexFunc(blocks, func(b block) bool { return q <= b.to })
		if next < 0 { // above 1 by rounding
			next = len(blocks) - 1
		}
		b := blocks[next]
		mended[k] = b.sum / b.weight
		if q < b.from && next > 0 {
			before := blocks[next-1]
			t := (q - before.to) / (b.from - before.to)
			mended[k] = (1-t)*before.sum/before.weight + t*b.sum/b.weight
		}
	}
	return mended
}

// farthest is how far from 0 a latent value is taken to be: a probability of 0 has none.
const farthest = 8

// odds are log odds, and latent the standardised latent mean, of a probability.
func odds(p float64) float64 {
	return min(max(math.Log(p)-math.Log1p(-p), -farthest*2), farthest*2)
}

func latent(p float64) float64 { return min(max(normal.Quantile(p), -farthest), farthest) }

// platt fits P = 1/(1 + exp(−a − b·odds)) by Newton's method. The targets are not 0 and 1
// but (n₋+1)⁻¹ and 1 − (n₊+1)⁻¹ to first order, as Platt has them: the posterior means
// of a uniform prior, which keep a and b finite.
func platt(p []float64, y []int, weight, others []float64) []float64 {
	var count [2]float64
	for i, label := range y {
		count[label] += weight[i]
	}
	target := [2]float64{1 / (count[0] + 2), (count[1] + 1) / (count[1] + 2)}
	loss := func(a, b float64) float64 {
		sum := 0.0
		for i, q := range p {
			f := a + b*odds(q)
			// −t·log P − (1−t)·log(1−P), without overflow.
			sum += weight[i] * (max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))) - target[y[i]]*f)
		}
		return sum
	}
	a, b := 0.0, 1.0
	at := loss(a, b)
	for range 100 {
		var ga, gb, haa, hab, hbb float64
		for i, q := range p {
			z := odds(q)
			s := 1 / (1 + math.Exp(-a-b*z))
			d, h := weight[i]*(s-target[y[i]]), weight[i]*s*(1-s)
			ga, gb = ga+d, gb+d*z
			haa, hab, hbb = haa+h, hab+h*z, hbb+h*z*z
		}
		ridge := 1e-9 * (haa + hbb) // for probabilities that are all the same
		haa, hbb = haa+ridge, hbb+ridge
		det := haa*hbb - hab*hab
		da, db := (hbb*ga-hab*gb)/det, (haa*gb-hab*ga)/det
		step := 1.0
		for ; step > 1e-6 && !(loss(a-step*da, b-step*db) <= at); step /= 2 {
		}
		a, b = a-step*da, b-step*db
		now := loss(a, b)
		if at-now <= 1e-12*at {
			break
		}
		at = now
	}
	mended := make([]float64, len(others))
	for k, q := range others {
		mended[k] = 1 / (1 + math.Exp(-a-b*odds(q)))
	}
	return mended
}

const (
	// processKernel follows the latent value of the probability in a line, and departs from
	// it where the cases say so.
	processKernel = "linear + rbf + constant"
	// processRows is the most cases that the process learns from; of more it takes a
	// sample. A curve in one dimension does not take more.
	processRows = 600
)

// process is expectation propagation on the latent values of the probabilities, in which a case
// of weight w counts w times.
func process(ctx context.Context, p []float64, y []int, weight, others []float64, seed uint64) ([]float64, error) {
	order := indices.Of(len(p)) // that does not depend on how cases stand
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(p[i], p[j]), cmp.Compare(y[i], y[j]), cmp.Compare(weight[i], weight[j]))
	})
	rows := rand.New(rand.NewPCG(seed, 2)).Perm(len(p))
	rows = rows[:min(len(rows), processRows)]
	slices.Sort(rows)
	for k, place := range rows {
		rows[k] = order[place]
	}
	x := mat.NewDense(len(rows), 1, nil)
	terms, counts := make([]factor.Factor, len(rows)), make([]float64, len(rows))
	for k, i := range rows {
		x.Set(k, 0, latent(p[i]))
		terms[k] = factor.NewProbit(y[i])
		counts[k] = weight[i]
	}
	k, err := kernel.Parse(processKernel, 1)
	if err != nil {
		return nil, err
	}
	fit, err := search.Optimise(ctx, k, x, gp.Values{Factors: terms, Counts: counts}, search.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	z := mat.NewDense(len(others), 1, nil)
	for k, q := range others {
		z.Set(k, 0, latent(q))
	}
	views := fit.Process.At(z)
	mended, stdErrs := make([]float64, len(others)), make([]float64, len(others))
	decision.Probit().Probabilities(infer.Gaussian{Gaussian: fit.EP.Q}, views, mended, stdErrs)
	return mended, nil
}

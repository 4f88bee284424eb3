package lossep

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/orthant"
)

// newOpinion is that of a Gaussian, which the sites make unless calibration adds to them. It is
// of no use when the context ends.
func (m *Model) newOpinion(ctx context.Context, method Method, q *gauss.Gaussian, sites []gauss.Scalar, calibration *gauss.Natural) opinion {
	o := opinion{method: method, q: q, posterior: infer.Gaussian{Gaussian: q}}
	switch {
	case calibration != nil:
	case several(m.recipe):
		if p, ok := m.full.OutcomesPredictor(ctx, sites); ok {
			o.outcomes = p
		}
	default:
		if p, ok := m.full.Predictor(ctx, sites); ok {
			o.predictor = p
		}
	}
	return o
}

// predict is the moments of the latent values at encoded rows, and the
// probabilities of the outcomes, which are NaN where the moments are not finite.
func (o *opinion) predict(m *Model, x *mat.Dense) []Prediction {
	out := o.plain(m, x)
	for _, p := range out {
		m.adjust(p.Probabilities)
	}
	return out
}

// plain is predict by the posterior, for cases like the training rows.
func (o *opinion) plain(m *Model, x *mat.Dense) []Prediction {
	if o.parts != nil {
		return mix(o.parts, x)
	}
	if several(m.recipe) {
		return o.predictSeveral(m, x)
	}
	n, _ := x.Dims()
	out, p := make([]Prediction, n), newTuples(n, 2)
	outcome := m.likelihood.outcome()
	if o.predictor != nil {
		mean, variance := make([]float64, n), make([]float64, n)
		o.predictor.Moments(x, mean, variance)
		for i := range out {
			p[i][0], p[i][1] = probabilities(outcome, mean[i], variance[i])
			out[i] = Prediction{mean[i], variance[i], p[i]}
		}
		return out
	}
	if o.joint != nil && o.joint() != nil {
		o.correct(outcome, x, func(i int, mean, variance float64, pair []float64) {
			copy(p[i], pair)
			out[i] = Prediction{mean, variance, p[i]}
		})
		return out
	}
	// Rows are asked about one by one, because what the products of larger matrices round
	// to depends on their shape.
	tasks.For(n, func(i int) {
		views := m.process.At(rowsOf(x, []int{i}))
		var mean, variance [1]float64
		o.posterior.Moments(views, mean[:], variance[:])
		if _, ok := o.posterior.(infer.Gaussian); ok {
			p[i][0], p[i][1] = probabilities(outcome, mean[0], variance[0])
		} else {
			outcome.Pair(o.posterior, views, p[i])
		}
		out[i] = Prediction{mean[0], variance[0], p[i]}
	})
	return out
}

// correct calls use with the moments and the probabilities of the outcomes at every row by
// the corrected marginals, from several goroutines at once.
func (o *opinion) correct(outcome decision.Outcome, x *mat.Dense, use func(i int, mean, variance float64, pair []float64)) {
	posterior := o.posterior.(*corrected.Posterior)
	o.joint().Moments(x, func(first int, mean, variance []float64, cov *mat.Dense) {
		var pair [2]float64
		posterior.Marginals(mean, variance, cov, func(k int, m corrected.Marginal) {
			outcome.Expected(m, pair[:])
			mean, variance := m.Moments()
			use(first+k, mean, variance, pair[:])
		})
	})
}

// adjust makes the probabilities of the posterior those that decisions are made by.
func (m *Model) adjust(p []float64) {
	sharpen(p, m.summary.Sharpness)
	shift(&m.recipe.Target, p)
}

// probabilities are those of the outcomes when the latent value is N(mean, variance), and
// NaN if that is no distribution.
func probabilities(o decision.Outcome, mean, variance float64) (p0, p1 float64) {
	if !finite.All(mean, variance) {
		return math.NaN(), math.NaN()
	}
	return o.Probability(mean, variance)
}

// newTuples are n times so many numbers.
func newTuples(n, size int) [][]float64 {
	numbers, tuples := make([]float64, size*n), make([][]float64, n)
	for i := range tuples {
		tuples[i] = numbers[size*i : size*(i+1) : size*(i+1)]
	}
	return tuples
}

// probabilities are those of predict alone.
func (o *opinion) probabilities(m *Model, x *mat.Dense) [][]float64 {
	out := o.plainProbabilities(m, x)
	for _, p := range out {
		m.adjust(p)
	}
	return out
}

// plainProbabilities are those of plain alone.
func (o *opinion) plainProbabilities(m *Model, x *mat.Dense) [][]float64 {
	if o.parts != nil {
		return mixProbabilities(o.parts, x)
	}
	n, _ := x.Dims()
	out := newTuples(n, m.number())
	if _, ok := o.posterior.(infer.Gaussian); ok || o.apart != nil || o.joint != nil && o.joint() != nil {
		for i, p := range o.plain(m, x) {
			out[i] = p.Probabilities
		}
		return out
	}
	tasks.For(n, func(i int) {
		m.likelihood.outcome().Pair(o.posterior, m.process.At(rowsOf(x, []int{i})), out[i])
	})
	return out
}

// predictSeveral is predict for more than two outcomes.
func (o *opinion) predictSeveral(m *Model, x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	number := len(m.recipe.Target.Outcomes)
	out, all := make([]Prediction, n), newTuples(n, number)
	ask := func(i int, mean []float64, cov *mat.SymDense) {
		outcomeProbabilities(all[i], mean, cov)
		out[i] = Prediction{Probabilities: all[i]}
	}
	if o.apart != nil {
		o.momentsApart(m, x, func(i int, mean, variance []float64) {
			probabilitiesApart(all[i], mean, variance)
			out[i] = Prediction{Probabilities: all[i]}
		})
		return out
	}
	if o.outcomes != nil {
		o.outcomes.Moments(x, ask)
		return out
	}
	tasks.For(n, func(i int) {
		mean, cov := m.full.OutcomesAt(o.q, x.RawRowView(i))
		ask(i, mean, cov)
	})
	return out
}

// apartRows is the most rows whose moments are held at a time.
const apartRows = 4096

// momentsApart calls use with the means and variances of the functions of all outcomes at every
// row, from several goroutines.
func (o *opinion) momentsApart(m *Model, x *mat.Dense, use func(i int, mean, variance []float64)) {
	n, d := x.Dims()
	k := len(o.apart)
	if o.apartPredictors == nil {
		// One by one, as in plain.
		tasks.For(n, func(i int) {
			views := m.process.At(rowsOf(x, []int{i}))
			mean, variance := make([]float64, k), make([]float64, k)
			for c, q := range o.apart {
				q.Predict(views, mean[c:c+1], variance[c:c+1], new(gauss.Workspace))
			}
			use(i, mean, variance)
		})
		return
	}
	mean, variance := newTuples(k, min(n, apartRows)), newTuples(k, min(n, apartRows))
	for from := 0; from < n; from += apartRows {
		to := min(from+apartRows, n)
		o.apartPredictors.Moments(x.Slice(from, to, 0, d).(*mat.Dense), mean, variance)
		const chunk = 64
		tasks.For((to-from+chunk-1)/chunk, func(task int) {
			values := newTuples(2, k)
			for i := task * chunk; i < min((task+1)*chunk, to-from); i++ {
				for c := range k {
					values[0][c], values[1][c] = mean[c][i], variance[c][i]
				}
				use(from+i, values[0], values[1])
			}
		})
	}
}

// probabilitiesApart writes how probable each of the outcomes is where their functions are
// independent; NaN if that is no distribution.
func probabilitiesApart(p, mean, variance []float64) {
	for c, v := range variance {
		if !(v >= 0) {
			p[c] = math.NaN()
			mean[c] = math.NaN()
		}
	}
	factor.OutcomeProbabilities(p, mean, variance)
}

// mix is the moments and probabilities of the mixture: its density of the latent value is
// the weighted sum of those of its parts.
func mix(parts []mixedPart, x *mat.Dense) []Prediction {
	n, _ := x.Dims()
	out, all, sofar := make([]Prediction, n), newTuples(n, parts[0].model.number()), 0.0
	for _, part := range parts {
		share := part.weight / (sofar + part.weight)
		for i, p := range part.opinion.plain(part.model, x) {
			o := &out[i]
			// The moments so far, about the mean so far, so that nothing large is subtracted.
			step := p.Mean - o.Mean
			o.Mean += share * step
			o.Variance += share * (p.Variance - o.Variance + (1-share)*step*step)
			floats.AddScaled(all[i], part.weight, p.Probabilities)
		}
		sofar += part.weight
	}
	for i := range out {
		out[i].Probabilities = atMostOne(all[i])
	}
	return out
}

// atMostOne takes back what rounding adds to means of probabilities that are one, or nearly so.
func atMostOne(p []float64) []float64 {
	for c, x := range p {
		p[c] = min(1, x) // NaN stays
	}
	return p
}

// number is how many outcomes there are.
func (m *Model) number() int { return len(m.recipe.Target.Outcomes) }

// mixProbabilities is the probabilities of mix alone.
func mixProbabilities(parts []mixedPart, x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := newTuples(n, parts[0].model.number())
	for _, part := range parts {
		for i, p := range part.opinion.plainProbabilities(part.model, x) {
			floats.AddScaled(out[i], part.weight, p)
		}
	}
	for _, p := range out {
		atMostOne(p)
	}
	return out
}

// outcomeProbabilities writes how probable each of the outcomes is where their functions
// have this mean and covariance; NaN if that is no distribution. The covariance gets the
// noise of the outcomes.
func outcomeProbabilities(p, mean []float64, cov *mat.SymDense) {
	for c := range p {
		cov.SetSym(c, c, 1+cov.At(c, c))
		p[c] = math.NaN()
	}
	if finite.All(mean...) {
		orthant.NewLargest(len(p)).Probabilities(p, mean, cov)
	}
	for c, x := range p {
		p[c] = min(1, max(0, x)) // rounding; NaN stays
	}
}

package numbers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
)

// Noise that depends on columns. Where rows are left out, a residual over its standard deviation has the square S,
// and with the precision e^g times what it should be the density e^(g/2 − Se^g/2): as a function of g that of a
// Poisson count of one half whose mean is e^(g + log(S/2)). So effects of groups on g are found as those on
// outcomes are.

// precisions are the terms of squared residuals, each of which counts so often.
type precisions struct{ squares, counts []float64 }

func (p precisions) Len() int            { return len(p.squares) }
func (p precisions) Count(i int) float64 { return p.counts[i] }
func (p precisions) Term(i int) factor.Factor {
	return shifted{factor.Poisson{Y: 0.5}, math.Log(p.squares[i] / 2)}
}

// Bounds of squares: one of an outcome that is met exactly says no more than a thousandth of a standard deviation,
// and one of an outlier no more than six of them. No residual is farther out than so many standard deviations.
const (
	farthest    = 20
	leastSquare = 1e-6
	mostSquare  = 36
)

// uneven is in what noise differs from a normal distribution that all rows share.
type uneven struct {
	spread effects.Set // of the logarithm of its precision
	tails  []Part      // mixture of normals that a residual over its standard deviation has, nil for one
}

// residual is what is left of a row that is left out: the difference to its mean, the variance of that and the noise of all rows,
// and how often the row counts.
type residual struct {
	row                        []float64
	off, variance, even, count float64
}

// standard is the residual over its standard deviation, given how many times as large the variance of its noise is.
func (r residual) standard(excess float64) float64 {
	return max(-farthest, min(farthest, r.off/r.sd(excess)))
}

func (r residual) sd(excess float64) float64 { return math.Sqrt(r.variance + r.even*excess) }

// noiseRows is the least rows that noise is compared by: half of them tell no less than one group from another. mixtureRows is the
// most that tails are found from.
const (
	noiseRows   = 20
	mixtureRows = 30_000
)

// residuals are what is left of rows that are left out; nil if their noise is not normal, or known, or if nothing is known of some
// without them.
func (s sampled) residuals(of *terms, left []gauss.Scalar) []residual {
	family, ok := of.family.(normalNoise)
	if !ok {
		return nil
	}
	all := make([]residual, of.Len())
	for i, c := range left {
		if !c.Proper() {
			return nil
		}
		all[i] = residual{s.x.RawRowView(i), of.y[i] - c.Mean(), c.Variance(), family.variance, of.Count(i)}
	}
	return all
}

// noise finds in what noise is uneven, as far as rows that it is not found from become more probable with it: by three nats at
// least. Tails and groups are found in turn, as few outliers would make a group look wide.
func (s sampled) noise(ctx context.Context, of *terms, t *Transform, left []gauss.Scalar) (uneven, error) {
	steps := 2
	if t.Name == "log" { // nothing would be left of the mean of an amount whose logarithm has long tails
		steps = 1
	}
	found, _, err := s.noiseBySteps(ctx, s.residuals(of, left), steps)
	return found, err
}

// noiseBySteps is noise by at most so many steps, and by how many nats it makes the half of the rows more probable that it was not
// found from.
func (s sampled) noiseBySteps(ctx context.Context, all []residual, steps int) (found uneven, gain float64, err error) {
	if len(all) < noiseRows {
		return found, 0, nil
	}
	order := rand.New(rand.NewPCG(s.seed, 6)).Perm(len(all))
	if s.order != nil {
		order = indices.Take(s.order, order)
	}
	half, rest := s.halves(order)
	even := uneven{}.logDensities(all, rest)
	tried, err := s.steps(ctx, half, all, steps)
	best := 0
	for k, u := range tried {
		if v := u.logDensities(all, rest) - even; v > gain+worthwhile {
			best, gain = k+1, v
		}
	}
	if err != nil || best == 0 {
		return found, gain, err
	}
	if tried, err = s.steps(ctx, order, all, best); len(tried) == 0 {
		return found, 0, err
	}
	if last := tried[len(tried)-1]; last.logDensities(all, order) > (uneven{}).logDensities(all, order) {
		return last, gain, err
	}
	return found, 0, err
}

// halves are those of an order, neither of which has only some of the rows that belong together.
func (s sampled) halves(order []int) (half, rest []int) {
	if s.together == nil {
		return order[:len(order)/2], order[len(order)/2:]
	}
	to := make(map[int]*[]int)
	for _, i := range order {
		g := s.together[i]
		if to[g] == nil {
			if to[g] = &half; len(half) > len(rest) {
				to[g] = &rest
			}
		}
		*to[g] = append(*to[g], i)
	}
	return half, rest
}

// steps are what is found by groups alone, and then by tails and groups in turn. There is less of it where the groups of noise
// diverge.
func (s sampled) steps(ctx context.Context, rows []int, all []residual, steps int) (found []uneven, err error) {
	some := indices.Take(all, rows[:min(len(rows), mixtureRows)])
	var last uneven
	for len(found) < steps {
		groups, err := s.groups(ctx, rows, all, last)
		if errors.Is(err, effects.ErrNotFinite) {
			break
		} else if err != nil {
			return nil, err
		}
		next := uneven{spread: groups}
		last = uneven{groups, mixture(next.standard(some), some)}
		if found = append(found, next); len(found) > 1 {
			found[len(found)-1] = last
		}
	}
	return found, nil
}

// groups finds groups whose noise is larger or smaller than that of all, given what is known of the noise so far: with tails
// a residual counts as far as the normals say that it may be of. Of noise alone squares are those expected given the residual, which
// is noise for a share of its variance: E-step of expectation and maximisation. So an outcome that is met exactly says no more than
// what is known of the latent value without it.
func (s sampled) groups(ctx context.Context, rows []int, all []residual, known uneven) (effects.Set, error) {
	squares, counts := make([]float64, len(rows)), make([]float64, len(rows))
	for k, i := range rows {
		size := excess(known.spread, all[i].row)
		square := effectiveSquare(known.parts(), all[i].standard(size))
		if s.alone {
			share := all[i].even * size / (all[i].variance + all[i].even*size)
			square = share*square + 1 - share
		}
		squares[k], counts[k] = max(leastSquare, min(mostSquare, size*square)), all[i].count
	}
	x := gp.RowsOf(s.x, rows)
	fit := effects.NewFit(effects.NewTable(x, s.codes), effects.NewInMemory(x, precisions{squares, counts}, 0))
	fit.Stride = 1
	if err := fit.Add(ctx, effects.Family{}, 1); err != nil { // of all rows
		return nil, err
	}
	choice := effects.DefaultChoice()
	choice.Parts = 2
	err := fit.Choose(ctx, choice)
	return fit.Effects(), err
}

// standard are residuals over what their standard deviations are by groups.
func (u uneven) standard(all []residual) []float64 {
	z := make([]float64, len(all))
	for i, r := range all {
		z[i] = r.standard(excess(u.spread, r.row))
	}
	return z
}

// logDensities add up those of some residuals, by how often they count.
func (u uneven) logDensities(all []residual, rows []int) (sum float64) {
	for _, i := range rows {
		sum += all[i].count * u.logDensity(all[i])
	}
	return sum
}

// logDensity is that of a residual.
func (u uneven) logDensity(r residual) float64 {
	size := excess(u.spread, r.row)
	p, _ := responsibilities(u.parts(), r.standard(size), nil)
	return math.Log(p) - math.Log(r.sd(size))
}

// parts are the normals that a residual over its standard deviation has.
func (u uneven) parts() []Part {
	if u.tails == nil {
		return []Part{{1, 0, 1}}
	}
	return u.tails
}

// excess is how many times as large the variance of the noise of a row is expected to be as that of all.
func excess(set effects.Set, row []float64) float64 {
	if len(set) == 0 {
		return 1
	}
	g := set.At(row, 0)
	return math.Exp(max(leastExcess, min(mostExcess, g.Variance/2-g.Mean)))
}

// Bounds of the logarithm of excess. The squares that it is learnt from are no larger than mostSquare: where groups differ much, the
// expectation for one that is new would be far larger, and the mean of an amount whose logarithm is normal beyond all that was seen.
var leastExcess, mostExcess = -8.0, math.Log(mostSquare)

// with are the terms with noise of a family.
func (t *terms) with(f Family) *terms {
	c := *t
	c.family = f
	return &c
}

// under are the terms where normal noise has the groups of uneven: each has the variance of its row.
func (t *terms) under(u uneven, x *mat.Dense) *terms {
	n, ok := t.family.(normalNoise)
	if !ok || len(u.spread) == 0 {
		return t
	}
	c := *t
	c.known = make([]float64, len(t.y))
	for i := range c.known {
		c.known[i] = n.variance * excess(u.spread, x.RawRowView(i))
	}
	return &c
}

// findNoise finds in what noise is uneven from rows that are left out of the full process, whose terms get the noise that is found: where
// it is smaller a row tells more.
func (p *Problem) findNoise(ctx context.Context, m *Model, of *terms, fit *search.Fit) error {
	of = of.with(m.family)
	left, _, err := of.without(ctx, fit, p.units())
	if err != nil {
		return err
	}
	s := p.sampled()
	s.alone = true
	if m.uneven, err = s.noise(ctx, of, &m.shape.Transform, left); err == nil {
		m.summary.Noise = modelfile.EffectsOf(m.uneven.spread, lossep.EntryNames(p.Recipe))
	}
	return err
}

// without is what a fit of the terms knows of the latent values of rows without each and those of its unit, and the log densities
// of their outcomes then, NaN where there is no posterior.
func (t *terms) without(ctx context.Context, fit *search.Fit, units [][]int) (left []gauss.Scalar, logs []float64, err error) {
	if units == nil {
		return fit.EP.Cavities, fit.EP.LogPredictive, nil
	}
	left, logs = make([]gauss.Scalar, t.Len()), slices.Repeat([]float64{math.NaN()}, t.Len())
	err = posterior.CavitiesOf(ctx, fit.Process.LeaveOut(fit.EP.Q, fit.EP.Sites.Terms), units, func(i int, mean, variance float64) {
		left[i] = gauss.ScalarFromMoments(mean, variance)
		logs[i], _, _ = t.Term(i).LogMean(mean, variance)
	})
	if errors.Is(err, posterior.ErrImproper) {
		err = nil
	}
	return left, logs, err
}

// predictAt is the distribution of the outcome of a row whose latent value is N(mean, variance).
func (m *Model) predictAt(row []float64, mean, variance float64) Distribution {
	if n, ok := m.family.(normalNoise); ok {
		sd := residual{variance: max(variance, 0), even: n.variance}.sd(excess(m.uneven.spread, row))
		parts := slices.Clone(m.uneven.parts())
		for k, p := range parts {
			parts[k] = Part{p.Weight, mean + p.Mean*sd, p.SD * sd}
		}
		return newNormals(parts, &m.shape.Transform, 0)
	}
	return m.family.Predict(mean, max(variance, 0), &m.shape.Transform)
}

package lab

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer/exact"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/nuts"
)

// truth is P(y = +1) at every place under the exact posterior, with its standard error.
type truth struct {
	p, stderr []float64
	// sets are independent estimates of p whose mean it is, at the contested places
	// only: they tell the error of any sum over places.
	sets [][]float64
}

// TruthSets is the number of independent sets that the points of the exact posterior come in: an
// error known from 16 of them is itself known to 18 %.
const TruthSets = 16

// truth finds the exact probabilities as precisely as the regrets need them.
//
// Where every method takes the action that is optimal beyond doubt, no method has
// any regret and the probability only enters the normaliser. So all places get few
// points of the posterior, and then more and more points go to fewer and fewer places:
// those where some method's action is not the optimal one, whose regret is to be measured,
// and those where the points so far leave open which action that is.
func (p *paperProblem) truth(ctx context.Context, at places, answers []answer, points int) (truth, error) {
	t := truth{p: make([]float64, len(at.x)), stderr: make([]float64, len(at.x))}
	left := indices.Of(len(at.x))
	// Every stage has points of its own: what decided that a place is contested has no
	// part in its final value.
	for stage, share := range []int{64, 8, 1} {
		if ctx.Err() != nil {
			return truth{}, ctx.Err()
		}
		sets, err := p.exact(gather(at.x, left), points/(share*TruthSets), p.seed+uint64(stage))
		if err != nil {
			return truth{}, err
		}
		for k, i := range left {
			t.p[i], t.stderr[i] = meanAndError(sets.RawRowView(k))
		}
		if share > 1 {
			left = t.contested(at, answers, left)
			continue
		}
		for s := range TruthSets {
			t.sets = append(t.sets, make([]float64, len(at.x)))
			for k, i := range left {
				t.sets[s][i] = sets.At(k, s)
			}
		}
	}
	return t, nil
}

// meanAndError is a mean with its standard error.
func meanAndError(x []float64) (mean, stderr float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, stat.StdErr(sd, float64(len(x)))
}

// exact are P(y = +1) at inputs x, one row for each, by independent sets of points of the
// exact posterior, one column for each. Given a point all that is left is Gaussian, and is
// averaged over.
func (p *paperProblem) exact(x []float64, points int, seed uint64) (*mat.Dense, error) {
	if len(x) == 0 {
		return new(mat.Dense), nil
	}
	l, err := exact.NewLattice(p.model, TruthSets, points, seed)
	if err != nil {
		return nil, err
	}
	views := p.process.At(column(x))
	rows := mat.NewDense(lanes.Padded(len(x)), views.Dim(), nil)
	for j, variance := range l.Spread(views) {
		floats.ScaleTo(rows.RawRowView(j), 1/math.Sqrt(1+variance), views.Row(j))
	}
	each := mat.NewDense(len(x), TruthSets, nil)
	tasks.Each(TruthSets, func() func(int) {
		const together = 64
		centres, means := mat.NewDense(together, views.Dim(), nil), mat.NewDense(together, lanes.Padded(len(x)), nil)
		sums, weights, densities := make([]float64, lanes.Padded(len(x))), make([]float64, together), make([]float64, lanes.Padded(len(x)))
		return func(set int) {
			clear(sums)
			for k := 0; k < l.Points(); k += together {
				some := min(together, l.Points()-k)
				for i := range some {
					var centre []float64
					centre, weights[i] = l.Point(set, k+i)
					centres.SetRow(i, centre)
				}
				level3.Gemm(blas.NoTrans, blas.Trans, 1, centres.RawMatrix(), rows.RawMatrix(), 0, means.RawMatrix())
				for i, w := range weights[:some] {
					p := means.RawRowView(i)
					lanes.Normals(p, densities)
					floats.AddScaled(sums, w, p)
				}
			}
			each.SetCol(set, sums[:len(x)])
		}
	})
	return each, nil
}

// contested are those of the places at which an action is not, or not beyond doubt,
// the optimal one.
func (t truth) contested(at places, answers []answer, among []int) []int {
	open := make([]bool, len(t.p))
	for u, u10 := range Utilities() {
		threshold, _, _ := decision.Stakes{Table: UtilityTable(u10)}.Threshold()
		for s := range Shifts() {
			for _, i := range at.of[s] {
				above := t.p[i] > threshold
				if math.Abs(t.p[i]-threshold) < beyondDoubt*t.stderr[i] {
					open[i] = true
				}
				for _, a := range answers {
					if (a[u][s][i] > threshold) != above {
						open[i] = true
					}
				}
			}
		}
	}
	var left []int
	for _, i := range among {
		if open[i] {
			left = append(left, i)
		}
	}
	return left
}

// beyondDoubt is a distance, in standard errors known from the TruthSets, that an estimate does
// not stray by chance: one in a million.
const beyondDoubt = 8

// judge fills in the regrets.
//
// A wrong action at one of n places costs (2−u10)·|p − threshold|/n, so a regret is a
// sum over places that is linear in p, and its noise is that of the sum over the
// sets. And the action that looks optimal may not be: with z standard errors
// between p and the threshold, that hides (2−u10)·stderr·ψ(z)/n on average,
// ψ(z) = N(z) − zΦ(−z).
func (t *Trial) judge(at places, answers []answer, exact truth) {
	utilities, shifts := Utilities(), len(Shifts())
	for _, of := range []*[][][]float64{&t.Regret, &t.Noise, &t.Bias} {
		*of = make([][][]float64, len(utilities))
		for u := range utilities {
			(*of)[u] = make([][]float64, shifts)
		}
	}
	tasks.For(len(utilities)*shifts, func(k int) {
		u, s := k/shifts, k%shifts
		table, of := UtilityTable(utilities[u]), at.of[s]
		threshold, _, _ := decision.Stakes{Table: table}.Threshold()
		cost := (2 - utilities[u]) / float64(len(of))
		p := decision.Pairs(gather(exact.p, of))
		utility, err := decision.NewUtility(decision.Probit(), len(of), nil, table)
		if err != nil {
			panic(err) // the table is a constant, and there are points
		}
		hidden := 0.0
		for _, i := range of {
			if se := exact.stderr[i]; se > 0 {
				z := math.Abs(exact.p[i]-threshold) / se
				hidden += cost * se * (normal.Density(z) - z*normal.CDF(-z))
			}
		}
		actions := make([]int, len(of))
		for _, a := range answers {
			utility.Actions(actions, decision.Pairs(gather(a[u][s], of)))
			result := utility.Regret(actions, p)
			span := result.Best - result.Worst
			t.Regret[u][s] = append(t.Regret[u][s], result.Normalised)
			t.Noise[u][s] = append(t.Noise[u][s], cost*exact.noise(of, actions, threshold)/span)
			t.Bias[u][s] = append(t.Bias[u][s], hidden/span)
		}
	})
}

// noise is the standard error of Σ ±p over the places where the action is not the
// optimal one.
func (t truth) noise(of, actions []int, threshold float64) float64 {
	if t.sets == nil {
		return 0
	}
	sums := make([]float64, len(t.sets))
	for j, i := range of {
		above := t.p[i] > threshold
		if (actions[j] == 1) == above {
			continue
		}
		sign := 1.0
		if !above {
			sign = -1
		}
		for k := range sums {
			sums[k] += sign * t.sets[k][i]
		}
	}
	_, stderr := meanAndError(sums)
	return stderr
}

// gather are the values at the given indices.
func gather(x []float64, of []int) []float64 {
	g := make([]float64, len(of))
	for j, i := range of {
		g[j] = x[i]
	}
	return g
}

// TruthCheck compares the truth with another computation of it: the probabilities of one data set
// by weighted points of the exact posterior, as everywhere, and by NUTS, which share no code
// beyond the model.
type TruthCheck struct {
	DataSet   int       `json:"dataset"`
	Input     []float64 `json:"input"`
	Exact     []float64 `json:"exact"`
	ExactErr  []float64 `json:"exact_stderr"`
	NUTS      []float64 `json:"nuts"`
	NUTSErr   []float64 `json:"nuts_stderr"`
	NUTSState string    `json:"nuts_status"`
	// Z are the differences in their standard errors, MaxZ the largest of them and
	// RMS their root mean square: about 1 when both are right. Neighbouring inputs
	// share their draws, so the Z are fewer than they look.
	Z    []float64 `json:"z"`
	MaxZ float64   `json:"max_z"`
	RMS  float64   `json:"rms_z"`
}

// Check checks the truth of a data set.
func (s Simulation) Check(ctx context.Context, index int) (*TruthCheck, error) {
	p, err := s.problem(index)
	if err != nil {
		return nil, err
	}
	c := &TruthCheck{DataSet: index}
	const step = 1.5
	last := reach + Shifts()[len(Shifts())-1]
	for x := -reach; x <= last; x += step {
		c.Input = append(c.Input, x)
	}
	views := p.process.At(column(c.Input))
	n := len(c.Input)
	c.Exact, c.ExactErr, c.NUTS, c.NUTSErr = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	sets, err := p.exact(c.Input, s.Truth/TruthSets, p.seed)
	if err != nil {
		return nil, err
	}
	chains, err := exact.NUTS{Options: nuts.Options{Seed: p.seed}}.Fit(ctx, p.model)
	if err != nil {
		return nil, err
	}
	c.NUTSState = chains.Status.String()
	decision.Probit().Probabilities(chains, views, c.NUTS, c.NUTSErr)
	for i := range c.Input {
		c.Exact[i], c.ExactErr[i] = meanAndError(sets.RawRowView(i))
		z := (c.NUTS[i] - c.Exact[i]) / math.Hypot(c.NUTSErr[i], c.ExactErr[i])
		c.Z = append(c.Z, z)
		c.MaxZ = max(c.MaxZ, math.Abs(z))
		c.RMS += z * z / float64(n)
	}
	c.RMS = math.Sqrt(c.RMS)
	return c, nil
}

package paper

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/level3"
	"github.com/lossep/lossep/normal"
)

// truth is P(y = +1) at every place under the exact posterior, with the standard
// error of the draws it comes from.
type truth struct {
	p, stderr []float64
	// batches are independent estimates of p whose mean it is, at the contested
	// places only: they tell the error of any sum over places.
	batches [][]float64
}

// Batches is the number of independent parts that the draws come in: an error known
// from 16 of them is itself known to 18 %.
const Batches = 16

// truth finds the exact probabilities as precisely as the regrets need them.
//
// Where every method takes the action that is optimal beyond doubt, no method has
// any regret and the probability only enters the normaliser. So all places get few
// draws, and then more and more draws go to fewer and fewer places: those where some
// method's action is not the optimal one, whose regret is to be measured, and those
// where the draws so far leave open which action that is. The number of the latter
// shrinks as 1/√draws, so that each tenfold set of draws costs about three times as
// much as the one before.
func (p *problem) truth(ctx context.Context, at places, answers []answer, draws int) (truth, error) {
	t := truth{p: make([]float64, len(at.x)), stderr: make([]float64, len(at.x))}
	left := make([]int, len(at.x))
	for i := range left {
		left[i] = i
	}
	// Every stage has draws of its own: what decided that a place is contested has no
	// part in its final value.
	for stage, share := range []int{100, 10} {
		value, stderr, err := p.exact(ctx, gather(at.x, left), max(2, draws/share), p.seed+uint64(stage))
		if err != nil {
			return truth{}, err
		}
		for k, i := range left {
			t.p[i], t.stderr[i] = value[k], stderr[k]
		}
		left = t.contested(at, answers, left)
	}
	if len(left) == 0 {
		return t, nil
	}
	x := gather(at.x, left)
	for b := range Batches {
		value, _, err := p.exact(ctx, x, max(2, draws/Batches), p.seed+uint64(100+b))
		if err != nil {
			return truth{}, err
		}
		t.batches = append(t.batches, make([]float64, len(at.x)))
		for k, i := range left {
			t.batches[b][i] = value[k]
		}
	}
	each := make([]float64, Batches)
	for _, i := range left {
		for b := range each {
			each[b] = t.batches[b][i]
		}
		t.p[i], t.stderr[i] = meanAndError(each)
	}
	return t, nil
}

// meanAndError is a mean with its standard error.
func meanAndError(x []float64) (mean, stderr float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, stat.StdErr(sd, float64(len(x)))
}

// exact are P(y = +1) at inputs x from independent draws of the exact posterior,
// each averaged over all that is Gaussian given the draw.
//
// It is what infer.ExactResult answers, in a third of the time: by the table of
// normals, whose error of 1e-9 is nothing beside that of the draws.
func (p *problem) exact(ctx context.Context, x []float64, draws int, seed uint64) (value, stderr []float64, err error) {
	value, stderr = make([]float64, len(x)), make([]float64, len(x))
	if len(x) == 0 {
		return value, stderr, nil
	}
	r, err := infer.Exact{Draws: draws, EvidencePoints: 1, Seed: seed}.Fit(ctx, p.model)
	if err != nil {
		return nil, nil, err
	}
	views := p.process.At(column(x))
	scale, squares := r.Spread(views), make([]float64, len(x))
	for j, variance := range scale {
		scale[j] = 1 / math.Sqrt(1+variance)
	}
	rows := mat.NewDense(len(x), views.Dim(), nil)
	for j := range x {
		rows.SetRow(j, views.Row(j))
	}
	const together = 64
	centres, means := mat.NewDense(together, views.Dim(), nil), mat.NewDense(together, len(x), nil)
	for k := 0; k < draws; k += together {
		some := min(together, draws-k)
		for i := range some {
			centres.SetRow(i, r.Centre(k+i))
		}
		level3.Gemm(blas.NoTrans, blas.Trans, 1, centres.RawMatrix(), rows.RawMatrix(), 0, means.RawMatrix())
		for i := range some {
			for j, m := range means.RawRowView(i) {
				q, _ := cdfAndDensity(m * scale[j])
				value[j] += q
				squares[j] += q * q
			}
		}
	}
	n := float64(draws)
	for j, sum := range value {
		value[j] = sum / n
		stderr[j] = math.Sqrt(max(0, squares[j]/n-value[j]*value[j]) / (n - 1))
	}
	return value, stderr, nil
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

// beyondDoubt is a distance, in standard errors, that draws do not stray by chance:
// one in 5e8.
const beyondDoubt = 6

// judge fills in the regrets.
//
// A wrong action at one of n places costs (2−u10)·|p − threshold|/n, so a regret is a
// sum over places that is linear in p, and its noise is that of the sum over the
// batches. And the action that looks optimal may not be: with z standard errors
// between p and the threshold, that hides (2−u10)·stderr·ψ(z)/n on average,
// ψ(z) = N(z) − zΦ(−z).
func (t *Trial) judge(at places, answers []answer, exact truth) {
	for u, u10 := range Utilities() {
		table := UtilityTable(u10)
		threshold, _, _ := decision.Stakes{Table: table}.Threshold()
		var regret, noise, bias [][]float64
		for s := range Shifts() {
			of := at.of[s]
			cost := (2 - u10) / float64(len(of))
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
			var r, e, b []float64
			actions := make([]int, len(of))
			for _, a := range answers {
				utility.Actions(actions, decision.Pairs(gather(a[u][s], of)))
				result := utility.Regret(actions, p)
				span := result.Best - result.Worst
				r = append(r, result.Normalised)
				e = append(e, cost*exact.noise(of, actions, threshold)/span)
				b = append(b, hidden/span)
			}
			regret, noise, bias = append(regret, r), append(noise, e), append(bias, b)
		}
		t.Regret, t.Noise, t.Bias = append(t.Regret, regret), append(t.Noise, noise), append(t.Bias, bias)
	}
}

// noise is the standard error of Σ ±p over the places where the action is not the
// optimal one.
func (t truth) noise(of, actions []int, threshold float64) float64 {
	if t.batches == nil {
		return 0
	}
	sums := make([]float64, len(t.batches))
	for j, i := range of {
		above := t.p[i] > threshold
		if (actions[j] == 1) == above {
			continue
		}
		sign := 1.0
		if !above {
			sign = -1
		}
		for b := range sums {
			sums[b] += sign * t.batches[b][i]
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

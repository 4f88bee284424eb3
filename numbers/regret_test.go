package numbers

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/methods"
)

var regretSets = flag.Int("regret-sets", 1, "data sets of the comparison of methods; more than one have more costs and draws")

// simulated is a small problem: rows at x, drawn from the model itself, and points to act at.
type simulated struct {
	family  Family
	process *gp.Process
	model   *infer.Model
}

var plain = &Transform{Name: "none", Scale: 1}

func simulate(t testing.TB, f Family, rows int, seed uint64) *simulated {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 35))
	k, err := kernel.ParseColumns("rbf(variance=1, lengthscale=1.5)", kernel.Columns{Numbers: 1})
	if err != nil {
		t.Fatal(err)
	}
	x, points := mat.NewDense(rows, 1, nil), mat.NewDense(15, 1, nil)
	for i := range rows {
		x.Set(i, 0, 8*rng.Float64()-4)
	}
	for i := range 15 {
		points.Set(i, 0, -5+10*float64(i)/14)
	}
	process, err := gp.New(k, x)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, process.Views().Dim())
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	s := &simulated{family: f, process: process, model: &infer.Model{Views: process.Views(), Points: process.At(points)}}
	for i := range rows {
		s.model.Terms = append(s.model.Terms, f.Term(draw(f, floats.Dot(process.Views().Row(i), v), rng)))
	}
	return s
}

// draw is an outcome of the family where the value is f.
func draw(f Family, value float64, rng *rand.Rand) float64 {
	switch f := f.(type) {
	case normalNoise:
		return value + math.Sqrt(f.variance)*rng.NormFloat64()
	case studentNoise:
		return value + f.scale*distuv.StudentsT{Sigma: 1, Nu: f.df, Src: rng}.Rand()
	case poisson:
		return distuv.Poisson{Lambda: math.Exp(value + f.offset), Src: rng}.Rand()
	case negativeBinomial:
		g := distuv.Gamma{Alpha: f.size, Beta: f.size, Src: rng}.Rand()
		return distuv.Poisson{Lambda: g * math.Exp(value+f.offset), Src: rng}.Rand()
	}
	panic("an unknown family")
}

// moments are those of q at the points.
func (s *simulated) moments(q *gauss.Gaussian) (mean, variance []float64) {
	n := s.model.Points.Len()
	mean, variance = make([]float64, n), make([]float64, n)
	q.Predict(s.model.Points, mean, variance, new(gauss.Workspace))
	return mean, variance
}

// actions are those under q.
func (s *simulated) actions(q *gauss.Gaussian, stake decision.Stake) []float64 {
	mean, variance := s.moments(q)
	for j := range mean {
		mean[j] = stake.Choose(s.family.Predict(mean[j], variance[j], plain)).Action
	}
	return mean
}

// calibrated is the model with the utility of actions, whose ceiling is so many times the largest expected cost.
func (s *simulated) calibrated(q *gauss.Gaussian, stake decision.Stake, times float64) *infer.Model {
	mean, variance := s.moments(q)
	m := *s.model
	m.Utility = newUtility(s.family, plain, alike(s.family), []decision.Stake{stake}, times, mean, variance)
	return &m
}

// truth are the distributions of the outcomes at the points, given draws of the values there from the posterior, by importance from q, whose variance is raised a
// little for the tails.
type truth struct {
	given   [][]Distribution // by point and draw
	weights []float64
	size    float64 // how many independent draws tell as much
}

func (s *simulated) truth(q *gauss.Gaussian, draws int, seed uint64) truth {
	const wider = 1.15
	rng := rand.New(rand.NewPCG(seed, 36))
	dim, points := q.Dim(), s.model.Points.Len()
	cov := mat.NewSymDense(dim, nil)
	q.Covariance(cov)
	var c mat.Cholesky
	c.Factorize(cov)
	var root mat.TriDense
	c.LTo(&root)
	tr := truth{make([][]Distribution, points), make([]float64, draws), 0}
	z, v := mat.NewVecDense(dim, nil), mat.NewVecDense(dim, nil)
	for d := range draws {
		for i := range dim {
			z.SetVec(i, wider*rng.NormFloat64())
		}
		v.MulVec(&root, z)
		v.AddVec(v, mat.NewVecDense(dim, q.Mean()))
		log := 0.5*mat.Dot(z, z)/(wider*wider) - 0.5*mat.Dot(v, v)
		for i, term := range s.model.Terms {
			l, _, _ := term.Log(floats.Dot(s.model.Views.Row(i), v.RawVector().Data))
			log += l
		}
		tr.weights[d] = log
		for j := range points {
			value := floats.Dot(s.model.Points.Row(j), v.RawVector().Data) + math.Sqrt(s.model.Points.Residual(j))*rng.NormFloat64()
			tr.given[j] = append(tr.given[j], s.family.Predict(value, 0, plain))
		}
	}
	top := floats.Max(tr.weights)
	for d, l := range tr.weights {
		tr.weights[d] = math.Exp(l - top)
	}
	floats.Scale(1/floats.Sum(tr.weights), tr.weights)
	tr.size = 1 / floats.Dot(tr.weights, tr.weights)
	return tr
}

// cost is what an action at a point is expected to cost.
func (tr truth) cost(stake decision.Stake, j int, action float64) (sum float64) {
	for d, w := range tr.weights {
		sum += w * stake.Expected(action, tr.given[j][d])
	}
	return sum
}

// regret is by how much actions cost more than the best ones, relative to these.
func (tr truth) regret(stake decision.Stake, actions []float64, best []float64) float64 {
	taken, least := 0.0, 0.0
	for j, a := range actions {
		least += best[j]
		taken += max(best[j], tr.cost(stake, j, a))
	}
	return (taken - least) / least
}

// best is the least cost at every point, looked for from some actions on: costs bend up alone. Counts have whole actions.
func (tr truth) best(s *simulated, stake decision.Stake, from []float64) []float64 {
	first, last := 0.1, 1e-3
	if s.family.Name() == "poisson" || s.family.Name() == "negative-binomial" {
		first, last = 1, 1
	}
	least := make([]float64, len(from))
	for j, a := range from {
		c := tr.cost(stake, j, a)
		for step := first; step >= last; {
			lower, higher := tr.cost(stake, j, a-step), tr.cost(stake, j, a+step)
			switch {
			case lower < c:
				a, c = a-step, lower
			case higher < c:
				a, c = a+step, higher
			default:
				step /= 4
			}
		}
		least[j] = c
	}
	return least
}

var simulatedFamilies = []Family{normalNoise{0.1}, studentNoise{0.3, 2.5}, poisson{math.Log(3)}, negativeBinomial{math.Log(3), 2}}

// column is a method with the ceiling of its utility, in times the largest expected cost.
type column struct {
	method lossep.Method
	times  float64
	most   float64 // by how much its actions may cost more than EP's, relative to the best
}

// columns are those of the report. Regret of EP is some 1e-4; what others may add is what was measured, with some more.
var columns = []column{
	{lossep.EP, 0, 0},
	{lossep.LossEP, ceilingTimes, 1e-3},
	{lossep.LossEP, 4, 1e-3},
	{lossep.VI, 0, 5e-3},
	{lossep.LossVI, ceilingTimes, 5e-2},
	{lossep.Laplace, 0, 5e-2},
}

// by are the actions of a method.
func (s *simulated) by(t *testing.T, c column, ep *infer.Result, stake decision.Stake) []float64 {
	t.Helper()
	m := s.model.Plain()
	if c.times > 0 {
		m = s.calibrated(ep.Q, stake, c.times)
	}
	d, _ := methods.Named(string(c.method))
	r, err := d.Fit(t.Context(), m, methods.Options{Start: &ep.Sites, Draws: calibrationDraws, Damping: 0.5})
	if err != nil {
		t.Fatal(s.family, c.method, err)
	}
	if !r.Status.Converged {
		t.Errorf("%v, %s, ceiling %v: %v", s.family, c.method, c.times, r.Status)
	}
	return s.actions(r.Q, stake)
}

// Does the site of a utility of numbers lower regret? Rows and points of a simulated process, with truth by importance.
// With normal noise sites do not depend on their cavity, so that calibration of EP changes nothing, and all but Loss-VI, whose
// Gaussian has the utility in it, decide alike. With other noise it changes something, and less the higher the ceiling is.
func TestRegretOfNumbers(t *testing.T) {
	draws, ratios := 300, []float64{3}
	if *regretSets > 1 {
		draws, ratios = 3000, []float64{1, 3, 19}
	}
	for _, f := range simulatedFamilies {
		for _, under := range ratios {
			stake := decision.Stake{Loss: decision.Pinball{Under: under, Over: 1}}
			regret, moved := make([][]float64, len(columns)), make([]float64, len(columns))
			for set := range *regretSets {
				s := simulate(t, f, 15, uint64(set))
				ep, err := infer.EP{Damping: 0.5}.Fit(t.Context(), s.model.Plain())
				if err != nil || !ep.Status.Converged {
					t.Fatal(err, ep.Status)
				}
				tr := s.truth(ep.Q, draws, uint64(set))
				if tr.size < float64(draws)/10 {
					t.Errorf("%v, set %d: draws tell as much as %.0f", f, set, tr.size)
				}
				own := s.actions(ep.Q, stake)
				best := tr.best(s, stake, own)
				for k, c := range columns {
					actions := s.by(t, c, &ep.Result, stake)
					moved[k] = max(moved[k], floats.Distance(own, actions, math.Inf(1)))
					regret[k] = append(regret[k], tr.regret(stake, actions, best))
				}
			}
			checkRegret(t, fmt.Sprintf("%v, %v:1", f, under), f.Name(), regret, moved)
		}
	}
}

// checkRegret logs what actions of every column cost more than the best, and holds it against what is to be.
func checkRegret(t *testing.T, name, family string, regret [][]float64, moved []float64) {
	t.Logf("%s: EP %.2e", name, stat.Mean(regret[0], nil))
	for k, c := range columns[1:] {
		lower := slices.Clone(regret[0])
		floats.Sub(lower, regret[k+1])
		mean, sd := stat.MeanStdDev(lower, nil)
		t.Logf("    %-8s %3v: %.2e, lower by %.1e ± %.1e; actions moved by %.2g at most", c.method, c.times, stat.Mean(regret[k+1], nil), mean, sd/math.Sqrt(float64(len(lower))), moved[k+1])
		if mean < -c.most {
			t.Errorf("%s: actions of %s cost %v more than those of EP, relative to the best", name, c.method, -mean)
		}
		if family == "normal" && c.method != lossep.LossVI && moved[k+1] > 1e-8 {
			t.Errorf("%s: with normal noise %s moves an action by %v", name, c.method, moved[k+1])
		}
	}
	if family == "student" && !(moved[1] > 1e-4 && moved[2] < moved[1]) {
		t.Errorf("%s: actions of Loss-EP are moved by %v, and with a higher ceiling by %v", name, moved[1], moved[2])
	}
	if m := stat.Mean(regret[0], nil); m > 2e-3 {
		t.Errorf("%s: actions of EP cost %v more than the best", name, m)
	}
}

package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
)

var (
	coverageRuns  = flag.Int("coverage", 0, "runs of each simulated audit; the long test of the intervals, and its table")
	coverageCases = flag.Int("coverage.cases", 200, "cases of each, from 50 on")
	coverageGroup = flag.Int("coverage.group", 1, "cases that belong together")
)

// world is where cases come from: x ~ N(0, I) and P(y = 1) = Φ(b₀ + b·x), with a miss
// that costs ratio false alarms. Cases may come in groups of size cases, within which
// both x and the noise of y are correlated.
type world struct {
	n                 int
	ratio, prevalence float64
	size              int
	b0                float64
	b                 []float64
}

func newWorld(n int, ratio, prevalence float64, size int) world {
	w := world{n: n, ratio: ratio, prevalence: prevalence, size: size, b: []float64{1, 1, 0.5, 0, 0}}
	w.b0 = normal.Quantile(prevalence) * math.Sqrt(1+dot(w.b, w.b))
	return w
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// shared is the correlation within a group.
const shared = 0.5

func (w world) sample(rng *rand.Rand) (x [][]float64, y, group []int) {
	common := make([]float64, len(w.b)+1)
	for i := range w.n {
		if i%w.size == 0 {
			for j := range common {
				common[j] = rng.NormFloat64()
			}
		}
		draw := func(j int) float64 {
			if w.size == 1 {
				return rng.NormFloat64()
			}
			return math.Sqrt(shared)*common[j] + math.Sqrt(1-shared)*rng.NormFloat64()
		}
		row := []float64{1}
		for j := range w.b {
			row = append(row, draw(j))
		}
		label := 0
		if w.b0+dot(w.b, row[1:])+draw(len(w.b)) > 0 {
			label = 1
		}
		x, y, group = append(x, row), append(y, label), append(group, i/w.size)
	}
	return x, y, group
}

// rule decides by a linear score of some columns, the first of which is 1: positive
// where it is above cut.
type rule struct {
	name    string
	columns []int
	cut     float64 // in logits
}

// logistic fits a rule's weights by Newton's method, with a ridge that keeps separable
// cases finite.
func logistic(x [][]float64, y, rows, columns []int, start []float64) []float64 {
	const ridge = 0.25
	d := len(columns)
	w, v, g, h := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d*d)
	copy(w, start)
	for range 30 {
		clear(h)
		for a := range w {
			g[a] = -ridge * w[a]
			h[a*d+a] = ridge
		}
		for _, i := range rows {
			for a, c := range columns {
				v[a] = x[i][c]
			}
			p := 1 / (1 + math.Exp(-dot(w, v)))
			for a := range v {
				g[a] += (float64(y[i]) - p) * v[a]
				for b := a; b < d; b++ {
					h[a*d+b] += p * (1 - p) * v[a] * v[b]
				}
			}
		}
		var c mat.Cholesky
		var step mat.VecDense
		if !c.Factorize(mat.NewSymDense(d, h)) || c.SolveVecTo(&step, mat.NewVecDense(d, g)) != nil {
			panic("the ridge does not suffice")
		}
		for a := range w {
			w[a] += step.AtVec(a)
		}
		if mat.Norm(&step, math.Inf(1)) < 1e-7 {
			break
		}
	}
	return w
}

// scores is the law of a rule's scores among new cases: with the standardised score u, b·x
// is normal given u.
type scores struct {
	intercept, size float64 // the score is intercept + size·u
	slope, rest, b0 float64
}

func (w world) scores(weights []float64, r rule) scores {
	score := make([]float64, len(w.b))
	for a, c := range r.columns[1:] {
		score[c-1] = weights[a+1]
	}
	size := math.Sqrt(dot(score, score))
	slope := dot(score, w.b) / size
	return scores{weights[0], size, slope, math.Sqrt(1 + dot(w.b, w.b) - slope*slope), w.b0}
}

func (s scores) density(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }

// positive is the probability of the positive outcome given u.
func (s scores) positive(u float64) float64 { return normal.CDF((s.b0 + s.slope*u) / s.rest) }

// expected is what a rule costs per new case, exactly but for quadrature.
func (w world) expected(s scores, r rule) float64 {
	cut := min(max((r.cut-s.intercept)/s.size, -9), 9)
	// The trapezoidal rule on 400 points is right to 1e-5 of the cost.
	integral := func(from, to float64, f func(float64) float64) float64 {
		const m = 400
		h, sum := (to-from)/m, (f(from)+f(to))/2
		for i := 1; i < m; i++ {
			sum += f(from + h*float64(i))
		}
		return sum * h
	}
	return w.ratio*integral(-9, cut, func(u float64) float64 { return s.density(u) * s.positive(u) }) +
		integral(cut, 9, func(u float64) float64 { return s.density(u) * (1 - s.positive(u)) })
}

// ranks is what the rankings of new cases are worth, whose scores come from the models of
// the folds in turn: both outcomes' scores on a grid that is fine beside their spread.
type ranks struct{ positive, negative [4000]float64 }

func (k *ranks) add(s scores, share float64) {
	const m, far = 2000, 6.0
	for i := range m {
		u := far * (2*(float64(i)+0.5)/m - 1)
		at := min(max(int((s.intercept+s.size*u+20)/40*float64(len(k.positive))), 0), len(k.positive)-1)
		d := s.density(u) * 2 * far / m * share
		k.positive[at] += d * s.positive(u)
		k.negative[at] += d * (1 - s.positive(u))
	}
}

func (k *ranks) areaAndPrecision() (area, precision float64) {
	above, below := 0.0, 0.0
	for at := len(k.positive) - 1; at >= 0; at-- {
		p, n := k.positive[at], k.negative[at]
		area += n * (above + p/2)
		if p > 0 {
			precision += p * (above + p/2) / (above + below + (p+n)/2)
		}
		above += p
		below += n
	}
	return area / (above * below), precision / above
}

// audited is what one cross-validation says, and what is true.
type audited struct {
	y, group []int
	score    []float64 // by all columns
	loss     map[string][]float64
	truth    map[string]float64
}

func (w world) audit(seed uint64) audited {
	rng := rand.New(rand.NewPCG(seed, uint64(w.n)))
	var x [][]float64
	var a audited
	var folds [][]int
	for err := error(&FoldError{}); err != nil; { // until there are two cases of either outcome
		x, a.y, a.group = w.sample(rng)
		if w.size == 1 {
			folds, err = StratifiedFolds(a.y, 10, rng)
		} else {
			folds, err = GroupFolds(a.y, a.group, 10, rng)
		}
		if !slices.Contains(a.y, 1) || !slices.Contains(a.y, 0) {
			err = &FoldError{}
		}
	}
	at := math.Log(1 / w.ratio)
	rules := []rule{
		{"by cost", []int{0, 1, 2, 3, 4, 5}, at},
		{"one half", []int{0, 1, 2, 3, 4, 5}, 0},
		{"first column", []int{0, 1}, at},
		{"second column", []int{0, 2}, at},
	}
	a.score = make([]float64, w.n)
	a.loss = map[string][]float64{"always negative": make([]float64, w.n)}
	a.truth = map[string]float64{"always negative": w.ratio * w.prevalence}
	every := make([]int, w.n)
	for i := range every {
		every[i] = i
		a.loss["always negative"][i] = w.ratio * float64(a.y[i])
	}
	starts := make([][]float64, len(rules)) // near to what the folds find
	for n, r := range rules {
		a.loss[r.name] = make([]float64, w.n)
		starts[n] = logistic(x, a.y, every, r.columns, nil)
	}
	var k ranks
	for f, test := range folds {
		train, share := Training(folds, f), float64(len(test))/float64(w.n)
		var weights []float64
		for n, r := range rules {
			if n == 0 || !slices.Equal(r.columns, rules[n-1].columns) {
				weights = logistic(x, a.y, train, r.columns, starts[n])
			}
			law := w.scores(weights, r)
			a.truth[r.name] += w.expected(law, r) * share
			if n == 0 {
				k.add(law, share)
			}
			for _, i := range test {
				s := 0.0
				for c, column := range r.columns {
					s += weights[c] * x[i][column]
				}
				if n == 0 {
					a.score[i] = s
				}
				switch {
				case s <= r.cut && a.y[i] == 1:
					a.loss[r.name][i] = w.ratio
				case s > r.cut && a.y[i] == 0:
					a.loss[r.name][i] = 1
				}
			}
		}
	}
	a.truth["area"], a.truth["precision"] = k.areaAndPrecision()
	return a
}

// statement is one that an audit makes: what a rule costs, or costs more than another.
type statement struct{ of, than string }

var statements = []statement{
	{"by cost", ""},
	{"always negative", ""},
	{"one half", "by cost"},
	{"always negative", "by cost"},
	// Two rules that cost the same, on average over training sets: the columns are alike.
	{"first column", "second column"},
}

// alike is the statement about those two.
const alike = 4

// covered is how often the intervals hold the truth, and how often the value zero is
// called impossible.
type covered struct{ holds, rejects float64 }

// cover is that of all statements, and after them of the area under the receiver operating
// characteristic and the average precision.
func (w world) cover(runs int) []covered {
	all := make([][]covered, runs)
	tasks.Each(runs, func() func(int) {
		return func(run int) {
			// Other seeds than those that anything was chosen by.
			a := w.audit(1<<20 + uint64(run))
			var groups []int
			if w.size > 1 {
				groups = a.group
			}
			cases := NewCases(w.n, nil, groups)
			for _, s := range statements {
				var e Estimate
				var err error
				if s.than == "" {
					e, err = cases.Mean(a.loss[s.of], &Range{Least: 0, Most: w.ratio}, 0.95)
				} else {
					within := &Range{Least: -max(1, w.ratio), Most: max(1, w.ratio)}
					if s.of != "first column" { // neither of which raises a false alarm that deciding by costs does not
						within.Least = -1
					}
					e, err = cases.Difference(a.loss[s.of], a.loss[s.than], within, 0.95)
				}
				if err != nil {
					panic(err)
				}
				all[run] = append(all[run], covered{
					indicator(holds(a.truth[s.of]-a.truth[s.than], e.Low, e.High)), indicator(e.P(0) < 0.05),
				})
			}
			all[run] = append(all[run], w.coverRanking(cases, a, run)...)
		}
	})
	mean := make([]covered, len(all[0]))
	for _, run := range all {
		for s, c := range run {
			mean[s].holds += c.holds / float64(runs)
			mean[s].rejects += c.rejects / float64(runs)
		}
	}
	return mean
}

// coverRanking leaves out costs, on which a ranking does not depend.
func (w world) coverRanking(cases *Cases, a audited, run int) []covered {
	if w.ratio != 1 {
		return nil
	}
	every := make([]int, w.n)
	for i := range every {
		every[i] = i
	}
	ranking := []Ranking{Rank(every, func(i int) float64 { return a.score[i] }, func(i int) bool { return a.y[i] == 1 })}
	rng := rand.New(rand.NewPCG(uint64(run), 1))
	_, low, high := cases.Area(ranking, 0.95, rng)
	area := indicator(holds(a.truth["area"], low, high))
	_, low, high = cases.Precision(ranking, 0.95, rng)
	return []covered{{holds: area}, {holds: indicator(holds(a.truth["precision"], low, high))}}
}

func holds(truth, low, high float64) bool { return low <= truth && truth <= high }

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// The tables of docs/research/intervals.md: go test ./compare -run Coverage -coverage 2000 -v, and the
// same with -coverage.cases 500, and with -coverage.group 5. Without the flag, a few of
// their rows with fewer runs.
func TestCoverage(t *testing.T) {
	if *coverageRuns > 0 {
		for _, ratio := range []float64{1, 5, 20} {
			for _, prevalence := range []float64{0.05, 0.4} {
				t.Log(newWorld(*coverageCases, ratio, prevalence, *coverageGroup).line(*coverageRuns))
			}
		}
		return
	}
	const runs = 200
	for _, w := range []world{
		// Few and large losses, which Student's interval covers three times in four.
		newWorld(200, 20, 0.4, 1),
		// Groups of five, in which an interval over cases is too short.
		newWorld(300, 5, 0.4, 5),
		// Ten positive cases, and what a ranking of them tells.
		newWorld(200, 1, 0.05, 1),
	} {
		for s, c := range w.cover(runs) {
			what := "a ranking"
			if s < len(statements) {
				what = fmt.Sprint(statements[s])
			}
			// Two hundredths are what the long table shows, and three binomial standard
			// errors what these runs add.
			if slack := 0.02 + 3*math.Sqrt(0.95*0.05/runs); c.holds < 0.95-slack {
				t.Errorf("%+v, %v: the interval holds in %v of %d audits", w, what, c.holds, runs)
			}
			if limit := 0.07 + 3*math.Sqrt(0.05*0.95/runs); s == alike && c.rejects > limit {
				t.Errorf("%+v: a difference of zero is called significant in %v of %d audits", w, c.rejects, runs)
			}
		}
	}
}

// line is a row of the table.
func (w world) line(runs int) string {
	var b strings.Builder
	c := w.cover(runs)
	fmt.Fprintf(&b, "| %d | %d | %g:1 | %g %% |", w.n, w.size, w.ratio, 100*w.prevalence)
	for s := range c {
		fmt.Fprintf(&b, " %.3f |", c[s].holds)
		if s == alike {
			fmt.Fprintf(&b, " %.3f |", c[s].rejects)
		}
	}
	return b.String()
}

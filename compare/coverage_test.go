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

var coverageRuns = flag.Int("coverage", 0, "runs of each simulated audit; the long test of the intervals, and its table")

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
func logistic(x [][]float64, y, rows, columns []int) []float64 {
	const ridge = 0.25
	d := len(columns)
	w, v, g, h := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d*d)
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

// expected is what a rule costs per new case, exactly but for quadrature: given the
// standardised score u, b·x is normal.
func (w world) expected(weights []float64, r rule) float64 {
	score := make([]float64, len(w.b))
	for a, c := range r.columns[1:] {
		score[c-1] = weights[a+1]
	}
	size := math.Sqrt(dot(score, score))
	slope := dot(score, w.b) / size
	rest := math.Sqrt(1 + dot(w.b, w.b) - slope*slope)
	density := func(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
	positive := func(u float64) float64 { return normal.CDF((w.b0 + slope*u) / rest) }
	cut := min(max((r.cut-weights[0])/size, -9), 9)
	// The trapezoidal rule on 400 points is right to 1e-5 of the cost.
	integral := func(from, to float64, f func(float64) float64) float64 {
		const m = 400
		h, s := (to-from)/m, (f(from)+f(to))/2
		for i := 1; i < m; i++ {
			s += f(from + h*float64(i))
		}
		return s * h
	}
	return w.ratio*integral(-9, cut, func(u float64) float64 { return density(u) * positive(u) }) +
		integral(cut, 9, func(u float64) float64 { return density(u) * (1 - positive(u)) })
}

// audited is what one cross-validation says, and what is true.
type audited struct {
	group []int
	loss  map[string][]float64
	truth map[string]float64
}

func (w world) audit(seed uint64) audited {
	rng := rand.New(rand.NewPCG(seed, uint64(w.n)))
	var x [][]float64
	var y, group []int
	for !slices.Contains(y, 1) || !slices.Contains(y, 0) {
		x, y, group = w.sample(rng)
	}
	// Groups stay together, so it is groups that are dealt.
	const k = 10
	folds := make([][]int, k)
	for i, g := range rng.Perm(w.n / w.size) {
		for j := range w.size {
			folds[i%k] = append(folds[i%k], g*w.size+j)
		}
	}
	at := math.Log(1 / w.ratio)
	rules := []rule{
		{"by cost", []int{0, 1, 2, 3, 4, 5}, at},
		{"one half", []int{0, 1, 2, 3, 4, 5}, 0},
		{"first column", []int{0, 1}, at},
		{"second column", []int{0, 2}, at},
	}
	a := audited{group, map[string][]float64{"always negative": make([]float64, w.n)}, map[string]float64{"always negative": w.ratio * w.prevalence}}
	for i := range y {
		a.loss["always negative"][i] = w.ratio * float64(y[i])
	}
	for _, r := range rules {
		a.loss[r.name] = make([]float64, w.n)
	}
	for f, test := range folds {
		train := Training(folds, f)
		var weights []float64
		for n, r := range rules {
			if n == 0 || !slices.Equal(r.columns, rules[n-1].columns) {
				weights = logistic(x, y, train, r.columns)
			}
			a.truth[r.name] += w.expected(weights, r) * float64(len(test)) / float64(w.n)
			for _, i := range test {
				s := 0.0
				for c, column := range r.columns {
					s += weights[c] * x[i][column]
				}
				switch {
				case s <= r.cut && y[i] == 1:
					a.loss[r.name][i] = w.ratio
				case s > r.cut && y[i] == 0:
					a.loss[r.name][i] = 1
				}
			}
		}
	}
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

// covered is how often the intervals hold the truth, and how often the value zero is
// called impossible.
type covered struct{ holds, rejects float64 }

func (w world) cover(runs int) []covered {
	all := make([][]covered, runs)
	tasks.Each(runs, func() func(int) {
		return func(run int) {
			a := w.audit(uint64(run))
			var groups []int
			if w.size > 1 {
				groups = a.group
			}
			cases := NewCases(w.n, nil, groups)
			for _, s := range statements {
				values, truth, within := slices.Clone(a.loss[s.of]), a.truth[s.of], &Range{0, w.ratio}
				if s.than != "" {
					for i := range values {
						values[i] -= a.loss[s.than][i]
					}
					truth -= a.truth[s.than]
					within = &Range{-max(1, w.ratio), max(1, w.ratio)}
					if s.of == "always negative" { // which never raises a false alarm
						within.Least = -1
					}
				}
				e, err := cases.Mean(values, within, 0.95)
				if err != nil {
					panic(err)
				}
				var c covered
				if e.Low <= truth && truth <= e.High {
					c.holds = 1
				}
				if e.P(0) < 0.05 {
					c.rejects = 1
				}
				all[run] = append(all[run], c)
			}
		}
	})
	mean := make([]covered, len(statements))
	for _, run := range all {
		for s, c := range run {
			mean[s].holds += c.holds / float64(runs)
			mean[s].rejects += c.rejects / float64(runs)
		}
	}
	return mean
}

// The table of docs/audit.md: go test ./compare -run Coverage -coverage 2000 -v. Without
// the flag, a few of its rows with fewer runs.
func TestCoverage(t *testing.T) {
	if *coverageRuns > 0 {
		for _, size := range []int{1, 5} {
			for _, n := range []int{50, 200, 500, 2000} {
				for _, ratio := range []float64{1, 5, 20} {
					for _, prevalence := range []float64{0.05, 0.4} {
						t.Log(newWorld(n, ratio, prevalence, size).line(*coverageRuns))
					}
				}
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
	} {
		for s, c := range w.cover(runs) {
			// Two hundredths are what the long table shows, and three binomial standard
			// errors what these runs add.
			if slack := 0.02 + 3*math.Sqrt(0.95*0.05/runs); c.holds < 0.95-slack {
				t.Errorf("%+v, %v: the interval holds in %v of %d audits", w, statements[s], c.holds, runs)
			}
			if limit := 0.07 + 3*math.Sqrt(0.05*0.95/runs); s == len(statements)-1 && c.rejects > limit {
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
	}
	fmt.Fprintf(&b, " %.3f |", c[len(c)-1].rejects)
	return b.String()
}

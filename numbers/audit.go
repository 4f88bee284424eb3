package numbers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// AuditOptions say how decisions are tested.
type AuditOptions struct {
	Folds int          // of a cross-validation
	Test  *table.Table // cases that nothing is learned from, in place of folds; nil for none
	// Predictions are columns of actions that somebody else chose.
	Predictions []string
}

// Audit is what decisions cost in cases that the model had not seen.
type Audit struct {
	Rows    int        `json:"rows"`
	Folds   int        `json:"folds,omitempty"`
	Costs   string     `json:"costs"`
	Methods []Audited  `json:"methods"` // the model first
	Scores  Scores     `json:"scores"`
	Worst   []CostCase `json:"worst"` // the cases that cost most
}

// Audited is what one way to choose actions costs in a case on average, with standard errors.
type Audited struct {
	Name  string  `json:"name"`
	Cost  float64 `json:"cost"`
	Error float64 `json:"standard_error"`
	// Saved is how much less the model costs than this, on the same cases.
	Saved      float64 `json:"saved"`
	SavedError float64 `json:"saved_standard_error"`
}

// Scores say whether what is predicted can be trusted.
type Scores struct {
	Coverage50 float64 `json:"coverage_50"` // of outcomes in intervals that should have half of them
	Coverage90 float64 `json:"coverage_90"`
	// PIT counts cases by the predicted probability of outcomes up to theirs, in ten parts, which are
	// equal where predictions are right.
	PIT        [10]int `json:"pit"`
	CRPS       float64 `json:"crps"`
	LogDensity float64 `json:"log_density"`
	Expected   float64 `json:"expected_cost"` // by the model itself
}

// CostCase is what was decided in a case.
type CostCase struct {
	Line    int     `json:"line"`
	Outcome float64 `json:"outcome"`
	Action  float64 `json:"action"`
	Cost    float64 `json:"cost"`
}

// auditing adds up the cases of an audit.
type auditing struct {
	opt   AuditOptions
	costs map[string][]float64 // of every case, by who chose
	names []string
	cases []CostCase
	Scores
}

// RunAudit fits models and decides cases that they have not seen.
func RunAudit(ctx context.Context, t *table.Table, o lossep.Options, costs *decision.NumberCosts, a AuditOptions) (*Audit, error) {
	whole, err := Prepare(t, o, costs)
	if err != nil {
		return nil, err
	}
	run := &auditing{opt: a, costs: make(map[string][]float64)}
	out := &Audit{Costs: whole.Costs.String()}
	if a.Test != nil {
		err = run.part(ctx, whole, a.Test)
	} else {
		if a.Folds > t.Len() {
			return nil, inputf("folds", "%d are more than the %d rows", a.Folds, t.Len())
		}
		out.Folds = a.Folds
		var parts [][]int
		if parts, err = folds(t, o, a.Folds); err != nil {
			return nil, err
		}
		for k, test := range parts {
			whole.tell(fmt.Sprintf("fold %d of %d", k+1, a.Folds), 0, 0)
			if err = run.fold(ctx, whole, t, test, o); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	run.finish(out)
	return out, nil
}

// folds divides rows into parts at random, and leaves groups together.
func folds(t *table.Table, o lossep.Options, k int) ([][]int, error) {
	groups := make([]string, t.Len())
	for i := range groups {
		groups[i] = fmt.Sprint(i)
	}
	if o.Data.Groups != "" {
		var err error
		if groups, err = t.Groups(o.Data.Groups, o.Data.Markers...); err != nil {
			return nil, err
		}
	}
	names := slices.Compact(slices.Sorted(slices.Values(groups)))
	if len(names) < k {
		return nil, inputf("folds", "%d are more than the %d groups", k, len(names))
	}
	of := make(map[string]int)
	for at, i := range rand.New(rand.NewPCG(o.Seed, 3)).Perm(len(names)) {
		of[names[i]] = at % k
	}
	parts := make([][]int, k)
	for i, g := range groups {
		parts[of[g]] = append(parts[of[g]], i)
	}
	return parts, nil
}

// fold learns from all rows but some, and decides those.
func (a *auditing) fold(ctx context.Context, whole *Problem, t *table.Table, test []int, o lossep.Options) error {
	var rest []int
	for i := range t.Len() {
		if _, out := slices.BinarySearch(test, i); !out {
			rest = append(rest, i)
		}
	}
	train := t.Subset(rest)
	var err error
	if o.Recipe, err = whole.Recipe.Refit(train); err != nil {
		return err
	}
	p, err := Prepare(train, o, whole.Costs)
	if err != nil {
		return err
	}
	return a.part(ctx, p, t.Subset(test))
}

// part decides the cases of a table by a model of a problem, and by what it is compared with.
func (a *auditing) part(ctx context.Context, p *Problem, test *table.Table) error {
	m, err := p.Fit(ctx)
	if err != nil {
		return err
	}
	x, _, err := p.Recipe.Apply(test)
	if err != nil {
		return err
	}
	y, err := p.Recipe.Numbers(test)
	if err != nil {
		return err
	}
	stakes, err := StakesOf(p.Costs, test, p.Recipe.Missing...)
	if err != nil {
		return err
	}
	all, err := m.Predict(x)
	if far, ok := err.(*lossep.FarError); ok {
		return far.In(test.Place(far.Row))
	} else if err != nil {
		return err
	}
	for i, d := range all {
		s := stakes[i%len(stakes)]
		c := s.Choose(d)
		a.Expected += c.Expected
		a.score(d, y[i])
		a.add("model", s.Cost(c.Action, y[i]))
		a.cases = append(a.cases, CostCase{test.Line(i), y[i], c.Action, s.Cost(c.Action, y[i])})
	}
	constant := p.stakes[0].Choose(newSample(p.Values)).Action
	a.compare("best constant action", stakes, y, func(int) float64 { return constant })
	if loss, ok := p.stakes[0].Loss.(decision.Pinball); ok && len(p.stakes) == 1 {
		line := linearQuantile(design(p.coding, p.X), p.Values, p.Weights, loss.Under/(loss.Under+loss.Over))
		z := design(p.coding, x)
		a.compare("linear quantile regression", stakes, y, func(i int) float64 { return mat.Dot(z.RowView(i), line) })
	}
	for _, name := range a.opt.Predictions {
		actions, err := test.Floats(name, p.Recipe.Missing...)
		if err != nil {
			return err
		}
		a.compare(name, stakes, y, func(i int) float64 { return actions[i] })
	}
	return nil
}

// compare adds the costs of actions that are chosen otherwise.
func (a *auditing) compare(name string, stakes []decision.Stake, y []float64, action func(i int) float64) {
	for i, v := range y {
		a.add(name, stakes[i%len(stakes)].Cost(action(i), v))
	}
}

func (a *auditing) add(name string, cost float64) {
	if !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
	a.costs[name] = append(a.costs[name], cost)
}

// score adds what is predicted of an outcome.
func (a *auditing) score(d Distribution, y float64) {
	u := d.PIT(y)
	if u > 0.25 && u < 0.75 {
		a.Coverage50++
	}
	if u > 0.05 && u < 0.95 {
		a.Coverage90++
	}
	a.PIT[min(9, int(10*u))]++
	a.CRPS += d.CRPS(y)
	a.LogDensity += d.LogDensity(y)
}

// finish makes means of sums.
func (a *auditing) finish(out *Audit) {
	own := a.costs["model"]
	n := float64(len(own))
	out.Rows, out.Scores = len(own), a.Scores
	for _, x := range []*float64{&out.Scores.Coverage50, &out.Scores.Coverage90, &out.Scores.CRPS, &out.Scores.LogDensity, &out.Scores.Expected} {
		*x /= n
	}
	for _, name := range a.names {
		costs := a.costs[name]
		saved := make([]float64, len(costs))
		for i, c := range costs {
			saved[i] = c - own[i]
		}
		one := Audited{Name: name}
		one.Cost, one.Error = meanError(costs)
		one.Saved, one.SavedError = meanError(saved)
		out.Methods = append(out.Methods, one)
	}
	slices.SortStableFunc(a.cases, func(a, b CostCase) int { return cmp.Compare(b.Cost, a.Cost) })
	out.Worst = a.cases[:min(5, len(a.cases))]
}

// meanError is a mean with its standard error.
func meanError(x []float64) (m, e float64) {
	m = mean(x)
	for _, v := range x {
		e += (v - m) * (v - m)
	}
	n := float64(len(x))
	return m, math.Sqrt(e/max(n-1, 1)) / math.Sqrt(n)
}

// design are encoded rows with an intercept, and a column for each category of a code.
func design(c *recipe.Coding, x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	width := 1 + c.Numbers()
	for k := range c.Codes() {
		width += c.Size(k)
	}
	z := mat.NewDense(n, width, nil)
	for i := range n {
		row, at := x.RawRowView(i), 1+c.Numbers()
		z.Set(i, 0, 1)
		for j := range d {
			if k := j - c.Numbers(); k < 0 {
				z.Set(i, 1+j, row[j])
			} else {
				if code := int(row[j]); code >= 0 {
					z.Set(i, at+code, 1)
				}
				at += c.Size(k)
			}
		}
	}
	return z
}

// linearQuantile is the plane below which the share q of the outcomes lies, for every x: by
// reweighted least squares, where a residual r has the weight of its slope over |r|.
func linearQuantile(z *mat.Dense, y, counts []float64, q float64) *mat.VecDense {
	n, d := z.Dims()
	scale := robustScale(slices.Sorted(slices.Values(y)))
	line := mat.NewVecDense(d, nil)
	residual := slices.Clone(y)
	for round := range 80 {
		small := scale * math.Max(1e-6, math.Pow(0.8, float64(round)))
		gram, right := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
		for i := range n {
			w := q
			if residual[i] < 0 {
				w = 1 - q
			}
			if w /= math.Max(math.Abs(residual[i]), small); counts != nil {
				w *= counts[i]
			}
			row := z.RowView(i)
			gram.SymRankOne(gram, w, row)
			right.AddScaledVec(right, w*y[i], row)
		}
		for k := range d { // one-hot columns add up to the intercept
			gram.SetSym(k, k, gram.At(k, k)*(1+1e-9)+1e-9*float64(n)/scale)
		}
		var c mat.Cholesky
		if !c.Factorize(gram) || c.SolveVecTo(line, right) != nil {
			break
		}
		for i := range n {
			residual[i] = y[i] - mat.Dot(z.RowView(i), line)
		}
	}
	return line
}

// Lines say what was found.
func (a *Audit) Lines() []string {
	how := fmt.Sprintf("in %d folds", a.Folds)
	if a.Folds == 0 {
		how = "of the test table"
	}
	lines := []string{fmt.Sprintf("%s %s, costs %s", table.Plural(a.Rows, "case"), how, a.Costs), "", fmt.Sprintf("%-28s %12s %10s %14s %10s", "cost per case", "mean", "± error", "model saves", "± error")}
	for _, m := range a.Methods {
		lines = append(lines, fmt.Sprintf("%-28s %12.6g %10.3g %14.6g %10.3g", m.Name, m.Cost, m.Error, m.Saved, m.SavedError))
	}
	s := &a.Scores
	lines = append(lines, "",
		fmt.Sprintf("expected by the model        %12.6g", s.Expected),
		fmt.Sprintf("outcomes in 50 %% intervals   %11.1f %%", 100*s.Coverage50),
		fmt.Sprintf("outcomes in 90 %% intervals   %11.1f %%", 100*s.Coverage90),
		fmt.Sprintf("CRPS                         %12.6g", s.CRPS),
		fmt.Sprintf("log density                  %12.6g", s.LogDensity),
		fmt.Sprintf("cases by predicted probability of outcomes up to theirs, in tenths: %v", s.PIT), "", "the cases that cost most:")
	for _, c := range a.Worst {
		lines = append(lines, fmt.Sprintf("line %d: outcome %.6g, action %.6g, cost %.6g", c.Line, c.Outcome, c.Action, c.Cost))
	}
	return lines
}

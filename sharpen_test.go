package lossep

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/data"
)

// TestSharpen: the log odds of any two outcomes are multiplied by the power, also far out,
// and what is no number stays so.
func TestSharpen(t *testing.T) {
	for _, p := range [][]float64{{0.3, 0.7}, {1e-100, 1}, {0.2, 0.5, 0.3}, {0.25, 0.25, 0.25, 0.25}} {
		for _, power := range []float64{0.5, 1, 1.3, 2} {
			q := append([]float64(nil), p...)
			sharpen(q, power)
			sum := 0.0
			for c := range q {
				sum += q[c]
				want, got := power*(math.Log(p[c])-math.Log(p[0])), math.Log(q[c])-math.Log(q[0])
				if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
					t.Errorf("%v to the power %v: log odds %v of outcome %d to the first, want %v", p, power, got, c, want)
				}
			}
			if math.Abs(sum-1) > 1e-15 {
				t.Errorf("%v to the power %v adds up to %v", p, power, sum)
			}
		}
	}
	sure := []float64{0, 1}
	sharpen(sure, 2)
	if sure[0] != 0 || sure[1] != 1 {
		t.Errorf("what is certain becomes %v", sure)
	}
	nothing := []float64{math.NaN(), 0.5}
	sharpen(nothing, 2)
	if !math.IsNaN(nothing[0]) || !math.IsNaN(nothing[1]) {
		t.Errorf("no number becomes %v", nothing)
	}
}

// leftOutRows are rows of three outcomes that were predicted with the true probabilities to
// a power, and what occurred.
func leftOutRows(n int, power float64, seed uint64) (left [][]float64, outcomes []int, counts []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		p, sum := make([]float64, 3), 0.0
		for c := range p {
			p[c] = math.Exp(1.5 * rng.NormFloat64())
			sum += p[c]
		}
		u, y := sum*rng.Float64(), 0
		for y < 2 && u > p[y] {
			u -= p[y]
			y++
		}
		sharpen(p, power)
		if power == 1 {
			for c := range p {
				p[c] /= sum
			}
		}
		left, outcomes, counts = append(left, p), append(outcomes, y), append(counts, 1)
	}
	return left, outcomes, counts
}

// TestSharpness: the power is the one that it says it is, by a search of all; with enough rows
// it undoes what was done to the truth; where there is nothing to undo it is none; and a row
// that counts twice is the row twice.
func TestSharpness(t *testing.T) {
	left, outcomes, counts := leftOutRows(400, 0.6, 1)
	value := func(b float64) (sum float64) {
		for i, p := range left {
			q := append([]float64(nil), p...)
			sharpen(q, b)
			sum += math.Log(q[outcomes[i]])
		}
		return sum
	}
	const h = 1e-4
	variance := 0.0
	for i, p := range left {
		log := func(b float64) float64 {
			q := append([]float64(nil), p...)
			sharpen(q, b)
			return math.Log(q[outcomes[i]])
		}
		slope := (log(1+h) - log(1-h)) / (2 * h)
		variance += slope * slope
	}
	best, at := math.Inf(-1), 0.0
	for b := leastSharpness; b <= mostSharpness; b += 0.001 {
		if v := value(b) - math.Sqrt(variance)*standardErrors*math.Abs(b-1); v > best {
			best, at = v, b
		}
	}
	got := sharpness(left, outcomes, counts, nil)
	if math.Abs(got-at) > 0.0011 { // the step of the search
		t.Errorf("power %v, and the best of all is %v", got, at)
	}
	if got < 1.2 {
		t.Errorf("power %v where 1.67 would undo what was done: nothing was shown", got)
	}

	// With σ the standard deviation of the slope of a row, the power has a standard error of
	// 1/(σ√n), 0.01 or so, and what chance is allowed for takes twice that.
	for _, power := range []float64{0.5, 1.6} {
		left, outcomes, counts := leftOutRows(20000, power, 2)
		if got := sharpness(left, outcomes, counts, nil); math.Abs(got*power-1) > 0.08 {
			t.Errorf("power %v undoes %v", got, power)
		}
	}
	none := 0
	for seed := range uint64(40) {
		left, outcomes, counts := leftOutRows(300, 1, 3+seed)
		if sharpness(left, outcomes, counts, nil) == 0 {
			none++
		}
	}
	if none < 34 { // two standard errors are passed by chance in 5 of 100, so in 2 of 40
		t.Errorf("of 40 tables with nothing to undo %d were left as they are", none)
	}

	twice, same, ones := left, outcomes, counts
	for i := range left[:200] {
		counts[i] = 2
	}
	twice, same = append(twice, left[:200]...), append(same, outcomes[:200]...)
	ones = make([]float64, len(twice))
	units := make([]int, len(twice)) // a row and its copy are one
	for i := range ones {
		ones[i], units[i] = 1, 3*(i%len(left)) // with numbers of rows that are not left out between
	}
	if a, b := sharpness(left, outcomes, counts, nil), sharpness(twice, same, ones, units); math.Abs(a-b) > 1e-9 {
		t.Errorf("power %v with weights of 2, %v with the rows twice", a, b)
	}

	// What is left to chance does not depend on the unit that weights are in, and is more in
	// groups that are alike.
	tenfold := make([]float64, len(counts))
	for i, n := range counts {
		tenfold[i] = 10 * n
	}
	if a, b := sharpness(left, outcomes, counts, nil), sharpness(left, outcomes, tenfold, nil); math.Abs(a-b) > 1e-9 {
		t.Errorf("power %v, and %v with weights ten times as large", a, b)
	}
	if a, b := sharpness(twice, same, ones, units), sharpness(twice, same, ones, nil); !(a < b) {
		t.Errorf("power %v with copies that are one, %v with copies that count as new rows", a, b)
	}

	// All as predicted: as sharp as is allowed and no more.
	for i, p := range left {
		outcomes[i] = 0
		p[0], p[1], p[2] = 0.9, 0.06, 0.04
	}
	if got := sharpness(left, outcomes, counts, nil); !(got > 1 && got <= mostSharpness) {
		t.Errorf("power %v where everything was as predicted", got)
	}
}

// TestMixtureSharpened: all that a model says of new cases has the power in it, and a file
// and a calibration keep it.
func TestMixtureSharpened(t *testing.T) {
	m := fitWide(t, EP)
	x := m.recipeRows(t, wideTable(t, 20, 3, 2))
	m.summary.Sharpness = 0
	plain, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	m.summary.Sharpness = 1.4
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	calibrated, err := loaded.Calibrate(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if calibrated.Summary().Sharpness != 1.4 {
		t.Errorf("calibrated the power is %v", calibrated.Summary().Sharpness)
	}
	predictions, err := loaded.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := loaded.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plain {
		sharpen(p.Probabilities, 1.4)
		if got := predictions[i].Probability(); math.Abs(got-p.Probability()) > 1e-14 {
			t.Errorf("row %d: %v, want %v", i, got, p.Probability())
		}
		if d := decisions[i]; d.Probability() != predictions[i].Probability() || d.Action != d.Stakes.Best(p.Probabilities, -1) {
			t.Errorf("row %d: decided by %v, predicted %v", i, d.Probabilities, p.Probabilities)
		}
	}
	if text := strings.Join(loaded.Results(), "\n"); !strings.Contains(text, "sharpness   1.4: ") {
		t.Errorf("nothing is said of it: %s", text)
	}
	for _, wrong := range []float64{-1, 0.1, 5, math.NaN()} {
		s := m.summary
		s.Sharpness = wrong
		if s.checkSharpness() == nil {
			t.Errorf("a power of %v is read", wrong)
		}
	}
}

// TestPrevalenceLeavesPower: candidates are weighed and sharpened by the rows as they are,
// however frequent outcomes are where decisions are made.
func TestPrevalenceLeavesPower(t *testing.T) {
	plain := fitWide(t, EP)
	o := autoOptions(t, EP)
	o.Data.Prevalence = 0.02
	m, err := Fit(context.Background(), wideTable(t, 70, 3, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	if m.summary.Sharpness != plain.summary.Sharpness || !slices.Equal(m.mixture.weights, plain.mixture.weights) {
		t.Errorf("power %v and weights %v, without a prevalence %v and %v", m.summary.Sharpness, m.mixture.weights, plain.summary.Sharpness, plain.mixture.weights)
	}
	for k, c := range m.summary.Candidates {
		if c.LogPredictive != plain.summary.Candidates[k].LogPredictive {
			t.Errorf("%s: log predictive %v, without a prevalence %v", c.Name, c.LogPredictive, plain.summary.Candidates[k].LogPredictive)
		}
	}
}

// TestOrderOfCopies: where rows are written several times the folds have the same rows, in
// whatever order they come.
func TestOrderOfCopies(t *testing.T) {
	table := wideTable(t, 40, 1, 3)
	var rows []int
	for i := range 40 {
		for range 1 + i%3 {
			rows = append(rows, i)
		}
	}
	parts := func() (all []string) {
		p, err := Prepare(table.Subset(rows), autoOptions(t, EP))
		if err != nil {
			t.Fatal(err)
		}
		p = p.ordered()
		for k, s := range p.comparisonFolds() {
			for _, i := range s.Test {
				all = append(all, fmt.Sprintf("%d: %.9f %d", k, p.X.RawRowView(i), p.Labels[i]))
			}
		}
		slices.Sort(all)
		return all
	}
	want := parts()
	rand.New(rand.NewPCG(4, 4)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if got := parts(); len(got) != len(rows) || !slices.Equal(got, want) {
		t.Errorf("folds of the same rows in another order: %q and %q", got, want)
	}
}

// TestAdjust: standard errors change as probabilities do, sharpened and shifted.
func TestAdjust(t *testing.T) {
	of := func(power, prevalence float64) *Learned {
		target := data.Target{Rows: []int{70, 30}, Prevalence: prevalence}
		return &Learned{problem: &Problem{Recipe: &data.Recipe{Target: target}}, sharpness: power}
	}
	for _, l := range []*Learned{of(1.5, 0), of(0, 0.05), of(1.5, 0.05)} {
		for _, p := range []float64{0.01, 0.3, 0.5, 0.98} {
			const h = 1e-6
			at, errors := []float64{p - h, p, p + h}, []float64{1, 1, 1}
			l.Adjust(at, errors)
			if want := (at[2] - at[0]) / (2 * h); math.Abs(errors[1]-want) > 1e-5*want {
				t.Errorf("power %v: at %v the standard error is multiplied by %v, want %v", l.sharpness, p, errors[1], want)
			}
		}
	}
	same, errors := []float64{0.3}, []float64{0.1}
	of(0, 0).Adjust(same, errors)
	if same[0] != 0.3 || math.Abs(errors[0]-0.1) > 1e-16 {
		t.Errorf("without either: %v ± %v", same[0], errors[0])
	}
}

// TestSharpenedOutcomes: so it is with more than two outcomes.
func TestSharpenedOutcomes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for range 60 {
		x := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		y := "low"
		if x[0]+0.3*rng.NormFloat64() > 0 {
			y = "high"
		} else if x[1] > 0 {
			y = "middle"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", x[0], x[1], y)
	}
	table, err := data.Read(context.Background(), strings.NewReader(b.String()), "three.csv", data.Format{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Fit(context.Background(), table, Options{Kernel: AutoKernel, Method: EP, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, table)
	m.summary.Sharpness = 0
	plain, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	m.summary.Sharpness = 1.7
	got, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plain {
		sharpen(p.Probabilities, 1.7)
		if floats.Distance(p.Probabilities, got[i].Probabilities, math.Inf(1)) > 1e-14 {
			t.Fatalf("row %d: %v, want %v", i, got[i].Probabilities, p.Probabilities)
		}
	}
}

// TestTimidTable: where outcomes are divided by a bent surface and rows are few, posteriors
// are timid, and the power that rows left out ask for makes new rows more probable.
func TestTimidTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	table := func(rows int) *data.Table {
		var b strings.Builder
		b.WriteString("a,b,c,d,y\n")
		for range rows {
			var x [4]float64
			for k := range x {
				x[k] = rng.NormFloat64()
				fmt.Fprintf(&b, "%.4f,", x[k])
			}
			y := "no"
			if x[0]+x[1]*x[2]+0.5*x[3] > 0 {
				y = "yes"
			}
			b.WriteString(y + "\n")
		}
		read, err := data.Read(context.Background(), strings.NewReader(b.String()), "divided.csv", data.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	m, err := Fit(context.Background(), table(150), autoOptions(t, EP))
	if err != nil {
		t.Fatal(err)
	}
	if !(m.summary.Sharpness > 1) {
		t.Fatalf("power %v: %v", m.summary.Sharpness, m.Results())
	}
	other := table(1000)
	labels, err := m.recipe.Labels(other)
	if err != nil {
		t.Fatal(err)
	}
	x := m.recipeRows(t, other)
	loss := func() (sum float64) {
		predictions, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range predictions {
			sum -= math.Log(p.Probabilities[labels[i]]) / float64(len(labels))
		}
		return sum
	}
	with := loss()
	m.summary.Sharpness = 0
	if without := loss(); !(with < without) {
		t.Errorf("log loss %v with the power, %v without", with, without)
	}
}

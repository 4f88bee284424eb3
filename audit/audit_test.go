package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

const testKernel = "rbf(variance=3, lengthscale=1.2)"

// sixtyRows are cases around a circle: positive inside, with some noise.
func sixtyRows() string {
	rng := rand.New(rand.NewPCG(7, 11))
	var b strings.Builder
	b.WriteString("x,y,amount,class\n")
	for range 60 {
		x, y := 2*rng.NormFloat64()+5, rng.NormFloat64()
		class := "good"
		if math.Hypot((x-5)/2, y)+0.3*rng.NormFloat64() < 1 {
			class = "bad"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%.2f,%s\n", x, y, 1+rng.Float64(), class)
	}
	return b.String()
}

func sixty(t *testing.T, o Options) *Audit {
	t.Helper()
	if o.Fit.Utility == nil {
		o.Fit.Utility = costsOf(t, "fn=5,fp=1")
	}
	o.Fit.Data.Positive = "bad"
	if o.Fit.Kernel == "" {
		o.Fit.Kernel, o.Fit.Fixed = testKernel, true
	}
	if o.Folds == 0 {
		o.Folds = 3
	}
	a, err := New(t.Context(), tableOf(t, sixtyRows()), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func run(t *testing.T, a *Audit) []*Fold {
	t.Helper()
	folds, err := a.Run(context.Background(), nil, func(*Fold) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return folds
}

// A fold against the same steps made one by one.
func TestFoldStepByStep(t *testing.T) {
	a := sixty(t, Options{Methods: []lossep.Method{lossep.EP}, Fit: lossep.Options{Method: lossep.EP}})
	f, err := a.fold(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	rows := a.splits[0][1].Train
	columns := make([][]float64, 3)
	for c, name := range []string{"x", "y", "amount"} {
		all, err := a.table.Floats(name)
		if err != nil {
			t.Fatal(err)
		}
		var train []float64
		for _, i := range rows {
			train = append(train, all[i])
		}
		mean, deviation := stat.PopMeanStdDev(train, nil)
		for _, v := range all {
			columns[c] = append(columns[c], (v-mean)/deviation)
		}
	}
	encode := func(rows []int) *mat.Dense {
		x := mat.NewDense(len(rows), 3, nil)
		for k, i := range rows {
			x.SetRow(k, []float64{columns[0][i], columns[1][i], columns[2][i]})
		}
		return x
	}
	k, err := kernel.Parse(testKernel, 3)
	if err != nil {
		t.Fatal(err)
	}
	process, err := gp.New(k, encode(rows))
	if err != nil {
		t.Fatal(err)
	}
	var labels []int
	for _, i := range rows {
		labels = append(labels, a.problem.Labels[i])
	}
	model, err := process.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	r, err := infer.EP{}.Fit(context.Background(), model)
	if err != nil {
		t.Fatal(err)
	}
	want, stderr := make([]float64, len(f.Rows)), make([]float64, len(f.Rows))
	decision.Probit().Probabilities(infer.Gaussian{Gaussian: r.Q}, process.At(encode(f.Rows)), want, stderr)
	for i := range want {
		// Both end at the same fixed point to the tolerance of expectation propagation.
		if math.Abs(f.Answers["ep"][i][1]-want[i]) > 1e-7 {
			t.Errorf("row %d: %v, want %v", f.Rows[i]+1, f.Answers["ep"][i], want[i])
		}
	}
}

// Nothing about the test rows but their own features has a say in how they are
// decided.
func TestTestRowsHaveNoSay(t *testing.T) {
	o := Options{Methods: []lossep.Method{lossep.EP}, Fit: lossep.Options{Method: lossep.EP, Kernel: "rbf"}}
	a := sixty(t, o)
	before, err := a.fold(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	// In the first test row all numbers are changed, in all others the outcome.
	lines := strings.Split(strings.TrimSpace(sixtyRows()), "\n")
	for k, i := range a.splits[0][0].Test {
		cells := strings.Split(lines[i+1], ",")
		if k == 0 {
			cells[0], cells[1], cells[2] = "1000", "-1000", "77"
		} else if cells[3] == "good" {
			cells[3] = "bad"
		} else {
			cells[3] = "good"
		}
		lines[i+1] = strings.Join(cells, ",")
	}
	o.Fit.Utility, o.Fit.Data.Positive, o.Folds = costsOf(t, "fn=5,fp=1"), "bad", 3
	b, err := New(t.Context(), tableOf(t, strings.Join(lines, "\n")), o)
	if err != nil {
		t.Fatal(err)
	}
	b.splits = a.splits
	after, err := b.fold(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if before.Kernel != after.Kernel {
		t.Errorf("the kernel changed from %s to %s", before.Kernel, after.Kernel)
	}
	for name, p := range before.Answers {
		// The rows are encoded and multiplied together: one that is far away may change
		// the rounding of others, and nothing more.
		if d := floats.Distance(positives(p[1:]), positives(after.Answers[name][1:]), math.Inf(1)); d > 1e-10 {
			t.Errorf("%s: probabilities changed by %v", name, d)
		}
		if p[0][1] == after.Answers[name][0][1] {
			t.Errorf("%s: the row that changed has the same probability", name)
		}
	}
}

// The whole pipeline. The numbers are its own, from the first run; that the parts are
// right is what the other tests are for.
func TestPipeline(t *testing.T) {
	a := sixty(t, Options{References: 1})
	folds := run(t, a)
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, s := range r.Methods {
		got[s.Method] = math.Round(1e4*s.MeanCost) / 1e4
	}
	want := map[string]float64{
		"corrected": 0.5167, "ep": 0.5167, "loss-ep": 0.5167, "vi": 0.5167, "loss-vi": 0.5167, "laplace": 0.5833,
		ProbitRegression: 0.6833, OneHalf: 0.7833, "always negative": 1.5833, "always positive": 0.6833,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cost per case (-want +got):\n%s", diff)
	}
	if len(r.Regrets) != len(lossep.Methods()) || r.Regrets[0].By != "exact" {
		t.Errorf("regrets %+v", r.Regrets)
	}
	for _, g := range r.Regrets {
		// On 40 training rows the correction is within 0.001 and no method but Laplace is
		// off by more than a few hundredths.
		limit := map[string]float64{"corrected": 0.002, "laplace": 0.1}[g.Method]
		if limit == 0 {
			limit = 0.03
		}
		if g.Off > limit || g.Mean < 0 {
			t.Errorf("%s: error %v, regret %v", g.Method, g.Off, g.Mean)
		}
	}
	var notes []string
	for _, f := range folds {
		notes = append(notes, f.Notes...)
	}
	if len(notes) > 0 {
		t.Errorf("notes: %q", notes)
	}
}

// Folds are the same bytes on any number of processors, and going on from some of them
// gives the same as computing all.
func TestSameBytes(t *testing.T) {
	o := Options{Methods: []lossep.Method{lossep.EP, lossep.LossEP, lossep.VI, lossep.Corrected}, Repeats: 2, References: 1}
	a := sixty(t, o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64))
	if folds, steps := a.atOnce(); folds != a.Len() || steps < 2 {
		t.Errorf("%d of %d folds at once, and %d steps of each", folds, a.Len(), steps)
	}
	all := run(t, a)
	want, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(1)
	var kept []*Fold
	stop := errors.New("enough")
	_, err = sixty(t, o).Run(context.Background(), nil, func(f *Fold) error {
		if len(kept) == 2 {
			return stop
		}
		// As if it had been written and read.
		b, err := json.Marshal(f)
		if err != nil {
			return err
		}
		read := new(Fold)
		kept = append(kept, read)
		return json.Unmarshal(b, read)
	})
	if !errors.Is(err, stop) || len(kept) != 2 {
		t.Fatalf("%d folds, error %v", len(kept), err)
	}
	for _, f := range kept {
		if !a.Fits(f) {
			t.Errorf("fold %d does not fit", f.Index)
		}
	}
	computed := 0
	resumed, err := a.Run(context.Background(), kept, func(*Fold) error { computed++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if computed != a.Len()-2 {
		t.Errorf("%d folds were computed, want %d", computed, a.Len()-2)
	}
	got, err := json.Marshal(resumed)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("going on gives other folds")
	}
}

func TestFoldsOfOthersDoNotFit(t *testing.T) {
	a, folds := eight(t)
	if !a.Fits(folds[1]) {
		t.Fatal("its own fold does not fit")
	}
	for name, change := range map[string]func(*Fold){
		"index":   func(f *Fold) { f.Index = 2 },
		"number":  func(f *Fold) { f.Number = 0 },
		"rows":    func(f *Fold) { f.Rows = slices.Clone(f.Rows); f.Rows[0]++ },
		"length":  func(f *Fold) { f.Rows = f.Rows[1:] },
		"answers": func(f *Fold) { f.Answers = map[string][][]float64{"ep": nil} },
	} {
		f := *folds[1]
		change(&f)
		if a.Fits(&f) {
			t.Errorf("another %s fits", name)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"one fold":       {func(o *Options) { o.Folds = 1 }, "folds"},
		"too many folds": {func(o *Options) { o.Folds = 61 }, "folds"},
		"no repeats":     {func(o *Options) { o.Repeats = -1 }, "repeats"},
		"many repeats":   {func(o *Options) { o.Repeats = MostRepeats + 1 }, "repeats"},
		"references":     {func(o *Options) { o.References = -1 }, "references"},
		"method":         {func(o *Options) { o.Methods = []lossep.Method{"magic"} }, `unknown method "magic"`},
		"audited method": {func(o *Options) { o.Fit.Method = "magic" }, `unknown method "magic"`},
		"twice":          {func(o *Options) { o.Methods = []lossep.Method{"ep", "ep"} }, "twice"},
		"rows":           {func(o *Options) { o.Fit.MaxRows = 59 }, "60 rows, more than 59"},
	} {
		o := Options{Fit: lossep.Options{Utility: costsOf(t, "fn=5,fp=1")}}
		o.Fit.Data.Positive = "bad"
		c.change(&o)
		_, err := New(t.Context(), tableOf(t, sixtyRows()), o)
		var input *lossep.InputError
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Dealing rows many times ends with its context.
func TestSplitsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := Options{Repeats: MostRepeats, Fit: lossep.Options{Utility: costsOf(t, "fn=5,fp=1")}}
	o.Fit.Data.Positive = "bad"
	if _, err := New(ctx, tableOf(t, sixtyRows()), o); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// Costs of the single cases: a miss costs the amount.
func TestCostsOfCases(t *testing.T) {
	a := sixty(t, Options{Methods: []lossep.Method{lossep.EP}, Fit: lossep.Options{Method: lossep.EP, Utility: costsOf(t, "fn=3*amount,fp=1")}})
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if r.Threshold != nil || r.Benefit != nil {
		t.Error("cases with costs of their own have no threshold in common")
	}
	amounts, err := a.table.Floats("amount")
	if err != nil {
		t.Fatal(err)
	}
	never := 0.0
	for _, d := range r.Decisions {
		if d.Method == "always negative" && d.Outcome == 1 {
			near(t, "cost", d.Cost, 3*amounts[d.Row-1])
			never += d.Cost
		}
	}
	if never == 0 {
		t.Error("there are no misses")
	}
}

// Costs that are all multiples of one column have a threshold, and the decision curve counts
// cases by it: at the costs given, net benefit is what a method saves against treating none.
func TestProportionalCosts(t *testing.T) {
	a := sixty(t, Options{Methods: []lossep.Method{lossep.EP}, Fit: lossep.Options{Method: lossep.EP, Utility: costsOf(t, "fn=5*amount,fp=amount")}})
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	if r.Threshold == nil || r.Benefit == nil || r.Benefit.By != "amount" {
		t.Fatalf("threshold %v, curve %v", r.Threshold, r.Benefit)
	}
	near(t, "threshold", *r.Threshold, 1.0/6)
	amounts, err := a.table.Floats("amount")
	if err != nil {
		t.Fatal(err)
	}
	stake := 0.0
	for _, amount := range amounts {
		stake += 5 * amount / float64(len(amounts))
	}
	none := r.Methods[len(r.Methods)-2]
	for _, c := range r.Benefit.Curves {
		if c.Method == "ep" {
			near(t, "net benefit", c.Values[len(c.Values)/2], (none.MeanCost-r.Methods[0].MeanCost)/stake)
		}
	}
}

// Who gives utilities reads what the decisions bring.
func TestUtilitiesAreReported(t *testing.T) {
	spec, err := decision.ParseSpec("u", []byte("outcomes: [good, bad]\nutilities: {lend: {good: 1, bad: -6}, refuse: {good: 0, bad: 0}}"))
	if err != nil {
		t.Fatal(err)
	}
	a := sixty(t, Options{Methods: []lossep.Method{lossep.EP}, Fit: lossep.Options{Method: lossep.EP, Utility: spec}})
	r, err := a.Summarise(run(t, a))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Methods {
		brought, n := 0.0, 0.0
		for _, d := range r.Decisions {
			if d.Method == s.Method {
				n++
				if d.Action == 0 && d.Outcome == 1 {
					brought -= 6
				} else if d.Action == 0 {
					brought++
				}
			}
		}
		near(t, s.Method, s.Utility.Value, brought/n)
		if !(s.Utility.Low <= s.Utility.Value && s.Utility.Value <= s.Utility.High) {
			t.Errorf("%s: %+v", s.Method, s.Utility)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a := sixty(t, Options{Methods: []lossep.Method{lossep.EP}})
	_, err := a.Run(ctx, nil, func(*Fold) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A row that no model of the others can predict is refused by its line and column.
func TestFarRowIsRefused(t *testing.T) {
	text := "income,class\n"
	for i := range 20 {
		text += fmt.Sprintf("%d,%d\n", i, i%2)
	}
	data, err := table.Read(t.Context(), strings.NewReader(text+"1e90,1\n"), "loans.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(t.Context(), data, Options{
		Folds: 3, Repeats: 1, Methods: []lossep.Method{lossep.EP},
		Fit: lossep.Options{Data: recipe.Options{Target: "class"}, Utility: costs, Kernel: "linear + constant", Fixed: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Run(t.Context(), nil, func(*Fold) error { return nil })
	var located *table.Error
	if !errors.As(err, &located) || located.File != "loans.csv" || located.Line != 22 || located.ColumnName != "income" {
		t.Errorf("error %v", err)
	}
}

// At any ratio of costs an audit takes the actions that the models of its folds take: by
// the probability of what is all but impossible, which one minus that of the other outcome
// does not tell.
func TestExtremeRatios(t *testing.T) {
	// A line through the origin whose slope is known to a few hundredths from noisy labels;
	// one row is far out on the positive side.
	var text strings.Builder
	text.WriteString("x,y\n30,yes\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		x := 4*rng.Float64() - 2
		fmt.Fprintf(&text, "%v,%s\n", x, map[bool]string{true: "yes", false: "no"}[x+rng.NormFloat64() > 0])
	}
	fit := lossep.Options{
		Data: recipe.Options{Target: "y", KeepScale: true}, Utility: costsOf(t, "fn=1,fp=1"),
		Method: lossep.EP, Kernel: "linear(variance=1)", Fixed: true,
	}
	a, err := New(t.Context(), tableOf(t, text.String()), Options{Fit: fit, Folds: 2, Methods: []lossep.Method{lossep.EP}})
	if err != nil {
		t.Fatal(err)
	}
	n := slices.IndexFunc(a.splits[0], func(s compare.Split) bool { return slices.Contains(s.Test, 0) })
	f, err := a.fold(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(context.Background(), a.table.Subset(a.splits[0][n].Train), fit)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[int]bool)
	for _, ratio := range []float64{1e12, 1e17, 1e30, 1e60, 1e120} {
		costs := decision.Stakes{Table: decision.Table{{0, 1}, {ratio, 0}}, Costs: true}
		want, err := m.Decide(mat.NewDense(1, 1, []float64{30}), costs)
		if err != nil {
			t.Fatal(err)
		}
		p := f.Answers["ep"][slices.Index(f.Rows, 0)]
		if got := cheapest(costs, p); got != want[0].Action || p[0] != want[0].Probabilities[0] || p[1] != 1 {
			t.Errorf("fp = %g: action %d by %v, the model takes %d by %v", ratio, got, p, want[0].Action, want[0].Probabilities)
		}
		seen[want[0].Action] = true
	}
	if len(seen) != 2 {
		t.Errorf("only %v, so that nothing is tested", seen)
	}
}

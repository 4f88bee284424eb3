package lossep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// manyRows is a table of n rows whose outcome depends on two of three columns.
func manyRows(t *testing.T, n int) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("a,b,kind,y\n")
	for range n {
		a, c := rng.NormFloat64(), rng.NormFloat64()
		kind := []string{"red", "green", "blue"}[rng.IntN(3)]
		f := math.Sin(2*a) + 0.7*c
		if kind == "red" {
			f++
		}
		y := "no"
		if f+rng.NormFloat64() > 0.8 {
			y = "yes"
		}
		fmt.Fprintf(&b, "%.6f,%.6f,%s,%s\n", a, c, kind, y)
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "many.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func manyOptions(t *testing.T) lossep.Options {
	t.Helper()
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	return lossep.Options{Data: recipe.Options{Target: "y", Positive: "yes"}, Utility: costs, Seed: 1}
}

// More rows than the full process is meant for are fitted from inducing points without
// being asked, and what was fitted goes through predictions, files and calibration.
func TestManyRows(t *testing.T) {
	table := manyRows(t, 2300)
	o := manyOptions(t)
	m, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	s := m.Summary()
	if s.Inducing == nil || s.Inducing.Points < 5 || s.Inducing.Points > 2000 || s.Inducing.Bound > s.LogEvidence || !s.Status.Converged {
		t.Fatalf("%+v, %+v", s, s.Inducing)
	}
	// The leave-one-out cost is what it says: below that of acting always alike.
	if loo := s.LeaveOneOut; loo == nil || !(loo.Value < loo.Constant) {
		t.Errorf("leave-one-out %+v", loo)
	}
	x, _, err := m.Recipe().Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	before, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := lossep.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	after, err := loaded.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if before[i].Mean != after[i].Mean || before[i].Variance != after[i].Variance {
			t.Fatalf("row %d: %v before, %v after the file", i, before[i], after[i])
		}
	}
	// Calibrated after loading it is what a fit by Loss-EP with the same kernel finds.
	calibrated, err := loaded.Calibrate(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Kernel, o.Fixed, o.Method, o.Inducing = m.Kernel().String(), true, lossep.LossEP, s.Inducing.Points
	fitted, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		t.Fatal(err)
	}
	// The points were chosen anew, so that only what they agree on is the same.
	a, b := calibrated.Summary(), fitted.Summary()
	if a.Objective == nil || b.Objective == nil || math.Abs(a.Objective.Value-b.Objective.Value) > 0.01*math.Abs(a.Objective.Value) {
		t.Errorf("calibrated %+v, fitted %+v", a.Objective, b.Objective)
	}
}

// With every row an inducing point all methods find what they find for the full process.
func TestInducingIsTheFullProcess(t *testing.T) {
	table := manyRows(t, 120)
	for _, method := range []lossep.Method{lossep.EP, lossep.LossEP, lossep.VI, lossep.Laplace} {
		o := manyOptions(t)
		o.Method, o.Kernel, o.Fixed = method, "matern32(variance=1.5, lengthscale=1.2) + constant(variance=0.5)", true
		full, err := lossep.Fit(context.Background(), table, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Inducing = 120
		induced, err := lossep.Fit(context.Background(), table, o)
		if err != nil {
			t.Fatal(err)
		}
		if induced.Summary().Inducing.Points != 120 {
			t.Fatal("fewer points than rows that all differ")
		}
		x, _, err := full.Recipe().Apply(table)
		if err != nil {
			t.Fatal(err)
		}
		want, err := full.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := induced.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			// Passes end when q moves by less than 1e-5.
			if math.Abs(got[i].Probability()-want[i].Probability()) > 1e-5 {
				t.Errorf("%s, row %d: %v, of the full process %v", method, i, got[i], want[i])
			}
		}
		a, b := full.Summary(), induced.Summary()
		if math.Abs(a.LogEvidence-b.LogEvidence) > 1e-6 || math.Abs(a.LeaveOneOut.LogPredictive-b.LeaveOneOut.LogPredictive) > 1e-3 || math.Abs(a.LeaveOneOut.Value-b.LeaveOneOut.Value) > 1e-9 {
			t.Errorf("%s: %+v %+v, of the full process %+v %+v", method, b, b.LeaveOneOut, a, a.LeaveOneOut)
		}
	}
}

// memory is checkpoints that are kept in memory.
type memory struct {
	states  [][]byte
	rows    []int // that each was found with
	resumed []int // and that a fit went on from
	refused []string
}

func (m *memory) Load() []byte {
	if len(m.states) == 0 {
		return nil
	}
	return m.states[len(m.states)-1]
}

func (m *memory) Keep(state []byte, rows int) {
	m.states, m.rows = append(m.states, state), append(m.rows, rows)
}

func (m *memory) Resumed(rows int) { m.resumed = append(m.resumed, rows) }

func (m *memory) Refused(why string) { m.refused = append(m.refused, why) }

// A fit that is interrupted goes on where it was and ends with the same file; one of other
// rows does not.
func TestInterruptedFit(t *testing.T) {
	table := manyRows(t, 9000)
	o := manyOptions(t)
	o.Inducing = 15
	file := func(o lossep.Options) string {
		m, err := lossep.Fit(context.Background(), table, o)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := file(o)
	kept := new(memory)
	o.Checkpoints = kept
	ctx, cancel := context.WithCancel(context.Background())
	o.Progress = func(p lossep.Progress) {
		if len(kept.states) == 1 { // the last part has begun
			cancel()
		}
	}
	if _, err := lossep.Fit(ctx, table, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	steps := 0
	o.Progress = func(p lossep.Progress) {
		if strings.Contains(p.Stage, "with 1125 rows") {
			steps++
		}
	}
	if got := file(o); got != want || steps > 0 || !slices.Equal(kept.rows, []int{1125}) || !slices.Equal(kept.resumed, []int{1125}) {
		t.Errorf("another model, or %d steps done again; kept with %d rows, and gone on from with %d", steps, kept.rows, kept.resumed)
	}
	o.Seed = 2
	if file(o); steps == 0 || len(kept.resumed) > 1 || len(kept.refused) != 1 || !strings.Contains(kept.refused[0], "other options") {
		t.Errorf("a search with another seed went on from this one: %d steps, %q", steps, kept.refused)
	}
}

// What was kept of a search with other weights is not gone on from.
func TestInterruptedFitWithOtherWeights(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,once,twice,class\n")
	for i := range 8000 { // of which a thousand are gone over first
		fmt.Fprintf(&b, "%d,1,%d,%s\n", i*5%12, 1+i%2, []string{"good", "bad"}[i*i%7/4])
	}
	var kept [2]memory
	for k, columns := range [][2]string{{"once", "twice"}, {"twice", "once"}} {
		_, err := lossep.Fit(context.Background(), tableOf(t, b.String()), lossep.Options{
			Data: recipe.Options{Target: "class", Positive: "bad", Weights: columns[0], Drop: []string{columns[1]}}, Utility: costs(t, "fn=5,fp=1"),
			Kernel: "rbf(variance=2)", Fixed: true, Inducing: 4, Checkpoints: &kept[k],
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fingerprint := regexp.MustCompile(`"fingerprint":"[0-9a-f]{64}"`)
	if first, second := fingerprint.Find(kept[0].Load()), fingerprint.Find(kept[1].Load()); first == nil || bytes.Equal(first, second) {
		t.Errorf("%s and %s", first, second)
	}
}

// What cannot be had from inducing points is refused before anything is fitted.
func TestInducingBadInput(t *testing.T) {
	table := manyRows(t, 60)
	for name, change := range map[string]func(*lossep.Options){
		"method: corrected":                 func(o *lossep.Options) { o.Inducing, o.Method = 10, lossep.Corrected },
		"61 points are more":                func(o *lossep.Options) { o.Inducing = 61 },
		"invalid number of inducing points": func(o *lossep.Options) { o.Inducing = -2 },
		"power: 1.5 is out of range":        func(o *lossep.Options) { o.Inducing, o.Power = 10, 1.5 },
		"variational inference":             func(o *lossep.Options) { o.Inducing, o.Power = 10, 1e-12 },
		"powers are for inducing":           func(o *lossep.Options) { o.Power = 0.5 },
		"60 rows, more than 50":             func(o *lossep.Options) { o.MaxRows = 50 },
	} {
		o := manyOptions(t)
		change(&o)
		var input *lossep.InputError
		if _, err := lossep.Prepare(table, o); !errors.As(err, &input) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The rows of a shard that were written down are read as they were, and nothing else is
// taken for them.
func TestPartsAsBytes(t *testing.T) {
	var training *lossep.Training
	enough := errors.New("that is all")
	o := manyOptions(t)
	o.Inducing, o.ShardRows, o.Fixed = 5, 10_000, true
	o.Elsewhere = func(known *lossep.Training) (gp.Driver, error) {
		training = known
		return nil, enough
	}
	table := manyRows(t, search.SearchRows+100)
	if _, err := lossep.Fit(context.Background(), table, o); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	var rows []int
	for i := 2 * o.ShardRows; i < table.Len(); i++ {
		rows = append(rows, i)
	}
	part, err := training.Part(2, table.Subset(rows))
	if err != nil {
		t.Fatal(err)
	}
	text := part.Bytes()
	again, err := training.PartOf(2, text)
	if err != nil || !bytes.Equal(again.Bytes(), text) {
		t.Errorf("another part: %v", err)
	}
	if _, err := training.PartOf(1, text); err == nil {
		t.Error("it is taken for another shard")
	}
	text[77] ^= 1
	if _, err := training.PartOf(2, text); err == nil {
		t.Error("damage is not seen")
	}
}

// Of points that are more than the rows can tell apart some are left out, and a note says so; and
// so does one of points that lose much.
func TestFewerPointsThanAskedFor(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,class\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d,%s\n", i*5%12, []string{"good", "bad"}[i*i%7/4])
	}
	for points, want := range map[int]string{60: "12 inducing points in place of 60: with these nothing is left", 12: "", 2: "with 2 inducing points about "} {
		m, err := lossep.Fit(context.Background(), tableOf(t, b.String()), lossep.Options{
			Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: costs(t, "fn=5,fp=1"), Kernel: "matern32(variance=2)", Fixed: true, Inducing: points,
		})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(m.Summary().Status.Notes, "\n")
		if m.Summary().Inducing.Points != min(12, points) || !strings.HasPrefix(notes, want) || want == "" && notes != "" {
			t.Errorf("%d points for %d, notes %q", m.Summary().Inducing.Points, points, notes)
		}
	}
}

// A share has two digits, and none of them is an exponent.
func TestShareLeft(t *testing.T) {
	for share, want := range map[float64]string{0.0112: "1.1 %", 0.5: "50 %", 0.9951: "100 %", 1: "100 %"} {
		if got := (&lossep.Inducing{Share: share}).Left(); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}

// The kernel that no kernel stands for depends on how many rows and columns there are, and on
// whether there are inducing points.
func TestDefaultKernel(t *testing.T) {
	data := func(rows, columns int) *table.Table {
		var text strings.Builder
		for k := range columns {
			fmt.Fprintf(&text, "x%d,", k)
		}
		text.WriteString("y\n")
		for range rows {
			text.WriteString(strings.Repeat("1,", columns) + "0\n")
		}
		read, err := table.Read(context.Background(), strings.NewReader(text.String()), "table.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	effects := " + " + lossep.AutoEffects
	many, wide := data(lossep.FullRows+1, lossep.FewColumns), data(lossep.FullRows+1, lossep.FewColumns+1)
	for _, c := range []struct {
		name  string
		table *table.Table
		o     lossep.Options
		want  string
	}{
		{"few rows", data(lossep.FullRows, 2), lossep.Options{}, lossep.AutoKernel},
		{"many rows", many, lossep.Options{}, lossep.ManyRowsKernel + effects},
		{"no points", many, lossep.Options{Inducing: lossep.NoInducing}, lossep.ManyColumnsKernel},
		{"many columns", wide, lossep.Options{}, lossep.ManyColumnsKernel + effects},
		{"but one", wide, lossep.Options{Data: recipe.Options{Drop: []string{"x0"}}}, lossep.ManyRowsKernel + effects},
		{"one names the rows", wide, lossep.Options{Data: recipe.Options{ID: "x0"}}, lossep.ManyRowsKernel + effects},
		{"one weighs them", wide, lossep.Options{Data: recipe.Options{Weights: "x0"}}, lossep.ManyRowsKernel + effects},
		{"one makes the outcome", wide, lossep.Options{Data: recipe.Options{Target: "x0 > 0"}}, lossep.ManyColumnsKernel + effects}, // y is decided by
		{"two make the outcome", wide, lossep.Options{Data: recipe.Options{Target: "x0 + y > 0"}}, lossep.ManyRowsKernel + effects},
		{"one is left out twice", wide, lossep.Options{Data: recipe.Options{ID: "x0", Drop: []string{"x0"}}}, lossep.ManyRowsKernel + effects},
		{"two of them", wide, lossep.Options{Data: recipe.Options{Features: []string{"x0", "x1"}}}, lossep.ManyRowsKernel + effects},
	} {
		if got := c.o.DefaultKernel(c.table); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// More than two outcomes have inducing points beyond as many rows as two have, and the same kernel
// by default.
func TestDefaultKernelOfSeveralOutcomes(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range lossep.FullRows + 1 {
		fmt.Fprintf(&text, "%d,%c\n", i%97, "abc"[i%3])
	}
	table, err := table.Read(context.Background(), strings.NewReader(text.String()), "table.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := lossep.Prepare(table, lossep.Options{Data: recipe.Options{Target: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := p.KernelText(); !strings.Contains(text, "additive") || !strings.Contains(text, "matern32") {
		t.Errorf("%s", text)
	}
	if asked := p.AskedKernel(); asked != lossep.ManyRowsKernel {
		t.Errorf("no kernel stands for %s", asked)
	}
}

// With inducing points leave-one-out is by rows, and where rows belong together that is said.
func TestInducedLeaveOneOutOfGroups(t *testing.T) {
	o := manyOptions(t)
	o.Kernel, o.Fixed, o.Inducing = "rbf", true, 5
	for group, want := range map[string]bool{"": false, "kind": true} {
		o.Data.Groups = group
		m, err := lossep.Fit(context.Background(), manyRows(t, 60), o)
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(m.Summary().Status.Notes, func(s string) bool {
			return strings.Contains(s, `leave-one-out leaves out single rows here, and those of the same "kind" flatter it`)
		})
		if said != want {
			t.Errorf("groups %q: %q", group, m.Summary().Status.Notes)
		}
	}
}

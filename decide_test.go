package lossep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

func spec(t testing.TB, text string) *decision.Spec {
	t.Helper()
	s, err := decision.ParseSpec("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A decision is that of the tables of package decision, under the model's own
// probability, with costs and with utilities, two actions and three.
func TestDecisionsFollowTheTable(t *testing.T) {
	p := prepared(t, "fn=20,fp=1")
	m, err := p.Fit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	predictions := must(m.Predict(p.X))
	for _, text := range []string{
		"outcomes: [benign, malignant]\ncosts: {wait: {benign: 0, malignant: 20}, biopsy: {benign: 1, malignant: 0}}",
		"outcomes: [malignant, benign]\ncosts: {wait: {benign: 0, malignant: 20}, biopsy: {benign: 1, malignant: 0}, again: {benign: 0.2, malignant: 4}}\nceiling: 50",
		"outcomes: [benign, malignant]\nutilities: {wait: {benign: 5, malignant: 0}, biopsy: {benign: 4, malignant: 9}}",
	} {
		s, err := m.Bind(spec(t, text))
		if err != nil {
			t.Fatal(err)
		}
		stakes, err := s.Stakes(nil)
		if err != nil {
			t.Fatal(err)
		}
		utilities, err := stakes.Utilities(stakes.Zero())
		if err != nil {
			t.Fatal(err)
		}
		one, err := decision.NewUtility(decision.Probit(), 1, nil, utilities)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range must(m.Decide(p.X, stakes)) {
			q := predictions[i].Probability()
			want := one.Choose(0, decision.Pair(q))
			if d.Probability() != q || d.Action != want.Action {
				t.Errorf("row %d: action %d at %v, want %d at %v", i, d.Action, d.Probability(), want.Action, q)
			}
			// Costs are at most 50 and subtracted in another order.
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-13 }
			if !near(d.Margin, want.Margin) {
				t.Errorf("row %d: margin %v, want %v", i, d.Margin, want.Margin)
			}
			// What costs are given costs, what utilities are given brings.
			for a, row := range stakes.Table {
				if !near(d.Expected[a], row[0]*(1-q)+row[1]*q) {
					t.Errorf("row %d: expected %v", i, d.Expected)
				}
			}
		}
	}
}

// Costs that vary from row to row: the amount at stake decides, and one that cannot be
// a cost is refused with its line.
func TestDecisionsPerCase(t *testing.T) {
	m := fitLoans(t, lossep.EP, lossep.Likelihood{})
	if zero := m.Summary().Zero; zero != 0.6*900 {
		t.Errorf("the ceiling is %v and not the largest cost", zero)
	}
	own := m.Utility()
	stream := func(text string) (actions []int, err error) {
		rd, err := recipe.NewReader(context.Background(), strings.NewReader(text), "new.csv", m.Recipe(), table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range m.Decisions(context.Background(), rd, own, true) {
			if err != nil {
				return actions, err
			}
			actions = append(actions, d.Action)
			p := d.Probability()
			amount, err := d.Row.Value("amount")
			if err != nil {
				t.Fatal(err)
			}
			if want := 0.6 * amount * p; math.Abs(d.Expected[0]-want) > 1e-9 {
				t.Errorf("waiting costs %v at %v with %v at stake", d.Expected[0], p, amount)
			}
		}
		return actions, nil
	}
	// More than the ceiling is at stake in the last row; it can still be decided.
	actions, err := stream("amount,job,age\n1,clerk,30\n100000,clerk,30\n")
	if err != nil || fmt.Sprint(actions) != "[0 1]" {
		t.Errorf("%v, %v", actions, err)
	}
	var where *table.Error
	_, err = stream("amount,job,age\n1,clerk,30\nmuch,clerk,30\n")
	if !errors.As(err, &where) || where.Line != 3 || where.Column != 1 {
		t.Errorf("no amount: %v", err)
	}
	if own, err = m.Bind(costs(t, "fn=0.6*amount + 0*(1/amount),fp=1")); err != nil {
		t.Fatal(err)
	}
	_, err = stream("amount,job,age\n1,clerk,30\n0,clerk,30\n")
	if !errors.As(err, &where) || where.Line != 3 || !strings.Contains(err.Error(), "1 / amount is +Inf in this case") {
		t.Errorf("a cost that is none: %v", err)
	}
}

// Methods that would act otherwise are named, and only those.
func TestDisagreement(t *testing.T) {
	p := prepared(t, "fn=20,fp=1")
	l, err := p.Learn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	models := make(map[lossep.Method]*lossep.Model)
	for _, method := range []lossep.Method{lossep.Laplace, lossep.EP, lossep.Corrected} {
		if models[method], err = l.Model(context.Background(), method); err != nil {
			t.Fatal(err)
		}
	}
	rows, _, err := p.Recipe.Apply(example.Table())
	if err != nil {
		t.Fatal(err)
	}
	own := must(models[lossep.Laplace].Decide(rows))
	for i, d := range own {
		if d.Disagreeing != nil {
			t.Errorf("row %d: a disagreement before anybody was asked: %v", i, d.Disagreeing)
		}
	}
	models[lossep.Laplace].Consult(rows, own)
	disagreeing := 0
	for _, method := range []lossep.Method{lossep.EP, lossep.Corrected} {
		for i, d := range must(models[method].Decide(rows)) {
			if other, ok := own[i].Disagreeing[method]; ok {
				disagreeing++
				if other != d.Action || other == own[i].Action {
					t.Errorf("row %d: %s is said to choose %d, chooses %d", i, method, other, d.Action)
				}
			} else if d.Action != own[i].Action {
				t.Errorf("row %d: %s chooses %d, laplace %d, unnoticed", i, method, d.Action, own[i].Action)
			}
		}
	}
	if disagreeing == 0 {
		t.Error("nothing was tested: the methods agree everywhere")
	}
}

// What is said about a row does not depend on the rows beside it, to the last bit, for
// every method; choosing by predictions is deciding; and all of it can be asked from
// several goroutines.
func TestRowsAreIndependent(t *testing.T) {
	p := prepared(t, "fn=20,fp=1")
	l := learned(t, p)
	all, _, err := p.Recipe.Apply(example.HeldOut())
	if err != nil {
		t.Fatal(err)
	}
	_, d := all.Dims()
	const n = 40
	rows := all.Slice(0, n, 0, d).(*mat.Dense)
	for _, method := range lossep.Methods() {
		m, err := l.Model(context.Background(), method)
		if err != nil {
			t.Fatal(err)
		}
		if none := must(m.Decide(new(mat.Dense))); len(none) != 0 {
			t.Errorf("%s: no rows make %d decisions", method, len(none))
		}
		predictions, decisions := must(m.Predict(rows)), must(m.Decide(rows))
		if diff := cmp.Diff(decisions, m.Choose(predictions)); diff != "" {
			t.Errorf("%s: choosing is not deciding: %s", method, diff)
		}
		var wg sync.WaitGroup
		for _, size := range []int{1, 3, 11} {
			wg.Go(func() {
				for from := 0; from < n; from += size {
					part := rows.Slice(from, min(from+size, n), 0, d).(*mat.Dense)
					again := must(m.Decide(part))
					m.Consult(part, again)
					for i, got := range must(m.Predict(part)) {
						if want := predictions[from+i]; !cmp.Equal(got, want) || !slices.Equal(again[i].Probabilities, want.Probabilities) {
							t.Errorf("%s: row %d among %d: %v, want %v", method, from+i, size, got, want)
						}
					}
				}
			})
		}
		wg.Wait()
	}
}

// Where one outcome is all but certain and the other costs the more, what counts is the
// probability of the other, which one minus the first does not tell: decisions, and what
// leave-one-out says of them, keep to it at any ratio of costs.
func TestDecisionsAtExtremeRatios(t *testing.T) {
	// A line through the origin whose slope is known to a few hundredths from 400 noisy
	// labels; one row is far out on the positive side.
	var text strings.Builder
	text.WriteString("x,y\n30,yes\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		x := 4*rng.Float64() - 2
		fmt.Fprintf(&text, "%v,%s\n", x, map[bool]string{true: "yes", false: "no"}[x+rng.NormFloat64() > 0])
	}
	rows := tableOf(t, text.String())
	positive, negative := 0, 0
	for _, ratio := range []float64{1, 1e6, 1e12, 1e15, 1e17, 1e20, 1e30, 1e60, 1e120} {
		p, err := lossep.Prepare(rows, lossep.Options{
			Data: recipe.Options{Target: "y", KeepScale: true}, Utility: costs(t, fmt.Sprintf("fn=1,fp=%g", ratio)),
			Method: lossep.EP, Kernel: "linear(variance=1)", Fixed: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		first := must(m.Predict(p.X))[0]
		z := first.Mean / math.Sqrt(1+first.Variance)
		// Φ(−z) by its logarithm, about z²/2.
		if want := normal.CDF(-z); z < 10 || math.Abs(first.Probabilities[0]-want) > 1e-12*want {
			t.Fatalf("P(no) is %v at z = %v, want %v", first.Probabilities[0], z, want)
		}
		want := 0
		if first.Probabilities[0]*ratio < first.Probabilities[1] {
			want = 1
		}
		decisions, realised := must(m.Decide(p.X)), 0.0
		for i, d := range decisions {
			realised += d.Stakes.Table[d.Action][p.Labels[i]] / float64(p.Len())
		}
		if d := decisions[0]; d.Action != want || d.Expected[1] != ratio*first.Probabilities[0] {
			t.Errorf("ratio %g: action %d at P(no) = %v, expected %v", ratio, d.Action, d.Probabilities[0], d.Expected)
		}
		if ratio >= 1e12 {
			// Within ±2 neither outcome is as certain as that, with a row or without.
			if loo := m.Summary().LeaveOneOut; math.Abs(loo.Value-realised) > 1e-12 {
				t.Errorf("ratio %g: leave-one-out costs %v, decisions %v", ratio, loo.Value, realised)
			}
			positive, negative = positive+want, negative+1-want
		}
	}
	if positive == 0 || negative == 0 {
		t.Errorf("%d positive and %d negative, so that nothing is tested", positive, negative)
	}
}

// rowsForever is a file of n rows that is never held.
func rowsForever(n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		fmt.Fprintln(w, "x1,x2")
		for i := range n {
			if _, err := fmt.Fprintf(w, "%d,%d\n", i%7, i%5); err != nil {
				return
			}
		}
		w.Close()
	}()
	return r
}

// The memory of a stream does not grow with the number of its rows.
func TestStreamsAreBounded(t *testing.T) {
	m, err := lossep.Fit(context.Background(), tableOf(t, fivePoints), lossep.Options{
		Utility: costs(t, "fn=5,fp=1"), Method: lossep.EP, Kernel: "rbf", Fixed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 60_000
	rd, err := recipe.NewReader(context.Background(), rowsForever(rows), "", m.Recipe(), table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	n, early, late := 0, uint64(0), uint64(0)
	for _, err := range m.Decisions(context.Background(), rd, nil, true) {
		if err != nil {
			t.Fatal(err)
		}
		switch n++; n {
		case 2000:
			early = heap()
		case rows - 2000:
			late = heap()
		}
	}
	if n != rows {
		t.Errorf("%d rows of %d", n, rows)
	}
	// A block of 512 rows is some 100 kB, and several may be under way; 56,000 rows kept would be
	// over 5 MB.
	if late > early+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}

// A stream ends at its first error, when the context does, and when the caller has
// enough.
func TestStreamsEnd(t *testing.T) {
	m := fitLoans(t, lossep.EP, lossep.Likelihood{})
	reader := func(text string) *recipe.Reader {
		rd, err := recipe.NewReader(context.Background(), strings.NewReader(text), "new.csv", m.Recipe(), table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return rd
	}
	const bad = "job,amount,age\nclerk,1,30\nclerk,1,old\nclerk,1,30\n"
	seen, failed := 0, 0
	for _, err := range m.Predictions(context.Background(), reader(bad)) {
		if err != nil {
			failed++
			continue // the stream has to end by itself
		}
		seen++
	}
	if seen != 1 || failed != 1 {
		t.Errorf("%d rows and %d errors", seen, failed)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range m.Decisions(ctx, reader(loans), nil, true) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	for range m.Decisions(context.Background(), reader(loans), nil, true) {
		break
	}
}

// A model of two outcomes of which neither was said to be positive takes costs by their
// names alone, as it is and from its file.
func TestUnsettledPositive(t *testing.T) {
	table, err := table.NewTable("rows", []table.Values{
		{Name: "x", Numbers: []float64{1, 2, 3, 4, 5, 6}},
		{Name: "y", Codes: []int32{0, 0, 1, 0, 1, 1}, Texts: []string{"fraud", "ok"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(t.Context(), table, lossep.Options{
		Data:    recipe.Options{Positive: "ok", Unsettled: true},
		Utility: spec(t, "outcomes: [fraud, ok]\ncosts: {fraud: {fraud: 0, ok: 1}, ok: {fraud: 1, ok: 0}}"), Kernel: "rbf", Fixed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := lossep.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*lossep.Model{m, again} {
		if _, err := m.Bind(costs(t, "fn=5,fp=1")); err == nil || !strings.Contains(err.Error(), `which of "fraud" and "ok" is positive was not said`) {
			t.Errorf("fn and fp: %v", err)
		}
		if _, err := m.Bind(spec(t, "outcomes: [ok, fraud]\ncosts: {let: {fraud: 5, ok: 0}, block: {fraud: 0, ok: 1}}\n")); err != nil {
			t.Errorf("by outcomes: %v", err)
		}
	}
}

package lossep_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
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
		u, err := s.Table(nil)
		if err != nil {
			t.Fatal(err)
		}
		one, err := decision.NewUtility(decision.Probit(), 1, nil, u)
		if err != nil {
			t.Fatal(err)
		}
		entries, err := s.Entries(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range must(m.Decide(p.X, s)) {
			want := one.Choose(0, predictions[i].Probability)
			if d.Probability != predictions[i].Probability || d.Action != want.Action {
				t.Errorf("row %d: action %d at %v, want %d at %v", i, d.Action, d.Probability, want.Action, predictions[i].Probability)
			}
			// Costs are at most 50 and subtracted in another order.
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-13 }
			if !near(d.Margin, want.Margin) {
				t.Errorf("row %d: margin %v, want %v", i, d.Margin, want.Margin)
			}
			for a := range want.Utilities {
				if !near(d.Utilities[a], want.Utilities[a]) {
					t.Errorf("row %d: utilities %v, want %v", i, d.Utilities, want.Utilities)
				}
			}
			if q := d.Probability; s.Costs() && !near(d.Cost, entries.ExpectedUtility(d.Action, 1-q, q)) {
				t.Errorf("row %d: cost %v", i, d.Cost)
			}
		}
	}
}

// Costs that vary from row to row: the amount at stake decides, and one that cannot be
// a cost is refused with its line.
func TestDecisionsPerCase(t *testing.T) {
	m := fitLoans(t, lossep.EP, lossep.Likelihood{})
	if c, _ := m.Utility().Ceiling(); c != 0.6*900 {
		t.Errorf("the ceiling is %v and not the largest cost", c)
	}
	stream := func(text string) (actions []int, err error) {
		rd, err := data.NewReader(context.Background(), strings.NewReader(text), "new.csv", m.Recipe(), data.Format{})
		if err != nil {
			t.Fatal(err)
		}
		for d, err := range m.Decisions(context.Background(), rd, nil) {
			if err != nil {
				return actions, err
			}
			actions = append(actions, d.Action)
			p := d.Probability
			amount, err := d.Row.Value("amount")
			if err != nil {
				t.Fatal(err)
			}
			if want := 0.6 * amount * p; math.Abs(540-d.Utilities[0]-want) > 1e-9 {
				t.Errorf("waiting is worth %v at %v with %v at stake", d.Utilities[0], p, amount)
			}
		}
		return actions, nil
	}
	// More than the ceiling is at stake in the last row; it can still be decided.
	actions, err := stream("amount,job,age\n1,clerk,30\n100000,clerk,30\n")
	if err != nil || fmt.Sprint(actions) != "[0 1]" {
		t.Errorf("%v, %v", actions, err)
	}
	_, err = stream("amount,job,age\n1,clerk,30\n-5,clerk,30\n")
	var where *data.Error
	if !errors.As(err, &where) || where.Line != 3 {
		t.Errorf("a negative amount: %v", err)
	}
	_, err = stream("amount,job,age\n1,clerk,30\nmuch,clerk,30\n")
	if !errors.As(err, &where) || where.Line != 3 || where.Column != 1 {
		t.Errorf("no amount: %v", err)
	}
}

// Methods that would act otherwise are named, and only those.
func TestDissent(t *testing.T) {
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
	own := must(models[lossep.Laplace].Decide(rows, nil))
	for i, d := range own {
		if d.Dissent != nil {
			t.Errorf("row %d: a dissent before anybody was asked: %v", i, d.Dissent)
		}
	}
	models[lossep.Laplace].Consult(rows, nil, own)
	dissent := 0
	for _, method := range []lossep.Method{lossep.EP, lossep.Corrected} {
		for i, d := range must(models[method].Decide(rows, nil)) {
			if other, ok := own[i].Dissent[method]; ok {
				dissent++
				if other != d.Action || other == own[i].Action {
					t.Errorf("row %d: %s is said to choose %d, chooses %d", i, method, other, d.Action)
				}
			} else if d.Action != own[i].Action {
				t.Errorf("row %d: %s chooses %d, laplace %d, unnoticed", i, method, d.Action, own[i].Action)
			}
		}
	}
	if dissent == 0 {
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
		if none := must(m.Decide(new(mat.Dense), nil)); len(none) != 0 {
			t.Errorf("%s: no rows make %d decisions", method, len(none))
		}
		predictions, decisions := must(m.Predict(rows)), must(m.Decide(rows, nil))
		if diff := cmp.Diff(decisions, m.Choose(predictions, nil)); diff != "" {
			t.Errorf("%s: choosing is not deciding: %s", method, diff)
		}
		var wg sync.WaitGroup
		for _, size := range []int{1, 3, 11} {
			wg.Go(func() {
				for from := 0; from < n; from += size {
					part := rows.Slice(from, min(from+size, n), 0, d).(*mat.Dense)
					again := must(m.Decide(part, nil))
					m.Consult(part, nil, again)
					for i, got := range must(m.Predict(part)) {
						if want := predictions[from+i]; got != want || again[i].Probability != want.Probability {
							t.Errorf("%s: row %d among %d: %v, want %v", method, from+i, size, got, want)
						}
					}
				}
			})
		}
		wg.Wait()
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
	m, err := lossep.Fit(context.Background(), table(t, fivePoints), lossep.Options{
		Utility: costs(t, "fn=5,fp=1"), Method: lossep.EP, Kernel: "rbf", Fixed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	const rows = 60_000
	rd, err := data.NewReader(context.Background(), rowsForever(rows), "", m.Recipe(), data.Format{})
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
	for _, err := range m.Decisions(context.Background(), rd, nil) {
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
	// A block of 512 rows is some 100 kB; 56,000 rows kept would be over 5 MB.
	if late > early+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", early, late)
	}
}

// A stream ends at its first error, when the context does, and when the caller has
// enough.
func TestStreamsEnd(t *testing.T) {
	m := fitLoans(t, lossep.EP, lossep.Likelihood{})
	reader := func(text string) *data.Reader {
		rd, err := data.NewReader(context.Background(), strings.NewReader(text), "new.csv", m.Recipe(), data.Format{})
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
	for _, err := range m.Decisions(ctx, reader(loans), nil) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	for range m.Decisions(context.Background(), reader(loans), nil) {
		break
	}
}

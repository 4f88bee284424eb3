package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/table"
)

// loansCSV is a table with every kind of column: numbers, some of them missing,
// categories, truth values, one of no use, and an amount that costs can depend on.
func loansCSV(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("age,income,job,owner,branch,amount,class\n")
	for i := range n {
		age, income := 20+rng.IntN(50), fmt.Sprintf("%.2f", 10+20*rng.Float64())
		if rng.IntN(5) == 0 {
			income = ""
		}
		job := []string{"clerk", "smith", "baker ü"}[rng.IntN(3)]
		class := "good"
		if rng.NormFloat64()+float64(45-age)/10 > 0 || i == 0 {
			class = "bad"
		}
		if i == 1 {
			class = "good"
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,main,%d,%s\n", age, income, job, []string{"True", "False"}[rng.IntN(2)], 100+rng.IntN(900), class)
	}
	return b.Bytes()
}

// fitted fits a model to a table in a moment: its kernel is not searched for.
func fitted(tb testing.TB, csv []byte, costs string, method lossep.Method, changes ...func(*lossep.Options)) *lossep.Model {
	tb.Helper()
	table, err := table.Read(context.Background(), bytes.NewReader(csv), "test.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		tb.Fatal(err)
	}
	spec, err := decision.ParseCosts(costs)
	if err != nil {
		tb.Fatal(err)
	}
	o := lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad", Impute: true}, Utility: spec, Method: method,
		Kernel: "matern32(variance=4, lengthscale=3) + constant(variance=1)", Fixed: true, Seed: 1,
	}
	for _, change := range changes {
		change(&o)
	}
	m, err := lossep.Fit(context.Background(), table, o)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Models that many tests share: one with the same costs for all cases, and one whose
// costs depend on the amount.
var (
	loans   = sync.OnceValue(func() *lossep.Model { return fitted(tbPanics{}, loansCSV(60), "fn=5,fp=1", lossep.EP) })
	amounts = sync.OnceValue(func() *lossep.Model {
		return fitted(tbPanics{}, loansCSV(40), "fn=0.01*amount,fp=1", lossep.EP)
	})
)

// tbPanics is for what is made outside of a test.
type tbPanics struct{ testing.TB }

func (tbPanics) Helper()           {}
func (tbPanics) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// source gives the model under a name.
func source(tb testing.TB, name string, m interface{ Write(io.Writer) error }) Source {
	tb.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		tb.Fatal(err)
	}
	return Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }}
}

// fileVersion is the version of a model: the beginning of its file's SHA-256.
func fileVersion(tb testing.TB, m *lossep.Model) string {
	tb.Helper()
	hash := sha256.New()
	if err := m.Write(hash); err != nil {
		tb.Fatal(err)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

// newServer serves loans and amounts; change may adjust the rest.
func newServer(tb testing.TB, change ...func(*Config)) *Server {
	tb.Helper()
	c := Config{Models: []Source{source(tb, "loans", loans()), source(tb, "amounts", amounts())}}
	for _, f := range change {
		f(&c)
	}
	s, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// ask sends a request to the handler. Header lines are "Name: value".
func ask(s *Server, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost/", strings.NewReader(body))
	r.URL.Path, r.URL.RawPath = path, ""
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// answer is the response to a request that must succeed, decoded.
func answer[T any](tb testing.TB, s *Server, path, body string) T {
	tb.Helper()
	w := ask(s, http.MethodPost, path, body)
	var v T
	if w.Code != http.StatusOK {
		tb.Fatalf("POST %s %s: %d %s", path, body, w.Code, w.Body)
	}
	decodeExactly(tb, w.Body.Bytes(), &v)
	return v
}

// decodeExactly decodes JSON that has nothing the variable does not.
func decodeExactly(tb testing.TB, text []byte, v any) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		tb.Fatalf("%v in %s", err, text)
	}
	if d.More() {
		tb.Fatalf("more follows in %s", text)
	}
}

// problemOf is the problem document of a response.
func problemOf(tb testing.TB, w *httptest.ResponseRecorder) *problem.Problem {
	tb.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		tb.Fatalf("content type %q of %d %s", got, w.Code, w.Body)
	}
	p := new(problem.Problem)
	decodeExactly(tb, w.Body.Bytes(), p)
	if p.Status != w.Code || p.Title != http.StatusText(w.Code) || p.Detail == "" || p.Type != "about:blank" {
		tb.Errorf("status %d with the document %s", w.Code, w.Body)
	}
	return p
}

// someRows are rows of loans as objects, n of them, with one category and one outcome
// that training did not see.
func someRows(n int) []map[string]any {
	data, err := table.Read(context.Background(), bytes.NewReader(loansCSV(200)), "new.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		panic(err)
	}
	var rows []map[string]any
	for i := range n {
		row := make(map[string]any)
		for j, cell := range data.Row(199 - i%200) {
			name := data.Columns()[j]
			if x, ok := table.Number(cell); ok {
				row[name] = x
			} else if cell == "" {
				row[name] = nil
			} else {
				row[name] = cell
			}
		}
		if i == 2 {
			row["job"], row["class"] = "astronaut", "ugly"
		}
		rows = append(rows, row)
	}
	return rows
}

// rowsBody is a body with the rows and further members.
func rowsBody(tb testing.TB, rows []map[string]any, more string) string {
	tb.Helper()
	text, err := json.Marshal(rows)
	if err != nil {
		tb.Fatal(err)
	}
	if more != "" {
		more = "," + more
	}
	return `{"rows":` + string(text) + more + `}`
}

// must is a value that there is no reason not to have.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

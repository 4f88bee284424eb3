package browser

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server"
	"github.com/lossep/lossep/table"
)

// site is a server that runs in the test, with what was asked of it.
type site struct {
	url    string
	cancer *lossep.Model // of the embedded example, with rows to try
	loans  *lossep.Model // three actions, a cost that depends on the row, categories
	wards  *lossep.Model // three outcomes and four actions

	mu    sync.Mutex
	asked map[string][]byte // the last body sent to each path
}

// asking is the body that a path was last asked with.
func (s *site) asking(t *testing.T, path string) []byte {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[path] == nil {
		t.Fatalf("%s was not asked", path)
	}
	return s.asked[path]
}

// note keeps the bodies of requests as they pass.
func (s *site) note(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				s.mu.Lock()
				// The reasons for one decision are asked for by themselves.
				path := r.URL.Path
				if bytes.Contains(body, []byte(`"why":`)) {
					path += " why"
				}
				s.asked[path] = body
				s.mu.Unlock()
			}
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failed{err}))
		}
		next.ServeHTTP(w, r)
	})
}

// failed is the end of a body, with the error that it ended with.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

const loanCases = `income,amount,job,class
12,3,clerk,bad
30,4,smith,good
25,9,clerk,good
9,7,baker,bad
41,2,smith,good
14,5,baker,bad
22,8,clerk,bad
35,6,baker,good
28,3,smith,good
17,4,clerk,good
`

const loanCosts = `{"outcomes": ["good", "bad"], "costs": {
	"accept": {"good": 0, "bad": "0.6 * amount"},
	"review": {"good": 0.4, "bad": 0.6},
	"refuse": {"good": 1.5, "bad": 0}}}`

// models are fitted once, with kernels that are given: what they predict is beside the
// point as long as it is not all the same.
var models = sync.OnceValues(func() (m [3]*lossep.Model, err error) {
	t := example.Training()
	some := make([]int, 120)
	for i := range some {
		some[i] = 3 * i
	}
	costs, err := decision.ParseCosts(example.Costs)
	if err != nil {
		return m, err
	}
	if m[0], err = lossep.Fit(background, t.Subset(some), lossep.Options{
		Data: recipe.Options{Target: example.Target, Positive: example.Positive}, Utility: costs,
		Method: lossep.EP, Kernel: "matern32(variance=9, lengthscale=8)", Fixed: true,
	}); err != nil {
		return m, err
	}
	if t, err = table.Read(context.Background(), strings.NewReader(loanCases), "loans.csv", table.Format{Header: table.HeaderYes}); err != nil {
		return m, err
	}
	if costs, err = decision.ParseSpec("costs", []byte(loanCosts)); err != nil {
		return m, err
	}
	m[1], err = lossep.Fit(background, t, lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: costs,
		Kernel: "rbf(variance=4, lengthscale=2)", Fixed: true,
	})
	if err != nil {
		return m, err
	}
	if t, err = table.Read(context.Background(), strings.NewReader(wardCases(60, 0)), "wards.csv", table.Format{Header: table.HeaderYes}); err != nil {
		return m, err
	}
	if costs, err = decision.ParseCostMatrix("costs.csv", []byte(wardCosts)); err != nil {
		return m, err
	}
	m[2], err = lossep.Fit(background, t, lossep.Options{
		Data: recipe.Options{Target: "where"}, Utility: costs, Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true,
	})
	return m, err
})

const wardCosts = "action,home,icu,ward\ndischarge,0,9,3\nadmit,1,4,0\nintensive,4,0,2\ncall,1.2,1.2,1.2\n"

// wardCases are cases on a circle, turned by an angle, of which a third each has one of
// three outcomes.
func wardCases(n int, turn float64) string {
	var b strings.Builder
	b.WriteString("a,b,where\n")
	for i := range n {
		angle := 2 * math.Pi * float64(i) / float64(n)
		fmt.Fprintf(&b, "%.3f,%.3f,%s\n", math.Cos(angle+turn), math.Sin(angle+turn), []string{"home", "ward", "icu"}[3*i/n])
	}
	return b.String()
}

// newSite starts a server with the three models, for a test that may run beside others:
// much of what a browser does is waiting.
func newSite(t *testing.T, tokens ...string) *site {
	t.Helper()
	t.Parallel()
	if _, err := findBrowser(); err != nil {
		t.Skip(err) // before anything is fitted for nobody
	}
	m, err := models()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{cancer: m[0], loans: m[1], wards: m[2], asked: make(map[string][]byte)}
	held := example.HeldOut()
	var rows []map[string]any
	for i := range 10 {
		row := make(map[string]any)
		for k, cell := range held.Row(7 * i) {
			row[held.Columns()[k]] = cell
		}
		rows = append(rows, row)
	}
	sv, err := server.New(server.Config{
		Models: []server.Source{source(t, "cancer", s.cancer, rows), source(t, "loans", s.loans, nil), source(t, "wards", s.wards, nil)}, Tokens: tokens,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.note(sv.Handler()))
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

func source(t *testing.T, name string, m *lossep.Model, rows []map[string]any) server.Source {
	t.Helper()
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	return server.Source{
		Name: name, Examples: rows,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil },
	}
}

// text is a row of numbers as in a CSV file.
func text[T any](values ...T) string {
	var s []string
	for _, v := range values {
		s = append(s, fmt.Sprint(v))
	}
	return strings.Join(s, ",")
}

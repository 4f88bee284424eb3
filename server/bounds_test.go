package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

// Lists and maps of things that are short in JSON and long in memory are refused
// before they are.
func TestInferTakesLittleMemory(t *testing.T) {
	s := newServer(t)
	list := func(element string, bytes int) string {
		return strings.Repeat(element+",", bytes/(len(element)+1)) + element
	}
	numbered := func(bytes int) string {
		var b strings.Builder
		for i := 0; b.Len() < bytes; i++ {
			fmt.Fprintf(&b, `"%d":0,`, i)
		}
		return b.String() + `"x":0`
	}
	const size = 4 << 20
	for name, body := range map[string]string{
		"inputs":                  `{"inputs":[` + list(`{}`, size) + `]}`,
		"outputs":                 `{"outputs":[` + list(`{}`, size) + `]}`,
		"dimensions":              `{"inputs":[{"shape":[` + list(`1`, size) + `]}]}`,
		"parameters":              `{"parameters":{` + numbered(size) + `}}`,
		"parameters of an input":  `{"inputs":[{"parameters":{` + numbered(size) + `}}]}`,
		"parameters of an output": `{"outputs":[{"parameters":{` + numbered(size) + `}}]}`,
		"lists as parameters":     `{"parameters":{"x":[` + list(`[]`, size) + `]}}`,
		"elements":                `{"inputs":[{"name":"age","datatype":"FP64","shape":[1],"data":[` + list(`[]`, size) + `]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := ask(s, http.MethodPost, "/v2/models/loans/infer", body)
			runtime.ReadMemStats(&after)
			checkInferError(t, w, 400, "")
			// The body is read into a buffer that doubles, twice where races are looked for,
			// and may be kept once as text. Elements without a bound take a hundred times it.
			if took := after.TotalAlloc - before.TotalAlloc; took > 12*size {
				t.Errorf("a body of %d bytes took %d", len(body), took)
			}
		})
	}
}

// A request for no outputs in particular gets all.
func TestInferOutputsMayBeEmpty(t *testing.T) {
	s := newServer(t)
	inputs, _ := inferInputs(someRows(6), false)
	all := decodeInfer(t, askInfer(s, "/v2/models/loans/infer", map[string]any{"id": "42", "inputs": inputs}, nil), 2)
	got := decodeInfer(t, askInfer(s, "/v2/models/loans/infer", map[string]any{"id": "42", "inputs": inputs, "outputs": []any{}}, nil), 2)
	if diff := cmp.Diff(all, got); diff != "" || len(got.Margin) != 6 {
		t.Error(diff)
	}
}

// stuck makes the predictions of a model wait until the test lets them go.
func stuck(t *testing.T, m *served) (release func()) {
	t.Helper()
	gate, fine := make(chan struct{}), m.batcher.predict
	m.batcher.predict = func(x *mat.Dense) ([]lossep.Prediction, error) { <-gate; return fine(x) }
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return release
}

const curveFields = `"vary":{"action":"negative","outcome":"bad"},"from":1,"to":9`

// No answer takes longer than the deadline, whatever is asked, and what it took is
// given back.
func TestDeadlineOfEverything(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Deadline = 20 * time.Millisecond })
	stuck(t, (*s.models.Load())["loans"])
	inputs, _ := inferInputs(someRows(2), false)
	for _, c := range []struct{ path, body string }{
		{"predict", rowsBody(t, someRows(1), "")},
		{"predict", rowsBody(t, someRows(3*batchRows), "")},
		{"decide", rowsBody(t, someRows(1), "")},
		{"decide", rowsBody(t, someRows(1), `"second_opinion":true`)},
		{"curve", rowsBody(t, someRows(1), curveFields)},
	} {
		w := ask(s, http.MethodPost, "/v1/models/loans/"+c.path, c.body)
		if p := checkRefused(t, w, 503); !strings.Contains(p.Detail, "longer") || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %s %v", c.path, p.Detail, w.Header())
		}
	}
	w := askInfer(s, "/v2/models/loans/infer", map[string]any{"inputs": inputs}, nil)
	if checkInferError(t, w, 503, "longer"); w.Header().Get("Retry-After") == "" {
		t.Errorf("%v", w.Header())
	}
	if taken := s.memory.Taken(); taken != 0 {
		t.Errorf("%d bytes are still taken", taken)
	}
}

// What nobody waits for is not predicted.
func TestAbandonedRowsAreNotPredicted(t *testing.T) {
	b, sizes := counting(1)
	var all sync.WaitGroup
	request := func(ctx context.Context, rows int) {
		all.Go(func() {
			if _, err := b.Predict(ctx, make([]float64, rows)); (err == nil) != (ctx.Err() == nil) {
				t.Errorf("error %v of a request that ended with %v", err, ctx.Err())
			}
		})
	}
	waiting := func() int { b.mu.Lock(); defer b.mu.Unlock(); return len(b.small) + len(b.large) }
	gone, leave := context.WithCancel(t.Context())
	request(t.Context(), 1)
	eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.running == 1 && len(b.small)+len(b.large) == 0 })
	request(gone, 2)
	request(gone, 20*batchRows)
	request(t.Context(), 3)
	eventually(t, func() bool { return waiting() == 3 })
	leave()
	if first, second := <-sizes, <-sizes; first != 1 || second != 3 {
		t.Errorf("batches of %d and %d rows", first, second)
	}
	all.Wait()
	eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.running == 0 && len(b.small)+len(b.large) == 0 })
}

// A client that goes away ends its request.
func TestClientGone(t *testing.T) {
	var log lockedBuffer
	s := newServer(t, func(c *Config) { c.Logger = textLogger(&log) })
	release := stuck(t, (*s.models.Load())["loans"])
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	defer release()
	for _, path := range []string{"decide", "curve"} {
		more := ""
		if path == "curve" {
			more = curveFields
		}
		ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/models/loans/"+path, strings.NewReader(rowsBody(t, someRows(2), more)))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		if r, err := http.DefaultClient.Do(q); err == nil {
			t.Errorf("%s: %s", path, r.Status)
			_ = r.Body.Close()
		}
		leave()
		eventually(t, func() bool { return strings.Contains(log.String(), "/"+path+" model=loans status=499") })
	}
}

// Curves and second opinions end between their steps.
func TestComputationsEndEarly(t *testing.T) {
	s := newServer(t)
	m := (*s.models.Load())["loans"]
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d := decided{m: m, spec: m.model.Utility(), rows: &rows.Rows{N: 1, Features: make([]float64, m.model.Recipe().Dim())}, decisions: make([]lossep.Decision, 1)}
	if err := d.consult(ended); err == nil || err.(*problem.Problem).Status != problem.StatusClientGone {
		t.Errorf("second opinions: %v", err)
	}
	c := curve{spec: m.model.Utility(), rows: &rows.Rows{N: 1, Labels: []int8{0}}, p: [][]float64{{0.5, 0.5}}, stakes: []decision.Stakes{{Table: decision.Table{{0, 5}, {1, 0}}, Costs: true}}}
	if _, err := c.response(ended, []float64{1, 2}); err == nil || err.(*problem.Problem).Status != problem.StatusClientGone {
		t.Errorf("curve: %v", err)
	}
}

// Curves are computed by so many at a time, like other computations.
func TestCurvesAreBounded(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Deadline = 20 * time.Millisecond })
	for range cap(s.computations.places) {
		if err := s.computations.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	body := rowsBody(t, someRows(2), curveFields)
	checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/curve", body), 503)
	s.computations.leave()
	if w := ask(s, http.MethodPost, "/v1/models/loans/curve", body); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Requests that together take more memory than there is are refused for now, one
// that alone does is refused, and what is taken is given back.
func TestMemoryIsBounded(t *testing.T) {
	const total = 1 << 20
	s := newServer(t, func(c *Config) { c.MaxMemory = total })
	rows := rowsBody(t, someRows(100), "")
	inputs, _ := inferInputs(someRows(2), false)
	fine := func() {
		t.Helper()
		if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rows); w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if taken := s.memory.Taken(); taken != 0 {
			t.Errorf("%d bytes are still taken", taken)
		}
	}
	fine()
	checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/decide", rows+strings.Repeat(" ", total)), 413)
	fine()
	for _, left := range []int64{requestBytes / 2, requestBytes + 100, requestBytes + int64(len(rows)) + 100} {
		others := budget.Share{Budget: &s.memory}
		others = *others.Split(total - left)
		w := ask(s, http.MethodPost, "/v1/models/loans/decide", rows)
		if p := checkRefused(t, w, 503); w.Header().Get("Retry-After") == "" || !strings.Contains(p.Detail, "under way") {
			t.Errorf("%s %v", p.Detail, w.Header())
		}
		if left < requestBytes {
			checkInferError(t, askInfer(s, "/v2/models/loans/infer", map[string]any{"inputs": inputs}, nil), 503, "under way")
		}
		others.Release()
		fine()
	}
	// When large requests have all that they may, small ones go on.
	large := share{budget.Share{Budget: &s.memory}}
	for large.Take(budget.Small/4) == nil {
		continue
	}
	checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/decide", rows+strings.Repeat(" ", budget.Small)), 503)
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(1), "")); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	large.Release()
	fine()
	// A few bytes that ask for many numbers: 64 actions in each of 4000 rows.
	many := `{"rows":[` + strings.Repeat(goodRow+",", 4000) + goodRow + `],"utility":` + manyActions(64) + `}`
	checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/decide", many), 413)
	fine()
}

// Objects in a row are of no use, and large ones are not looked into.
func TestNestedValuesAreBounded(t *testing.T) {
	s := newServer(t)
	for _, body := range []string{`{"rows":[{"x":[%s]}]}`, `{"utility":{"x":[%s]},"rows":[]}`, `{"x":[%s]}`} {
		body = fmt.Sprintf(body, strings.Repeat("{},", rows.MaxNested/3)+"{}")
		p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/decide", body), 422)
		if !strings.Contains(p.Detail, "leave it out") {
			t.Error(p.Detail)
		}
	}
}

// Explorations are small, and so are their requests.
func TestExplorationsAreSmall(t *testing.T) {
	s := newServer(t)
	body := `{"x":[` + strings.Repeat(`[],`, 30_000) + `[]]}`
	if p := checkRefused(t, ask(s, http.MethodPost, "/v1/explore/classifier", body), 413); !strings.Contains(p.Detail, "send fewer points") {
		t.Error(p.Detail)
	}
}

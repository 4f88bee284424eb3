package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
)

type matDense = mat.Dense

// counting is a batcher of one column whose prediction is the feature. It tells the size
// of each batch when it begins, and finishes it when somebody takes note.
func counting(places int) (b *batcher, sizes chan int) {
	sizes = make(chan int)
	b = &batcher{columns: 1, places: places, predict: func(x *mat.Dense) ([]lossep.Prediction, error) {
		n, _ := x.Dims()
		sizes <- n
		out := make([]lossep.Prediction, n)
		for i := range out {
			out[i].Mean = x.At(i, 0)
		}
		return out, nil
	}}
	return b, sizes
}

// Requests that wait are predicted together, and each gets its own rows.
func TestBatcherMerges(t *testing.T) {
	b, sizes := counting(1)
	const requests = 100
	var all sync.WaitGroup
	request := func(i int) {
		got, err := b.Predict(t.Context(), []float64{float64(i), float64(-i)})
		if err != nil || len(got) != 2 || got[0].Mean != float64(i) || got[1].Mean != float64(-i) {
			t.Errorf("request %d got %v", i, got)
		}
	}
	waiting := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.small)
	}
	all.Go(func() { request(1) })
	eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.running == 1 && len(b.small) == 0 })
	for i := range requests {
		all.Go(func() { request(i) })
	}
	eventually(t, func() bool { return waiting() == requests })
	if first, second := <-sizes, <-sizes; first != 2 || second != 2*requests {
		t.Errorf("batches of %d and %d rows", first, second)
	}
	all.Wait()
	eventually(t, func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.running == 0 && len(b.small) == 0 })
}

// eventually waits for something to become true.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it never happens")
		}
	}
}

// A large request goes in parts.
func TestBatcherParts(t *testing.T) {
	b, sizes := counting(2)
	features := make([]float64, 1000)
	for i := range features {
		features[i] = float64(i)
	}
	var parts []int
	var all sync.WaitGroup
	all.Go(func() {
		for range 4 {
			parts = append(parts, <-sizes)
		}
	})
	predictions, err := b.Predict(t.Context(), features)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range predictions {
		if p.Mean != float64(i) {
			t.Fatalf("row %d is %v", i, p.Mean)
		}
	}
	all.Wait()
	slices.Sort(parts) // two at a time
	if !slices.Equal(parts, []int{1000 - 3*batchRows, batchRows, batchRows, batchRows}) {
		t.Errorf("batches of %v rows", parts)
	}
}

// A panic while predicting is an answer of 500 for those it concerns, with nothing of
// it in the answer and all of it in the log; the server goes on.
func TestPanicIsContained(t *testing.T) {
	var log lockedBuffer
	s := newServer(t, func(c *Config) { c.Logger = textLogger(&log) })
	m := (*s.models.Load())["loans"]
	fine := m.batcher.predict
	m.batcher.predict = func(*mat.Dense) ([]lossep.Prediction, error) { panic("secret number 4711") }
	body := rowsBody(t, someRows(1), "")
	w := ask(s, http.MethodPost, "/v1/models/loans/predict", body, "X-Request-Id: id-1")
	checkRefused(t, w, 500)
	if strings.Contains(w.Body.String(), "4711") {
		t.Errorf("the answer is %s", w.Body)
	}
	if text := log.String(); !strings.Contains(text, "4711") || !strings.Contains(text, "batch_test.go") || !strings.Contains(text, "request_id=id-1") {
		t.Errorf("the log is %s", text)
	}
	m.batcher.predict = fine
	if w := ask(s, http.MethodPost, "/v1/models/loans/predict", body); w.Code != 200 {
		t.Errorf("after a panic: %d %s", w.Code, w.Body)
	}
}

// Many requests of all kinds at once get the answers that they get alone.
func TestConcurrentRequests(t *testing.T) {
	s := newServer(t)
	var bodies, paths, want []string
	add := func(path, body string) {
		bodies, paths = append(bodies, body), append(paths, path)
		w := ask(s, http.MethodPost, path, body)
		if w.Code != 200 {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		want = append(want, w.Body.String())
	}
	for i := range 4 {
		rows := someRows(1 + 7*i)
		add("/v1/models/loans/decide", rowsBody(t, rows, fmt.Sprintf(`"utility":"fn=%d,fp=1"`, i+1)))
		add("/v1/models/amounts/decide", rowsBody(t, rows, ""))
		add("/v1/models/loans/predict", rowsBody(t, rows, ""))
		add("/v1/models/loans/decide", rowsBody(t, rows, fmt.Sprintf(`"utility":"fn=%d,fp=1","calibrate":true`, 10+i)))
		add("/v1/models/loans/curve", rowsBody(t, rows, `"vary":{"action":"negative","outcome":"bad"},"from":1,"to":9`))
	}
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			for k := range bodies {
				k = (k + g) % len(bodies)
				if w := ask(s, http.MethodPost, paths[k], bodies[k]); w.Body.String() != want[k] {
					t.Errorf("%s: %s, alone it was %s", paths[k], w.Body, want[k])
				}
			}
		})
	}
	all.Wait()
}

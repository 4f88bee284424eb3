package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/server/rows"
)

// largeModel has 1000 training rows and 20 columns; large is a server with it.
var largeModel = sync.OnceValue(func() *lossep.Model {
	rng := rand.New(rand.NewPCG(3, 3))
	var b bytes.Buffer
	for j := range 20 {
		fmt.Fprintf(&b, "column_%d,", j)
	}
	b.WriteString("class\n")
	for range 1000 {
		sum := rng.NormFloat64()
		for range 20 {
			x := rng.NormFloat64()
			sum += x / 3
			fmt.Fprintf(&b, "%.6f,", x)
		}
		b.WriteString(map[bool]string{true: "bad\n", false: "good\n"}[sum > 0])
	}
	return fitted(tbPanics{}, b.Bytes(), "fn=5,fp=1", lossep.EP)
})

var large = sync.OnceValue(func() *Server {
	s, err := New(Config{Models: []Source{source(tbPanics{}, "large", largeModel())}})
	if err != nil {
		panic(err)
	}
	return s
})

// largeBody has n rows of 20 columns.
func largeBody(n int) string {
	rng := rand.New(rand.NewPCG(4, 4))
	var b strings.Builder
	b.WriteString(`{"rows":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		for j := range 20 {
			fmt.Fprintf(&b, `%c"column_%d":%.6f`, "{,"[min(j, 1)], j, rng.NormFloat64())
		}
		b.WriteByte('}')
	}
	b.WriteString(`]}`)
	return b.String()
}

// A whole request but for the network.
func BenchmarkDecideHandler(b *testing.B) {
	s := large()
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			body := largeBody(n)
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/v1/models/large/decide", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if s.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Body)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkExpectedServing says what requests are to be expected of several cores that each work
// on one, by the processor time of requests on one core and what cores lose to each other; and how
// long one request of a thousand rows takes, whose predictions all cores share. Predictions are
// made by goroutines that take requests together, so they are recorded by themselves.
func BenchmarkExpectedServing(b *testing.B) {
	s, m := large(), largeModel()
	// request is how long one of n rows takes in the goroutine that serves it, and its predictions.
	request := func(n int, body string) (time.Duration, tasks.Work) {
		serving := tasks.Record(64, func() {
			r := httptest.NewRequest(http.MethodPost, "/v1/models/large/decide", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			if s.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
				b.Fatal(w.Body)
			}
		})
		rng := rand.New(rand.NewPCG(5, 5))
		x := mat.NewDense(n, 20, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
		return serving.Total(), tasks.Record(64, func() {
			if _, err := m.Decide(x); err != nil {
				b.Fatal(err)
			}
		})
	}
	one, thousand := largeBody(1), largeBody(1000)
	for b.Loop() {
		took, mean := make([]float64, 2000), 0.0
		for i := range took {
			serving, predicting := request(1, one)
			took[i] = (serving + predicting.Total()).Seconds()
			mean += took[i] / float64(len(took))
		}
		slices.Sort(took)
		serving, predicting := request(1000, thousand)
		for _, cores := range []int{1, 2, 4, 16, 64} {
			speed := tasks.Speed(cores)
			b.ReportMetric(float64(cores)*speed/mean, fmt.Sprintf("single/s-at-%d", cores))
			b.ReportMetric(1e6*took[len(took)*99/100]/speed, fmt.Sprintf("p99-us-at-%d", cores))
			b.ReportMetric(1e3*(serving+predicting.On(cores)).Seconds()/speed, fmt.Sprintf("thousand-ms-at-%d", cores))
		}
	}
	b.ReportMetric(0, "ns/op") // the time of the benchmark itself says nothing
}

// Reading rows of 20 columns, without predicting them.
func BenchmarkReadRows(b *testing.B) {
	reader := (*large().models.Load())["large"].readers.Get().(*rows.Reader)
	body := []byte(largeBody(1000))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := reader.Read(b.Context(), body, rows.Fields{}, nil, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/1000, "ns/row")
}

// Writing 1000 decisions.
func BenchmarkWriteDecisions(b *testing.B) {
	m := (*large().models.Load())["large"]
	r, spec, err := m.readRows(b.Context(), &body{Buffer: bytes.NewBufferString(largeBody(1000)), share: share{budget.Share{Budget: &budget.Budget{Total: 1 << 30}}}}, rows.Fields{}, false)
	if err != nil {
		b.Fatal(err)
	}
	predictions, err := m.Predict(b.Context(), r.Features)
	if err != nil {
		b.Fatal(err)
	}
	d := decided{m: m, spec: spec, rows: r, decisions: m.model.Choose(predictions)}
	b.ReportAllocs()
	for b.Loop() {
		d.append(nil)
	}
}

package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/server/rows"
)

// large is a server with a model of 1000 training rows and 20 columns.
var large = sync.OnceValue(func() *Server {
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
	m := fitted(tbPanics{}, b.Bytes(), "fn=5,fp=1", lossep.EP)
	s, err := New(Config{Models: []Source{source(tbPanics{}, "large", m)}})
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

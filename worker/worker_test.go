package worker

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/internal/fault"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// client is the other end of a worker's pipes.
type client struct {
	t   *testing.T
	to  *writer
	in  io.Closer
	out io.Reader
	end chan error
}

func admitAll([]byte, uint64) error { return nil }

// start starts a worker.
func start(t *testing.T, memory int64) *client {
	t.Helper()
	toWorker, in := io.Pipe()
	out, fromWorker := io.Pipe()
	c := &client{t: t, to: &writer{to: in}, in: in, out: out, end: make(chan error, 1)}
	go func() {
		err := Serve(t.Context(), toWorker, fromWorker, Config{MaxMemory: memory})
		fromWorker.Close()
		c.end <- err
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	var hello Hello
	f := c.read()
	if err := json.Unmarshal(f.Header, &hello); err != nil || hello != (Hello{Version, lossep.Version}) {
		t.Fatalf("hello %+v, %v", hello, err)
	}
	return c
}

func (c *client) read() *Frame {
	c.t.Helper()
	f, err := readFrame(c.out, admitAll)
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

type reply struct {
	ID       uint64
	Result   json.RawMessage
	Progress json.RawMessage
	Error    *failure
	tensors  map[string]*Tensor
}

// next is the next answer that is no progress.
func (c *client) next() *reply {
	c.t.Helper()
	for {
		f := c.read()
		r := &reply{tensors: make(map[string]*Tensor)}
		if err := json.Unmarshal(f.Header, r); err != nil {
			c.t.Fatal(err)
		}
		for k := range f.Tensors {
			r.tensors[f.Tensors[k].Name] = &f.Tensors[k]
		}
		if r.Progress == nil {
			return r
		}
	}
}

// ask sends a request and waits for its answer.
func (c *client) ask(header map[string]any, tensors ...Tensor) *reply {
	c.t.Helper()
	if err := c.to.write(header, tensors...); err != nil {
		c.t.Fatal(err)
	}
	return c.next()
}

// rows are n random cases of two columns and an outcome, as tensors with their columns, and
// as a table.
func rows(t *testing.T, n int) ([]Tensor, []column, *table.Table) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 2*n)
	codes := make([]int, n)
	texts := []string{"no", "yes"}
	codes32 := make([]int32, n)
	for i := range n {
		x[i], x[n+i] = random.Float64(), random.NormFloat64()
		if x[i]+0.3*random.NormFloat64() > 0.5 {
			codes[i], codes32[i] = 1, 1
		}
	}
	tensors := []Tensor{Floats("x", x, 2, n), Ints("y", codes, n), Raw("texts", []byte("noyes")), Ints("ends", []int{2, 5}, 2)}
	columns := []column{{Name: "x0"}, {Name: "x1", Row: 1}, {Name: "y", Tensor: 1, Texts: &[2]int{2, 3}}}
	table, err := table.NewTable("rows", []table.Values{
		{Name: "x0", Numbers: append([]float64(nil), x[:n]...)},
		{Name: "x1", Numbers: append([]float64(nil), x[n:]...)},
		{Name: "y", Codes: codes32, Texts: texts},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tensors, columns, table
}

// What comes over the pipes is what the library says, to the last bit; a model that is
// loaded again says the same.
func TestAnswersAreTheLibrarys(t *testing.T) {
	c := start(t, 1<<30)
	tensors, columns, table := rows(t, 40)
	utility := map[string]any{"costs": "fn=5,fp=1"}
	fit := c.ask(map[string]any{"id": 1, "do": "fit", "columns": columns, "utility": utility, "options": map[string]any{"kernel": "rbf", "method": "ep"}}, tensors...)
	if fit.Error != nil {
		t.Fatal(fit.Error)
	}
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	want, err := lossep.Fit(t.Context(), table, lossep.Options{Kernel: "rbf", Method: lossep.EP, Seed: 1, Utility: costs, Data: recipe.Options{Target: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := want.Recipe().Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := want.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	loaded := c.ask(map[string]any{"id": 2, "do": "load"}, *fit.tensors["model"])
	for k, r := range []*reply{fit, loaded} {
		var d Described
		if err := json.Unmarshal(r.Result, &d); err != nil {
			t.Fatal(err)
		}
		if d.Summary.LogEvidence != want.Summary().LogEvidence {
			t.Errorf("log evidence %v, want %v", d.Summary.LogEvidence, want.Summary().LogEvidence)
		}
		if !slices.Equal(d.Table, d.Columns) || len(d.Table) != len(columns)-1 || d.Utility == nil || !slices.Equal(d.Utility.Actions(), d.Actions) {
			t.Errorf("columns %q and actions of %v, want %q, without the target, and %q", d.Table, d.Utility, d.Columns, d.Actions)
		}
		got := c.ask(map[string]any{"id": 10 + k, "do": "decide", "model": d.Model, "columns": columns}, tensors...)
		if got.Error != nil {
			t.Fatal(got.Error)
		}
		p, action, expected := got.tensors["probabilities"].floats(), got.tensors["action_index"].ints(), got.tensors["expected"].floats()
		again := c.ask(map[string]any{"id": 20 + k, "do": "predict", "model": d.Model, "columns": columns[:2]}, tensors[0]).tensors["probabilities"].floats()
		for i, w := range decisions {
			if p[2*i+1] != w.Probability() || again[2*i] != w.Probabilities[0] || int(action[i]) != w.Action || expected[2*i] != w.Expected[0] {
				t.Fatalf("row %d: probability %v, action %d, expected %v; want %+v", i, p[2*i+1], action[i], expected[2*i], w)
			}
		}
	}
	ask := lossep.Ask{Columns: []string{want.Recipe().Parts()[0].Column}, Labels: true}
	worth, err := want.WorthOf(t.Context(), x, ask)
	if err != nil {
		t.Fatal(err)
	}
	valued := c.ask(map[string]any{"id": 25, "do": "value", "model": 1, "columns": columns, "options": map[string]any{"ask": ask.Columns, "labels": true}}, tensors...)
	if valued.Error != nil {
		t.Fatal(valued.Error)
	}
	for i, w := range worth {
		if valued.tensors["worth_outcome"].floats()[i] != w.Outcome || valued.tensors["worth_columns"].floats()[i] != w.Columns[0] || valued.tensors["worth_label"].floats()[i] != w.Label || int(valued.tensors["action_index"].ints()[i]) != w.Action {
			t.Fatalf("row %d is not worth %+v", i, w)
		}
	}
	if unknown := c.ask(map[string]any{"id": 26, "do": "value", "model": 1, "columns": columns, "options": map[string]any{"ask": []string{"none"}}}, tensors...); unknown.Error == nil || !strings.Contains(unknown.Error.Text, `"none" is not a feature of the model; there are`) {
		t.Errorf("a column that is not there: %+v", unknown.Error)
	}
	calibrated := c.ask(map[string]any{"id": 30, "do": "calibrate", "model": 1, "utility": map[string]any{"costs": "fn=1,fp=9"}})
	if calibrated.Error != nil || calibrated.tensors["model"] == nil {
		t.Error(calibrated.Error)
	}
	given := c.ask(map[string]any{"id": 31, "do": "decide", "utility": utility, "outcomes": []string{"no", "yes"}}, Floats("p", []float64{0.9, 0.1, 0.8, 0.2}, 2, 2))
	if given.Error != nil || given.tensors["action_index"].ints()[0] != 0 || given.tensors["action_index"].ints()[1] != 1 {
		t.Errorf("at a threshold of 1/6: %+v", given)
	}
	for k, m := range []struct {
		outcomes []string
		at       int
	}{{[]string{"no", "yes"}, 1}, {[]string{"Bad", "good"}, 0}, {[]string{"0.0", "1"}, 1}, {[]string{"fraud", "ok"}, -1}} {
		got := c.ask(map[string]any{"id": 40 + k, "do": "positive", "outcomes": m.outcomes})
		if got.Error != nil || string(got.Result) != fmt.Sprintf(`{"at":%d}`, m.at) {
			t.Errorf("positive of %q: %s, %+v", m.outcomes, got.Result, got.Error)
		}
	}
	report := c.ask(map[string]any{"id": 32, "do": "audit", "utility": utility, "columns": columns, "options": map[string]any{"probability": []string{"x0"}, "folds": 3}}, tensors...)
	if report.Error != nil || !strings.Contains(string(report.tensors["index.html"].data), "<html") {
		t.Errorf("audit: %+v", report.Error)
	}
}

// Every mistake is answered, and what comes after it is served.
func TestMistakesAreAnswered(t *testing.T) {
	c := start(t, 1<<20)
	tensors, columns, _ := rows(t, 12)
	one := []column{{Name: "x0"}, {Name: "x1", Row: 1}}
	for k, m := range []struct {
		kind    Kind
		text    string
		header  map[string]any
		tensors []Tensor
	}{
		{Protocol, "nothing called", map[string]any{"do": "cook"}, nil},
		{Protocol, "unknown type", map[string]any{"do": "fit"}, []Tensor{{Name: "x", Type: "f2", Shape: []int{1}, data: make([]byte, 8)}}},
		{Protocol, "more bytes", map[string]any{"do": "fit"}, []Tensor{{Name: "x", Type: Float64, Shape: []int{9, 9}, data: make([]byte, 8)}}},
		{Protocol, "has the shape", map[string]any{"do": "fit"}, []Tensor{{Name: "x", Type: Float64, Shape: []int{1 << 40, 1 << 40}, data: make([]byte, 8)}}},
		{Protocol, "has the shape", map[string]any{"do": "fit"}, []Tensor{{Name: "x", Type: Float64, Shape: []int{-1}, data: make([]byte, 8)}}},
		{Protocol, "belong to no tensor", map[string]any{"do": "fit"}, []Tensor{{Name: "x", Type: Float64, Shape: []int{0}, data: make([]byte, 8)}}},
		{Protocol, "no tensor 7", map[string]any{"do": "fit", "columns": []column{{Name: "x", Tensor: 7}}}, tensors},
		{Protocol, "no row 2", map[string]any{"do": "fit", "columns": []column{{Name: "x", Row: 2}}}, tensors},
		{Protocol, "a text from 0 to 9", map[string]any{"do": "fit", "columns": columns}, []Tensor{tensors[0], tensors[1], tensors[2], Ints("ends", []int{9}, 1)}},
		{Protocol, "model file", map[string]any{"do": "load"}, nil},
		{Protocol, "there are 0", map[string]any{"do": "positive"}, nil},
		{Protocol, "probabilities of every outcome", map[string]any{"do": "decide"}, nil},
		{Input, "truncated", map[string]any{"do": "load"}, []Tensor{Raw("model", []byte("junk"))}},
		{Forgotten, "no such model", map[string]any{"do": "predict", "model": 77, "columns": one}, tensors[:1]},
		{Input, "no such column", map[string]any{"do": "fit", "columns": one, "options": map[string]any{"target": "y"}}, tensors[:1]},
		{Input, "there is no column", map[string]any{"do": "fit"}, nil},
		{Input, "more than the", map[string]any{"do": "load"}, []Tensor{Raw("model", make([]byte, 1<<19))}},
	} {
		m.header["id"] = k + 1
		r := c.ask(m.header, m.tensors...)
		if r.ID != uint64(k+1) || r.Error == nil || r.Error.Kind != m.kind || !strings.Contains(r.Error.Text, m.text) {
			t.Errorf("%v: %+v, want %s %q", m.header, r.Error, m.kind, m.text)
		}
	}
	if r := c.ask(map[string]any{"do": "fit"}); r.Error == nil || r.Error.Kind != Protocol {
		t.Errorf("without an id: %+v", r.Error)
	}
}

// A kernel, a factor or a utility that panics is an error of the request that meets it, and
// the next one is served.
func TestFaultsAreAnswered(t *testing.T) {
	c := start(t, 1<<30)
	tensors, columns, _ := rows(t, 40)
	utility := map[string]any{"costs": "fn=5,fp=1"}
	fit := func(id int, method string) *reply {
		return c.ask(map[string]any{"id": id, "do": "fit", "columns": columns, "utility": utility, "options": map[string]any{"kernel": "rbf", "method": method}}, tensors...)
	}
	if r := fit(1, "corrected"); r.Error != nil {
		t.Fatal(r.Error)
	}
	asked := map[string]func(id int) *reply{
		"fit": func(id int) *reply { return fit(id, "loss-ep") },
		"predict": func(id int) *reply {
			return c.ask(map[string]any{"id": id, "do": "predict", "model": 1, "columns": columns}, tensors...)
		},
		"decide": func(id int) *reply {
			return c.ask(map[string]any{"id": id, "do": "decide", "model": 1, "columns": columns}, tensors...)
		},
		"calibrate": func(id int) *reply { return c.ask(map[string]any{"id": id, "do": "calibrate", "model": 1}) },
	}
	id := 1
	for name, ask := range asked {
		met := false
		for _, place := range []fault.Place{fault.Kernel, fault.Factor, fault.Utility} {
			var arrived atomic.Bool
			remove := fault.Inject(func(p fault.Place) {
				if p == place {
					arrived.Store(true)
					panic("this is broken")
				}
			})
			id++
			r := ask(id)
			remove()
			if arrived.Load() != (r.Error != nil) || r.Error != nil && (r.Error.Kind != Internal || !strings.Contains(r.Error.Text, "this is broken") || r.Error.Stack == "") {
				t.Errorf("%s with a fault in a %s: %+v", name, place, r.Error)
			}
			met = met || arrived.Load()
		}
		id++
		if r := ask(id); r.Error != nil || !met {
			t.Errorf("%s after the faults: %+v; one was met: %t", name, r.Error, met)
		}
	}
}

// A request can be ended, and the next one is served.
func TestCancelled(t *testing.T) {
	c := start(t, 1<<30)
	tensors, columns, _ := rows(t, 1200)
	if err := c.to.write(map[string]any{"id": 1, "do": "fit", "columns": columns, "options": map[string]any{"kernel": "rbf(ard) + matern32(ard) + linear", "method": "vi"}}, tensors...); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if r := c.ask(map[string]any{"cancel": 1}); r.ID != 1 || r.Error == nil || r.Error.Kind != Cancelled {
		t.Fatalf("%+v", r)
	}
	if r := c.ask(map[string]any{"id": 2, "do": "cook"}); r.ID != 2 {
		t.Errorf("%+v", r)
	}
}

// The end of the input ends a worker, in the middle of a request too; what is no frame does,
// with a last word.
func TestEnds(t *testing.T) {
	c := start(t, 1<<30)
	tensors, columns, _ := rows(t, 1200)
	if err := c.to.write(map[string]any{"id": 1, "do": "fit", "columns": columns}, tensors...); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	go io.Copy(io.Discard, c.out)
	select {
	case err := <-c.end:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
	for _, junk := range []string{"HTTP/1.1 200 OK\r\n\r\n", "LSP1\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00", "LSP1\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"} {
		c := start(t, 1<<30)
		go c.to.to.Write([]byte(junk)) // of which not all is read
		if r := c.next(); r.ID != 0 || r.Error == nil || r.Error.Kind != Protocol {
			t.Errorf("%q: %+v", junk, r)
		}
		if err := <-c.end; !errors.Is(err, errFrame) {
			t.Errorf("%q: %v", junk, err)
		}
	}
}

// Models beyond the memory for them are forgotten, the one unused for longest first.
func TestShelf(t *testing.T) {
	_, _, table := rows(t, 20)
	m, err := lossep.Fit(t.Context(), table, lossep.Options{Kernel: "rbf", Method: lossep.EP, Data: recipe.Options{Target: "y"}})
	if err != nil {
		t.Fatal(err)
	}
	all := &budget.Budget{Total: int64(10 * m.Bytes())}
	s := newShelf(int64(2.5*m.Bytes()), all)
	put := func() uint64 { return s.put(m, &budget.Share{Budget: all}) }
	a, b := put(), put()
	_, done, err := s.use(a)
	if err != nil {
		t.Fatal(err)
	}
	c := put()
	if _, _, err := s.use(b); !errors.Is(err, errForgotten) {
		t.Errorf("the one unused for longest: %v", err)
	}
	// One in use stays, whoever needs memory, and is counted until it is let go.
	for s.spare() {
		continue
	}
	if _, _, err := s.use(c); !errors.Is(err, errForgotten) {
		t.Errorf("one that was spared: %v", err)
	}
	s.forget([]uint64{a, 99})
	if _, _, err := s.use(a); !errors.Is(err, errForgotten) {
		t.Errorf("one that was to be forgotten: %v", err)
	}
	if got := all.Taken(); got != int64(m.Bytes()) {
		t.Errorf("%d bytes are taken by a model of %v", got, m.Bytes())
	}
	done()
	if got := all.Taken(); got != 0 {
		t.Errorf("%d bytes are taken by nothing", got)
	}
}

// The requests of a worker have one budget. What is made of a frame counts before it is made,
// a tensor for every column that is made of it; who finds others there is refused for now,
// and requests can be cancelled all the same.
func TestOneBudget(t *testing.T) {
	c := start(t, 64<<20) // 14 MB for requests that are not small
	long, _, _ := rows(t, 1000)
	many := make([]column, 2_000)
	for k := range many {
		many[k].Name = fmt.Sprint("x", k)
	}
	if r := c.ask(map[string]any{"id": 1, "do": "fit", "columns": many}, long[0]); r.Error == nil || r.Error.Kind != Input || !strings.Contains(r.Error.Text, "the data would take") {
		t.Errorf("one tensor as 2,000 columns: %+v", r.Error)
	}
	texts := []column{{Name: "t", Texts: &[2]int{1, 2}}}
	tall := []Tensor{Ints("codes", make([]int, 1<<20), 1<<20), Raw("texts", nil), Ints("ends", nil, 0)}
	if r := c.ask(map[string]any{"id": 2, "do": "fit", "columns": texts}, tall...); r.Error == nil || r.Error.Kind != Input {
		t.Errorf("codes that fit, and cells that do not: %+v", r.Error)
	}
	tensors, columns, _ := rows(t, 100)
	wide := Floats("more", make([]float64, 1<<20), 1<<20)
	gate := make(chan struct{})
	defer fault.Inject(func(p fault.Place) { // a fit waits
		if p == fault.Kernel {
			<-gate
		}
	})()
	waiting := map[string]any{"id": 3, "do": "fit", "columns": columns, "options": map[string]any{"kernel": "rbf", "method": "ep"}}
	if err := c.to.write(waiting, append(tensors[:4:4], wide)...); err != nil {
		t.Fatal(err)
	}
	if r := c.ask(map[string]any{"id": 4, "do": "load"}, Raw("model", make([]byte, 8<<20))); r.Error == nil || r.Error.Kind != Busy {
		t.Errorf("beside another: %+v", r.Error)
	}
	if r := c.ask(map[string]any{"id": 5, "do": "load"}, Raw("model", make([]byte, 1<<10))); r.Error == nil || r.Error.Kind != Input {
		t.Errorf("a small one beside another: %+v", r.Error)
	}
	if err := c.to.write(map[string]any{"cancel": 3}); err != nil {
		t.Fatal(err)
	}
	close(gate)
	if r := c.next(); r.ID != 3 || r.Error == nil || r.Error.Kind != Cancelled {
		t.Errorf("cancelled: %+v", r.Error)
	}
	for id := 6; ; id++ { // what was taken is given back, at the latest after the answer
		r := c.ask(map[string]any{"id": id, "do": "load"}, Raw("model", make([]byte, 8<<20)))
		if r.Error == nil || r.Error.Kind == Busy && id < 1000 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if r.Error.Kind != Input {
			t.Errorf("when nobody else is there: %+v", r.Error)
		}
		break
	}
}

// Whatever bytes come, a worker answers or ends, and takes no memory for what is only
// promised.
func FuzzFrames(f *testing.F) {
	frame := func(header string, payload int, rest string) []byte {
		b := []byte(magic)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
		b = binary.LittleEndian.AppendUint64(b, uint64(payload))
		return append(append(b, header...), rest...)
	}
	f.Add(frame(`{"id":1,"do":"fit","options":{"kernel":"rbf(lengthscale=1, variance=1)","fixed":true},"columns":[{"name":"x"},{"name":"y","row":1}],"tensors":[{"name":"x","type":"f8","shape":[2,3]}]}`, 48, strings.Repeat("\x00\x00\x00\x00\x00\x00\xf0\x3f", 6)))
	f.Add(frame(`{"id":1,"do":"load","tensors":[{"type":"u1","shape":[3]}]}`, 8, "abc\x00\x00\x00\x00\x00"))
	f.Add(frame(`{"cancel":1}`, 0, ""))
	f.Add(frame(`{"id":1,"do":"decide","utility":{"costs":"fn=5,fp=1"},"outcomes":["a","b"],"tensors":[{"type":"f8","shape":[1,2]}]}`, 16, strings.Repeat("\x00", 16)))
	f.Add(frame(`{}`, math.MaxInt64, ""))
	f.Add([]byte("LSP0"))
	f.Fuzz(func(t *testing.T, input []byte) {
		ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
		defer end()
		_ = Serve(ctx, strings.NewReader(string(input)), io.Discard, Config{MaxMemory: 1 << 24})
	})
}

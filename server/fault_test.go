package server

import (
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/internal/fault"
)

// computing is a request to every endpoint that computes, and the places it passes.
func computing(t *testing.T) map[string]struct {
	body   string
	passes []fault.Place
} {
	rows := someRows(40)
	all := []fault.Place{fault.Kernel, fault.Factor, fault.Utility}
	inputs := `{"inputs":[` + tensorText("age", 30) + `,` + tensorText("income", 20) + `,` + tensorText("amount", 10) + `,` +
		`{"name":"job","shape":[3],"datatype":"BYTES","data":["clerk","clerk","clerk"]},{"name":"owner","shape":[3],"datatype":"BYTES","data":["yes","no","yes"]}]}`
	type one = struct {
		body   string
		passes []fault.Place
	}
	return map[string]one{
		"/v1/models/{name}/predict":                  {rowsBody(t, rows, ""), all[:2]},
		"/v1/models/{name}/decide":                   {rowsBody(t, rows, `"second_opinion":true,"calibrate":true,"utility":{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":3},"b":{"good":1,"bad":0}}}`), all},
		"/v1/models/{name}/curve":                    {rowsBody(t, rows, curveFields), all},
		"/v1/models/{name}/value":                    {rowsBody(t, rows, `"ask":["age"],"labels":true`), all},
		"/v1/models/{name}/distribution":             {"{" + demandRows + "}", all[:1]},
		"/v1/models/{name}/outcomes":                 {`{"outcomes":[{"id":"a","outcome":"bad"}]}`, nil},
		"/v1/outcomes":                               {`{"outcomes":[{"id":"a","outcome":"bad"}]}`, nil},
		"/v1/explore/reactor":                        {`{"data":[1,2,-1],"threshold":1,"utility":[[1,0.1],[0.8,1]]}`, all[1:]},
		"/v1/explore/classifier":                     {`{"x":[[-1],[1]],"labels":[0,1],"utility":[[1,0],[0.5,1]]}`, all},
		"/v2/models/{name}/infer":                    {inputs, all},
		"/v2/models/{name}/versions/{version}/infer": {inputs, all},
	}
}

func tensorText(name string, value int) string {
	v := strings.Repeat(","+string(rune('0'+value/10))+"0", 3)[1:]
	return `{"name":"` + name + `","shape":[3],"datatype":"FP64","data":[` + v + `]}`
}

// A kernel, a factor or a utility that panics, in whatever goroutine, fails the request
// that meets it with 500; what does not meet it is answered, and so is everything
// afterwards.
func TestFaultsEndNothingButTheRequest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	recorded, ofNumbers := newServer(t, recording(t, t.TempDir()), oneModel), demandServer(t)
	version := (*recorded.models.Load())["loans"].version()
	requests := computing(t)
	for _, r := range recorded.operations() {
		s, name := recorded, "loans"
		if strings.HasSuffix(r.Path, "/distribution") {
			s, name = ofNumbers, "demand"
		}
		path := strings.NewReplacer("{name}", name, "{version}", version, "{$}", "").Replace(r.Path)
		request, computes := requests[r.Path]
		if !computes && r.Method == http.MethodPost {
			t.Errorf("%s is not tried", r.Path)
		}
		for _, place := range []fault.Place{fault.Kernel, fault.Factor, fault.Utility} {
			remove := fault.Inject(func(p fault.Place) {
				if p == place {
					panic("a secret")
				}
			})
			w := ask(s, r.Method, path, request.body)
			remove()
			want := 200
			for _, p := range request.passes {
				if p == place {
					want = 500
				}
			}
			if w.Code != want || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s %s with a fault in a %s: %d and not %d: %.300s", r.Method, path, place, w.Code, want, w.Body)
			}
		}
		if w := ask(s, r.Method, path, request.body); w.Code != 200 {
			t.Errorf("%s %s after the faults: %d %.300s", r.Method, path, w.Code, w.Body)
		}
	}
}

// A fault that some meet fails these, whoever they were predicted with.
func TestFaultsAmongManyRequests(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	s := newServer(t, recording(t, t.TempDir()))
	requests := computing(t)
	var arrivals, fine, failed atomic.Int64
	defer fault.Inject(func(fault.Place) {
		if arrivals.Add(1)%997 == 0 {
			panic("now and then")
		}
	})()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				for _, path := range []string{"/v1/models/{name}/predict", "/v1/models/{name}/decide", "/v1/models/{name}/curve"} {
					switch w := ask(s, http.MethodPost, strings.Replace(path, "{name}", "loans", 1), requests[path].body); w.Code {
					case 200:
						fine.Add(1)
					case 500:
						failed.Add(1)
					case 503: // too many calibrations at once
					default:
						t.Errorf("%s: %d %.300s", path, w.Code, w.Body)
					}
				}
			}
		})
	}
	all.Wait()
	if fine.Load() == 0 || failed.Load() == 0 {
		t.Errorf("%d requests were answered and %d failed", fine.Load(), failed.Load())
	}
}

// A model whose posterior cannot be made is not loaded, and what there was stays.
func TestFaultWhileLoading(t *testing.T) {
	s := newServer(t)
	for name, m := range *s.models.Load() {
		m.digest = "of another file than " + name // or nothing would be read
	}
	remove := fault.Inject(func(fault.Place) { panic("while loading") })
	err := s.Reload()
	remove()
	if err == nil || !strings.Contains(err.Error(), "internal fault: while loading") {
		t.Errorf("error %v", err)
	}
	if w := ask(s, http.MethodPost, "/v1/models/loans/predict", rowsBody(t, someRows(1), "")); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

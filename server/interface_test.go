package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/lossep/lossep/lab"
)

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// The document has every route, and every reference in it leads somewhere.
func TestOpenAPI(t *testing.T) {
	s := newServer(t)
	w := ask(s, http.MethodGet, "/openapi.json", "")
	var document map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if document["openapi"] != "3.1.0" {
		t.Errorf("openapi %v", document["openapi"])
	}
	paths := document["paths"].(map[string]any)
	ids := make(map[string]bool)
	n := 0
	for _, r := range s.operations() {
		if r.Hidden {
			continue
		}
		n++
		item, _ := paths[r.Path].(map[string]any)
		op, _ := item[strings.ToLower(r.Method)].(map[string]any)
		if op == nil {
			t.Errorf("%s %s is not described", r.Method, r.Path)
			continue
		}
		id, _ := op["operationId"].(string)
		if id == "" || ids[id] || op["summary"] == "" {
			t.Errorf("%s %s has the id %q", r.Method, r.Path, id)
		}
		ids[id] = true
		if (op["requestBody"] != nil) != (r.Method == http.MethodPost) || op["responses"].(map[string]any)["200"] == nil {
			t.Errorf("%s %s: %v", r.Method, r.Path, op)
		}
		for _, part := range strings.Split(r.Path, "/") {
			if name, ok := strings.CutPrefix(part, "{"); ok && !strings.Contains(jsonText(op["parameters"]), `"name":"`+strings.TrimSuffix(name, "}")+`"`) {
				t.Errorf("%s %s does not describe %s", r.Method, r.Path, part)
			}
		}
	}
	if n != len(ids) || len(paths) != n {
		t.Errorf("%d routes, %d ids, %d paths", n, len(ids), len(paths))
	}
	checkReferences(t, document, document)
	for _, foreign := range []string{"unpkg", "cdn", "$schema"} {
		if strings.Contains(w.Body.String(), foreign) {
			t.Errorf("%q in the document", foreign)
		}
	}
}

func jsonText(v any) string { b, _ := json.Marshal(v); return string(b) }

// checkReferences follows every $ref within the document.
func checkReferences(t *testing.T, document, v any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			at := document
			for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
				object, _ := at.(map[string]any)
				at = object[part]
			}
			if at == nil {
				t.Errorf("%s leads nowhere", ref)
			}
		}
		for _, member := range v {
			checkReferences(t, document, member)
		}
	case []any:
		for _, member := range v {
			checkReferences(t, document, member)
		}
	}
}

// The page and its files have their types, are revalidated and may load nothing from
// elsewhere.
func TestPage(t *testing.T) {
	s := newServer(t)
	files, err := pageFiles()
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		w := ask(s, http.MethodGet, "/"+f.name, "")
		if w.Code != 200 || w.Body.Len() != len(f.text) || w.Header().Get("Content-Type") == "application/octet-stream" {
			t.Errorf("%s: %d, %d bytes, %s", f.name, w.Code, w.Body.Len(), w.Header().Get("Content-Type"))
		}
		again := ask(s, http.MethodGet, "/"+f.name, "", "If-None-Match: "+w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s again: %d", f.name, again.Code)
		}
	}
	w := ask(s, http.MethodGet, "/", "")
	if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("header %v", w.Header())
	}
	if w := ask(s, http.MethodHead, "/", ""); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("HEAD /: %d, %d bytes", w.Code, w.Body.Len())
	}
	if w := ask(s, http.MethodHead, "/v1/models", ""); w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD /v1/models: %d, %d bytes", w.Code, w.Body.Len())
	}
}

// Metrics count by patterns and known actions, not by what clients make up.
func TestMetrics(t *testing.T) {
	s := newServer(t)
	ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(4), ""))
	ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(2), `"utility":{"outcomes":["good","bad"],"costs":{"invented":{"good":0,"bad":0.1},"positive":{"good":10,"bad":0}}}`))
	ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(1), `"utility":"fn=50,fp=1","calibrate":true`))
	ask(s, http.MethodPost, "/v1/models/loans/decide", `{}`)
	ask(s, http.MethodGet, "/v1/models/made-up", "")
	ask(s, "INVENTED", "/made/up", "")
	text := ask(s, http.MethodGet, "/metrics", "").Body.String()
	for _, line := range []string{
		`lossep_http_requests_total{method="POST",route="/v1/models/{name}/decide",status="200"} 3`,
		`lossep_http_requests_total{method="POST",route="/v1/models/{name}/decide",status="422"} 1`,
		`lossep_http_requests_total{method="GET",route="/v1/models/{name}",status="404"} 1`,
		`lossep_http_requests_total{method="other",route="other",status="404"} 1`,
		`lossep_http_request_duration_seconds_count{route="/v1/models/{name}/decide"} 4`,
		`lossep_rows_total{model="loans",route="/v1/models/{name}/decide"} 7`,
		`lossep_decisions_total{action="other",model="loans"} 2`,
		`lossep_expected_cost_count{model="loans"} 4`, // not with costs of the request
		`lossep_calibrations_total{model="loans",result="ok"} 1`,
		`lossep_models_loaded 2`,
		`lossep_model_loads_total{result="ok"} 2`,
		`lossep_http_requests_in_flight 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	for _, word := range []string{"made", "invented", "INVENTED"} {
		if strings.Contains(text, word) {
			t.Errorf("%q is in the metrics", word)
		}
	}
}

// The log has a line for each request, with its id and without what it held.
func TestLog(t *testing.T) {
	var log lockedBuffer
	s := newServer(t, func(c *Config) { c.Logger, c.Tokens = textLogger(&log), []string{"token-4711"} })
	body := `{"rows":[{"age":31,"income":12.5,"job":"astronaut","owner":true,"amount":200,"secret":"s3cret"}]}`
	w := ask(s, http.MethodPost, "/v1/models/loans/decide", body, "Authorization: Bearer token-4711", "X-Request-Id: abc-1.2_3:4")
	if w.Code != 200 || w.Header().Get("X-Request-Id") != "abc-1.2_3:4" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for _, id := range []string{"", "a b", "a\nb", strings.Repeat("x", 129), "<script>"} {
		got := ask(s, http.MethodGet, "/nowhere", "", "X-Request-Id: "+id).Header().Get("X-Request-Id")
		if got == id || len(got) != 24 {
			t.Errorf("id %q became %q", id, got)
		}
	}
	text := log.String()
	if !strings.Contains(text, `msg=request request_id=abc-1.2_3:4 method=POST route=/v1/models/{name}/decide model=loans status=200`) || !strings.Contains(text, "rows=1 ") {
		t.Errorf("log %s", text)
	}
	for _, secret := range []string{"4711", "s3cret", "astronaut", "nowhere", "script"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the log", secret)
		}
	}
}

// Explorations are those of package lab.
func TestExplore(t *testing.T) {
	s := newServer(t)
	check := func(path string, request, want any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		w := ask(s, http.MethodPost, path, jsonText(request))
		if w.Code != 200 || w.Body.String() != jsonText(want) {
			t.Errorf("%s: %d %s\nwant %s", path, w.Code, w.Body, jsonText(want))
		}
	}
	reactor := lab.ReactorRequest{Data: []float64{1.5, 4, 5}, Utility: [][]float64{{4, 0}, {1, 2}}, Threshold: 2}
	view, err := reactor.Solve(t.Context())
	check("/v1/explore/reactor", reactor, view, err)
	classifier := lab.Classifier{
		X: [][]float64{{0}, {1}, {2}}, Labels: []int{0, 1, 1}, Kernel: "rbf(variance=2, lengthscale=1)", Utility: [][]float64{{1, 0}, {0, 5}},
		Grid: &lab.Grid{From: []float64{-1}, To: []float64{3}, Points: []int{21}},
	}
	surface, err := classifier.Solve(t.Context())
	check("/v1/explore/classifier", classifier, surface, err)

	reactor.Utility = nil
	p := checkRefused(t, ask(s, http.MethodPost, "/v1/explore/reactor", jsonText(reactor)), 422)
	if len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Location, "utility") {
		t.Errorf("%+v", p)
	}
}

// What cannot be served is refused at once.
func TestBadConfig(t *testing.T) {
	good := source(t, "m", loans())
	bad := good
	bad.Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("no model")), nil }
	named := func(name string) Source { s := good; s.Name = name; return s }
	for want, c := range map[string]Config{
		"there is no model":     {},
		"two models are called": {Models: []Source{good, good}},
		`cannot be called ""`:   {Models: []Source{named("")}},
		`cannot be called ".."`: {Models: []Source{named("..")}},
		`cannot be called "a/b`: {Models: []Source{named("a/b")}},
		`cannot be called "a\\`: {Models: []Source{named(`a\b`)}},
		"a limit is negative":   {Models: []Source{good}, MaxRows: -1},
		"a token is empty":      {Models: []Source{good}, Tokens: []string{"a", ""}},
		"not a model file":      {Models: []Source{bad}},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

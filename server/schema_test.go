package server

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// schemas checks values against the schemas of a document: as much of JSON Schema as the document
// uses, and an error for what it does not know.
type schemas struct{ document map[string]any }

// at follows the names from the root of the document.
func (s schemas) at(names ...string) any {
	var v any = s.document
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// check is what is wrong with a value, and where.
func (s schemas) check(schema map[string]any, v any, where string) error {
	if ref, ok := schema["$ref"].(string); ok {
		target, _ := s.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...).(map[string]any)
		if target == nil {
			return fmt.Errorf("%s: %s leads nowhere", where, ref)
		}
		return s.check(target, v, where)
	}
	for keyword, bound := range schema {
		var bad bool
		switch keyword {
		case "type":
			kinds, list := bound.([]any)
			if !list {
				kinds = []any{bound}
			}
			bad = !slices.ContainsFunc(kinds, func(kind any) bool { return isKind(v, kind.(string)) })
		case "enum":
			bad = !slices.Contains(bound.([]any), v)
		case "oneOf":
			n := 0
			for _, one := range bound.([]any) {
				if s.check(one.(map[string]any), v, where) == nil {
					n++
				}
			}
			bad = n != 1
		case "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties", "minLength", "maxLength":
			size, ok := sizeOf(keyword, v)
			limit := bound.(float64)
			bad = ok && (strings.HasPrefix(keyword, "min") && size < limit || strings.HasPrefix(keyword, "max") && size > limit)
		case "required":
			object, is := v.(map[string]any)
			for _, name := range bound.([]any) {
				if _, has := object[name.(string)]; is && !has {
					return fmt.Errorf("%s: %s is missing", where, name)
				}
			}
		case "properties", "additionalProperties":
			if err := s.members(schema, keyword, v, where); err != nil {
				return err
			}
		case "items":
			list, _ := v.([]any)
			for i, item := range list {
				if err := s.check(bound.(map[string]any), item, fmt.Sprintf("%s[%d]", where, i)); err != nil {
					return err
				}
			}
		case "description", "default", "examples", "format", "contentEncoding":
		default:
			return fmt.Errorf("%s: the test does not know %q", where, keyword)
		}
		if bad {
			return fmt.Errorf("%s: %.100s is against %s %v", where, jsonText(v), keyword, bound)
		}
	}
	return nil
}

func (s schemas) members(schema map[string]any, keyword string, v any, where string) error {
	object, _ := v.(map[string]any)
	known, _ := schema["properties"].(map[string]any)
	for name, member := range object {
		its, _ := known[name].(map[string]any)
		if keyword == "additionalProperties" {
			if its != nil {
				continue
			}
			if schema[keyword] == false {
				return fmt.Errorf("%s: there is %q, which the document does not have", where, name)
			}
			its, _ = schema[keyword].(map[string]any)
		}
		if its == nil {
			continue
		}
		if err := s.check(its, member, where+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func isKind(v any, kind string) bool {
	switch v := v.(type) {
	case nil:
		return kind == "null"
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && v == math.Trunc(v)
	case []any:
		return kind == "array"
	}
	return kind == "object"
}

// sizeOf is what a bound is about, if it is about such a value.
func sizeOf(keyword string, v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, strings.HasSuffix(keyword, "imum")
	case []any:
		return float64(len(v)), strings.HasSuffix(keyword, "Items")
	case map[string]any:
		return float64(len(v)), strings.HasSuffix(keyword, "Properties")
	case string:
		return float64(utf8.RuneCountInString(v)), strings.HasSuffix(keyword, "Length")
	}
	return 0, false
}

// exchanges are requests that the server takes, of a model with rows and an outcome.
func exchanges(rows, column, action, outcome string, utilities []string, infer string) [][3]string {
	all := [][3]string{
		{"GET", "/v1/models", ""},
		{"GET", "/v1/models/{name}", ""},
		{"GET", "/v1/models/{name}/effects", ""},
		{"GET", "/v1/methods", ""},
		{"GET", "/v2", ""},
		{"GET", "/v2/health/live", ""},
		{"GET", "/v2/health/ready", ""},
		{"GET", "/openapi.json", ""},
		{"POST", "/v1/models/{name}/predict", "{" + rows + "}"},
		{"POST", "/v1/models/{name}/decide", "{" + rows + `,"second_opinion":true}`},
		{"POST", "/v1/models/{name}/decide", "{" + rows + `,"calibrate":true}`},
		{"POST", "/v1/models/{name}/value", "{" + rows + `,"ask":[` + column + `]}`},
		{"POST", "/v1/models/{name}/outcomes", fmt.Sprintf(`{"outcomes":[{"id":"a","outcome":%q}]}`, outcome)},
		{"POST", "/v1/explore/reactor", `{"data":[1.5,4,5],"utility":[[4,0],[1,2]],"threshold":2}`},
		{"POST", "/v1/explore/classifier", `{"x":[[0],[1],[2]],"labels":[0,1,1],"kernel":"rbf(variance=2, lengthscale=1)","utility":[[1,0],[0,5]]}`},
	}
	for _, steps := range []string{"", `,"steps":2`, `,"steps":501,"scale":"log"`, `,"scale":"linear"`} {
		all = append(all, [3]string{"POST", "/v1/models/{name}/curve", fmt.Sprintf(`{%s,"vary":{"action":%q,"outcome":%q},"from":1,"to":50%s}`, rows, action, outcome, steps)})
	}
	for _, utility := range append(utilities, "null") {
		all = append(all, [3]string{"POST", "/v1/models/{name}/decide", "{" + rows + `,"utility":` + utility + "}"})
	}
	for _, prefix := range []string{"/v2/models/{name}", "/v2/models/{name}/versions/{version}"} {
		all = append(all, [3]string{"GET", prefix, ""}, [3]string{"GET", prefix + "/ready", ""}, [3]string{"POST", prefix + "/infer", infer})
	}
	return all
}

// What the document says of requests and answers holds of those that the server takes and gives, of
// models with two and with three outcomes; and what it says is out of bounds is refused.
func TestDocumentHolds(t *testing.T) {
	s := newServer(t, recording(t, t.TempDir()), func(c *Config) { c.Models = append(c.Models, source(t, "wards", wards(t))) })
	var doc schemas
	if err := json.Unmarshal(ask(s, http.MethodGet, "/openapi.json", "").Body.Bytes(), &doc.document); err != nil {
		t.Fatal(err)
	}
	inputs, _ := inferInputs(someRows(2), false)
	two := rowsBody(t, someRows(4), "")
	tried := make(map[string]bool)
	for name, requests := range map[string][][3]string{
		"loans": append(exchanges(two[1:len(two)-1], `"age"`, "negative", "bad", []string{
			`"fn=50,fp=1"`, `{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":5},"b":{"good":"1 + 1","bad":0}},"ceiling":9}`, `{"outcomes":["bad","good"],"utilities":{"a":{"good":0,"bad":5},"b":{"good":1,"bad":0}}}`,
		}, jsonText(map[string]any{"inputs": inputs, "id": "x", "outputs": []any{map[string]any{"name": "action"}}})), [3]string{"POST", "/v1/models/{name}/value", two[:len(two)-1] + `,"labels":true}`}),
		"wards": exchanges(`"rows":[{"a":1,"b":0.5,"where":"home"},{"a":-0.4,"b":-1,"where":"icu"}]`, `"a"`, "discharge", "icu", []string{
			`{"outcomes":["home","ward","icu"],"costs":{"a":{"home":0,"ward":5,"icu":7},"b":{"home":3,"ward":1,"icu":0}}}`,
		}, `{"inputs":[{"name":"a","datatype":"FP64","shape":[2],"data":[1,-0.4]},{"name":"b","datatype":"FP64","shape":[2],"data":[0.5,-1]}]}`),
	} {
		for _, r := range requests {
			tried[r[0]+" "+r[1]] = true
			doc.checkExchange(t, s, name, r)
		}
	}
	few := demandServer(t)
	for _, r := range demandExchanges {
		tried[r[0]+" "+r[1]] = true
		doc.checkExchange(t, few, "demand", r)
	}
	for _, r := range s.operations() {
		if key := r.Method + " " + r.Path; !r.Hidden && r.contentType == "application/json" && !tried[key] {
			t.Errorf("%s is not tried", key)
		}
	}
}

// checkExchange checks a request, the answer, and the answer to a request that is wrong.
func (s schemas) checkExchange(t *testing.T, server *Server, model string, r [3]string) {
	t.Helper()
	method, path, body := r[0], r[1], r[2]
	operation := []string{"paths", path, strings.ToLower(method)}
	value := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
		return v
	}
	schema := func(media string, names ...string) map[string]any {
		found, _ := s.at(append(append(slices.Clone(operation), names...), "content", media, "schema")...).(map[string]any)
		if found == nil {
			t.Fatalf("%s %s: the document has no %s of %v", method, path, media, names)
		}
		return found
	}
	send := func(model, body string) *httptest.ResponseRecorder {
		return ask(server, method, strings.NewReplacer("{name}", model, "{version}", fileVersionOf(server, model)).Replace(path), body)
	}
	if body != "" {
		if err := s.check(schema("application/json", "requestBody"), value(body), "request"); err != nil {
			t.Errorf("%s %s: the document refuses what the server takes: %v", method, path, err)
		}
	}
	w := send(model, body)
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s of %s: %d %s\n%s", method, path, model, w.Code, w.Body, body)
	}
	if err := s.check(schema("application/json", "responses", "200"), value(w.Body.String()), "answer"); err != nil {
		t.Errorf("%s %s of %s: %v", method, path, model, err)
	}
	var bad []*httptest.ResponseRecorder
	if strings.Contains(path, "{name}") {
		bad = append(bad, send("nowhere", body))
	}
	if body != "" {
		bad = append(bad, send(model, "{"), send(model, `{"rows":[],"inputs":[],"data":[]}`))
	}
	for _, w := range bad {
		media := w.Header().Get("Content-Type")
		if err := s.check(schema(media, "responses", fmt.Sprint(w.Code)), value(w.Body.String()), "refusal"); err != nil || w.Code < 400 {
			t.Errorf("%s %s: %d: %v", method, path, w.Code, err)
		}
	}
}

// fileVersionOf is the version that answers give of a model.
func fileVersionOf(s *Server, model string) string {
	var d struct {
		Versions []string `json:"versions"`
	}
	_ = json.Unmarshal(ask(s, http.MethodGet, "/v2/models/"+model, "").Body.Bytes(), &d)
	if len(d.Versions) == 0 {
		return "1"
	}
	return d.Versions[0]
}

// Bodies just within the bounds of the document are taken, and those just beyond refused.
func TestDocumentBounds(t *testing.T) {
	s := newServer(t)
	var doc schemas
	if err := json.Unmarshal(ask(s, http.MethodGet, "/openapi.json", "").Body.Bytes(), &doc.document); err != nil {
		t.Fatal(err)
	}
	actions := func(n int) string {
		var all []string
		for a := range n {
			all = append(all, fmt.Sprintf(`"a%d":{"good":%d,"bad":%d}`, a, a, n-a))
		}
		return `"utility":{"outcomes":["good","bad"],"costs":{` + strings.Join(all, ",") + `}}`
	}
	columns := strings.Repeat(`"age",`, 9)
	vary := `"vary":{"action":"negative","outcome":"bad"},"from":1,"to":5`
	rows := rowsBody(t, someRows(2), "")
	rows = rows[1 : len(rows)-1]
	for _, c := range []struct{ path, body string }{
		{"curve", rows + "," + vary + `,"steps":1`},
		{"curve", rows + "," + vary + `,"steps":2`},
		{"curve", rows + "," + vary + `,"steps":501`},
		{"curve", rows + "," + vary + `,"steps":502`},
		{"curve", rows + "," + vary + `,"scale":"square"`},
		{"decide", `"rows":[]`},
		{"decide", rows},
		{"decide", rows + `,"utility":5`},
		{"decide", rows + "," + actions(1)},
		{"decide", rows + "," + actions(2)},
		{"decide", rows + "," + actions(maxActions)},
		{"decide", rows + "," + actions(maxActions+1)},
		{"decide", rows + `,"utility":{"outcomes":["good"],"costs":{"a":{"good":1},"b":{"good":0}}}`},
		{"value", rows + `,"ask":[` + columns[:len(columns)-1] + `]`},
		{"value", rows + `,"ask":["age"]`},
	} {
		path, body := "/v1/models/{name}/"+c.path, "{"+c.body+"}"
		schema := doc.at("paths", path, "post", "requestBody", "content", "application/json", "schema").(map[string]any)
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatal(err)
		}
		said := doc.check(schema, v, "request")
		if w := ask(s, http.MethodPost, strings.Replace(path, "{name}", "loans", 1), body); (w.Code == http.StatusOK) != (said == nil) {
			t.Errorf("%s %.300s: the server says %d, and the document %v", path, body, w.Code, said)
		}
	}
}

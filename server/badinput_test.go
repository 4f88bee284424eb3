package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

const goodRow = `{"age":31,"income":12.5,"job":"clerk","owner":true,"amount":200}`

// leaks are signs that a response speaks of the program and not of the request.
var leaks = []string{"goroutine", ".go:", "runtime", "lossep.", "jsontext", "json:", "interface {}", "*server", "/tmp", "/home", "panic", "map[string]"}

// Whatever is wrong with a request, the answer says what and where, with the right
// status, and nothing of what is inside.
func TestBadRequests(t *testing.T) {
	s := newServer(t, func(c *Config) { c.MaxBody, c.MaxRows = 20_000, 50 })
	deep := strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000)
	decide, predict, curve := "/v1/models/loans/decide", "/v1/models/loans/predict", "/v1/models/loans/curve"
	rows := func(more string) string { return `{"rows":[` + goodRow + `]` + more + `}` }
	row := func(change string) string {
		return `{"rows":[` + goodRow + `,{` + change + `,"income":12.5,"job":"clerk","owner":true,"amount":200}]}`
	}
	for _, c := range []struct {
		name, path, body string
		status           int
		location, detail string
	}{
		{"nothing", decide, ``, 400, "", "ends too early"},
		{"half", decide, `{"rows":[{"age":3`, 400, "", "unexpected EOF"},
		{"NaN", decide, row(`"age":NaN`), 400, "rows[1].age", "invalid character 'N'"},
		{"Infinity", decide, row(`"age":-Infinity`), 400, "rows[1].age", ""},
		{"a comma too many", decide, `{"rows":[` + goodRow + `,]}`, 400, "", ""},
		{"single quotes", decide, `{'rows':[]}`, 400, "", ""},
		{"a comment", decide, `{"rows":[` + goodRow + `]/* */}`, 400, "", ""},
		{"more after the end", decide, rows("") + `{}`, 400, "", "more follows"},
		{"not UTF-8", decide, row(`"age":"` + "\xff" + `"`), 400, "rows[1].age", "invalid UTF-8"},
		{"half a surrogate pair", decide, row(`"age":"\ud800"`), 400, "rows[1].age", ""},
		{"a column twice", decide, row(`"age":1,"age":2`), 400, "rows[1].age", `rows[1] has the column "age" twice`},
		{"a long column twice", decide, row(`"age":1,"` + strings.Repeat("x", 4000) + `":1,"` + strings.Repeat("x", 4000) + `":1`), 400, "rows[1]." + strings.Repeat("x", 100) + "…", "twice"},
		{"a column twice, once escaped", decide, row(`"age":1,"\u0061ge":2`), 400, "", "twice"},
		{"an unknown column twice", decide, row(`"age":1,"x":1,"x":2`), 400, "", "twice"},
		{"twice deep inside", decide, row(`"age":1,"x":{"y":1,"y":2}`), 400, "", "twice"},
		{"rows twice", decide, rows(`,"rows":[]`), 400, "rows", `"rows" occurs twice`},
		{"twice in the utility", decide, rows(`,"utility":{"outcomes":["good","bad"],"outcomes":["good","bad"]}`), 400, "", "twice"},
		{"deep nesting", decide, row(`"age":` + deep), 422, "rows[1].age", "a list is neither text nor a number"},
		{"broken deep inside", curve, rows(`,"vary":` + strings.Repeat(`{"action":`, 1000) + `x`), 400, "", ""},
		{"wrong deep inside", "/v1/explore/reactor", `{"data":` + strings.Repeat(`[`, 9000) + `x`, 400, "", ""},
		{"rows with labels, and things that are no rows", curve, `{"rows":[1,{"age":31,"income":1,"job":"clerk","owner":true,"class":"good"}],"from":1,"to":2}`, 422, "rows[0]", "not a row"},
		{"deeper nesting", decide, strings.Repeat(`[`, 19_000), 400, "", "depth"},

		{"a list", decide, `[]`, 422, "", "the body is a list"},
		{"null", decide, `null`, 422, "", "the body is null"},
		{"no rows", decide, `{}`, 422, "rows", "missing"},
		{"rows null", decide, `{"rows":null}`, 422, "rows", "null is not a list"},
		{"rows an object", decide, `{"rows":{"age":[1,2]}}`, 422, "rows", "an object is not a list"},
		{"no row", decide, `{"rows":[]}`, 422, "rows", "empty"},
		{"a row that is a list", decide, `{"rows":[` + goodRow + `,[1,2]]}`, 422, "rows[1]", "a list is not a row"},
		{"a row that is null", decide, `{"rows":[null]}`, 422, "rows[0]", "null is not a row"},
		{"a column missing", decide, `{"rows":[` + goodRow + `,{"age":1}]}`, 422, "rows[1].income", "lacks this column"},
		{"a number too large", decide, row(`"age":1e999`), 422, "rows[1].age", "too large a number"},
		{"a number too far", decide, row(`"age":1e300`), 422, "rows[1].age", "too far"},
		{"a word for a number", decide, row(`"age":"old"`), 422, "rows[1].age", `"old" is not a finite number`},
		{"a truth value for a number", decide, row(`"age":true`), 422, "rows[1].age", "not a finite number"},
		{"an infinite text", decide, row(`"age":"inf"`), 422, "rows[1].age", "not a finite number"},
		{"an object for a number", decide, row(`"age":{"years":31}`), 422, "rows[1].age", "an object is neither"},
		{"an unknown field", decide, rows(`,"utilty":"fn=1,fp=1"`), 422, "utilty", "no such field"},
		{"a field of another request", predict, rows(`,"utility":"fn=1,fp=1"`), 422, "utility", "no such field"},
		{"a wrong type", decide, rows(`,"calibrate":"yes"`), 422, "calibrate", "takes true or false"},
		{"too many rows", decide, `{"rows":[` + strings.Repeat(goodRow+",", 50) + goodRow + `]}`, 413, "", "more than 50 rows"},
		{"too many bytes", decide, rows(strings.Repeat(" ", 20_000)), 413, "", "more than 20000 bytes"},
		{"too many unknown columns", decide, row(unknownColumns(5000)), 413, "", ""},

		{"no costs", decide, rows(`,"utility":"cheap"`), 422, "utility", ""},
		{"costs of nothing", decide, rows(`,"utility":"fn=0,fp=1"`), 422, "utility", "invalid cost 0"},
		{"a utility of a wrong type", decide, rows(`,"utility":5`), 422, "utility", "give an object"},
		{"other outcomes", decide, rows(`,"utility":{"outcomes":["no","yes"],"costs":{"a":{"no":0,"yes":1},"b":{"no":1,"yes":0}}}`), 422, "utility", `the target has "good" and "bad"`},
		{"one action", decide, rows(`,"utility":{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":1}}}`), 422, "utility", "at least 2"},
		{"too many actions", decide, rows(`,"utility":` + manyActions(65)), 422, "utility", "at most 64"},
		{"a deep utility", decide, rows(`,"utility":{"outcomes":` + deep + `}`), 422, "utility", ""},
		{"a long utility", decide, rows(`,"utility":"` + strings.Repeat("x", 19_000) + `"`), 422, "utility", ""},
		{"a huge cost", decide, rows(`,"utility":"fn=1e300,fp=1"`), 422, "utility", "can be compared"},
		{"costs of a column that is missing", decide, rows(`,"utility":"fn=shoes,fp=1"`), 422, "rows[0].shoes", "lacks this column"},
		{"costs of a word", decide, rows(`,"utility":"fn=job,fp=1"`), 422, "rows[0].job", "not a finite number"},
		{"costs without end", decide, `{"rows":[{"age":31,"income":1,"job":"clerk","owner":true,"amount":-5}],"utility":"fn=1/(5+amount),fp=1"}`, 422, "rows[0]", "1 / (5 + amount) is +Inf in this case"},
		{"costs that are too large", decide, `{"rows":[{"age":31,"income":1,"job":"clerk","owner":true,"amount":1,"sum":1e150}],"utility":"fn=sum*sum,fp=1"}`, 422, "rows[0]", "cannot be compared"},
		{"costs that cannot be calibrated to", decide, rows(`,"utility":"fn=shoes,fp=1","calibrate":true`), 422, "rows[0].shoes", ""},
		{"calibration to a column without training rows", decide, `{"rows":[{"age":31,"income":1,"job":"clerk","owner":true,"amount":1,"shoes":4}],"utility":"fn=shoes,fp=1","calibrate":true}`, 422, "utility", "shoes"},

		{"nothing to vary", curve, rows(``), 422, "from", "give a number"},
		{"an unknown action", curve, rows(`,"from":1,"to":2,"vary":{"action":"wait","outcome":"bad"}`), 422, "vary.action", `["negative" "positive"]`},
		{"an unknown outcome", curve, rows(`,"from":1,"to":2,"vary":{"action":"negative","outcome":"ugly"}`), 422, "vary.outcome", `"good" "bad"`},
		{"an unknown part", curve, rows(`,"vary":{"acton":"negative"}`), 422, "vary.acton", "no such field"},
		{"backwards", curve, rows(`,"from":2,"to":1`), 422, "to", "not above"},
		{"one step", curve, rows(`,"from":1,"to":2,"steps":1`), 422, "steps", "not from 2 to 501"},
		{"half a step", curve, rows(`,"from":1,"to":2,"steps":2.5`), 422, "steps", ""},
		{"too many steps", curve, rows(`,"from":1,"to":2,"steps":1000000`), 422, "steps", ""},
		{"ratios from 0", curve, rows(`,"from":0,"to":2,"scale":"log"`), 422, "from", "above 0"},
		{"another scale", curve, rows(`,"from":1,"to":2,"scale":"sqrt"`), 422, "scale", ""},
		{"a far end", curve, rows(`,"from":1,"to":1e300`), 422, "to", ""},

		{"an unknown model", "/v1/models/loan/decide", rows(""), 404, "", "no model"},
		{"half a reactor", "/v1/explore/reactor", `{"data":[1`, 400, "", ""},
		{"an unknown part of a reactor", "/v1/explore/reactor", `{"dat":[1]}`, 422, "dat", "no such field"},
		{"a reactor of words", "/v1/explore/reactor", `{"data":["hot"]}`, 422, "data[0]", "a text is not what belongs here; give a number"},
		{"labels of fractions", "/v1/explore/classifier", `{"labels":[0.5]}`, 422, "labels[0]", "this number is not what belongs here; give a whole number"},
		{"a point that is no list", "/v1/explore/classifier", `{"x":[1]}`, 422, "x[0]", "this number is not what belongs here; give a list"},
		{"too large a number", "/v1/explore/reactor", `{"threshold":1e999}`, 422, "threshold", "give one of less than 1e308"},
		{"a classifier of nothing", "/v1/explore/classifier", `[]`, 422, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ask(s, http.MethodPost, c.path, c.body)
			p := checkRefused(t, w, c.status)
			location := ""
			if len(p.Errors) > 0 {
				location = p.Errors[0].Location
			}
			if c.location != "" && location != c.location || !strings.Contains(p.Detail, c.detail) {
				t.Errorf("at %q: %q; want %q and %q", location, p.Detail, c.location, c.detail)
			}
		})
	}
}

// checkRefused checks what every refusal has.
func checkRefused(t *testing.T, w *httptest.ResponseRecorder, status int) *problem.Problem {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	p := problemOf(t, w)
	if size := w.Body.Len(); size > 4000 {
		t.Errorf("the problem takes %d bytes: %.300s", size, w.Body)
	}
	for _, leak := range leaks {
		if strings.Contains(w.Body.String(), leak) {
			t.Errorf("%q in %s", leak, w.Body)
		}
	}
	if w.Header().Get("X-Request-Id") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("header %v", w.Header())
	}
	return p
}

func unknownColumns(n int) string {
	var b strings.Builder
	b.WriteString(`"age":1`)
	for i := range n {
		fmt.Fprintf(&b, `,"u%d":0`, i)
	}
	return b.String()
}

func manyActions(n int) string {
	var b strings.Builder
	b.WriteString(`{"outcomes":["good","bad"],"costs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":{"good":%d,"bad":1},`, i, i)
	}
	return strings.TrimSuffix(b.String(), ",") + `}}`
}

// All faults of all rows are named, up to a bound, and with those of other fields and of costs.
func TestBadRowsAreListed(t *testing.T) {
	s := newServer(t)
	body := `{"rows":[{"age":1},` + goodRow + `,{"age":"x","income":1,"job":"a","owner":true,"amount":1},5]}`
	p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/predict", body), 422)
	var places []string
	for _, f := range p.Errors {
		places = append(places, f.Location)
	}
	if got := fmt.Sprint(places); got != "[rows[0].income rows[0].job rows[0].owner rows[0].amount rows[2].age rows[3]]" {
		t.Errorf("places %s", got)
	}
	body = `{"rows":[{"age":"x","income":true,"job":"a","owner":true}],"why":"lots","wy":3}`
	p = checkRefused(t, ask(s, http.MethodPost, "/v1/models/amounts/decide", body), 422)
	places = nil
	for _, f := range p.Errors {
		places = append(places, f.Location)
	}
	if got := fmt.Sprint(places); got != "[rows[0].age rows[0].income rows[0].amount why wy]" || !strings.HasSuffix(p.Detail, "(and 4 more, see errors)") {
		t.Errorf("places %s, %s", got, p.Detail)
	}
	if last := p.Errors[4].Message; !strings.Contains(last, "the fields are baseline, calibrate, ") {
		t.Error(last)
	}
	body = `{"rows":[` + strings.Repeat(`{},`, 1000) + `{}]}`
	if p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/predict", body), 422); len(p.Errors) != rows.MaxFaults {
		t.Errorf("%d faults", len(p.Errors))
	}
	many := `{"rows":[{` + unknownColumns(5000) + `}]}`
	if p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/predict", many), 422); !strings.Contains(p.Detail, "columns are not the model's") {
		t.Error(p.Detail)
	}
}

// What names a case comes back with what is said about it: the column of identifiers, or id.
func TestIDsComeBack(t *testing.T) {
	s := newServer(t)
	row := strings.TrimSuffix(goodRow, "}")
	body := `{"rows":[` + row + `,"id":"K1"},` + goodRow + `,` + row + `,"id":17}]}`
	for _, path := range []string{"decide", "predict"} {
		w := ask(s, http.MethodPost, "/v1/models/loans/"+path, body)
		var answer struct {
			Decisions, Predictions []struct{ ID string }
			Ignored                []string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(append(answer.Decisions, answer.Predictions...)); got != "[{K1} {} {17}]" || slices.Contains(answer.Ignored, "id") {
			t.Errorf("%s: %s, ignored %v", path, got, answer.Ignored)
		}
	}
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", `{"rows":[`+goodRow+`]}`); strings.Contains(w.Body.String(), `"id"`) {
		t.Errorf("an id that nobody gave: %s", w.Body)
	}
}

// Types, methods and paths that are not served.
func TestWrongRequests(t *testing.T) {
	s := newServer(t)
	body := `{"rows":[` + goodRow + `]}`
	for _, c := range []struct {
		method, path, body string
		header             []string
		status             int
	}{
		{"POST", "/v1/models/loans/decide", body, []string{"Content-Type: text/plain"}, 415},
		{"POST", "/v1/models/loans/decide", body, []string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{"POST", "/v1/models/loans/decide", body, []string{"Content-Type: "}, 415},
		{"POST", "/v1/models/loans/decide", body, []string{"Content-Type: application/json;;"}, 415},
		{"POST", "/v1/models/loans/decide", body, []string{"Content-Encoding: gzip"}, 415},
		{"GET", "/v1/models/loans/decide", "", nil, 405},
		{"PUT", "/v1/models/loans/decide", body, nil, 405},
		{"DELETE", "/v1/models/loans", "", nil, 405},
		{"OPTIONS", "/v1/models/loans/decide", "", nil, 405},
		{"BREW", "/v1/models", "", nil, 405},
		{"POST", "/", body, nil, 405},
		{"POST", "/openapi.json", body, nil, 405},
		{"GET", "/v1/models/", "", nil, 404},
		{"GET", "/v1/models/nobody", "", nil, 404},
		{"GET", "/v1/models/loans/../amounts", "", nil, 404},
		{"GET", "/v1/models/..", "", nil, 404},
		{"GET", "/v1//models", "", nil, 404},
		{"GET", "//", "", nil, 404},
		{"GET", "//v1/models", "", nil, 404},
		{"GET", "/./v1/models", "", nil, 404},
		{"GET", "/../../etc/passwd", "", nil, 404},
		{"GET", "/v1/models/loans\x00", "", nil, 404},
		{"GET", `/..\..\etc`, "", nil, 404},
		{"GET", "/page.go", "", nil, 404},
		{"GET", "/src/", "", nil, 404},
		{"GET", "/node_modules", "", nil, 404},
		{"GET", "/docs", "", nil, 404},
		{"GET", "/schemas/Problem.json", "", nil, 404},
		{"GET", "/debug/pprof/", "", nil, 404},
		{"POST", "/v1/models/loans/decide", body, []string{"Origin: http://evil.example"}, 403},
		{"POST", "/v1/models/loans/decide", body, []string{"Sec-Fetch-Site: cross-site"}, 403},
	} {
		t.Run(c.method+" "+c.path+" "+strings.Join(c.header, ","), func(t *testing.T) {
			w := ask(s, c.method, c.path, c.body, c.header...)
			checkRefused(t, w, c.status)
			if (w.Header().Get("Allow") != "") != (c.status == 405) {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
		})
	}
	for _, c := range []string{"Content-Type: application/json; charset=utf-8", "Origin: http://localhost", "Sec-Fetch-Site: same-origin"} {
		if w := ask(s, "POST", "/v1/models/loans/decide", body, c); w.Code != 200 {
			t.Errorf("%s: %d %s", c, w.Code, w.Body)
		}
	}
}

// Escapes in paths reach no other model and no file.
func TestEscapedPaths(t *testing.T) {
	server := httptest.NewServer(newServer(t).Handler())
	defer server.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]int{
		"/v1/models/loans": 200, "/v1/models/%6Coans": 200,
		"/v1/models/loans%2F": 404, "/v1/models/loans%2Fdecide": 404, "/v1/models/%2e%2e%2fmodels": 404, "/v1/models/..%2f..%2f": 404,
		"/v1/models/loans%00": 404, "/%2e%2e/%2e%2e/etc/passwd": 404, "/..%5c..%5cwindows": 404, "/v1/models/loans%252F": 404, "/v1/models/%ff": 404, "/%2f%2fevil.example/": 404,
	} {
		r, err := client.Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != want || want == 404 && r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s, want %d", path, r.StatusCode, r.Header.Get("Content-Type"), want)
		}
	}
}

// With tokens, everything but the page, the document and the server's health wants
// one.
func TestTokens(t *testing.T) {
	s := newServer(t, func(c *Config) { c.Tokens = []string{"first-token", "second-token"} })
	for _, c := range []struct {
		path, token string
		status      int
	}{
		{"/", "", 200},
		{"/openapi.json", "", 200},
		{"/v1/methods", "", 200},
		{"/v2/health/live", "", 200},
		{"/v2/health/ready", "", 200},
		{"/v1/models", "", 401},
		{"/v1/models/loans", "", 401},
		{"/metrics", "", 401},
		{"/v2", "", 401},
		{"/v2/models/loans", "", 401},
		{"/v2/models/loans/ready", "", 401},
		{"/v1/models/nobody", "", 401},
		{"/v1/models", "Bearer first-token", 200},
		{"/v1/models", "bearer second-token", 200},
		{"/metrics", "Bearer second-token", 200},
		{"/v1/models", "Bearer ", 401},
		{"/v1/models", "Bearer first-toke", 401},
		{"/v1/models", "Bearer first-token2", 401},
		{"/v1/models", "Bearer first-token second-token", 401},
		{"/v1/models", "Basic Zmlyc3QtdG9rZW46", 401},
		{"/v1/models", "first-token", 401},
		{"/v1/models", "Bearer", 401},
	} {
		w := ask(s, "GET", c.path, "", "Authorization: "+c.token)
		if w.Code != c.status {
			t.Errorf("%s with %q: %d, want %d", c.path, c.token, w.Code, c.status)
			continue
		}
		if c.status != 401 {
			continue
		}
		if !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: header %v", c.path, w.Header())
		}
		if strings.Contains(w.Body.String(), "token2") || strings.Contains(w.Body.String(), "first") {
			t.Errorf("%s: %s", c.path, w.Body)
		}
		if !isInference(c.path) {
			checkRefused(t, w, 401)
		}
	}
	if w := ask(s, "POST", "/v1/models/loans/decide", `{"rows":[`+goodRow+`]}`); w.Code != 401 {
		t.Errorf("decide without a token: %d", w.Code)
	}
}

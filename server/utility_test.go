package server

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/server/rows"
)

// inferBody asks the inference protocol for a decision under a utility, which is text
// there.
func inferBody(utility string) string {
	return `{"inputs":[{"name":"age","datatype":"FP64","shape":[1],"data":[31]},{"name":"income","datatype":"FP64","shape":[1],"data":[12.5]},` +
		`{"name":"job","datatype":"BYTES","shape":[1],"data":["clerk"]},{"name":"owner","datatype":"BYTES","shape":[1],"data":["true"]},` +
		`{"name":"amount","datatype":"FP64","shape":[1],"data":[200]}],"parameters":{"utility":` + jsonText(utility) + `},"outputs":[{"name":"action"}]}`
}

// costsOf is a utility of two actions.
func costsOf(first, second, entry string) string {
	return fmt.Sprintf(`{"outcomes":["good","bad"],"costs":{%s:{"good":%s,"bad":1},%s:{"good":100,"bad":100}}}`, jsonText(first), entry, jsonText(second))
}

// Both protocols take the same utilities, and refuse the same with the same words: what
// is too long, since every row may repeat it, and what is no entry.
func TestUtilityObjects(t *testing.T) {
	s := newServer(t)
	long := strings.Repeat("<", maxName)
	for _, c := range []struct{ name, utility, detail string }{
		{"short form", "fn=5,fp=1", ""},
		{"plain", costsOf("a", "b", "0"), ""},
		{"blanks in front", "\n " + costsOf("a", "b", "0"), ""},
		{"names that YAML has no way to write", costsOf("a\u007f", "b\u0085\u2028", "0"), ""},
		{"names that YAML takes for other things", costsOf("null", "true", "0"), ""},
		{"a column", costsOf("a", "b", `"0.001 * amount"`), ""},
		{"a fallback", costsOf("a", "b", `"default(amount, 100)"`), ""},
		{"a fallback for nothing", costsOf("a", "b", `"default(5, 100)"`), "default is of a column and a value"},
		{"long names", costsOf(long, "ü"+long[1:], "0"), ""},
		{"a longer name", costsOf(long+"<", "b", "0"), "the name of an action has more than 100 characters"},
		{"a long utility", costsOf("a", "b", "0"+strings.Repeat(" ", maxUtility)), "more than 65536 bytes"},
		{"a long short form", "fn=5,fp=1" + strings.Repeat(" ", maxUtility), "more than 65536 bytes"},
		{"true", costsOf("a", "b", "true"), `action "a" under "good" is a truth value`},
		{"false", costsOf("a", "b", "false"), "is a truth value"},
		{"null", costsOf("a", "b", "null"), `action "a" under "good" is null`},
		{"a list", costsOf("a", "b", "[0]"), "is a list"},
		{"an outcome that is true", strings.Replace(costsOf("a", "b", "0"), `"good"`, `true`, 1), `the outcomes are "true" and "bad"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			value := c.utility
			if !strings.HasPrefix(value, "{") {
				value = jsonText(value)
			}
			w := ask(s, http.MethodPost, "/v1/models/loans/decide", `{"rows":[`+goodRow+`],"utility":`+value+`}`)
			v2 := ask(s, http.MethodPost, "/v2/models/loans/infer", inferBody(c.utility))
			if c.detail == "" {
				if w.Code != 200 || v2.Code != 200 {
					t.Errorf("%d %s, %d %s", w.Code, w.Body, v2.Code, v2.Body)
				}
				return
			}
			p := checkRefused(t, w, 422)
			if len(p.Errors) != 1 || p.Errors[0].Location != "utility" || !strings.Contains(p.Detail, c.detail) || strings.Contains(p.Detail, "YAML") {
				t.Errorf("%+v", p)
			}
			if v2.Code < 400 || v2.Code > 499 || !strings.Contains(v2.Body.String(), jsonEscaped(c.detail)) {
				t.Errorf("the inference protocol says %d %s", v2.Code, v2.Body)
			}
		})
	}
}

func jsonEscaped(text string) string { return strings.Trim(jsonText(text), `"`) }

// What a response repeats in every row is bounded: ten thousand rows with the longest
// name there can be.
func TestLongNamesInManyRows(t *testing.T) {
	s := newServer(t)
	const n = 10_000
	utility := costsOf(strings.Repeat("<", maxName), "b", "0")
	w := ask(s, http.MethodPost, "/v1/models/loans/decide", `{"rows":[`+strings.Repeat(goodRow+",", n-1)+goodRow+`],"utility":`+utility+`}`)
	if w.Code != 200 || strings.Count(w.Body.String(), `"action":`) != n {
		t.Fatalf("%d, %d bytes", w.Code, w.Body.Len())
	}
	if most := n * 1000; w.Body.Len() > most {
		t.Error("a response of " + strconv.Itoa(w.Body.Len()) + " bytes")
	}
}

// A utility that names columns of its own costs as much memory wherever it stands, and
// rows are read once: what is behind them is found first, however it is spelled.
func TestUtilityBehindRows(t *testing.T) {
	m := (*newServer(t).models.Load())["loans"]
	const given, utility = `"rows":[{"age":31,"income":12,"job":"clerk","owner":true,"amount":7,"shoes":4}]`, `"fn=2*shoes,fp=1"`
	taken := make(map[string]int64)
	for _, text := range []string{
		`{"utility":` + utility + `,` + given + `}`, `{` + given + `,"utility":` + utility + `}`, `{` + given + `,"\u0075tility":` + utility + `}`,
	} {
		b := &body{Buffer: bytes.NewBufferString(text), share: share{budget.Share{Budget: &budget.Budget{Total: 1 << 30}}}}
		r, spec, err := m.readRows(t.Context(), b, rows.Fields{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Values["shoes"]; len(got) != 1 || got[0] != 4 || len(spec.Columns()) != 1 {
			t.Errorf("%s: shoes %v", text, got)
		}
		taken[text] = b.share.Taken()
	}
	for text, bytes := range taken {
		// The columns of the row, and one for the costs.
		if want := 8 * int64(m.model.Recipe().Dim()+1); bytes > 2*want {
			t.Errorf("%s: %d bytes for one row of %d", text, bytes, want)
		}
	}
}

// Actions that people cannot tell apart are refused as in files, and so is a mistake that costs less
// than nothing in one of the rows.
func TestUtilityAsInFiles(t *testing.T) {
	s := newServer(t)
	for utility, want := range map[string]string{
		`{"outcomes":["good","bad"],"costs":{"ask":{"good":0,"bad":5},"` + "\u0430sk" + `":{"good":1,"bad":0}}}`: "look the same",
		`"fn=amount-1e6,fp=1"`: "a negative cost of a mistake",
	} {
		p := checkRefused(t, ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(2), `"utility":`+utility)), 422)
		if !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %s, want %s", utility, p.Detail, want)
		}
	}
}

// A missing amount has the fallback of the costs, in both protocols; a row that lacks the column
// has none, and without a fallback the message names one.
func TestFallback(t *testing.T) {
	s := newServer(t)
	row := func(amount string) string {
		return `{"age":31,"income":12.5,"job":"clerk","owner":true` + amount + `}`
	}
	decided := func(amount, entry string) string {
		w := ask(s, http.MethodPost, "/v1/models/loans/decide", `{"rows":[`+row(amount)+`],"utility":{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":`+entry+`},"b":{"good":100,"bad":0}}}}`)
		code, body := strconv.Itoa(w.Code), w.Body.String()
		return code + body[max(0, strings.Index(body, `"decisions"`)):] // without how the costs are put
	}
	const entry = `"0.5 * default(loan, 300)"`
	want := decided(`,"amount":200`, "150")
	if !strings.HasPrefix(want, "200") {
		t.Fatal(want)
	}
	for _, missing := range []string{`null`, `""`, `"NA"`, `"300"`} {
		if got := decided(`,"amount":200,"loan":`+missing, entry); got != want {
			t.Errorf("%s: %s; want %s", missing, got, want)
		}
	}
	for given, detail := range map[string]string{
		`,"amount":200`:                "the row lacks this column",
		`,"amount":200,"loan":"many"`:  "not a finite number",
		`,"amount":200,"loan":"1e999"`: "not a finite number",
	} {
		if got := decided(given, entry); !strings.HasPrefix(got, "422") || !strings.Contains(got, detail) {
			t.Errorf("%s: %s", given, got)
		}
	}
	if got := decided(`,"amount":200,"loan":null`, `"0.5 * loan"`); !strings.HasPrefix(got, "422") || !strings.Contains(got, "such as default(loan, 0)") {
		t.Error(got)
	}
	infer := func(loan, entry string) string {
		body := strings.Replace(inferBody(costsOf("a", "b", entry)), `],"parameters"`, `,{"name":"loan","datatype":"BYTES","shape":[1],"data":["`+loan+`"]}],"parameters"`, 1)
		w := ask(s, http.MethodPost, "/v2/models/loans/infer", body)
		return strconv.Itoa(w.Code) + w.Body.String()
	}
	if got, want := infer("NA", `"default(loan, 300)"`), infer("300", `"loan"`); got != want || !strings.HasPrefix(got, "200") {
		t.Errorf("%s; want %s", got, want)
	}
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// farCase is a model that takes far rows in a way of its own.
type farCase struct {
	kernel string
	lossep.Likelihood
	method   lossep.Method
	inducing int
}

var farCases = []farCase{
	{"rbf(ard) + linear", lossep.Likelihood{Name: "probit"}, lossep.Corrected, 0},
	{"rbf(ard) + linear", lossep.Likelihood{Name: "probit"}, lossep.EP, 0},
	{"linear*linear*linear + rbf", lossep.Likelihood{Name: "logit"}, lossep.EP, 0},
	{"linear*linear*linear*linear + rbf", lossep.Likelihood{Name: "logit"}, lossep.Corrected, 0},
	{"(linear + constant)*(linear + matern32)*linear + rbf", lossep.Likelihood{Name: "robust", Noise: 0.01}, lossep.VI, 0},
	{"matern32 + constant", lossep.Likelihood{Name: "probit"}, lossep.LossEP, 0},
	{"periodic*linear*linear + white", lossep.Likelihood{Name: "probit"}, lossep.LossVI, 0},
	{"linear*rbf + constant", lossep.Likelihood{Name: "probit"}, lossep.Laplace, 0},
	{"linear*linear*linear + matern12", lossep.Likelihood{Name: "probit"}, lossep.EP, 5},
	{"rbf(ard) + linear", lossep.Likelihood{Name: "logit"}, lossep.LossEP, 5},
}

// farServer serves the far cases as 0, 1, ….
func farServer(tb testing.TB) *Server {
	tb.Helper()
	text := "income,job,class\n"
	for i := range 12 {
		text += fmt.Sprintf("%d,%s,%s\n", i*5%12, []string{"clerk", "smith"}[i%2], []string{"bad", "good"}[min(1, i*5%12/5)])
	}
	table, err := table.Read(context.Background(), strings.NewReader(text), "past.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		tb.Fatal(err)
	}
	var c Config
	for i, f := range farCases {
		m, err := lossep.Fit(context.Background(), table, lossep.Options{
			Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: must(decision.ParseCosts("fn=5,fp=1")),
			Kernel: f.kernel, Fixed: true, Likelihood: f.Likelihood, Method: f.method, Inducing: f.inducing, Seed: 1,
		})
		if err != nil {
			tb.Fatalf("%v: %v", f, err)
		}
		c.Models = append(c.Models, source(tb, fmt.Sprint(i), m))
	}
	s, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Rows at every distance, alone and in pairs, to every endpoint that takes rows: 200 and
// finite numbers, or a refusal that names the row and the column. Every model is asked
// about every exponent; signs, and rows that are alone or a pair, take turns.
func TestFarRowsOverHTTP(t *testing.T) {
	s := farServer(t)
	refused := make(map[string]int)
	values := []string{"5e-324", "1e-310", "2.2250738585072014e-308", "1.7976931348623157e308"}
	for k := range 309 {
		values = append(values, fmt.Sprintf("1.2e%d", k))
	}
	for i, c := range farCases {
		for k, value := range values {
			value = []string{"", "-"}[(i+k)%2] + value
			row := `{"income":` + value + `,"job":"smith"}`
			near := `{"income":3,"job":"clerk"}`
			forms := [2]string{"[" + row + "]", "[" + near + "," + row + "," + row + "]"}
			for path, q := range map[string]struct {
				form int
				more string
			}{"predict": {k / 2, ""}, "decide": {k/2 + 1, `,"second_opinion":true`}, "curve": {k / 4, `,` + curveFields}, "value": {k / 8, `,"ask":["job"]`}} {
				if path == "value" && k%8 != 0 {
					continue // it predicts fifty rows for each
				}
				rows := forms[q.form%2]
				w := ask(s, http.MethodPost, fmt.Sprintf("/v1/models/%d/%s", i, path), `{"rows":`+rows+q.more+`}`)
				switch w.Code {
				case 200:
					checkFiniteJSON(t, w.Body.Bytes())
				case 422:
					refused[c.kernel]++
					first := strings.Count(rows, near) // of the far rows
					if p := problemOf(t, w); len(p.Errors) == 0 || p.Errors[0].Location != fmt.Sprintf("rows[%d].income", first) {
						t.Errorf("%v, %s of %s: %s", c, path, value, w.Body)
					}
				default:
					t.Errorf("%v, %s of %s: %d %s", c, path, value, w.Code, w.Body)
				}
			}
			body := `{"inputs":[{"name":"income","shape":[2],"datatype":"FP64","data":[3,` + value + `]},{"name":"job","shape":[2],"datatype":"BYTES","data":["clerk","smith"]}]}`
			switch w := ask(s, http.MethodPost, fmt.Sprintf("/v2/models/%d/infer", i), body); {
			case w.Code == 200:
				checkFiniteJSON(t, w.Body.Bytes())
			case w.Code != 400 || !strings.Contains(w.Body.String(), "rows[1].income: "):
				t.Errorf("%v, infer of %s: %d %s", c, value, w.Code, w.Body)
			}
		}
		if refused[c.kernel] == 0 {
			t.Errorf("%s refuses nothing", c.kernel)
		}
	}
}

// checkFiniteJSON refuses an answer that is not JSON, which knows no other numbers, or
// that has one beyond those of a float64.
func checkFiniteJSON(tb testing.TB, text []byte) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if token == nil && err != nil {
			if d.More() || len(bytes.TrimSpace(text)) == 0 {
				tb.Errorf("%v in %.300s", err, text)
			}
			return
		}
		if x, ok := token.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			tb.Errorf("%v in %.300s", x, text)
		}
	}
}

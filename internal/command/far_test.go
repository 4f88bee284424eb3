package command

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Rows at every distance, by kernels, likelihoods and methods that take them differently:
// numbers and exit code 0, or exit code 2, nothing on standard output, and a message that
// names the file, the line and the column. Every exponent meets three or four of the cases, each of which has
// every third; signs, verbs and rows that are alone or a pair take turns so that each meets all of them.
func TestFarRows(t *testing.T) {
	dir := t.TempDir()
	past := "income,job,class\n"
	for i := range 12 {
		past += fmt.Sprintf("%d,%s,%s\n", i*5%12, []string{"clerk", "smith"}[i%2], []string{"bad", "good"}[min(1, i*5%12/5)])
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	table := write("past.csv", past)
	refused := make(map[string]int)
	cases := []struct{ kernel, likelihood, method, more string }{
		{"rbf(ard) + linear", "probit", "corrected", ""}, // the help's own example
		{"rbf(ard) + linear", "probit", "ep", ""},
		{"linear*linear*linear + rbf", "logit", "ep", ""},
		{"linear*linear*linear*linear + rbf", "logit", "corrected", ""},
		{"(linear + constant)*(linear + matern32)*linear + rbf", "robust", "vi", "--label-noise 0.01"},
		{"matern32 + constant", "probit", "loss-ep", ""},
		{"periodic*linear*linear + white", "probit", "loss-vi", ""},
		{"linear*rbf + constant", "probit", "laplace", ""},
		{"linear*linear*linear + matern12", "probit", "ep", "--inducing 5"},
		{"rbf(ard) + linear", "logit", "loss-ep", "--inducing 5 --prevalence 0.01"},
		{"matern52*linear", "robust", "vi", "--label-noise 0.01 --inducing 5 --power 0.5"},
	}
	for i, c := range cases {
		model := filepath.Join(dir, fmt.Sprintf("%d.lossep", i))
		args := []string{
			"fit", table, "--target", "class", "--positive", "bad", "--cost", "fn=5,fp=1", "--kernel", c.kernel, "--fixed",
			"--likelihood", c.likelihood, "--method", c.method, "-o", model,
		}
		args = append(args, strings.Fields(c.more)...)
		if code, text := try(args); code != 0 {
			t.Fatalf("%v: %s", c, text)
		}
		for k, value := range farValues() {
			if k%3 != i%3 {
				continue
			}
			value = []string{"", "-"}[(i+k)%2] + value
			rows, bad := "clerk,3\nsmith,"+value+"\nsmith,"+value+"\n", 3
			if (i/4+k/4)%2 == 1 {
				rows, bad = "smith,"+value+"\n", 2
			}
			new := write("new.csv", "job,income\n"+rows)
			verb := []string{"predict", "decide"}[(i/2+k/2)%2]
			var out, errs bytes.Buffer
			switch code := run(context.Background(), []string{verb, model, new}, nil, &out, &errs); code {
			case 0:
				checkFiniteRows(t, fmt.Sprint(c, " ", verb, " ", value), out.String(), strings.Count(rows, "\n"))
			case 2:
				refused[c.kernel]++
				if want := fmt.Sprintf(`%s, line %d, column "income": `, new, bad); out.Len() > 0 || !strings.Contains(errs.String(), want) {
					t.Errorf("%v %s %s: %q, %s", c, verb, value, out.String(), errs.String())
				}
			default:
				t.Errorf("%v %s %s: exit code %d, %s", c, verb, value, code, errs.String())
			}
		}
	}
	for _, c := range cases {
		if refused[c.kernel] == 0 {
			t.Errorf("%s refuses nothing", c.kernel)
		}
	}
}

// farValues are 10^k for every k from 0 to 308, the smallest numbers and the largest.
func farValues() []string {
	values := []string{"5e-324", "1e-310", "2.2250738585072014e-308", "1.7976931348623157e308"}
	for k := range 309 {
		values = append(values, fmt.Sprintf("1.2e%d", k))
	}
	return values
}

// checkFiniteRows looks for what is no finite number in a table of so many rows.
func checkFiniteRows(t *testing.T, what, text string, rows int) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(all) != rows+1 {
		t.Errorf("%s: %d rows, %v", what, len(all), err)
		return
	}
	for _, row := range all[1:] {
		for k, cell := range row {
			x, err := strconv.ParseFloat(cell, 64)
			if all[0][k] == "action" || all[0][k] == "disagreement" || all[0][k] == "unusual" {
				continue
			}
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: %s is %s", what, all[0][k], cell)
			}
		}
	}
}

package main

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
// names the file, the line and the column.
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
	cases := []struct{ kernel, likelihood, method string }{
		{"rbf(ard) + linear", "probit", "corrected"}, // the help's own example
		{"rbf(ard) + linear", "probit", "ep"},
		{"linear*linear*linear + rbf", "logit", "ep"},
		{"linear*linear*linear*linear + rbf", "logit", "corrected"},
		{"(linear + constant)*(linear + matern32)*linear + rbf", "robust", "vi"},
		{"matern32 + constant", "probit", "loss-ep"},
		{"periodic*linear*linear + white", "probit", "loss-vi"},
		{"linear*rbf + constant", "probit", "laplace"},
	}
	for i, c := range cases {
		model := filepath.Join(dir, fmt.Sprintf("%d.lossep", i))
		args := []string{
			"fit", table, "--target", "class", "--positive", "bad", "--cost", "fn=5,fp=1", "--kernel", c.kernel, "--fixed",
			"--likelihood", c.likelihood, "--method", c.method, "-o", model,
		}
		if c.likelihood == "robust" {
			args = append(args, "--label-noise", "0.01")
		}
		if code, text := try(args); code != 0 {
			t.Fatalf("%v: %s", c, text)
		}
		for k := 0; k <= 308; k += 7 {
			for _, sign := range []string{"", "-"} {
				value := fmt.Sprintf("%s1.2e%d", sign, k)
				new := write("new.csv", "job,income\nclerk,3\nsmith,"+value+"\nsmith,"+value+"\n")
				for _, verb := range []string{"predict", "decide"} {
					var out, errs bytes.Buffer
					switch code := run(context.Background(), []string{verb, model, new}, nil, &out, &errs); code {
					case 0:
						checkFiniteRows(t, fmt.Sprint(c, " ", verb, " ", value), out.String(), 3)
					case 2:
						refused[c.kernel]++
						if want := new + `, line 3, column "income": `; out.Len() > 0 || !strings.Contains(errs.String(), want) {
							t.Errorf("%v %s %s: %q, %s", c, verb, value, out.String(), errs.String())
						}
					default:
						t.Errorf("%v %s %s: exit code %d, %s", c, verb, value, code, errs.String())
					}
				}
			}
		}
	}
	for _, c := range cases {
		if refused[c.kernel] == 0 {
			t.Errorf("%s refuses nothing", c.kernel)
		}
	}
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

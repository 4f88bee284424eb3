package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is said beside the decisions: of rows equal to training rows, of weights that are counts,
// and of columns that are far outside in most rows.
func TestTold(t *testing.T) {
	dir := t.TempDir()
	say := func(stdin string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(stdin), &out, &errs); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, errs.String())
		}
		return strings.Join(strings.Fields(errs.String()), " ")
	}
	fit := func(name, table string, more ...string) (model, said string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".csv", []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"fit", path + ".csv", "--target", "sick", "--cost", "fn=5,fp=1", "--kernel", "rbf", "--fixed", "--method", "ep", "-o", path}
		return path, say("", append(args, more...)...)
	}
	check := func(said, want string, there bool) {
		t.Helper()
		if strings.Contains(said, want) != there {
			t.Errorf("%q is said: want %t\n%s", want, there, said)
		}
	}

	ages := "age,sick\n"
	for i := range 20 {
		ages += fmt.Sprintf("%d,%s\n", 31+i*7%20, []string{"no", "yes"}[i%3/2])
	}
	model, said := fit("ages", ages)
	check(said, "whole numbers", false)
	equal := "training rows among them, so this is optimistic (in-sample); use lossep audit"
	check(say("age,sick\n31,no\n32,no\n32.5,yes\n", "decide", model, "-"), "2 "+equal, true)
	far := "are far outside the values seen in training, which are from 31 to 50. Check the unit"
	check(say("age\n372\n384\n", "decide", model, "-"), `column "age": ALL 2 rows `+far, true)
	check(say("age\n372\n384\n40\n", "predict", model, "-"), `column "age": most rows (2 of 3) `+far, true)
	check(say("age\n372\n41\n40\n", "decide", model, "-"), `column "age": 1 row of 3 far outside`, true)
	check(say("age\n372\n", "decide", model, "-"), "Check the unit", false) // a row by itself

	// Shares where percentages are meant are within half of a wide range.
	for sign, rates := range map[string]string{"": "rate,sick\n", "-": "rate,sick\n"} {
		for i := range 20 {
			rates += fmt.Sprintf("%s%d,%s\n", sign, 10+i*7%20*5, []string{"no", "yes"}[i%3/2])
		}
		model, _ = fit("rates"+sign, rates)
		check(say(fmt.Sprintf("rate\n%[1]s0.35\n%[1]s0.6\n", sign), "decide", model, "-"), `column "rate": ALL 2 rows are far outside`, true)
		check(say(fmt.Sprintf("rate\n%[1]s1.5\n%[1]s6\n", sign), "decide", model, "-"), "far outside", false)
		check(say("rate\n0\n0\n", "decide", model, "-"), "far outside", false) // in whatever unit
	}

	// Of two columns of two values, rows are equal that are different people.
	people := "sex,class,sick\n"
	for i := range 20 {
		people += fmt.Sprintf("%s,%s,%s\n", []string{"m", "f"}[i%2], []string{"first", "other"}[i/2%2], []string{"no", "yes"}[i%3/2])
	}
	model, _ = fit("people", people)
	check(say("sex,class,sick\nm,first,no\nf,first,yes\n", "decide", model, "-"), "fitted to", false)

	counts := "age,n,sick\n31,118,no\n32,57,yes\n35,4,no\n40,140,yes\n"
	counted := `the weights in "n" are 79.8 on average: a row counts as so many cases that are alike.`
	_, said = fit("counts", counts, "--weights", "n")
	check(said, counted, true)
	check(said, "counts instead", true)
	_, said = fit("halves", strings.Replace(counts, "118", "117.5", 1), "--weights", "n")
	check(said, "as in a survey, divide the weights by their mean", true)
	check(said, "counts instead", false)
	_, said = fit("counted", counts, "--counts", "n")
	check(said, `frequency column "n": 4 distinct rows, 319 cases`, true)
	_, said = fit("few", "age,n,sick\n31,1,no\n32,3,yes\n35,1,no\n40,1,yes\n", "--weights", "n")
	check(said, "the weights in", false)
}

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

// Decisions about outcomes that are numbers, as German spreadsheets write them: what was realised is said where outcomes
// have a unit, what cannot be read is counted, rows are chosen as those of categories are, and the columns of the input
// can be read again.
func TestDecideNumbersOfSpreadsheets(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	do := func(args ...string) (out, said string) {
		t.Helper()
		var to, errs bytes.Buffer
		if code := run(context.Background(), args, nil, &to, &errs); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, errs.String())
		}
		return to.String(), errs.String()
	}
	past := "Wind;Preis;Menge\n"
	for i := range 40 {
		past += fmt.Sprintf("%d,%d;%d,50 €;%d kg\n", i%9, i%7, 3+i%4, 50-3*(i%9)+i*i%5)
	}
	table, model := write("past.csv", past), filepath.Join(dir, "m.lossep")
	fit := []string{"fit", table, "--target", "Menge", "--cost", "under=Preis,over=1", "--kernel", "rbf + constant", "-o", model}
	_, said := do(fit...)
	for _, want := range []string{`column "Menge" is read as numbers: decimal comma, in kg`, `dropped "Preis": used in the costs, not to predict (the option use-cost-columns makes it a feature, too)`} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if _, said := do(append(fit[:len(fit)-2:len(fit)-2], "--no-save", "--use-cost-columns")...); !strings.Contains(said, `column "Preis" is read as numbers: decimal comma, in €`) {
		t.Errorf("with --use-cost-columns:\n%s", said)
	}

	later := write("later.csv", "Wind;Preis;Menge\n2,5;3,50 €;44 kg\n3,1;4,50 €;closed\n8,0;5,50 €;\n7,0;5,50 €;30 g\n")
	out, said := do("decide", model, later, "--keep")
	for _, want := range []string{"\n2.5,\"3,50 €\",44 kg,2,"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, want := range []string{", on the 1 row with a known outcome", `outcomes that cannot be read: 2 rows, the first in line 3: "closed" is not a finite number in kg`} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if _, said := do("decide", model, table); !strings.Contains(said, "realised cost per row") || !strings.Contains(said, "40 training rows among them") {
		t.Errorf("of training rows it is said\n%s", said)
	}
	if out, said := do("decide", model, later, "--top", "2"); strings.Count(out, "\n") != 3 || !strings.HasPrefix(out, "id,action,cost,") || !strings.Contains(said, "decided 4 rows") {
		t.Errorf("--top 2: %s%s", out, said)
	}

	named := write("named.yaml", "costs:\n  few: 1.5 * max(outcome - 30, 0)\n  many: 60 - outcome\n")
	few, _ := do("decide", model, table, "--utility", named, "--only", "few")
	many, _ := do("decide", model, table, "--utility", named, "--only", "many")
	all, _ := do("decide", model, table, "--utility", named)
	if rows := strings.Count(few, "\n") + strings.Count(many, "\n") - 1; rows != strings.Count(all, "\n") || strings.Contains(few, ",many,") || strings.Contains(many, ",few,") {
		t.Errorf("%d rows by action:\n%s%s", rows, few, many)
	}
	for args, want := range map[string]string{"--only few": "the actions are numbers and have no names", "--baseline few": "it is for outcomes that are categories"} {
		var to, errs bytes.Buffer
		if code := run(context.Background(), append([]string{"decide", model, later}, strings.Fields(args)...), nil, &to, &errs); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, %s", args, code, errs.String())
		}
	}
}

// A column of times may be given by its number, and the order of day and month that is said holds for the periods of a
// capacity, too.
func TestAuditPerWeekOfWrittenDates(t *testing.T) {
	past := "day,x,sold,late\n"
	for i := range 48 {
		past += fmt.Sprintf("%02d/%02d/2025,%d.5,%d,%s\n", 1+i/4, 1+3*(i%2), i%7, 20+3*(i%7)+i%3, []string{"yes", "no"}[i%7/4])
	}
	path := filepath.Join(t.TempDir(), "past.csv")
	if err := os.WriteFile(path, []byte(past), 0o600); err != nil {
		t.Fatal(err)
	}
	for costs, capacity := range map[string]string{"under=3,over=1 --target sold --drop late": "action=100", "fn=5,fp=1 --target late --drop sold --methods ep --references 0": "positive=2"} {
		for dates, code := range map[string]int{"--dates day-first": 0, "": 2} {
			args := "audit " + path + " --cost " + costs + " --folds 2 --time 1 --capacity " + capacity + " --per week --kernel rbf --format json --out " + filepath.Join(t.TempDir(), "audit") + " " + dates
			var out, errs bytes.Buffer
			if got := run(context.Background(), strings.Fields(args), nil, &out, &errs); got != code || code == 2 && !strings.Contains(errs.String(), "--dates day-first or --dates month-first") {
				t.Errorf("%s: exit code %d, %s", args, got, errs.String())
			}
		}
	}
}

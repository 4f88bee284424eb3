package recipe

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/table"
)

// manyRows is a table of n rows under a header: every column is made by a function of
// the row, and the outcome is last.
func manyRows(n int, names string, columns ...func(i int) string) string {
	var b strings.Builder
	b.WriteString(names + ",y\n")
	for i := range n {
		for _, c := range columns {
			b.WriteString(c(i) + ",")
		}
		fmt.Fprintln(&b, i%2)
	}
	return b.String()
}

func amount(i int) string { return fmt.Sprintf("%d.%d", i*37%1000, i%10) }

// Numbers that stand for categories and outcomes are compared by value, however a file
// or an object spells them.
func TestCodesAreComparedByValue(t *testing.T) {
	text := manyRows(30, "thal", func(i int) string { return []string{"3.0", "6.0", "7.0"}[i%3] })
	text = strings.ReplaceAll(strings.ReplaceAll(text, ",1\n", ",2.0\n"), ",0\n", ",1.0\n")
	recipe, x, y := mustLearn(t, mustRead(t, text, table.HeaderYes), Options{Categorical: []string{"thal"}, Positive: "2"})
	if !cmp.Equal(recipe.Columns[0].Categories, []string{"3", "6", "7"}) {
		t.Fatalf("categories %q", recipe.Columns[0].Categories)
	}
	for _, spelling := range []string{"6", "6.0", "06", "6e0", "+6"} {
		rows, err := NewReader(context.Background(), strings.NewReader("thal,y\n"+spelling+",2\n"), "new.csv", recipe, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		block, err := rows.ReadBlock(1)
		if err != nil || !cmp.Equal(block.Rows[0].Features, x.RawRowView(1)) {
			t.Errorf("%q: features %v, %v", spelling, block.Rows[0].Features, err)
		}
		if label, ok, err := block.Rows[0].Label(); label != y[1] || !ok || err != nil {
			t.Errorf("%q: label %d, %v, %v", spelling, label, ok, err)
		}
	}
	for _, value := range []any{6, 6.0, "6.00", int64(6)} {
		dst := make([]float64, recipe.Dim())
		if unseen, err := recipe.Encode(map[string]any{"thal": value}, dst); unseen != nil || err != nil || dst[0] != 1 { // of 3, 6 and 7
			t.Errorf("%v: %v, %v, %v", value, dst, unseen, err)
		}
	}
}

// A code of sixteen digits is the same as a text, as an integer and, where that has all its
// digits, as a number; a longer one as what has all of them.
func TestLongCodesAreFound(t *testing.T) {
	text := manyRows(30, "code", func(i int) string { return []string{"1234567890123456", "1234567890123457", "12345678901234567"}[i%3] })
	recipe, _, _ := mustLearn(t, mustRead(t, text, table.HeaderYes), Options{Categorical: []string{"code"}})
	for _, c := range []struct {
		value any
		at    int
	}{
		{"1234567890123457", 2},
		{1234567890123457, 2},
		{int64(1234567890123457), 2},
		{1234567890123457.0, 2},
		{"1234567890123457.0", 2},
		{"1234567890123456", 0},
		{1234567890123456.0, 0},
		{"12345678901234567", 1},
		{12345678901234567, 1},
	} {
		dst := make([]float64, recipe.Dim())
		if unseen, err := recipe.Encode(map[string]any{"code": c.value}, dst); unseen != nil || err != nil || int(dst[0]) != c.at {
			t.Errorf("%T %v: %v, %v, %v", c.value, c.value, dst, unseen, err)
		}
	}
	numbers, err := table.NewTable("memory", []table.Values{
		{Name: "code", Numbers: []float64{1234567890123456, 1234567890123457, 1234567890123456, 1234567890123457}},
		{Name: "text", Codes: []int32{0, 1, 1, 0}, Texts: []string{"12345678901234567", "12345678901234568"}},
		{Name: "y", Numbers: []float64{0, 1, 0, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Learn(numbers, Options{Categorical: []string{"code", "text"}})
	if err != nil || l.X.At(0, 0) == l.X.At(1, 0) || l.X.At(0, 1) == l.X.At(1, 1) || l.X.At(0, 0) < 0 {
		t.Errorf("%v", err)
	}
}

// A column of which no row has a known category is an error; with any, one row is.
func TestUnseenColumnsAreRefused(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	report := func(text string) *Report {
		_, r, err := recipe.Apply(mustRead(t, text, table.HeaderYes))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	some := report("age,job,amount\n30,z,250\n31,b,300\n")
	if err := some.Err("new.csv", false); err != nil {
		t.Error(err)
	}
	checkError(t, some.Err("new.csv", true), []string{"new.csv", `column "job"`, "1 of 2 rows", `"z"`})
	all := report("age,job,amount\n30,z,250\n31,q,300\n")
	checkError(t, all.Err("new.csv", false), []string{"new.csv", `column "job"`, "2 of 2 rows", `"z"`, "Unseen"})
}

// A reader sees what a table sees, whatever the sizes of the parts it comes in.
func TestChunksDoNotMatter(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("n,w,q,y\n")
	for i := range 60_000 {
		fmt.Fprintf(&b, "%d.25,word %d,\"a\n\"\"%d\"\"\",%d\n", i, i%1000, i%7, i%2)
	}
	table := mustRead(t, b.String(), table.HeaderYes)
	if table.Len() != 60_000 {
		t.Fatalf("%d rows", table.Len())
	}
	for _, i := range []int{0, 1, 17, 33_333, 59_999} {
		want := []string{fmt.Sprintf("%d.25", i), fmt.Sprint("word ", i%1000), fmt.Sprintf("a\n\"%d\"", i%7), fmt.Sprint(i % 2)}
		if got := table.Row(i); !cmp.Equal(got, want) || table.Line(i) != 2+2*i {
			t.Errorf("row %d on line %d: %q, want %q", i, table.Line(i), got, want)
		}
	}
}

// Rows without an outcome can be left out, of a column and of a condition; what else is in
// them does not matter then.
func TestLabelled(t *testing.T) {
	text := manyRows(20, "a,delay", amount, func(i int) string { return fmt.Sprint(i) }) + "17,,?\nTotal,,\n"
	for _, o := range []Options{{Target: "y"}, {Target: "delay >= 7"}} {
		table, err := Labelled(mustRead(t, text, table.HeaderYes), o)
		if err != nil {
			t.Fatal(err)
		}
		l, err := Learn(table, o)
		if err != nil {
			t.Fatal(err)
		}
		if l.Recipe.Rows != 20 || l.Recipe.Columns[0].Kind != Numeric || !slices.Contains(l.Notes.Texts(), "2 rows without an outcome left out") {
			t.Errorf("%d rows, %+v, notes %q", l.Recipe.Rows, l.Recipe.Columns[0], l.Notes.Texts())
		}
	}
	whole := mustRead(t, manyRows(20, "a", amount), table.HeaderYes)
	if same, err := Labelled(whole, Options{}); err != nil || same != whole {
		t.Errorf("%v, %v", same, err)
	}
}

// A number of another unit is refused, and one of none is taken.
func TestUnitsOfNewRows(t *testing.T) {
	recipe, x, _ := mustLearn(t, mustRead(t, manyRows(20, "a", func(i int) string { return fmt.Sprintf("%d mg", 70+i) }), table.HeaderYes), Options{})
	dst := make([]float64, 1)
	for _, text := range []string{"70 mg", "70", "70mg"} {
		if _, err := recipe.Encode(map[string]any{"a": text}, dst); err != nil || dst[0] != x.At(0, 0) {
			t.Errorf("%q: %v, %v", text, dst, err)
		}
	}
	_, err := recipe.Encode(map[string]any{"a": "70 mmol"}, dst)
	checkError(t, err, []string{`column "a": "70 mmol" is not a finite number in mg`})
}

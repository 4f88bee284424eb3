package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// Zeros in front make codes of whole numbers, and of nothing else: not of hours, dates and
// decimals, not of 0, and not where the same number stands without them.
func TestZerosInFront(t *testing.T) {
	for _, c := range []struct {
		cells string
		want  Kind
		note  string
	}{
		{"030001 120003 030001 550100", Categorical, "categorical"},
		{"007 012 100 007", Categorical, "categorical"},
		{"007 1234 0456 12", Categorical, "categorical"},
		{"00 01 02 01", Categorical, "categorical"},
		{"0000000000000017 1000000000000017 0000000000000017 1000000000000018", Categorical, "categorical"},
		{"007 NA 100 012", Categorical, "categorical"},
		{"007 7 12 140", Numeric, "numeric"},
		{"07 007 12 140", Numeric, "numeric"},
		{"5 05 17 230", Numeric, "numeric"},
		{"00 15 230 4", Numeric, "numeric"}, // one way to write nought
		{"05 12.5 17 23", Numeric, "numeric"},
		{"05 -12 17 23", Numeric, "numeric"},
		{"05 1,200 17 23", Numeric, "numeric"},
		{"0 1 0 2", Numeric, ""},
		{"0.5 0.25 00.5 1", Numeric, ""},
		{"-05 -03 -01 -02", Numeric, ""},
		{"10115 20095 80331 10115", Numeric, ""},
		{"08:00 09:30 17:45 08:00", Date, ""},
		{"05.01.2024 06.01.2024 07.01.2024 17.01.2024", Date, ""},
		{"0x1 0x2 0x3 0x1", Categorical, ""},
	} {
		var b strings.Builder
		b.WriteString("a,b;y\n")
		for i, cell := range strings.Fields(c.cells) {
			fmt.Fprintf(&b, "%s;%d\n", cell, i%2)
		}
		data, err := table.Read(t.Context(), strings.NewReader(b.String()), "t.csv", table.Format{Header: table.HeaderYes, Separator: ";", Decimal: "."})
		if err != nil {
			t.Fatal(err)
		}
		l, err := Learn(data, Options{Impute: true, Dates: table.DayFirst})
		if err != nil {
			t.Errorf("%s: %v", c.cells, err)
			continue
		}
		if got := l.Recipe.Columns[0].Kind; got != c.want {
			t.Errorf("%s: %s, want %s", c.cells, got, c.want)
		}
		said := strings.Join(l.Notes.Texts(), "; ")
		if strings.Contains(said, "zeros in front") != (c.note != "") || !strings.Contains(said, c.note) {
			t.Errorf("%s: said %q, want %q", c.cells, said, c.note)
		}
	}
}

// Codes are the same with their zeros and without, in new rows too; a scaling makes a quantity
// of them, and the numbers are those without zeros.
func TestCodesWithZerosInNewRows(t *testing.T) {
	text := "zip,y\n01067,0\n80331,1\n01067,0\n20095,1\n"
	recipe, x, _ := mustLearn(t, mustRead(t, text, table.HeaderYes), Options{})
	again, _, err := recipe.Apply(mustRead(t, "zip\n1067\n80331\n01067\n20095\n", table.HeaderYes))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if x.At(i, 0) != again.At(i, 0) {
			t.Errorf("row %d: %v, and %v without zeros", i+1, x.At(i, 0), again.At(i, 0))
		}
	}
	_, x, _ = mustLearn(t, mustRead(t, text, table.HeaderYes), Options{Bends: map[string]Bend{"zip": Straight}, KeepScale: true})
	if got := []float64{x.At(0, 0), x.At(1, 0)}; !slices.Equal(got, []float64{1067, 80331}) {
		t.Errorf("as quantities: %v", got)
	}
}

// Many codes are identifiers: dropped if all differ, and asked about if nearly all do, in a part
// of the table without a zero as well.
func TestManyCodesWithZeros(t *testing.T) {
	code := func(i int) string { return fmt.Sprintf("%06d", 1+37_919*i%999_983) }
	data := mustRead(t, manyRows(60, "part,a", code, amount), table.HeaderYes)
	recipe, _, _ := mustLearn(t, data, Options{})
	if c := recipe.Columns[0]; c.Kind != Dropped || !strings.Contains(c.Reason, "(identifier)") {
		t.Errorf("%s, %q", c.Kind, c.Reason)
	}
	some := func(i int) string { return code(max(i, 3)) }
	data = mustRead(t, manyRows(60, "part,a", some, amount), table.HeaderYes)
	var asked *table.Error
	if _, err := Learn(data, Options{}); !errors.As(err, &asked) || !strings.Contains(asked.Msg, "is this an identifier?") || asked.Ways[len(asked.Ways)-1].Meaning != "a quantity" {
		t.Errorf("57 codes in 60 rows: %v", err)
	}
	var rows []int
	for i := range 60 {
		if !strings.HasPrefix(some(i), "0") {
			rows = append(rows, i)
		}
	}
	if _, err := Learn(data.Subset(rows), Options{}); err == nil || !strings.Contains(err.Error(), "is this an identifier?") {
		t.Errorf("a part of the table: %v", err)
	}
}

// A marker that is a number counts by value, zeros in front or not, and so do groups, times and
// conditions.
func TestZerosInFrontByValue(t *testing.T) {
	table := mustRead(t, "a,when,y\n00,0800,0\n5,1330,1\n12,0915,0\n0,1000,1\n", table.HeaderYes)
	recipe, _, _ := mustLearn(t, table, Options{Impute: true, Markers: []string{"a=0"}, Drop: []string{"when"}})
	if c := recipe.Columns[0]; c.Low != 5 {
		t.Errorf("00 is not missing: values from %v", c.Low)
	}
	if texts, err := table.Texts("a"); err != nil || texts[0] != texts[3] {
		t.Errorf("groups %q, %v", texts, err)
	}
	if times, err := table.Times("when", ""); err != nil || times[0] != 800 {
		t.Errorf("times %v, %v", times, err)
	}
	if _, _, y := mustLearn(t, table, Options{Target: `when == "915"`}); !slices.Equal(y, []int{0, 0, 1, 0}) {
		t.Errorf("condition: %v", y)
	}
}

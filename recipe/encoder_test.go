package recipe

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/table"
)

// drawValue draws what an object may hold: usual values, values of the wrong kind, and
// the spellings on which a shortcut would part from the long way.
func drawValue(t *rapid.T) any {
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 2, 1.5, -3, 999, 250000, 1e300, math.MaxFloat64, 5e-324, math.NaN(), math.Inf(1)}).Draw(t, "number")
	case 1:
		return rapid.Float64().Draw(t, "float")
	case 2:
		return rapid.SampledFrom([]string{"a", " b ", "c", "ü", "TRUE", "1.5", "+2", "-999", "999", "0x10", "1e400", "NA", "", "nan", "same", " 1 "}).Draw(t, "text")
	case 3:
		return rapid.String().Draw(t, "string")
	case 4:
		return rapid.Bool().Draw(t, "truth")
	}
	return nil
}

// give hands a value to the encoder.
func give(e *Encoder, column int, value any) {
	switch v := value.(type) {
	case float64:
		e.Number(column, v)
	case string:
		e.Text(column, []byte(v))
	case bool:
		e.Bool(column, v)
	default:
		e.Null(column)
	}
}

// Values given one by one, in any order, make the features, the unseen columns and the
// errors that the same values make as an object.
func TestEncoderIsEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, rows := drawTable(t)
		o := Options{
			Target: targetName(names), Impute: rapid.Bool().Draw(t, "impute"), KeepScale: rapid.Bool().Draw(t, "keep"),
			Markers: rapid.SampledFrom([][]string{nil, {"", "NA"}, {"", "NA", "999", "true"}}).Draw(t, "markers"),
		}
		recipe, _, _, err := learnAll(readText(t, csvText(names, rows)), o)
		if err != nil {
			t.Skip(err) // cells are missing, and nothing is imputed
		}
		if k := slices.IndexFunc(recipe.Columns, func(c Column) bool { return c.Kind == Categorical }); k >= 0 && rapid.Bool().Draw(t, "truths") {
			recipe.Columns[k].Categories = []string{"False", "TRUE"}
			if recipe.Impute {
				recipe.Columns[k].FillCategory = "TRUE"
			}
		}
		e := recipe.NewEncoder()
		for range 3 { // an encoder starts every row afresh
			row := make(map[string]any)
			order := rapid.Permutation(indices.Of(len(recipe.Columns))).Draw(t, "order")
			for _, i := range order {
				if rapid.IntRange(0, 20).Draw(t, "absent") > 0 {
					row[recipe.Columns[i].Name] = drawValue(t)
				}
			}
			want, got := make([]float64, recipe.Dim()), make([]float64, recipe.Dim())
			wantUnseen, wantErr := recipe.Encode(maps.Clone(row), want)
			got[0] = 42 // whatever was there before
			e.Begin(got)
			for _, i := range order {
				if value, ok := row[recipe.Columns[i].Name]; ok {
					give(e, i, value)
				}
			}
			remarks, gotErr := e.End()
			if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) || !slices.Equal(remarks.Unseen, wantUnseen) {
				t.Fatalf("%v: unseen %q, error %v; want %q, %v", row, remarks.Unseen, gotErr, wantUnseen, wantErr)
			}
			for k := range want {
				if wantErr == nil && math.Float64bits(got[k]) != math.Float64bits(want[k]) {
					t.Fatalf("%v: features %v, want %v", row, got, want)
				}
			}
		}
	})
}

// A value that cannot be one is an error of its column, unless nobody asked for it.
func TestEncoderRefuses(t *testing.T) {
	recipe := &Recipe{Columns: []Column{{Name: "x", Kind: Numeric, Scale: 1}, {Name: "id", Kind: Dropped, Reason: "no use"}}}
	e := recipe.NewEncoder()
	e.Begin(make([]float64, 1))
	e.Refuse(0, "an object is no number")
	e.Refuse(1, "nor here")
	if _, err := e.End(); err == nil || !strings.HasPrefix(err.Error(), `column "x": an object is no number; correct the cell`) {
		t.Errorf("error %v", err)
	}
	e.Begin(make([]float64, 1))
	e.Number(0, 1)
	e.Refuse(1, "nor here")
	if _, err := e.End(); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("two elements for one feature are no panic")
		}
	}()
	e.Begin(make([]float64, 2))
}

func TestNumber(t *testing.T) {
	for cell, want := range map[string]float64{" 12.5 ": 12.5, "-3": -3, "1e3": 1000, "+2": 2} {
		if x, ok := table.Number(cell); !ok || x != want {
			t.Errorf("%q is %v, %t", cell, x, ok)
		}
	}
	for _, cell := range []string{"", "x", "inf", "nan", "1e999", "0x10", "1_000", "true"} {
		if x, ok := table.Number(cell); ok {
			t.Errorf("%q is %v", cell, x)
		}
	}
}

func BenchmarkEncoder(b *testing.B) {
	recipe := &Recipe{Missing: table.DefaultMissing()}
	for j := range 20 {
		recipe.Columns = append(recipe.Columns, Column{Name: fmt.Sprint(j), Kind: Numeric, Mean: 1, Scale: 2})
	}
	e, dst := recipe.NewEncoder(), make([]float64, 20)
	b.ReportAllocs()
	for b.Loop() {
		e.Begin(dst)
		for j := range 20 {
			e.Number(j, float64(j))
		}
		if _, err := e.End(); err != nil {
			b.Fatal(err)
		}
	}
}

// A column that may not be known yet has NaN in its places where it has no cell, and only
// there, also where a recipe fills missing cells: it is not missing, but may be found out.
func TestOpenColumns(t *testing.T) {
	text := "x,kind,day,y\n1,a,2020-01-01,0\n2,b,2020-02-01,1\n4,a,2020-03-05,0\n5,c,2020-04-07,1\n"
	for _, impute := range []bool{false, true} {
		recipe, _, _, err := learnAll(mustRead(t, text, table.HeaderYes), Options{Target: "y", Impute: impute})
		if err != nil {
			t.Fatal(err)
		}
		whole := map[string]any{"x": 2.0, "kind": "b", "day": "2020-02-01"}
		want := make([]float64, recipe.Dim())
		if _, err := recipe.Encode(whole, want); err != nil {
			t.Fatal(err)
		}
		for _, part := range recipe.Parts() {
			for _, absent := range []bool{false, true} {
				row := maps.Clone(whole)
				if row[part.Column] = nil; absent {
					delete(row, part.Column)
				}
				got := make([]float64, recipe.Dim())
				if _, err := recipe.Encode(row, got); err == nil && (absent || !impute) {
					t.Errorf("%s may be missing without being open", part.Column)
				}
				if _, err := recipe.WithOpen(part.Column).Encode(row, got); err != nil {
					t.Fatal(err)
				}
				for k := range got {
					switch open := slices.Contains(part.At, k); {
					case !open && got[k] != want[k], open && !math.IsNaN(got[k]):
						t.Errorf("%s open, imputing %v: %v, with the cell %v", part.Column, impute, got, want)
					}
				}
			}
		}
		got := make([]float64, recipe.Dim())
		if _, err := recipe.WithOpen("x", "kind", "day").Encode(whole, got); err != nil || !slices.Equal(got, want) {
			t.Errorf("open columns that are known: %v, %v, want %v", got, err, want)
		}
	}
}

// A table may lack a column that is open, as an object may; its entries are not known. One block of
// rows is read column by column, and the other, with a new category, row by row.
func TestTableWithoutOpenColumn(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, "x,kind,y\n1,a,0\n2,b,1\n4,a,0\n5,c,1\n", table.HeaderYes), Options{Target: "y"})
	open := recipe.WithOpen("x")
	for _, kind := range []string{"b", "new"} {
		got, report, err := open.Apply(mustRead(t, "kind\na\n"+kind+"\n", table.HeaderYes))
		if err != nil || report.Rows != 2 {
			t.Fatal(report, err)
		}
		want := make([]float64, open.Dim())
		if _, err := open.Encode(map[string]any{"kind": kind}, want); err != nil || !math.IsNaN(want[0]) || !floats.Same(got.RawRowView(1), want) {
			t.Errorf("%v of a table, %v of an object, %v", got.RawRowView(1), want, err)
		}
	}
}

// TestTextsOfDecimalCommas: where the training file has decimal commas, a text from elsewhere is the number
// that it is there, or an error where it may be two; numbers that are none of texts stay as they are.
func TestTextsOfDecimalCommas(t *testing.T) {
	r, _, _ := mustLearn(t, mustRead(t, "amount;kind;y\n1,5;0,5;yes\n1200,25;1,5;no\n30;0,5;yes\n7;1,5;no\n", table.HeaderAuto), Options{Categorical: []string{"kind"}})
	cell := r.Cells()
	for _, c := range []struct {
		amount any
		want   string // empty for an error
	}{
		{"1200,5", "1200.5"},
		{"1.200,5", "1200.5"},
		{"1.200", ""},
		{"-1.200", ""},
		{"1.200.000", "1200000"},
		{"12.5", "12.5"},
		{1.2, "1.2"},
		{json.Number("1.200"), "1.2"},
		{"1200", "1200"},
		{"1,2,3", ""},
	} {
		row := make([]float64, r.Dim())
		_, err := r.Encode(map[string]any{"amount": c.amount, "kind": "0,5"}, row)
		switch {
		case (err == nil) != (c.want != ""):
			t.Errorf("%v: %v", c.amount, err)
		case err == nil && (cell.Text(0, row) != c.want || cell.Text(1, row) != "0.5"):
			t.Errorf("%v: %s and %s", c.amount, cell.Text(0, row), cell.Text(1, row))
		case c.amount == "1.200" && !strings.Contains(err.Error(), `"1.200" may be 1.2 or 1200, as the training file has decimal commas`):
			t.Error(err)
		}
	}
}

// A table tells of a missing cell where no training row had one, also if there is nothing else to tell.
func TestTableWithNewGap(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, "x,kind,y\n1,a,0\n2,b,1\n4,a,0\n5,b,1\n", table.HeaderYes), Options{Target: "y", Impute: true})
	for rows, want := range map[string]string{"2,a\n,b\n": "x", "2,a\n3,\n": "kind"} {
		_, report, err := recipe.Apply(mustRead(t, "x,kind\n"+rows, table.HeaderYes))
		if err != nil || !slices.Equal(report.Gaps, Counts{{Column: want, Cells: 1}}) {
			t.Errorf("%q: %+v, %v", rows, report, err)
		}
	}
}

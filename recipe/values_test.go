package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// Columns in memory are read as the file that has the same cells.
func TestValuesAreReadAsAFile(t *testing.T) {
	file := "amount,job,code,when,class\n" +
		"1.5,clerk,3,2025-01-02,good\n2,,6,2025-02-03,bad\n,cook,7,2025-03-04,good\n0.25,clerk,3,2025-01-30,good\n8,cook,3.0,2025-02-11,bad\n"
	nan := math.NaN()
	columns := []table.Values{
		{Name: "amount", Numbers: []float64{1.5, 2, nan, 0.25, 8}},
		{Name: "job", Codes: []int32{1, -1, 0, 1, 0}, Texts: []string{"cook", " clerk ", "never"}},
		{Name: "code", Codes: []int32{0, 1, 2, 0, 3}, Texts: []string{"3", "6", "7", "3.0"}},
		{Name: "when", Codes: []int32{0, 1, 2, 3, 4}, Texts: []string{"2025-01-02", "2025-02-03", "2025-03-04", "2025-01-30", "2025-02-11"}},
		{Name: "class", Codes: []int32{0, 1, 0, 0, 1}, Texts: []string{"good", "bad"}},
	}
	for _, o := range []Options{{Impute: true}, {Impute: true, Categorical: []string{"code"}}} {
		read, err := table.Read(t.Context(), strings.NewReader(file), "rows", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := table.NewTable("rows", columns)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Learn(read, o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Learn(made, o)
		if err != nil {
			t.Fatal(err)
		}
		var texts [2]bytes.Buffer
		for k, l := range []*Learned{want, got} {
			if err := json.NewEncoder(&texts[k]).Encode(l.Recipe); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(texts[0].String(), texts[1].String()); diff != "" {
			t.Error(diff)
		}
		if !mat.Equal(want.X, got.X) || !cmp.Equal(want.Labels, got.Labels) {
			t.Error("the rows differ")
		}
	}
}

// Long columns lie in the segments of a table.
func TestValuesOfManyRows(t *testing.T) {
	n := 2*table.SegmentRows + 7
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	table, err := table.NewTable("rows", []table.Values{{Name: "x", Numbers: x}})
	if err != nil {
		t.Fatal(err)
	}
	values, err := table.Floats("x")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if v != float64(i) {
			t.Fatalf("row %d is %v", i, v)
		}
	}
}

// A cell that is missing where a number is needed in every row is called that.
func TestMissingNumber(t *testing.T) {
	if values, err := mustRead(t, "a,amount,y\n1,0,a\n0,5,b\n", table.HeaderYes).Floats("amount", "a=0"); err != nil || values[0] != 0 {
		t.Errorf("a marker of another column: %v, %v", values, err)
	}
	if _, err := mustRead(t, "a,amount,y\n1,0,a\n0,5,b\n", table.HeaderYes).Floats("amount", "amount=0"); err == nil {
		t.Error("a marker of the column itself is a number")
	}
	for _, cell := range []string{"NA", "none", "-9"} {
		_, err := mustRead(t, "amount,y\n1,a\n"+cell+",b\n", table.HeaderYes).Floats("amount", "none", "-9.0")
		if err == nil || !strings.Contains(err.Error(), "line 3, column 1 (\"amount\"): a missing cell, and this column is needed in every row; fill it") {
			t.Errorf("%s: %v", cell, err)
		}
	}
}

func TestValuesThatMakeNoTable(t *testing.T) {
	one := []float64{1, 2}
	for name, columns := range map[string][]table.Values{
		"there is no column":     {},
		"there are no rows":      {{Name: "x"}},
		"3 cells where":          {{Name: "x", Numbers: one}, {Name: "y", Numbers: []float64{1, 2, 3}}},
		"code 2 in row 2":        {{Name: "x", Codes: []int32{0, 2}, Texts: []string{"a", "b"}}},
		"code -2 in row 1":       {{Name: "x", Codes: []int32{-2, 0}, Texts: []string{"a", "b"}}},
		"duplicate header name:": {{Name: "x", Numbers: one}, {Name: "x", Numbers: one}},
	} {
		_, err := table.NewTable("rows", columns)
		var located *table.Error
		if !errors.As(err, &located) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	table, err := table.NewTable("rows", []table.Values{{Name: "x", Numbers: []float64{1, math.Inf(-1), 3}}, {Name: "y", Numbers: []float64{0, 1, 0}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Learn(table, Options{}); err == nil || !strings.Contains(err.Error(), "infinite") {
		t.Errorf("an infinity: %v", err)
	}
}

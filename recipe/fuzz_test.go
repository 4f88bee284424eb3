package recipe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"testing"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// Whatever the bytes, reading ends in a located error or in a rectangle of
// valid text; what can be learned from encodes finitely, and the same again
// when streamed through the stored recipe.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		trainText, "1,2;3\n", "a;b\n1,5;x\n", "\xEF\xBB\xBFx\ty\n1\tno\n2\tyes\n", "\x1f\x8b\x08", "a,\"b\nc\",1\n", "\r\r", ",,\n,,\n",
		"y\n0\n1\n", "x,y\n-0,1\n0,0\n1,1\n", "x,y\n1e308,1\n-1e308,0\n", "id,y\n1,1\n1,0\n2,0\n", "NA,1\n3,0\n4,1\n",
		"\f\n2\f0,1\t\n0,0",
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, header bool) {
		choice := table.HeaderNo
		if header {
			choice = table.HeaderYes
		}
		data, err := table.Read(context.Background(), bytes.NewReader(text), "fuzz.csv", table.Format{Header: choice})
		var located *table.Error
		if err != nil {
			if !errors.As(err, &located) {
				t.Fatalf("error %v is not located", err)
			}
			return
		}
		for i := range data.Len() {
			if len(data.Row(i)) != len(data.Columns()) || data.Line(i) < 1 {
				t.Fatalf("row %d on line %d: %q", i, data.Line(i), data.Row(i))
			}
			for _, cell := range data.Row(i) {
				if !utf8.ValidString(cell) {
					t.Fatalf("cell %q is not UTF-8", cell)
				}
			}
		}
		recipe, x, _, err := learnAll(data, Options{Impute: true})
		if err != nil {
			if !errors.As(err, &located) {
				t.Fatalf("error %v is not located", err)
			}
			return
		}
		checkAgain(t, text, data.Format(), recipe, x)
	})
}

func checkAgain(t *testing.T, text []byte, format table.Format, recipe *Recipe, x *mat.Dense) {
	t.Helper()
	for _, v := range x.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("feature %v", v)
		}
	}
	stored, err := json.Marshal(recipe)
	if err != nil {
		t.Fatal(err)
	}
	var loaded Recipe
	if err := json.Unmarshal(stored, &loaded); err != nil {
		t.Fatalf("learned recipe refused: %v\n%s", err, stored)
	}
	// A stream judges the delimiter by its first line and the recipe instead of the whole file.
	rows, err := NewReader(context.Background(), bytes.NewReader(text), "fuzz.csv", &loaded, format)
	if err != nil {
		var located *table.Error
		if !errors.As(err, &located) {
			t.Fatalf("error %v is not located", err)
		}
		return
	}
	n, _ := x.Dims()
	block, err := rows.ReadBlock(n)
	if err != nil {
		t.Fatalf("training rows refused: %v", err)
	}
	if !sameBits(block.X, x) {
		t.Fatalf("streamed\n%v\nlearned\n%v", mat.Formatted(block.X), mat.Formatted(x))
	}
	if _, err := rows.ReadBlock(1); err != io.EOF {
		t.Fatalf("after the last row: %v", err)
	}
}

// A recipe that decodes is sound: it encodes again to itself, and a row of
// missing cells or known categories becomes finite features or an error.
func FuzzRecipe(f *testing.F) {
	sound, err := json.Marshal(soundRecipe())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sound)
	f.Add([]byte(`{}`))
	f.Add(bytes.Replace(sound, []byte(`"scale":12`), []byte(`"scale":1e-320`), 1))
	f.Add(bytes.Replace(sound, []byte(`"clerk"`), []byte(`"zz"`), 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Recipe
		if err := r.UnmarshalJSON(text); err != nil {
			return
		}
		again, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var back Recipe
		if err := json.Unmarshal(again, &back); err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		if len(r.Features()) != r.NumFeatures() || back.Dim() != r.Dim() {
			t.Fatalf("%d names for %d features", len(r.Features()), r.NumFeatures())
		}
		row := make(map[string]any)
		for _, c := range r.Columns {
			row[c.Name] = nil
			if c.Kind == Numeric {
				row[c.Name] = 1.5
			}
		}
		dst := make([]float64, r.Dim())
		if _, err := r.Encode(row, dst); err != nil {
			return
		}
		for _, v := range dst {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("feature %v from %s", v, text)
			}
		}
		r.Describe()
	})
}

package recipe

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/table"
)

// drawTable draws a named table of numbers, categories and missing cells that
// can be learned from, with the outcome somewhere among the columns.
func drawTable(t *rapid.T) (names []string, rows [][]string) {
	n := rapid.IntRange(2, 30).Draw(t, "rows")
	kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"real", "integer", "word", "gaps", "constant"}), 1, 6).Draw(t, "kinds")
	outcome := rapid.IntRange(0, len(kinds)).Draw(t, "outcome")
	kinds = slices.Insert(kinds, outcome, "outcome")
	rows = make([][]string, n)
	for j, kind := range kinds {
		names = append(names, fmt.Sprintf("%s %d", kind, j))
		for i := range rows {
			rows[i] = append(rows[i], drawCell(t, kind, i))
		}
	}
	// One column that is sure to make a feature.
	names = append(names, "sure")
	for i := range rows {
		rows[i] = append(rows[i], strconv.Itoa(i%2))
	}
	return names, rows
}

func drawCell(t *rapid.T, kind string, i int) string {
	switch kind {
	case "real":
		return strconv.FormatFloat(rapid.Float64Range(-1e6, 1e6).Draw(t, "x"), 'g', -1, 64)
	case "integer":
		return strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "k"))
	case "word":
		return rapid.SampledFrom([]string{"a", "b", `say "c"`, "d,e", "f\ng", "ü"}).Draw(t, "w")
	case "gaps":
		return rapid.SampledFrom([]string{"", "1.5", "2", "NA", "-3"}).Draw(t, "g")
	case "outcome":
		if i < 2 { // so that both occur
			return []string{"no", "yes"}[i]
		}
		return rapid.SampledFrom([]string{"no", "yes"}).Draw(t, "y")
	}
	return "same"
}

func csvText(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(names) // a bytes.Buffer does not fail
	_ = w.WriteAll(rows)
	return b.Bytes()
}

func readText(t *rapid.T, text []byte) *table.Table {
	table, err := table.Read(context.Background(), bytes.NewReader(text), "drawn.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatalf("Read: %v\n%s", err, text)
	}
	return table
}

func targetName(names []string) string {
	return names[slices.IndexFunc(names, func(s string) bool { return s[0] == 'o' })]
}

// What is learned, stored as JSON, loaded and applied to the same rows as a
// stream gives the same bits, also when the columns come in another order.
func TestApplyEqualsLearn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, rows := drawTable(t)
		recipe, x, y, err := learnAll(readText(t, csvText(names, rows)), Options{Target: targetName(names), Impute: true})
		if err != nil {
			t.Fatalf("Learn: %v", err)
		}
		stored, err := json.Marshal(recipe)
		if err != nil {
			t.Fatal(err)
		}
		var loaded Recipe
		if err := json.Unmarshal(stored, &loaded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(recipe, &loaded); diff != "" {
			t.Fatalf("recipe through JSON (-before +after)\n%s", diff)
		}

		order := rapid.Permutation(indices.Of(len(names))).Draw(t, "order")
		shuffled := csvText(pick(names, order), pickEach(rows, order))
		reader, err := NewReader(context.Background(), bytes.NewReader(shuffled), "drawn.csv", &loaded, table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		block, err := reader.ReadBlock(len(rows))
		if err != nil {
			t.Fatal(err)
		}
		if !sameBits(block.X, x) {
			t.Fatalf("stream\n%v\nlearned\n%v", mat.Formatted(block.X), mat.Formatted(x))
		}
		for i := range block.Rows {
			if label, ok, err := block.Rows[i].Label(); !ok || err != nil || label != y[i] {
				t.Fatalf("row %d: label %d, %v, %v; want %d", i, label, ok, err, y[i])
			}
		}
	})
}

// Learning from permuted rows gives the same recipe to the last bit and the
// permuted matrix; permuted columns give the permuted features.
func TestLearnCommutesWithPermutations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, rows := drawTable(t)
		o := Options{Target: targetName(names), Impute: true}
		recipe, x, _, err := learnAll(readText(t, csvText(names, rows)), o)
		if err != nil {
			t.Fatal(err)
		}
		order := rapid.Permutation(indices.Of(len(rows))).Draw(t, "rows")
		byRows, xRows, _, err := learnAll(readText(t, csvText(names, pick(rows, order))), o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(recipe, byRows); diff != "" {
			t.Fatalf("recipe after permuting rows (-before +after)\n%s", diff)
		}
		for k, i := range order {
			if !cmp.Equal(xRows.RawRowView(k), x.RawRowView(i)) {
				t.Fatalf("row %d after permuting differs", k)
			}
		}

		order = rapid.Permutation(indices.Of(len(names))).Draw(t, "columns")
		byColumns, xColumns, _, err := learnAll(readText(t, csvText(pick(names, order), pickEach(rows, order))), o)
		if err != nil {
			t.Fatal(err)
		}
		where := make(map[string][]int)
		for _, part := range recipe.Parts() {
			where[part.Column] = part.At
		}
		for _, part := range byColumns.Parts() {
			for k, at := range part.At {
				if !cmp.Equal(mat.Col(nil, at, xColumns), mat.Col(nil, where[part.Column][k], x)) {
					t.Fatalf("entry %d of column %q differs after permuting columns", k, part.Column)
				}
			}
		}
	})
}

// An object with the cells of a row encodes as the row does.
func TestObjectsEncodeAsRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names, rows := drawTable(t)
		recipe, x, _, err := learnAll(readText(t, csvText(names, rows)), Options{Target: targetName(names), Impute: true})
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, recipe.Dim())
		for i, row := range rows {
			object := make(map[string]any)
			for j, name := range names {
				object[name] = row[j]
				if number, err := strconv.ParseFloat(row[j], 64); err == nil {
					object[name] = number
				}
			}
			unseen, err := recipe.Encode(object, dst)
			if err != nil || unseen != nil {
				t.Fatalf("Encode: %v, unseen %q", err, unseen)
			}
			if !cmp.Equal(dst, x.RawRowView(i)) {
				t.Fatalf("object %v\n row %v", dst, x.RawRowView(i))
			}
		}
	})
}

func pick[T any](items []T, order []int) []T {
	picked := make([]T, len(order))
	for k, i := range order {
		picked[k] = items[i]
	}
	return picked
}

func pickEach(rows [][]string, order []int) [][]string {
	picked := make([][]string, len(rows))
	for i, row := range rows {
		picked[i] = pick(row, order)
	}
	return picked
}

// sameBits compares matrices more strictly than ==, which takes −0 for 0.
func sameBits(a, b mat.Matrix) bool {
	rows, columns := a.Dims()
	if r, c := b.Dims(); r != rows || c != columns {
		return false
	}
	for i := range rows {
		for j := range columns {
			if math.Float64bits(a.At(i, j)) != math.Float64bits(b.At(i, j)) {
				return false
			}
		}
	}
	return true
}

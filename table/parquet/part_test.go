package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// The parts of a table, wherever it is cut, have the rows of the whole.
func TestPartsHaveTheRowsOfTheWhole(t *testing.T) {
	var files []parquet.File
	row := 0
	for k, groups := range [][]int{{70, 30}, {1, 60}} {
		var b bytes.Buffer
		w, err := parquet.NewWriter(&b, []table.SourceColumn{
			{Name: "note"}, {Name: "kind"}, {Name: "size", Kind: table.NumberCells}, {Name: "count", Kind: table.NumberCells}, {Name: "y"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range groups {
			for range n {
				if err := w.Write([]any{fmt.Sprint("row ", row), string(rune('a' + row%5)), float64(row*row%17) / 4, float64(1 + row%3), []string{"no", "yes"}[row*7%11%2]}); err != nil {
					t.Fatal(err)
				}
				row++
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, parquet.File{Name: fmt.Sprintf("%d.parquet", k), Content: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
	}
	ctx := context.Background()
	source, err := parquet.Open("folder", files, 1<<28)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := table.ReadSource(ctx, source, table.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := recipe.Learn(whole, recipe.Options{Target: "y", Drop: []string{"note"}, Weights: "count"})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 7, 100, 150, 1000} {
		for from := 0; from < row; from += size {
			to := min(from+size, row)
			some, err := l.Recipe.Part(source, from, to)
			if err != nil {
				t.Fatal(err)
			}
			table, err := table.ReadSource(ctx, some, table.Format{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(table.Columns(), "note") {
				t.Error("a column is read that nobody needs")
			}
			x, _, err := l.Recipe.Apply(table)
			if err != nil {
				t.Fatal(err)
			}
			labels, err := l.Recipe.Labels(table)
			if err != nil {
				t.Fatal(err)
			}
			weights, err := table.Weights("count")
			if err != nil {
				t.Fatal(err)
			}
			_, d := l.X.Dims()
			if !mat.Equal(x, l.X.Slice(from, to, 0, d)) || !slices.Equal(labels, l.Labels[from:to]) || !slices.Equal(weights, l.Weights[from:to]) {
				t.Fatalf("rows %d to %d are others", from, to)
			}
			if got, want := table.Place(0).Error(), whole.Place(from).Error(); got != want {
				t.Errorf("row %d is %s, and %s in the whole", from, got, want)
			}
		}
	}
}

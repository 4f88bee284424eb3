package recipe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// realFile reads a data set that is not part of the project, or skips.
func realFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "data", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the data set %s is not here", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Shapes and class counts are those of the data sets' own descriptions. In
// ionosphere.csv the second column is 0 throughout. German credit has 7 numeric
// attributes and 13 with 4+5+10+5+5+4+3+4+3+3+4+2+2 = 54 categories that occur.
func TestRealData(t *testing.T) {
	for _, c := range []struct {
		file, positive   string // positive is empty where convention settles it
		rows, features   int
		found            string // the positive spelling
		positives, drops int
	}{
		{"german.csv", "2", 1000, 61, "2", 300, 0},
		{"pima-indians-diabetes.csv", "", 768, 8, "1", 268, 0},
		{"ionosphere.csv", "", 351, 33, "b", 126, 1},
		{"sonar.csv", "", 208, 60, "M", 111, 0},
		{"mammography.csv", "", 11183, 6, "'1'", 260, 0},
	} {
		t.Run(c.file, func(t *testing.T) {
			text := realFile(t, c.file)
			table, err := table.Read(context.Background(), bytes.NewReader(text), c.file, table.Format{})
			if err != nil {
				t.Fatal(err)
			}
			if table.HasHeader() {
				t.Fatal("found a header where there is none")
			}
			recipe, x, y := mustLearn(t, table, Options{Positive: c.positive})
			rows, entries := x.Dims()
			features := recipe.NumFeatures()
			drops := len(recipe.droppedLines())
			if rows != c.rows || features != c.features || drops != c.drops || len(recipe.Features()) != features || entries != recipe.Dim() {
				t.Errorf("%d × %d with %d dropped, want %d × %d with %d", rows, features, drops, c.rows, c.features, c.drops)
			}
			positives := 0
			for _, label := range y {
				if label == 1 {
					positives++
				}
			}
			if recipe.Target.Positive() != c.found || positives != c.positives || recipe.Target.Rows[1] != positives {
				t.Errorf("positive %q in %d rows, want %q in %d", recipe.Target.Positive(), positives, c.found, c.positives)
			}
			checkStream(t, text, recipe, x)
		})
	}
}

// checkStream reads the training file as new rows and compares bit for bit.
func checkStream(t *testing.T, text []byte, recipe *Recipe, x *mat.Dense) {
	t.Helper()
	rows, err := NewReader(context.Background(), bytes.NewReader(text), "again.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for {
		block, err := rows.ReadBlock(97)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n := len(block.Rows)
		if !sameBits(block.X, x.Slice(seen, seen+n, 0, recipe.Dim())) {
			t.Fatalf("rows %d to %d differ", seen, seen+n)
		}
		seen += n
	}
	if want, _ := x.Dims(); seen != want {
		t.Errorf("%d rows read again, want %d", seen, want)
	}
	if lines := rows.Report().Lines(); lines != nil {
		t.Errorf("report on the training rows: %q", lines)
	}
}

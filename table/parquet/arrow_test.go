package parquet_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/lossep/lossep/table"
)

// Files that Arrow has written, of every type and in every layout that it writes, are what it
// says that they are.
func TestFilesOfArrow(t *testing.T) {
	text, err := os.Open("testdata/values.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	want, err := table.Read(context.Background(), text, "values.csv", table.Format{Header: table.HeaderYes, Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) != 6 {
		t.Fatalf("%q: %v", files, err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = readAll(1<<26, table.Limits{}, content)
			refused(t, err, `("list"): the column is nested (a list)`)
			got, err := table.ReadSource(context.Background(), opened(t, content), table.Format{}, func(name string) bool { return name == "list" })
			if err != nil {
				t.Fatal(err)
			}
			if got.Len() != want.Len() {
				t.Fatalf("%d rows, not %d", got.Len(), want.Len())
			}
			for i := range want.Len() {
				a, b := got.Row(i), want.Row(i)
				for j, name := range want.Columns() {
					if name != got.Columns()[j] || a[j] != b[j] {
						t.Errorf("row %d, column %s: %q, not %q", i+1, name, a[j], b[j])
					}
				}
			}
		})
	}
}

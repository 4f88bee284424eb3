package advise

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

func mustRead(t testing.TB, text string, header table.Header) *table.Table {
	t.Helper()
	data, err := table.Read(context.Background(), strings.NewReader(text), "test.csv", table.Format{Header: header})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return data
}

// learned is a recipe with what was found about the table.
type learned struct {
	*recipe.Learned
	*Advice
	Notes []string
}

func learn(data *table.Table, o recipe.Options) (*learned, error) {
	l, a, err := Learn(data, o)
	if err != nil {
		return nil, err
	}
	return &learned{l, a, a.Findings.Texts()}, nil
}

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

// every says other in every k-th row.
func every(k int, other string, usual func(i int) string) func(i int) string {
	return func(i int) string {
		if i%k == 0 {
			return other
		}
		return usual(i)
	}
}

func amount(i int) string { return fmt.Sprintf("%d.%d", i*37%1000, i%10) }

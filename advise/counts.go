package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// countNames are what columns of counts are called.
var countNames = []string{"freq", "frequency", "count", "counts", "n", "cases", "ncases", "number"}

// counts asks about a column that looks like counts: it is named so and holds whole numbers, no
// two rows are the same in all other columns, but most are in all but the outcome.
func counts(k *Look) []found {
	r, t := k.Recipe, k.Table
	at := slices.IndexFunc(r.Columns, func(c recipe.Column) bool {
		return c.Kind == recipe.Numeric && slices.Contains(countNames, strings.ToLower(c.Name))
	})
	if at < 0 || t.Counted() {
		return nil
	}
	numbers, err := t.Floats(r.Columns[at].Name)
	if err != nil || slices.ContainsFunc(numbers, func(n float64) bool { return n < 0 || n != math.Trunc(n) }) {
		return nil
	}
	name := r.Columns[at].Name
	digests := r.DigestsWithout(k.X, name)
	outcome := func(i int) uint64 { return math.Float64bits(k.Values[i]) }
	if !r.Target.Number {
		outcome = func(i int) uint64 { return uint64(k.Labels[i]) }
	}
	seen, rows := make(map[uint64]int), make(map[[2]uint64]bool)
	for i := range digests {
		row := [2]uint64{digests[i], outcome(i)}
		if rows[row] {
			return nil
		}
		rows[row] = true
		seen[digests[i]]++
	}
	again := 0
	for _, n := range seen {
		if n > 1 {
			again += n
		}
	}
	if 2*again <= t.Len() {
		return nil
	}
	return []found{{column: name, text: fmt.Sprintf("column %s looks like counts: rows that are the same but for it differ in their outcome; if a row stands for so many cases, make it counts", table.Quote(name))}}
}

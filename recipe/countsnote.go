package recipe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/table"
)

// recount counts and estimates anew, by all rows, what was learned from those that come once.
func (l *Learned) recount(t *table.Table) (err error) {
	if l.Recipe, err = l.Recipe.Refit(t); err == nil {
		l.Labels, err = l.Recipe.Labels(t)
	}
	return err
}

// countNames are what columns of counts are called.
var countNames = []string{"freq", "frequency", "count", "counts", "n", "cases", "ncases", "number"}

// countsNote asks about a column that looks like counts: it is named so and holds whole numbers, no
// two rows are the same in all other columns, but most are in all but the outcome.
func (l *Learned) countsNote(t *table.Table) []string {
	r := l.Recipe
	at := slices.IndexFunc(r.Columns, func(c Column) bool {
		return c.Kind == Numeric && slices.Contains(countNames, strings.ToLower(c.Name))
	})
	if at < 0 || t.Counted() {
		return nil
	}
	counts, err := t.Floats(r.Columns[at].Name)
	if err != nil || slices.ContainsFunc(counts, func(n float64) bool { return n < 0 || n != math.Trunc(n) }) {
		return nil
	}
	parts := r.Parts()
	own := &parts[slices.IndexFunc(parts, func(p Part) bool { return p.Column == r.Columns[at].Name })]
	begin, digests := own.begin(), r.Digests(l.X)
	seen, rows := make(map[uint64]int), make(map[[2]uint64]bool)
	for i := range digests {
		digests[i] -= own.digest(begin, l.X.RawRowView(i))
		row := [2]uint64{digests[i], uint64(l.Labels[i])}
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
	return []string{fmt.Sprintf("column %s looks like counts: rows that are the same but for it differ in their outcome; if a row stands for so many cases, make it counts", table.Quote(r.Columns[at].Name))}
}

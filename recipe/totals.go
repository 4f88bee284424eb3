package recipe

import (
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/table"
)

// totalWords are what lines of totals are called.
var totalWords = []string{
	"total", "totals", "subtotal", "sum", "sums", "mean", "average", "avg", "count",
	"summe", "gesamt", "gesamtsumme", "insgesamt", "mittelwert", "durchschnitt", "anzahl",
	"totale", "totaux", "somme", "moyenne", "suma", "totales", "media", "promedio", "totaal", "gemiddelde",
}

// isTotals tells whether the row at a place in the columns, which has another outcome in column j
// than the pair of all others, looks like a line of totals: it is called so, some feature is the
// sum of all others in its column, or it is the last and its outcome is their sum, number or
// mean, or a number below words.
func isTotals(t *table.Table, place, j int, pair []string) bool {
	outcomes := t.Cells(j)
	sum, n := 0.0, 0
	outcomes.Each(func(i int, cell float64) {
		if n++; i != place && !table.IsText(cell) {
			sum += cell
		}
	})
	last := place == n-1
	for k := range t.Width() {
		c := t.Cells(k)
		if !c.Unread() && (k != j || last) && isTotal(c, place) {
			return true
		}
	}
	x := outcomes.At(place)
	if !last || table.IsText(x) {
		return false
	}
	if _, number := table.Number(pair[0]); !number {
		return true // a number below words
	}
	const percent = 0.005 // means are rounded to percents, or less
	return x == float64(n-1) || x != math.Trunc(x) && math.Abs(x-sum/float64(n-1)) <= percent
}

// isTotal tells whether a cell is the sum of all others in its column, of which a few are not 0,
// and larger than each of them; or a word for that, which no other is.
func isTotal(c *table.Column, place int) bool {
	x := c.At(place)
	if table.IsText(x) {
		words := nameWords(string(c.Bytes(x)))
		called := len(words) <= 2 && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(totalWords, strings.ToLower(w)) })
		c.Each(func(i int, cell float64) {
			called = called && (i == place || !table.IsText(cell) || table.TextCode(cell) != table.TextCode(x))
		})
		return called
	}
	sum, largest, size, filled := 0.0, 0.0, 0.0, 0
	c.Each(func(i int, cell float64) {
		if i != place && !table.IsText(cell) && cell != 0 {
			filled++
			sum += cell
			size += math.Abs(cell)
			largest = max(largest, math.Abs(cell))
		}
	})
	const rounding = 1e-9 // of a sum, which a spreadsheet has to ten digits or more
	const few = 3         // one and one are two by chance
	return filled >= few && math.Abs(x) > largest && math.Abs(x-sum) <= rounding*size
}

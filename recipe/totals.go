package recipe

import (
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
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
		called := namesTotal(c.Bytes(x))
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

// namesTotal tells whether a text is a word for a total.
func namesTotal(text []byte) bool {
	words := nameWords(string(text))
	return len(words) <= 2 && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(totalWords, strings.ToLower(w)) })
}

// isUnits tells whether the row looks like a line of units below the header: what it has are texts,
// and some of them stand above numbers.
func isUnits(t *table.Table, row int) bool {
	if row > 0 || t.Len() < 3 {
		return false
	}
	m, units := table.NewMarkers(table.DefaultMissing()), 0
	for j := range t.Width() {
		c := t.Cells(j)
		if c.Unread() {
			continue
		}
		cell := t.At(row, j)
		switch {
		case !table.IsText(cell):
			return false
		case m.Text(c.Bytes(cell)):
		case !table.IsText(t.At(1, j)) || !table.IsText(t.At(2, j)):
			units++
		}
	}
	return units > 0
}

// notRows is the way to leave rows out each of which looks like a line of units or of totals, and
// whether all do.
func notRows(t *table.Table, rows []int) (table.Way, bool) {
	var lines []string
	kinds := map[string]bool{}
	for _, i := range rows {
		switch {
		case t.Place(i).Line == 0:
			return table.Way{}, false
		case isUnits(t, i):
			kinds["units"] = true
		case slices.ContainsFunc(t.Row(i), func(cell string) bool { return namesTotal([]byte(cell)) }):
			kinds["totals"] = true
		default:
			return table.Way{}, false
		}
		if i == t.Len()-1 {
			lines = append(lines, "last")
		} else {
			lines = append(lines, strconv.Itoa(t.Line(i)))
		}
	}
	return table.Way{Option: table.WaySkip, Value: strings.Join(lines, ","), Meaning: strings.Join(slices.Sorted(maps.Keys(kinds)), " and ")}, len(lines) > 0
}

// orNoRow is what is wrong with a row, with the way to leave it out if it is no case.
func orNoRow(at *table.Error, t *table.Table, row int, fix string) *table.Error {
	if way, no := notRows(t, []int{row}); no {
		at.Fix, at.Ways = fix, []table.Way{way}
	}
	return at
}

// notRow is notRows of the only row that has other texts in a column than numbers.
func (l *learner) notRow(odd []uint32) (table.Way, bool) {
	if len(odd) != 1 || l.Counts[odd[0]] != 1 {
		return table.Way{}, false
	}
	for _, i := range []int{0, l.Table.Len() - 1} {
		if cell := l.Table.At(i, l.Column); table.IsText(cell) && table.TextCode(cell) == odd[0] {
			return notRows(l.Table, []int{i})
		}
	}
	return table.Way{}, false
}

// total is the column of the first cell of a row that is not empty, if that is a word for a total
// and no category of training; −1 otherwise.
func (rd *Reader) total(row *Row) int {
	for j, i := range rd.column {
		text := row.Text(j)
		if len(text) == 0 {
			continue
		}
		if i >= 0 && rd.bound.recipe.Columns[i].Kind == Categorical && !slices.Contains(row.Unseen, rd.bound.recipe.Columns[i].Name) || !namesTotal(text) {
			return -1
		}
		return j
	}
	return -1
}

// refuseTotals refuses the last row of a text if it is called a total, and features are empty or far
// outside those of training. Only behind a row of that kind the reader looks ahead.
func (rd *Reader) refuseTotals(row *Row) error {
	odd := len(row.Far) > 0
	for j, i := range rd.column {
		odd = odd || i >= 0 && len(row.Text(j)) == 0
	}
	if !odd || row.Place().Line == 0 {
		return nil
	}
	j := rd.total(row)
	if j < 0 {
		return nil
	}
	rd.coming = rd.next()
	if rd.ahead = true; rd.coming != io.EOF {
		return nil
	}
	return row.CellPlace(j).Say("correct the row, or leave the line out",
		"%s stands in the last row: is it a line of totals?", table.Quote(string(row.Text(j)))).
		By(table.Way{Option: table.WaySkip, Value: "last"})
}

package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

const (
	// leakArea is the area under the curve from which one column by itself is too good
	// to be true; of honest measurements none of the tables tried has more than 0.98.
	leakArea = 0.995
	// leakRows is how many rows an outcome must have to be looked at.
	leakRows = 15
	// Of two outcomes of which one has fewer rows, and of fewer than twice as many numbers, a column that tells all rows apart is
	// named where that has a chance of less than separated in any of the columns, and either outcome fewestSeparated rows.
	separated       = 1e-4
	fewestSeparated = 4
	// rowsPerCode is how many rows a category must have on average: codes as good as rows each tell any outcome.
	rowsPerCode = 5
	// leakSample is how many rows are looked at.
	leakSample = 20_000
	// A column is filled only with some outcomes if the share of its cells with a value is
	// at most filledSeldom with others and at least filledOften with these. Were it chance,
	// half of all cells would spare an outcome of leakRows rows once in 2¹⁵ columns.
	filledSeldom, filledOften = 0.01, 0.5
)

// leakTest looks for columns that tell the outcome almost by themselves.
type leakTest struct {
	rows [][]int // those looked at of each outcome, or class of numbers, that has enough of them
	name []string
	all  int // rows of the table
	// numbers are outcomes that are numbers, in place of those of rows.
	numbers *numericOutcome
	// few is the probability that a column that knows nothing has the rows of all outcomes apart in one given
	// order, times the columns, where rows are too few to look at anything else; 0 where they are not.
	few      float64
	outcomes int // that differ, where rows are few
}

// looked are the rows that are looked at.
func (t *leakTest) looked() (number int) {
	if t.numbers != nil {
		return len(t.numbers.rows)
	}
	for _, rows := range t.rows {
		number += len(rows)
	}
	return number
}

// fewRows has rows be looked at that are too few for anything but to be told apart. Sizes are how many there are of
// each outcome.
func (t *leakTest) fewRows(sizes []int, columns int) {
	t.outcomes = len(sizes)
	log, _ := math.Lgamma(float64(t.looked()) + 1)
	for _, n := range sizes {
		of, _ := math.Lgamma(float64(n) + 1)
		log -= of
	}
	t.few = float64(columns) * math.Exp(-log)
}

// leaks names the columns that tell the outcome almost by themselves, by whether
// they are filled or by their values.
func leaks(k *Look) (all []found) {
	test := ofCategories
	if k.Recipe.Target.Number {
		test = ofNumbers
	}
	t := test(k)
	if t == nil {
		return nil
	}
	texts := make([]string, len(k.Recipe.Columns))
	tasks.For(len(texts), func(i int) { texts[i] = t.leak(k, i) })
	for i, text := range texts {
		if text != "" {
			name := k.Recipe.Columns[i].Name
			all = append(all, found{column: name, text: text, ways: []table.Way{{Option: table.WayDrop, Value: name, Meaning: "if it is not known beforehand"}}})
		}
	}
	return all
}

// ofCategories is the test of outcomes that are categories, nil where there are too few rows.
func ofCategories(k *Look) *leakTest {
	n, _ := k.X.Dims()
	t := &leakTest{all: n}
	target := &k.Recipe.Target
	rows := make([][]int, len(target.Outcomes))
	for row := 0; row < n; row += max(1, n/leakSample) {
		y := k.Labels[row]
		rows[y] = append(rows[y], row)
	}
	for y, name := range target.Outcomes {
		if len(rows[y]) >= leakRows {
			t.rows, t.name = append(t.rows, rows[y]), append(t.name, name)
		}
	}
	if len(t.rows) > 1 {
		return t
	}
	if len(rows) != 2 || min(len(rows[0]), len(rows[1])) < fewestSeparated {
		return nil
	}
	t.rows, t.name = rows, target.Outcomes
	t.fewRows([]int{len(rows[0]), len(rows[1])}, len(k.Recipe.Parts()))
	return t
}

// leak says how a column tells the outcome, if it does.
func (t *leakTest) leak(k *Look, i int) string {
	c := &k.Recipe.Columns[i]
	if !c.IsFeature() || c.Name == k.Recipe.Score() { // a good score is good
		return ""
	}
	number, indicator, code := k.Recipe.Place(i)
	missing := func(int) bool { return false }
	if indicator >= 0 && t.few == 0 {
		missing = func(row int) bool { return k.X.At(row, indicator) > 0 }
		if text := t.byFilled(c, missing); text != "" {
			return text
		}
	}
	value, codes := func(row int) float64 { return k.X.At(row, number) }, 0
	switch c.Kind {
	case recipe.Presence:
		return ""
	case recipe.Categorical:
		codes = len(c.Categories) + 1
		value = func(row int) float64 {
			if missing(row) {
				return float64(codes - 1)
			}
			return k.X.At(row, code)
		}
	}
	area, orders := 0.0, 2.0 // of values that would tell rows apart
	if codes > 0 {
		orders = math.Pow(float64(t.outcomes), float64(codes))
		area = t.byCategories(codes, func(row int) int { return int(value(row)) })
	} else {
		area = t.byNumbers(value)
	}
	if area == 1 && (t.few == 0 || orders*t.few < separated) {
		rows := fmt.Sprintf("all %d rows", t.looked())
		if t.looked() < t.all {
			rows += " looked at"
		}
		return fmt.Sprintf("column %s alone decides the outcome in %s: is it known before the outcome is?", table.Quote(c.Name), rows)
	}
	if t.few > 0 {
		return ""
	}
	tells, measure := "the outcome", "area under the curve"
	if t.numbers != nil {
		if measure = "concordance"; area < leakArea {
			tells, measure, area = "in which range the outcome is", "area under the curve", t.numbers.byRanges(value)
		}
	}
	if area < leakArea {
		return ""
	}
	return fmt.Sprintf("column %s alone tells %s (%s %.4f): is it known beforehand?", table.Quote(c.Name), tells, measure, area)
}

// byFilled says so if the column is filled only with some of the outcomes.
func (t *leakTest) byFilled(c *recipe.Column, missing func(row int) bool) (note string) {
	least, most := 0, 0
	filled := make([]float64, len(t.rows)) // share of cells
	for y, rows := range t.rows {
		for _, row := range rows {
			if !missing(row) {
				filled[y] += 1 / float64(len(rows))
			}
		}
		if filled[y] > filledSeldom && filled[y] < filledOften {
			return ""
		}
		if filled[y] < filled[least] {
			least = y
		}
		if filled[y] > filled[most] {
			most = y
		}
	}
	if filled[least] > filledSeldom || filled[most] < filledOften {
		return ""
	}
	return fmt.Sprintf("whether column %s is filled tells the outcome (it is in %.3g %% of the rows with %s, and in %.3g %% of those with %s): is it known beforehand?",
		table.Quote(c.Name), 100*filled[most], table.Quote(t.name[most]), 100*filled[least], table.Quote(t.name[least]))
}

// byNumbers is the area under the curve of the two outcomes that a column of numbers
// tells apart worst, or of two that it tells apart too badly; or the concordance with outcomes that are numbers.
func (t *leakTest) byNumbers(number func(row int) float64) float64 {
	if t.numbers != nil {
		area := t.numbers.concordance(number)
		return max(area, 1-area)
	}
	values := make([][]float64, len(t.rows))
	for y, rows := range t.rows {
		for _, row := range rows {
			values[y] = append(values[y], number(row))
		}
		slices.Sort(values[y])
	}
	return t.worst(func(a, b int) float64 {
		area := areaUnder(values[a], values[b])
		return max(area, 1-area)
	})
}

// byCategories is byNumbers of a column of codes: of a code counts the share of either
// outcome among the rows that have it.
func (t *leakTest) byCategories(codes int, code func(row int) int) float64 {
	if t.numbers != nil {
		return t.numbers.ofCodes(codes, code)
	}
	counts := make([][]float64, len(t.rows))
	for y, rows := range t.rows {
		counts[y] = make([]float64, codes)
		for _, row := range rows {
			counts[y][code(row)]++
		}
	}
	return t.worst(func(a, b int) float64 {
		if len(t.rows[a])+len(t.rows[b]) < rowsPerCode*(codes-1) {
			return 0
		}
		return areaOfCounts(counts[a], counts[b])
	})
}

// worst is the least area of any two outcomes, as far as it matters.
func (t *leakTest) worst(area func(a, b int) float64) float64 {
	least := 1.0
	for b := range t.rows {
		for a := range b {
			if least = min(least, area(a, b)); least < leakArea {
				return least
			}
		}
	}
	return least
}

// areaUnder is the probability that a positive case has the larger value of the two,
// ties counting half. Both are in order.
func areaUnder(positive, negative []float64) float64 {
	below, upTo := 0, 0 // how many of the negative are less, and not more
	sum := 0.0
	for _, x := range positive {
		for below < len(negative) && negative[below] < x {
			below++
		}
		for upTo < len(negative) && negative[upTo] <= x {
			upTo++
		}
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(positive)) / float64(len(negative))
}

// areaOfCounts is areaUnder where the values are codes that are put in the order of the
// positive share.
func areaOfCounts(positive, negative []float64) float64 {
	var order []int
	for k := range positive {
		if positive[k]+negative[k] > 0 {
			order = append(order, k)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(positive[a]*negative[b], positive[b]*negative[a])
	})
	below, sum, all := 0.0, 0.0, 0.0
	for _, k := range order {
		sum += positive[k] * (below + negative[k]/2)
		below += negative[k]
		all += positive[k]
	}
	return sum / all / below
}

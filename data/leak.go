package data

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
)

const (
	// leakArea is the area under the curve from which one column by itself is too good
	// to be true; of honest measurements none of the tables tried has more than 0.98.
	leakArea = 0.995
	// leakRows is how many rows an outcome must have to be looked at.
	leakRows = 15
	// leakSample is how many rows are looked at.
	leakSample = 20_000
	// A column is filled only with some outcomes if the share of its cells with a value is
	// at most filledSeldom with others and at least filledOften with these. Were it chance,
	// half of all cells would spare an outcome of leakRows rows once in 2¹⁵ columns.
	filledSeldom, filledOften = 0.01, 0.5
)

// leakTest looks for columns that tell the outcome almost by themselves.
type leakTest struct {
	*Learned
	rows [][]int // those looked at of each outcome that has enough of them
	name []string
}

// findLeaks names the columns that tell the outcome almost by themselves, by whether
// they are filled or by their values.
func (l *Learned) findLeaks() {
	t := leakTest{Learned: l}
	n, _ := l.X.Dims()
	target := &l.Recipe.Target
	rows := make([][]int, len(target.Outcomes))
	for row := 0; row < n; row += max(1, n/leakSample) {
		y := l.Labels[row]
		rows[y] = append(rows[y], row)
	}
	for y, name := range target.Outcomes {
		if len(rows[y]) >= leakRows {
			t.rows, t.name = append(t.rows, rows[y]), append(t.name, name)
		}
	}
	if len(t.rows) < 2 {
		return
	}
	coding := l.Recipe.Coding()
	found := make([]string, len(l.Recipe.Columns))
	tasks.Each(len(found), func() func(int) {
		memory := new(spare)
		return func(i int) {
			c := &l.Recipe.Columns[i]
			if !c.isFeature() {
				return
			}
			missing := func(int) bool { return false }
			if c.Indicator {
				at := coding.place[i].number + c.numbers() - 1
				missing = func(row int) bool { return l.X.At(row, at) > 0 }
				if found[i] = t.byFilled(c, missing); found[i] != "" {
					return
				}
			}
			area := 0.0
			switch c.Kind {
			case Presence:
			case Categorical:
				at := coding.Numbers() + coding.place[i].code
				area = t.byCategories(len(c.Categories)+1, func(row int) int {
					if missing(row) {
						return len(c.Categories)
					}
					return int(l.X.At(row, at))
				})
			default:
				at := coding.place[i].number
				area = t.byNumbers(func(row int) float64 { return l.X.At(row, at) }, memory)
			}
			if area >= leakArea {
				found[i] = fmt.Sprintf("column %s alone tells the outcome (area under the curve %.4f): is it known beforehand?", quote(c.Name), area)
			}
		}
	})
	for i, note := range found {
		if note != "" {
			l.Leaks = append(l.Leaks, l.Recipe.Columns[i].Name)
			l.Notes = append(l.Notes, note)
		}
	}
}

// byFilled says so if the column is filled only with some of the outcomes.
func (t *leakTest) byFilled(c *Column, missing func(row int) bool) (note string) {
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
		quote(c.Name), 100*filled[most], quote(t.name[most]), 100*filled[least], quote(t.name[least]))
}

// byNumbers is the area under the curve of the two outcomes that a column of numbers
// tells apart worst, or of two that it tells apart too badly.
func (t *leakTest) byNumbers(number func(row int) float64, memory *spare) float64 {
	values := make([][]float64, len(t.rows))
	for y, rows := range t.rows {
		for _, row := range rows {
			values[y] = append(values[y], number(row))
		}
		sortNumbers(values[y], memory)
	}
	return t.worst(func(a, b int) float64 {
		area := areaUnder(values[a], values[b])
		return max(area, 1-area)
	})
}

// byCategories is byNumbers of a column of codes: of a code counts the share of either
// outcome among the rows that have it. Codes as good as rows each would tell any outcome.
func (t *leakTest) byCategories(codes int, code func(row int) int) float64 {
	counts := make([][]float64, len(t.rows))
	for y, rows := range t.rows {
		counts[y] = make([]float64, codes)
		for _, row := range rows {
			counts[y][code(row)]++
		}
	}
	return t.worst(func(a, b int) float64 {
		if len(t.rows[a])+len(t.rows[b]) < 5*(codes-1) {
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

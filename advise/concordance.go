package advise

import (
	"cmp"
	"fmt"
	"slices"
)

// numericOutcome is an outcome that is a number, in rows that are looked at.
type numericOutcome struct {
	rows   []int // in the order of their outcomes
	values []float64
	ranks  []int // of the values, ties sharing one
	sizes  []int // how many rows have each rank
}

// mostLevels is the most values of a column of numbers that may be made of ranges of the outcome.
const mostLevels = 16

// ofNumbers is the test of outcomes that are numbers, nil where there are too few rows. The probability that a column has two rows
// of different outcomes in their order, which is the area under the curve where there are two outcomes, takes the place of that area.
func ofNumbers(k *Look) *leakTest {
	n, _ := k.X.Dims()
	o := new(numericOutcome)
	for row := 0; row < n; row += max(1, n/leakSample) {
		o.rows = append(o.rows, row)
	}
	slices.SortStableFunc(o.rows, func(a, b int) int { return cmp.Compare(k.Values[a], k.Values[b]) })
	o.rank(k.Values)
	t := &leakTest{all: n, numbers: o}
	switch {
	case len(o.sizes) < 2 || len(o.rows) < 2*fewestSeparated:
		return nil
	case len(o.rows) < 2*leakRows:
		t.fewRows(o.sizes, len(k.Recipe.Parts()))
	default:
		t.classes()
	}
	return t
}

// rank ranks the rows, which are in the order of their outcomes.
func (o *numericOutcome) rank(outcomes []float64) {
	for i, row := range o.rows {
		y := outcomes[row]
		if o.values = append(o.values, y); i == 0 || y > o.values[i-1] {
			o.sizes = append(o.sizes, 0)
		}
		o.sizes[len(o.sizes)-1]++
		o.ranks = append(o.ranks, len(o.sizes)-1)
	}
}

// classes are values that many rows have, and stretches of values between these.
func (t *leakTest) classes() {
	o := t.numbers
	n := len(o.rows)
	often, stretch := max(leakRows, n/20), max(leakRows, n/4)
	from, to := 0, 0
	end := func() {
		if to-from >= leakRows {
			name := fmt.Sprint(o.values[from])
			if last := o.values[to-1]; last > o.values[from] {
				name += fmt.Sprintf(" to %v", last)
			}
			t.rows, t.name = append(t.rows, o.rows[from:to]), append(t.name, name)
		}
		from = to
	}
	for _, size := range o.sizes {
		if size >= often {
			end()
		}
		to += size
		if size >= often || to-from >= stretch {
			end()
		}
	}
	end()
}

// concordance is the probability that of two rows with different outcomes that with the larger one has the larger number, ties counting half.
func (o *numericOutcome) concordance(number func(row int) float64) float64 {
	x := make([]float64, len(o.rows))
	order := make([]int, len(o.rows))
	for i, row := range o.rows {
		x[i], order[i] = number(row), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	// Sums of how many rows of less have each rank, in a Fenwick tree.
	sums := make([]int, len(o.sizes)+1)
	upTo := func(rank int) (number int) {
		for k := rank + 1; k > 0; k -= k & -k {
			number += sums[k]
		}
		return number
	}
	add := func(rank int) {
		for k := rank + 1; k < len(sums); k += k & -k {
			sums[k]++
		}
	}
	right, apart := 0.0, float64(len(order)*len(order)) // twice the pairs of different outcomes
	for _, size := range o.sizes {
		apart -= float64(size * size)
	}
	for from := 0; from < len(order); {
		to := from
		equal := make(map[int]int) // how many of a tie have each rank
		for ; to < len(order) && cmp.Compare(x[order[to]], x[order[from]]) == 0; to++ {
			rank := o.ranks[order[to]]
			right += float64(upTo(rank - 1))
			equal[rank]++
		}
		tied := (to - from) * (to - from)
		for _, size := range equal {
			tied -= size * size
		}
		right += float64(tied) / 4
		for _, i := range order[from:to] {
			add(o.ranks[i])
		}
		from = to
	}
	return 2 * right / apart
}

// ofCodes is the concordance of codes that are put in the order of the mean outcome.
func (o *numericOutcome) ofCodes(codes int, code func(row int) int) float64 {
	if len(o.rows) < rowsPerCode*(codes-1) {
		return 0
	}
	means, rows := make([]float64, codes), make([]float64, codes)
	for i, row := range o.rows {
		c := code(row)
		rows[c]++
		means[c] += (o.values[i] - means[c]) / rows[c]
	}
	return o.concordance(func(row int) float64 { return means[code(row)] })
}

// byRanges is the area under the curve of the outcome for the two values of a column that it tells apart worst, which is one
// where the column says in which range the outcome is. Values that few rows have are passed over.
func (o *numericOutcome) byRanges(value func(row int) float64) float64 {
	t := new(leakTest)
	at, outcome := make(map[float64]int), make(map[int]float64)
	for i, row := range o.rows {
		v := value(row)
		k, seen := at[v]
		if !seen {
			if k = len(at); k == mostLevels {
				return 0
			}
			at[v], t.rows = k, append(t.rows, nil)
		}
		t.rows[k] = append(t.rows[k], row)
		outcome[row] = o.values[i]
	}
	t.rows = slices.DeleteFunc(t.rows, func(rows []int) bool { return len(rows) < leakRows })
	if len(t.rows) < 2 {
		return 0
	}
	return t.byNumbers(func(row int) float64 { return outcome[row] })
}

package data

import (
	"fmt"

	"github.com/lossep/lossep/internal/tasks"
)

const (
	// leakArea is the area under the curve from which one column by itself is too good
	// to be true; of honest measurements none of the tables tried has more than 0.98.
	leakArea = 0.995
	// leakRows is how many rows of each outcome it takes to say so.
	leakRows = 15
	// leakSample is how many rows are looked at.
	leakSample = 20_000
)

// findLeaks names the columns that tell the outcome almost by themselves.
func (l *Learned) findLeaks() {
	if l.Recipe.Target.Several != nil {
		return // an area under the curve is of two outcomes
	}
	n, _ := l.X.Dims()
	step := max(1, n/leakSample)
	coding := l.Recipe.Coding()
	areas := make([]float64, len(l.Recipe.Columns))
	tasks.Each(len(areas), func() func(int) {
		var positive, negative []float64
		memory := new(spare)
		return func(i int) {
			c := &l.Recipe.Columns[i]
			if !c.isFeature() || c.Kind == Presence {
				return
			}
			score := func(row int) float64 { return l.X.At(row, coding.place[i].number) }
			if c.Kind == Categorical {
				// Categories as good as rows each would tell any outcome.
				if len(c.Categories)*5 > n {
					return
				}
				at := coding.Numbers() + coding.place[i].code
				rates := l.rates(at, len(c.Categories))
				score = func(row int) float64 { return rates[int(l.X.At(row, at))] }
			}
			positive, negative = positive[:0], negative[:0]
			for row := 0; row < n; row += step {
				if l.Labels[row] > 0 {
					positive = append(positive, score(row))
				} else {
					negative = append(negative, score(row))
				}
			}
			if len(positive) < leakRows || len(negative) < leakRows {
				return
			}
			area := areaUnder(positive, negative, memory)
			areas[i] = max(area, 1-area)
		}
	})
	for i, area := range areas {
		if area >= leakArea {
			l.Leaks = append(l.Leaks, l.Recipe.Columns[i].Name)
			l.Notes = append(l.Notes, fmt.Sprintf("column %s alone tells the outcome (area under the curve %.4f): is it known beforehand?", quote(l.Recipe.Columns[i].Name), area))
		}
	}
}

// rates are the shares of positive rows in each of the categories whose codes are at a
// place of the rows. Training rows have no other.
func (l *Learned) rates(at, categories int) []float64 {
	rows, positive := make([]float64, categories), make([]float64, categories)
	for i, label := range l.Labels {
		code := int(l.X.At(i, at))
		rows[code]++
		if label > 0 {
			positive[code]++
		}
	}
	for k := range positive {
		positive[k] /= max(1, rows[k])
	}
	return positive
}

// areaUnder is the probability that a positive case has the larger value of the two,
// ties counting half. Both are put in order.
func areaUnder(positive, negative []float64, memory *spare) float64 {
	sortNumbers(positive, memory)
	sortNumbers(negative, memory)
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

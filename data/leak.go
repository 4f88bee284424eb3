package data

import (
	"cmp"
	"fmt"
	"slices"
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

// leaks names the columns that tell the outcome almost by themselves.
func (l *Learned) leaks() (notes []string) {
	n, _ := l.X.Dims()
	step := max(1, n/leakSample)
	feature := 0
	for i := range l.Recipe.Columns {
		c := &l.Recipe.Columns[i]
		first := feature
		feature += c.width()
		if !c.isFeature() || c.Kind == Presence {
			continue
		}
		var positive, negative []float64
		score := func(row []float64) float64 { return row[first] }
		if c.Kind == Categorical {
			rates := l.rates(first, len(c.Categories))
			score = func(row []float64) float64 {
				for k, rate := range rates {
					if row[first+k] == 1 {
						return rate
					}
				}
				return 0
			}
		}
		for i := 0; i < n; i += step {
			if x := score(l.X.RawRowView(i)); l.Labels[i] > 0 {
				positive = append(positive, x)
			} else {
				negative = append(negative, x)
			}
		}
		if len(positive) < leakRows || len(negative) < leakRows {
			return nil
		}
		// Categories as good as rows each would tell any outcome.
		if c.Kind == Categorical && len(c.Categories)*5 > n {
			continue
		}
		area := areaUnder(positive, negative)
		if area = max(area, 1-area); area >= leakArea {
			notes = append(notes, fmt.Sprintf("column %s alone tells the outcome (area under the curve %.4f): is it known beforehand?", quote(c.Name), area))
		}
	}
	return notes
}

// rates are the shares of positive rows in each category.
func (l *Learned) rates(first, categories int) []float64 {
	n, _ := l.X.Dims()
	rows, positive := make([]float64, categories), make([]float64, categories)
	for i := range n {
		for k, z := range l.X.RawRowView(i)[first : first+categories] {
			if z == 1 {
				rows[k]++
				if l.Labels[i] > 0 {
					positive[k]++
				}
			}
		}
	}
	for k := range positive {
		positive[k] /= max(1, rows[k])
	}
	return positive
}

// areaUnder is the probability that a positive case has the larger value of the two,
// ties counting half.
func areaUnder(positive, negative []float64) float64 {
	slices.Sort(negative)
	sum := 0.0
	for _, x := range positive {
		below, _ := slices.BinarySearch(negative, x)
		upTo, _ := slices.BinarySearchFunc(negative, x, func(y, x float64) int {
			if y <= x {
				return -1
			}
			return cmp.Compare(y, x)
		})
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(positive)) / float64(len(negative))
}

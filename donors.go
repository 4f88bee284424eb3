package lossep

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// What a column that is not known may turn out to be is what it is in the training rows that are
// nearest in all others.

// donors is how many training rows a column's value is taken from.
const donors = 50

// unknownIn are the entries of a row that are not known.
func unknownIn(row []float64) (places []int) {
	for k, v := range row {
		if v != v {
			places = append(places, k)
		}
	}
	return places
}

// nearest are the training rows that are nearest to a row in what is known of it. Of rows that
// are as near, any may be among them: the first of a file that is sorted would all be alike.
func (m *Model) nearest(row []float64) []int {
	n, _ := m.x.Dims()
	distance, order := make([]float64, n), rand.New(rand.NewPCG(1, uint64(n))).Perm(n)
	for i := range n {
		for k, v := range m.x.RawRowView(i) {
			switch {
			case row[k] != row[k]:
			case k < m.coding.Numbers():
				distance[i] += (v - row[k]) * (v - row[k])
			case v != row[k]:
				distance[i] += 2 // of two 0/1 columns
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(distance[i], distance[j]) })
	return order[:min(donors, n)]
}

// donorShares is how likely a value that is not known is that of each of some training rows: by
// how often they count, and by how much more frequent their outcomes are where decisions are
// made than among the training rows. By Bayes' rule the column is then distributed as there.
func (m *Model) donorShares(rows []int) []float64 {
	if m.weights == nil && m.recipe.Target.Prevalence == 0 {
		return slices.Repeat([]float64{1 / float64(len(rows))}, len(rows))
	}
	logs := make([]float64, len(rows)) // products may be below the least number
	no, yes := m.recipe.Target.Shift()
	for k, i := range rows {
		if m.weights != nil {
			logs[k] = math.Log(m.weights[i])
		}
		if m.recipe.Target.Prevalence > 0 {
			logs[k] += math.Log([2]float64{no, yes}[m.labels[i]])
		}
	}
	all := floats.LogSumExp(logs)
	for k := range logs {
		logs[k] = math.Exp(logs[k] - all)
	}
	return logs
}

// fill writes a row with some of its entries those of a training row.
func (m *Model) fill(to, row []float64, places []int, donor int) {
	copy(to, row)
	for _, place := range places {
		to[place] = m.x.At(donor, place)
	}
}

// meanOf is the mean of probabilities, which have these shares.
func meanOf(p [][]float64, shares []float64) []float64 {
	mean := make([]float64, len(p[0]))
	for k, q := range p {
		floats.AddScaled(mean, shares[k], q)
	}
	return atMostOne(mean)
}

package numbers

import (
	"cmp"
	"slices"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// arrange puts the rows into an order that depends on what they hold alone: a model does not depend on
// how a table is ordered, neither by what is dealt at random nor by the last bits of sums. Rows that are so many that a
// search looks at some of them only stay where they are, so that they can be gone over where they lie, and what is dealt
// is dealt from the order.
func (p *Problem) arrange(t *table.Table) {
	digests := p.Recipe.RoundedDigests(p.X)
	order := indices.ByDigest(digests, func(i, j int) int {
		if c := cmp.Compare(p.Values[i], p.Values[j]); c != 0 {
			return c
		}
		if c := slices.Compare(p.X.RawRowView(i), p.X.RawRowView(j)); c != 0 {
			return c
		}
		for _, beside := range [][]float64{p.Weights, p.known} {
			if beside != nil && beside[i] != beside[j] {
				return cmp.Compare(beside[i], beside[j])
			}
		}
		return 0
	})
	if p.at = t.Place; p.opt.Induces(p.Len()) && p.Len() > search.SearchRows {
		p.order = order
		return
	}
	p.at = func(i int) *table.Error { return t.Place(order[i]) }
	p.X, p.Values, p.Weights = gp.RowsOf(p.X, order), indices.Take(p.Values, order), indices.Take(p.Weights, order)
	p.known, p.together = indices.Take(p.known, order), indices.Take(p.together, order)
	p.kept = p.kept.Some(order)
	if len(p.stakes) > 1 {
		p.stakes = indices.Take(p.stakes, order)
	}
}

// sample are at most so many rows, dealt from the order.
func (p *Problem) sample(most int) []int {
	places := search.Sample(p.Len(), most, p.opt.Seed)
	if p.order == nil {
		return places
	}
	return indices.Take(p.order, places)
}

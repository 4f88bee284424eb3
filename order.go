package lossep

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// A model depends neither on the order in which rows stand in a table nor on how outcomes are
// numbered or which of them is called positive. Whatever is dealt at random, folds, samples and
// inducing points, is therefore dealt from an order of the rows that depends on what they hold
// alone. It is the order in which rows are gone over, too: sums have the same bits, and searches
// that end at a tolerance end at the same place.

// Order is the rows in an order that depends neither on how they, their columns or their outcomes
// are ordered, nor on the last bits of what they hold: by digests of their features, and those of
// the same features by class, weight, group and stakes. Rows that are the same in all of this
// keep the order they have.
func (p *Problem) Order() []int {
	digests := p.Recipe.RoundedDigests(p.X)
	ranks := classRanks(p.Labels, digests)
	return indices.ByDigest(digests, func(i, j int) int { return p.compareCopies(i, j, ranks) })
}

// compareCopies compares two rows of the same digest.
func (p *Problem) compareCopies(i, j int, ranks []int) int {
	if c := slices.Compare(p.X.RawRowView(i), p.X.RawRowView(j)); c != 0 {
		return c
	}
	if c := cmp.Compare(ranks[p.Labels[i]], ranks[p.Labels[j]]); c != 0 {
		return c
	}
	if p.Weights != nil {
		if c := cmp.Compare(p.Weights[i], p.Weights[j]); c != 0 {
			return c
		}
	}
	if p.groups != nil {
		if c := cmp.Compare(p.groups[i], p.groups[j]); c != 0 {
			return c
		}
	}
	if len(p.stakes) < 2 {
		return 0
	}
	return slices.Compare(p.sortedStakes(i), p.sortedStakes(j))
}

// sortedStakes is what is at stake in a row, in an order that is not that of the outcomes.
func (p *Problem) sortedStakes(i int) []float64 {
	var all []float64
	for _, row := range p.Stakes(i).Table {
		all = append(all, row...)
	}
	slices.Sort(all)
	return all
}

// classRanks number the classes of rows from the rarest on, and those of as many rows by the sum
// of the digests of theirs.
func classRanks(labels []int, digests []uint64) []int {
	all := 0
	for _, y := range labels {
		all = max(all, y+1)
	}
	counts, sums, ranks := make([]int, all), make([]uint64, all), make([]int, all)
	for i, y := range labels {
		counts[y]++
		sums[y] += digests[i]
	}
	classes := indices.Of(all)
	slices.SortFunc(classes, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(sums[a], sums[b]), cmp.Compare(a, b))
	})
	classes = slices.DeleteFunc(classes, func(y int) bool { return counts[y] == 0 })
	for k, y := range classes {
		ranks[y] = k
	}
	return ranks
}

// classes are those of the rows by numbers that depend neither on how outcomes are numbered nor
// on the order of the rows: 0 is the rarest.
func (p *Problem) classes() []int {
	ranks := classRanks(p.Labels, p.Recipe.RoundedDigests(p.X))
	classes := make([]int, p.Len())
	for i, y := range p.Labels {
		classes[i] = ranks[y]
	}
	return classes
}

// Folds divides the rows into k folds by compare.GroupFolds. They depend neither on how rows are
// ordered nor on how outcomes are numbered. Groups, by their numbers, may be nil where each row is
// its own.
func (p *Problem) Folds(groups []int, k int, rng *rand.Rand) ([][]int, error) {
	order := p.Order()
	folds, err := compare.GroupFolds(indices.Take(p.classes(), order), indices.Take(groups, order), k, rng)
	if e := (*compare.FoldError)(nil); errors.As(err, &e) && e.Class != "" {
		e.Class = "outcome " + table.Quote(p.Recipe.Target.Outcomes[p.Labels[order[e.Of]]])
	}
	if err != nil {
		return nil, err
	}
	for i, fold := range folds {
		folds[i] = indices.Take(order, fold)
		slices.Sort(folds[i])
	}
	return folds, nil
}

// ordered is the problem with its rows in their Order. Rows that are so many that a search looks
// at some of them only stay where they are, so that they can be gone over where they lie, and
// what is dealt is dealt from the order.
func (p *Problem) ordered() *Problem {
	order := p.Order()
	if p.opt.Induces(p.Len()) && p.Len() > search.SearchRows {
		q := *p
		q.order = order
		return &q
	}
	return p.some(order)
}

// inOrder is the row at each place of the order.
func (p *Problem) inOrder(places []int) []int {
	if p.order == nil {
		return places
	}
	rows := make([]int, len(places))
	for k, place := range places {
		rows[k] = p.order[place]
	}
	return rows
}

// some is the problem with some of the rows only, in the given order.
func (p *Problem) some(rows []int) *Problem {
	q := *p
	q.X, q.Labels, q.order = gp.RowsOf(p.X, rows), indices.Take(p.Labels, rows), nil
	q.Weights, q.groups = indices.Take(p.Weights, rows), indices.Take(p.groups, rows)
	if len(p.stakes) > 1 {
		q.stakes = indices.Take(p.stakes, rows)
	}
	q.costs = p.costs.Some(rows)
	return &q
}

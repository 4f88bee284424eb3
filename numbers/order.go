package numbers

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/advise"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// arrange puts the rows into an order that depends on what they hold alone: a model does not depend on
// how a table is ordered, neither by what is dealt at random nor by the last bits of sums. Rows that are so many that a
// search looks at some of them only stay where they are, so that they can be gone over where they lie, and what is dealt
// is dealt from the order.
func (p *Problem) arrange(t *table.Table) error {
	groups, err := p.groupsOf(t)
	if err != nil {
		return err
	}
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
		if groups != nil && groups[i] != groups[j] {
			return cmp.Compare(groups[i], groups[j])
		}
		if p.kept.Values != nil {
			return slices.Compare(p.kept.Values.RawRowView(i), p.kept.Values.RawRowView(j))
		}
		return 0
	})
	p.rows = order
	if p.at = t.Place; p.stays() {
		p.order = order
		return nil
	}
	p.at = func(i int) *table.Error { return t.Place(order[i]) }
	p.X, p.Values, p.Weights = gp.RowsOf(p.X, order), indices.Take(p.Values, order), indices.Take(p.Weights, order)
	p.known, p.together = indices.Take(p.known, order), indices.Take(p.together, order)
	p.kept = p.kept.Some(order)
	if len(p.stakes) > 1 {
		p.stakes = indices.Take(p.stakes, order)
	}
	return nil
}

// inOrder is what is known of the rows, in the order.
func inOrder[T any](p *Problem, all []T) []T {
	if p.order == nil {
		return all
	}
	return indices.Take(all, p.order)
}

// stays tells whether the rows stay where they are.
func (p *Problem) stays() bool { return p.opt.Induces(p.Len()) && p.Len() > search.SearchRows }

// groupsOf are the names of the groups that rows of a table belong to; nil if they have none.
func (p *Problem) groupsOf(t *table.Table) ([]string, error) {
	if p.opt.Data.Groups == "" {
		return nil, nil
	}
	return t.Groups(p.opt.Data.Groups, p.opt.Data.Markers...)
}

// gather reads which rows of the table belong together, and tells of copies.
func (p *Problem) gather(t *table.Table) (err error) {
	if p.together, err = lossep.RowsTogether(t, p.Recipe, p.X, p.opt); err != nil {
		return err
	}
	if p.opt.Data.Groups == "" {
		p.Notes = append(p.Notes, advise.Copies(p.together)...)
	}
	return nil
}

// units are the rows that are left out together; nil where each is by itself.
func (p *Problem) units() [][]int { return lossep.Units(p.together) }

// deal divides rows, or groups of them, into folds in the order of their outcomes: one of as many as there are folds to each. Groups
// may be nil where each row is its own.
func deal(outcomes []float64, groups []int, k int, rng *rand.Rand) ([][]int, error) {
	order := indices.Of(len(outcomes))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(outcomes[i], outcomes[j]) })
	var all [][]int // rows that are dealt together
	at := make(map[int]int)
	for _, i := range order {
		if groups == nil {
			all = append(all, []int{i})
			continue
		}
		place, seen := at[groups[i]]
		if !seen {
			place, all = len(all), append(all, nil)
			at[groups[i]] = place
		}
		all[place] = append(all[place], i)
	}
	if len(all) < k {
		return nil, &compare.FoldError{K: k, Cases: len(all), Msg: fmt.Sprintf("%d groups are fewer than %d folds", len(all), k)}
	}
	folds := make([][]int, k)
	for from := 0; from < len(all); from += k {
		to := rng.Perm(k)
		for i, rows := range all[from:min(from+k, len(all))] {
			folds[to[i]] = append(folds[to[i]], rows...)
		}
	}
	for _, fold := range folds {
		slices.Sort(fold)
	}
	return folds, nil
}

// sample are at most so many rows, dealt from the order.
func (p *Problem) sample(most int) []int {
	return indices.Take(inOrder(p, indices.Of(p.Len())), search.Sample(p.Len(), most, p.opt.Seed))
}

package pass

import (
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gauss"
)

// Sums are what a pass over a shard adds up. The zero value with a Change of the right
// dimension is that of no rows.
type Sums struct {
	// Change is Σ Δν·a and Σ Δτ·aaᵀ over the rows: what their sites do to q, for each function.
	Change gauss.Naturals
	// Value is the rows' part in the objective of the rule, each seen when it was
	// visited; see Objective.
	Value float64
	// Residual is the largest relative change that a full step would make to a marginal,
	// whether its row was skipped or not; it is at least 1 where there is no step because
	// the cavity is not proper.
	Residual float64
	// Skipped is the number of rows that kept their site because their cavity, or what q
	// would have become, was not proper.
	Skipped int
	// Arrow is what the new sites come to where rows share effects of groups, otherwise nil. Its V is the Change then:
	// that of all sites, and not of what has changed.
	Arrow *Arrow
}

// NewSums are those of no rows with so many functions in m dimensions.
func NewSums(functions, m int) *Sums {
	s, _ := spareSums.Get().(*Sums)
	if s == nil || len(s.Change) != functions || s.Change.Dim() != m {
		return &Sums{Change: gauss.NewNaturals(functions, m)}
	}
	*s = Sums{Change: s.Change}
	for _, one := range s.Change {
		one.SetZero()
	}
	return s
}

// spareSums are those that nobody reads any more. Every pass has some, of M² numbers.
var spareSums sync.Pool

// Release gives the memory of sums that nobody reads any more to those of later passes.
func (s *Sums) Release() { spareSums.Put(s) }

// newGroupSums are those of no rows that share effects of so many groups.
func newGroupSums(m, groups int) *Sums {
	s := NewSums(1, m)
	s.Arrow = &Arrow{s.Change[0], mat.NewDense(groups, m, nil), make([]gauss.Scalar, groups)}
	return s
}

// None are those of no rows, to which others can be added.
func (s *Sums) None() *Sums {
	if s.Arrow != nil {
		return newGroupSums(s.Change.Dim(), len(s.Arrow.Groups))
	}
	return NewSums(len(s.Change), s.Change.Dim())
}

// Add takes another shard in.
func (s *Sums) Add(o *Sums) {
	s.Change.Times(o.Change, 1)
	if o.Arrow != nil {
		s.Arrow.timesGroups(o.Arrow, 1)
	}
	s.Value += o.Value
	s.Residual = max(s.Residual, o.Residual)
	s.Skipped += o.Skipped
}

// skip counts a row that keeps its sites.
func (s *Sums) skip() {
	s.Skipped++
	s.Residual = max(s.Residual, 1)
}

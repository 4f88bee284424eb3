package pass

import (
	"context"
	"slices"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/level3"
)

// Engine runs passes over all shards of a problem, and keeps the sites. An engine that
// cannot go on, for reasons that lie in no Gaussian, says so by an *EngineError.
type Engine interface {
	// Dim is the dimension of v, and Functions how many such vectors there are.
	Dim() int
	Functions() int
	// Gather is what the sites come to.
	Gather(ctx context.Context) (gauss.Naturals, error)
	// Pass goes over all shards from q and adds up what they change. The new sites are
	// put beside the old ones.
	Pass(ctx context.Context, q gauss.Naturals, o Options) (*Sums, error)
	// Look is Look over all shards, of which several may be seen at the same time.
	Look(ctx context.Context, q gauss.Naturals, o Options, see See) (*Sums, error)
	// Keep puts the new sites in the place of the old ones.
	Keep()
	// Clear empties all sites.
	Clear()
}

// EngineError is why passes cannot be made: a file that cannot be read any more, a
// machine that is gone. Trying elsewhere, with other parameters, does not help.
type EngineError struct{ Err error }

func (e *EngineError) Error() string { return e.Err.Error() }
func (e *EngineError) Unwrap() error { return e.Err }

// Local runs passes on the processors of this machine: several shards at a time, and where there are
// fewer than processors these work on a block of each together.
type Local struct {
	shards []Rows
	from   []int // of each shard, in the sites
	sites  []gauss.Scalar
	next   []gauss.Scalar
	seen   marginals
}

// marginals are those of all rows at the q that was looked at last: the evidence, its bound and rows left
// out are all read at the same one, and to find them takes half of a pass.
type marginals struct {
	q              gauss.Naturals // nil where there are none yet
	mean, variance []float64      // of a shard after the other, function by function
}

// at is whether the marginals are those at q, which is noted if not.
func (s *marginals) at(q gauss.Naturals, rows int) bool {
	if s.q != nil && s.q.Equal(q) {
		return true
	}
	if s.q == nil {
		s.q, s.mean, s.variance = gauss.NewNaturals(len(q), q.Dim()), make([]float64, rows), make([]float64, rows)
	}
	s.q.CopyFrom(q)
	return false
}

// widely is the dimension from which marginals are kept. With fewer they take no time.
const widely = 128

// NewLocal runs passes over the shards, from the given sites for the rows of all of them
// in order, one for each function after the other, which it takes over; nil stands for empty
// sites.
func NewLocal(shards []Rows, sites []gauss.Scalar) *Local {
	l := &Local{shards: shards, from: make([]int, len(shards)+1)}
	for i, s := range shards {
		l.from[i+1] = l.from[i] + s.Len()
	}
	n := l.from[len(shards)] * l.Functions()
	if sites == nil {
		sites = make([]gauss.Scalar, n)
	}
	if len(sites) != n {
		panic("pass: there is not one site for each row and function")
	}
	l.sites, l.next = sites, make([]gauss.Scalar, n)
	return l
}

// Dim implements Engine.
func (l *Local) Dim() int { return l.shards[0].Dim() }

// Shards is how many there are.
func (l *Local) Shards() int { return len(l.shards) }

// Functions implements Engine.
func (l *Local) Functions() int { return Functions(l.shards[0]) }

// Sites are the current sites. They must not be changed.
func (l *Local) Sites() []gauss.Scalar { return l.sites }

// Put puts sites in the place of the current ones. It copies them.
func (l *Local) Put(sites []gauss.Scalar) {
	if len(sites) != len(l.sites) {
		panic("pass: there is not one site for each row and function")
	}
	copy(l.sites, sites)
}

// Fork runs passes over the same shards from a copy of the current sites. The two must not
// be used at the same time.
func (l *Local) Fork() *Local { return NewLocal(l.shards, slices.Clone(l.sites)) }

// Clear implements Engine.
func (l *Local) Clear() { clear(l.sites) }

// Keep implements Engine.
func (l *Local) Keep() { l.sites, l.next = l.next, l.sites }

// Gather implements Engine.
func (l *Local) Gather(ctx context.Context) (gauss.Naturals, error) {
	k := l.Functions()
	sums, err := l.Each(ctx, func(_ int, s Rows, from, to int) (*Sums, error) {
		return &Sums{Change: Gather(s, l.sites[from*k:to*k])}, nil
	})
	if err != nil {
		return nil, err
	}
	return sums.Change, nil
}

// Pass implements Engine.
func (l *Local) Pass(ctx context.Context, q gauss.Naturals, o Options) (*Sums, error) {
	k := l.Functions()
	return l.Each(ctx, func(_ int, s Rows, from, to int) (*Sums, error) {
		return Over(q, s, l.sites[from*k:to*k], l.next[from*k:to*k], o)
	})
}

// Look implements Engine.
func (l *Local) Look(ctx context.Context, q gauss.Naturals, o Options, see See) (*Sums, error) {
	k := l.Functions()
	known := l.Dim() >= widely && l.seen.at(q, len(l.sites))
	sums, err := l.Each(ctx, func(_ int, s Rows, from, to int) (*Sums, error) {
		var shifted See
		if see != nil {
			shifted = func(i int, mean, variance []float64) { see(from+i, mean, variance) }
		}
		var kept *marginals
		if l.seen.q != nil {
			kept = &marginals{mean: l.seen.mean[from*k : to*k], variance: l.seen.variance[from*k : to*k]}
		}
		return look(q, s, l.sites[from*k:to*k], o, shifted, kept, known)
	})
	if err != nil {
		l.seen = marginals{}
	}
	return sums, err
}

// Views hands over those of all rows, one block after another; from is the first row of a block.
func (l *Local) Views(use func(from int, views *gauss.Views)) {
	for k := range l.shards {
		l.views(k, use)
	}
}

func (l *Local) views(shard int, use func(from int, views *gauss.Views)) {
	s := l.shards[shard]
	size := BlockRows(s.Len(), s.Dim())
	for i := 0; i < s.Len(); i += size {
		wake(s, Functions(s))
		use(l.from[shard]+i, s.Views(i, min(i+size, s.Len())))
	}
}

// Predict writes the means and variances of the values at all rows, those of one function after those of another. Sites
// do not matter for them.
func (l *Local) Predict(q gauss.Gaussians, mean, variance []float64) {
	n := len(mean) / len(q)
	keeps := len(q) == 1 && l.Dim() >= widely
	known := keeps && l.seen.at(q.Naturals(), len(l.sites))
	block := func(from int, views *gauss.Views, ws *gauss.Workspace) {
		to := from + views.Len()
		for c := range q {
			of, mean, variance := views.Of(c), mean[c*n+from:c*n+to], variance[c*n+from:c*n+to]
			if !known {
				q[c].Marginals(of, mean, variance, ws)
			}
			if keeps {
				exchange(mean, l.seen.mean[from:to], known)
				exchange(variance, l.seen.variance[from:to], known)
			}
			level3.Share(rowWork/10*float64(len(mean)), (len(mean)+chunk-1)/chunk, func(task int) {
				for i := task * chunk; i < min((task+1)*chunk, len(mean)); i++ {
					mean[i] += of.Offset(i)
					variance[i] += of.Residual(i)
				}
			})
		}
	}
	tasks.Each(len(l.shards), func() func(int) {
		var ws gauss.Workspace
		return func(shard int) {
			l.views(shard, func(from int, views *gauss.Views) { block(from, views, &ws) })
		}
	})
}

// shardsAtOnce is how many shards have sums before they are added up: of more they would take much memory.
const shardsAtOnce = 16

// Each adds up what a function finds for each shard, in their order. It is called for several at a time, with the number
// of the shard and where its rows are among all.
func (l *Local) Each(ctx context.Context, shard func(k int, s Rows, from, to int) (*Sums, error)) (*Sums, error) {
	var sums *Sums
	parts, errs := make([]*Sums, shardsAtOnce), make([]error, shardsAtOnce)
	for first := 0; first < len(l.shards); first += shardsAtOnce {
		n := min(shardsAtOnce, len(l.shards)-first)
		tasks.For(n, func(i int) {
			k := first + i
			if errs[i] = ctx.Err(); errs[i] == nil {
				parts[i], errs[i] = shard(k, l.shards[k], l.from[k], l.from[k+1])
			}
		})
		for i, part := range parts[:n] {
			switch {
			case errs[i] != nil:
				return nil, errs[i]
			case sums == nil:
				sums = part
			default:
				sums.Add(part)
				part.Release()
			}
		}
	}
	return sums, nil
}

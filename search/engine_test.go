package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/problems"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
)

// remote is a Driver and its Engine at once, as if every shard was on another machine: it
// has rows in pieces, goes over the last one first, and knows nothing but the functions of
// one shard.
type remote struct {
	t      *testing.T
	pieces []gp.Terms
	inputs []*mat.Dense

	process   *gp.Inducing
	now, next [][]gauss.Scalar
	calls     *int
}

func newRemote(t *testing.T, x *mat.Dense, terms gp.Values, size int) *remote {
	n, d := x.Dims()
	r := &remote{t: t, calls: new(int)}
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		r.pieces = append(r.pieces, gp.Values{Factors: terms.Factors[from:to]})
		r.inputs = append(r.inputs, mat.DenseCopyOf(x.Slice(from, to, 0, d)))
	}
	return r
}

func (r *remote) Drive(p *gp.Inducing, before gp.Engine) (gp.Engine, error) {
	e := *r
	e.process = p
	if before != nil {
		e.now = before.(*remote).now
	} else {
		e.Clear()
	}
	return &e, nil
}

func (r *remote) InGroups(gp.Engine, *effects.Grouping) pass.InGroups {
	panic("there are no effects")
}

// each calls the shards in any order and adds up in their own.
func (r *remote) each(call func(k int, s pass.Rows) *pass.Sums) *pass.Sums {
	*r.calls++
	parts := make([]*pass.Sums, len(r.pieces))
	for k := range slices.Backward(parts) {
		parts[k] = call(k, r.process.Shard(r.inputs[k], r.pieces[k]))
	}
	sums := pass.NewSums(1, r.Dim())
	for _, part := range parts {
		sums.Add(part)
	}
	return sums
}

func (r *remote) must(s *pass.Sums, err error) *pass.Sums {
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *remote) Dim() int       { return r.process.Dim() }
func (r *remote) Functions() int { return 1 }

func (r *remote) Gather(context.Context) (gauss.Naturals, error) {
	return r.each(func(k int, s pass.Rows) *pass.Sums { return &pass.Sums{Change: pass.Gather(s, r.now[k])} }).Change, nil
}

func (r *remote) Pass(_ context.Context, q gauss.Naturals, o pass.Options) (*pass.Sums, error) {
	r.next = make([][]gauss.Scalar, len(r.now))
	return r.each(func(k int, s pass.Rows) *pass.Sums {
		r.next[k] = make([]gauss.Scalar, s.Len())
		return r.must(pass.Over(q, s, r.now[k], r.next[k], o))
	}), nil
}

func (r *remote) Look(_ context.Context, q gauss.Naturals, o pass.Options, see pass.See) (*pass.Sums, error) {
	return r.each(func(k int, s pass.Rows) *pass.Sums { return r.must(pass.Look(q, s, r.now[k], o, nil)) }), nil
}

func (r *remote) Slopes(_ context.Context, q gauss.Naturals, o pass.Options) (*pass.Sums, []float64, error) {
	parts := make([][]float64, len(r.now))
	sums := r.each(func(k int, s pass.Rows) *pass.Sums {
		sums, part, err := gp.Slopes(q, s, r.now[k], o)
		parts[k] = part
		return r.must(sums, err)
	})
	grad := make([]float64, r.process.Kernel().NumParams())
	for _, part := range parts {
		floats.Add(grad, part)
	}
	return sums, grad, nil
}

func (r *remote) Keep() { r.now = r.next }

func (r *remote) Clear() {
	r.now = make([][]gauss.Scalar, len(r.pieces))
	for k, piece := range r.pieces {
		r.now[k] = make([]gauss.Scalar, piece.Len())
	}
}

func (r *remote) Fork() gp.Engine { e := *r; return &e }

func (r *remote) Sites(context.Context) ([]gauss.Scalar, error) { return slices.Concat(r.now...), nil }

func (r *remote) Put(_ context.Context, sites []gauss.Scalar) error {
	for k := range r.now {
		copy(r.now[k], sites)
		sites = sites[len(r.now[k]):]
	}
	return nil
}

// Where passes over all rows are made by somebody else, shard by shard in any order, a
// search ends with the same bits; and however rows are cut, it ends in the same place.
func TestShardsElsewhere(t *testing.T) {
	x, terms := problems.Smooth(9000, 2, 10)
	k, err := kernel.Parse("rbf + constant", 2)
	if err != nil {
		t.Fatal(err)
	}
	induce := func(o InduceOptions) *Induced {
		o.Points, o.Memory = 20, 1<<28
		f, err := Induce(context.Background(), k, x, terms, o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	here := induce(InduceOptions{ShardRows: 2000})
	there := newRemote(t, x, terms, 2000)
	elsewhere := induce(InduceOptions{ShardRows: 2000, Driver: there})
	if *there.calls == 0 {
		t.Fatal("nothing was done elsewhere")
	}
	if here.LogEvidence != elsewhere.LogEvidence || here.Bound != elsewhere.Bound || !slices.Equal(here.Gradient, elsewhere.Gradient) ||
		!slices.Equal(allSites(t, here.Engine), allSites(t, elsewhere.Engine)) {
		t.Errorf("other bits elsewhere: evidence %v and %v", here.LogEvidence, elsewhere.LogEvidence)
	}
	// The search ends where little is to be gained, which is worthPerRow for each.
	whole := induce(InduceOptions{})
	if math.Abs(here.LogEvidence-whole.LogEvidence) > worthPerRow*9000 {
		t.Errorf("evidence %v in shards, %v in one piece", here.LogEvidence, whole.LogEvidence)
	}
}

package cluster

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/safetensors"
)

// outcomes are terms of labels.
type outcomes []float64

func (o outcomes) Len() int                 { return len(o) }
func (o outcomes) Term(i int) factor.Factor { return factor.Probit{Y: o[i]} }

// sent are rows whose tasks and what these find go through files, each time to shards that know nothing of
// earlier tasks but slopes and curvatures.
type sent struct {
	t                *testing.T
	x                *mat.Dense
	y                outcomes
	size             int
	slope, curvature []float64
}

func (s *sent) Functions() int { return 1 }
func (s *sent) Together() int  { return together }

func (s *sent) Do(_ context.Context, tasks []effects.Task, use func(k int, found *effects.Found)) error {
	var set effects.Set
	for _, task := range tasks {
		if look, ok := task.(effects.LookTask); ok {
			set = look.Set
		}
	}
	p, floats, ints := pack(set, tasks)
	var total found
	for from := 0; from < len(s.y); from += s.size {
		to := min(from+s.size, len(s.y))
		_, unpacked, err := p.unpack(floats, ints)
		if err != nil {
			return err
		}
		shard := effects.NewShard(from, to-from, func() (*mat.Dense, effects.Terms, error) {
			return s.x.Slice(from, to, 0, 3).(*mat.Dense), s.y[from:to], nil
		})
		shard.Slope, shard.Curvature = [][]float64{s.slope[from:to]}, [][]float64{s.curvature[from:to]}
		part := make([]effects.Found, len(unpacked))
		for k, task := range unpacked {
			if err := task.Do([]*effects.Shard{shard}, &part[k]); err != nil {
				return err
			}
		}
		f := new(safetensors.File)
		if part, err = readEffects(f, addEffects(f, part)); err != nil {
			return err
		}
		if from == 0 {
			total.effects = part
		} else {
			total.add(&found{effects: part})
		}
	}
	for k := range total.effects {
		use(k, &total.effects[k])
	}
	return nil
}

// Families, crossings and numbers of rows that are chosen by tasks that were written and read are those of rows
// in memory, to the bit.
func TestPackedTasks(t *testing.T) {
	const n = 12_000
	rng := rand.New(rand.NewPCG(4, 1))
	x, y, effect := mat.NewDense(n, 3, nil), make(outcomes, n), make(map[[2]int]float64)
	for i := range n {
		u, a, b := rng.Float64(), rng.IntN(60), rng.IntN(60)
		if rng.IntN(3) == 0 {
			b = a // which are many
		}
		x.SetRow(i, []float64{u, float64(a), float64(b)})
		if _, ok := effect[[2]int{a, b}]; !ok {
			effect[[2]int{a, b}] = 1 + rng.NormFloat64()
		}
		if a == b {
			effect[[2]int{a, b}] = -1
		}
		if y[i] = -1; rng.Float64() < normal.CDF(effect[[2]int{a, b}]+u) {
			y[i] = 1
		}
	}
	const size = 5_000
	var sets [2]effects.Set
	for k, rows := range []effects.Rows{
		effects.NewInMemory(x, y, size),
		&sent{t, x, y, size, make([]float64, n), make([]float64, n)},
	} {
		f := effects.NewFit(effects.NewTable(x, 2), rows)
		if err := f.Choose(t.Context(), effects.DefaultChoice()); err != nil {
			t.Fatal(err)
		}
		sets[k] = f.Effects()
	}
	counts := 0
	if len(sets[0]) != len(sets[1]) {
		t.Fatalf("%d and %d families", len(sets[0]), len(sets[1]))
	}
	for j, e := range sets[0] {
		o := sets[1][j]
		if e.Rows != nil {
			counts++
		}
		if !slices.Equal(e.Family, o.Family) || e.Variance != o.Variance || !slices.Equal(e.Keys(), o.Keys()) || !slices.Equal(e.Rows, o.Rows) || !slices.Equal(e.Moments, o.Moments) {
			t.Errorf("%v, and by tasks that were written %v", e.Family, o.Family)
		}
	}
	if counts == 0 {
		t.Errorf("%d families, none of numbers of rows", len(sets[0]))
	}
}

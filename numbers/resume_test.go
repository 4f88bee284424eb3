package numbers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/sealed"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// checkpoints are kept in memory.
type checkpoints struct {
	states  [][]byte
	resumed []int
	refused int
}

func (c *checkpoints) Load() []byte {
	if len(c.states) == 0 {
		return nil
	}
	return c.states[len(c.states)-1]
}

func (c *checkpoints) Keep(state []byte, _ int) { c.states = append(c.states, state) }
func (c *checkpoints) Resumed(rows int)         { c.resumed = append(c.resumed, rows) }
func (c *checkpoints) Refused(string)           { c.refused++ }

// sales are rows whose outcomes depend on a shop and a day beside a smooth part.
func sales(t *testing.T, rows int, outcome func(f float64, rng *rand.Rand) float64) *table.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(35, 2))
	var b strings.Builder
	b.WriteString("a,shop,day,sold\n")
	for range rows {
		a, shop, day := rng.NormFloat64(), rng.IntN(9), rng.IntN(5)
		fmt.Fprintf(&b, "%.4f,s%d,d%d,%.5g\n", a, shop, day, outcome(math.Sin(2*a)+0.3*float64(shop*day%4), rng))
	}
	data, err := table.Read(t.Context(), strings.NewReader(b.String()), "sales.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A fit of numbers that is interrupted, wherever something was kept, goes on from there and ends with the same file, without
// choosing a transformation again; one of another seed begins anew.
func TestInterruptedFit(t *testing.T) {
	for name, c := range map[string]struct {
		rows, kept int // and how often something is
		outcome    func(f float64, rng *rand.Rand) float64
	}{
		"amounts": {8001, 2, func(f float64, rng *rand.Rand) float64 { return f + 0.4*rng.NormFloat64() }}, // after a sample, and after effects
		"counts":  {600, 1, func(f float64, rng *rand.Rand) float64 { return math.Floor(math.Exp(f) * 2 * rng.ExpFloat64()) }},
	} {
		data := sales(t, c.rows, c.outcome)
		o := lossep.Options{Data: recipe.Options{Target: "sold", Count: name == "counts"}, Kernel: "matern32 + constant + effects(shop, day)", Inducing: 8, Seed: 1}
		file := func(ctx context.Context) (string, error) {
			p, err := numbers.Prepare(data, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Fit(ctx)
			if err != nil {
				return "", err
			}
			var b bytes.Buffer
			err = m.Write(&b)
			return b.String(), err
		}
		want, err := file(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept := new(checkpoints)
		o.Checkpoints = kept
		for stop := 1; ; stop++ {
			ctx, cancel := context.WithCancel(t.Context())
			chosen := false
			o.Progress = func(p lossep.Progress) {
				chosen = chosen || strings.HasPrefix(p.Stage, "choosing a transformation")
				if len(kept.states) >= stop {
					cancel()
				}
			}
			got, err := file(ctx)
			cancel()
			if len(kept.resumed) != stop-1 || chosen != (stop == 1) || kept.refused > 0 {
				t.Errorf("%s: gone on %d times, chosen %v after %d interruptions", name, len(kept.resumed), chosen, stop-1)
			}
			if errors.Is(err, context.Canceled) {
				continue
			}
			if err != nil || got != want {
				t.Errorf("%s: another model after %d interruptions, %v", name, stop-1, err)
			}
			if stop-1 != c.kept {
				t.Errorf("%s: interrupted %d times only", name, stop-1)
			}
			break
		}
		p, err := numbers.Prepare(data, lossep.Options{Data: o.Data, Kernel: o.Kernel, Inducing: o.Inducing, Seed: 2, Checkpoints: kept}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Fit(ctx); !errors.Is(err, context.Canceled) || kept.refused != 1 {
			t.Errorf("%s: refused %d times, %v", name, kept.refused, err)
		}
	}
}

// A checkpoint that no fit has kept is refused, whatever is in it, as one that is damaged.
func TestCheckpointsOfNoFit(t *testing.T) {
	data := sales(t, 150, func(f float64, rng *rand.Rand) float64 { return math.Floor(math.Exp(f) * 2 * rng.ExpFloat64()) })
	kept := new(checkpoints)
	fit := func() error {
		o := lossep.Options{Data: recipe.Options{Target: "sold", Count: true}, Kernel: "matern32 + constant + effects(shop, day)", Inducing: 8, Seed: 1, Checkpoints: kept}
		p, err := numbers.Prepare(data, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Fit(t.Context())
		return err
	}
	if err := fit(); err != nil || len(kept.states) != 1 {
		t.Fatalf("%v, %d checkpoints", err, len(kept.states))
	}
	state := kept.states[0]
	type object = map[string]any
	in := func(from object, path ...string) object {
		for _, name := range path {
			from = from[name].(object)
		}
		return from
	}
	beside := func(c object) object { return in(c, "search", "beside") }
	first := func(c object) object { return beside(c)["families"].([]any)[0].(object) }
	for name, change := range map[string]func(c object){
		"nothing before":         func(c object) { delete(c, "before") },
		"an empty shape":         func(c object) { c["before"] = object{} },
		"no shapes tried":        func(c object) { delete(in(c, "before"), "tried") },
		"another transformation": func(c object) { in(c, "before", "best", "transform")["name"] = "log" },
		"noise that is known":    func(c object) { in(c, "before", "best")["noise"] = "known" },
		"another mean":           func(c object) { in(c, "before", "best", "transform")["mean"] = 1e300 },
		"no families":            func(c object) { beside(c)["families"] = []any{} },
		"an empty family":        func(c object) { beside(c)["families"] = []any{object{}} },
		"a variance below zero":  func(c object) { first(c)["variance"] = -1 },
		"moments missing":        func(c object) { first(c)["moments"] = "" },
		"moments of nothing": func(c object) {
			first(c)["moments"], first(c)["fresh"] = strings.Repeat("A", len(first(c)["moments"].(string))), false
		},
		"moments that are none":   func(c object) { first(c)["moments"] = strings.Repeat("/", len(first(c)["moments"].(string))) },
		"a column that is absent": func(c object) { first(c)["family"].([]any)[0].(object)["Column"] = 99 },
		"no noise":                func(c object) { beside(c)["tuned"] = []any{} },
	} {
		c := make(object)
		if err := sealed.Unmarshal(state, &c); err != nil {
			t.Fatal(err)
		}
		change(c)
		changed, err := sealed.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		kept.states = [][]byte{changed}
		if err := fit(); !errors.Is(err, lossep.ErrCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	kept.states = [][]byte{state}
	if err := fit(); err != nil {
		t.Error(err)
	}
}

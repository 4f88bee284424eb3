package cluster_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// outcomesOf is a table of outcomes of every kind: amounts, counts, routes and grades.
func outcomesOf(t *testing.T, sizes ...int) string {
	t.Helper()
	return folderOf(t, sizes, func(rng *rand.Rand, f float64) []any {
		amount := f + 0.3*rng.NormFloat64()
		count, limit := 0, math.Exp(0.5+0.6*f+0.9*rng.NormFloat64())
		for sum := rng.ExpFloat64(); sum < limit; sum += rng.ExpFloat64() {
			count++
		}
		route, most := "", math.Inf(-1)
		for k, name := range []string{"air", "rail", "road"} {
			if v := []float64{f, 0, -f * f / 2}[k] + rng.NormFloat64(); v > most {
				route, most = name, v
			}
		}
		grade := []string{"low", "middle", "high"}[min(2, max(0, int(1.2+f+rng.NormFloat64())))]
		return []any{math.Exp(rng.NormFloat64()), amount, float64(count), route, grade}
	}, table.SourceColumn{Name: "weight", Kind: table.NumberCells}, table.SourceColumn{Name: "amount", Kind: table.NumberCells},
		table.SourceColumn{Name: "count", Kind: table.NumberCells}, table.SourceColumn{Name: "route"}, table.SourceColumn{Name: "grade"})
}

// Whatever the outcome is, the model is that of one process to the bit: terms with hyperparameters, which a search or effects
// move, and terms on several functions.
func TestOutcomesAreThoseOfOneProcess(t *testing.T) {
	folder := outcomesOf(t, 9_000, 5_400, 12_000)
	for _, c := range []struct{ more, said string }{
		{"amount --cost under=3,over=1 --shard-rows 6600 --kernel rbf+linear+constant --method loss-ep", "normal noise"},
		{"count --outcome count --weights weight --shard-rows 11000 --kernel linear+constant+effects(kind)+effects(a/16)", "effects(a/16)"},
		{"route --weights weight --shard-rows 11000 --kernel linear+constant+effects(kind)+effects(a/8) --method loss-ep", "effects(a/8)"},
		{"grade --ordered grade=low,middle,high --shard-rows 9000 --kernel linear+constant", "low"},
	} {
		t.Run(c.more, func(t *testing.T) {
			said := same(t, func(model string) []string {
				return append([]string{"fit", folder, "--id", "id", "--features", "a,b,kind", "--inducing", "12", "-o", model, "--target"}, strings.Fields(c.more)...)
			})
			if !strings.Contains(said, c.said) {
				t.Errorf("there is no %q:\n%s", c.said, said)
			}
		})
	}
}

// Actions that are numbers are those of one process, under the costs of the model and under those of a file.
func TestActionsAreThoseOfOneProcess(t *testing.T) {
	folder, model, costs := outcomesOf(t, 700, 400, 100), filepath.Join(t.TempDir(), "model.lossep"), filepath.Join(t.TempDir(), "costs.yaml")
	code, said := lossep(t, "fit", folder, "--id", "id", "--features", "a,b,kind", "--target", "count", "--outcome", "count", "--inducing", "12", "--kernel", "linear+constant", "-o", model)
	must(t, code, said)
	text := "under: weight\nover: 2\n"
	if err := os.WriteFile(costs, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sameDecisions(t, model, folder)
	sameDecisions(t, model, folder, "--keep", "--utility", costs)
}

package advise

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Columns that are made of an outcome that is a number are named: its logarithm, its price in another currency, that it is
// large, in which of some ranges it is, a name of these, and a receipt that only positive ones have. Those that it depends on are not.
func TestLeaksOfNumbers(t *testing.T) {
	for _, n := range []int{120, 400} {
		var b strings.Builder
		rng := rand.New(rand.NewPCG(8, uint64(n)))
		b.WriteString("good,kind,noisy,log,euros,large,range,word,receipt,late,coarse,y\n")
		for range n {
			good, kind := rng.NormFloat64(), rng.IntN(3)
			y := math.Round(100*math.Exp(0.8*good+0.3*float64(kind)+0.2*rng.NormFloat64())) / 100
			if rng.IntN(4) == 0 {
				y = 0
			}
			receipt, late := "", ""
			if y > 0 && rng.IntN(10) > 0 {
				receipt = fmt.Sprint(rng.IntN(1000))
			}
			if rng.IntN(4) > 0 {
				late = fmt.Sprint(rng.IntN(1000))
			}
			part := []string{"none", "little", "much"}[len(slices.DeleteFunc([]float64{0, 1.3}, func(c float64) bool { return y <= c }))]
			fmt.Fprintf(&b, "%.4f,k%d,%.4f,%.6f,%.2f,%d,%s,w%d,%s,%s,%d,%v\n", good, kind, y+0.3*rng.NormFloat64(), math.Log(y+1), 0.9*y, int(min(1, math.Floor(y/1.2))), part, min(7, int(20*y)), receipt, late, int(min(2, y)), y)
		}
		l, err := learn(mustRead(t, b.String(), table.HeaderYes), recipe.Options{Number: true, Impute: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"log", "euros", "large", "range", "word", "receipt", "coarse"}; !slices.Equal(l.Leaks, want) {
			t.Errorf("%d rows: leaks %v, want %v:\n%s", n, l.Leaks, want, strings.Join(l.Notes, "\n"))
		}
		for _, want := range []string{fmt.Sprintf(`column "log" alone decides the outcome in all %d rows`, n), `column "large" alone tells in which range the outcome is (area under the curve 1.0000)`, `whether column "receipt" is filled tells the outcome (it is in `, "of those with \"0\")"} {
			if !strings.Contains(strings.Join(l.Notes, "\n"), want) {
				t.Errorf("no note %q in\n%s", want, strings.Join(l.Notes, "\n"))
			}
		}
	}
}

// In few rows a column is named that has all of them in order where that is no chance.
func TestOrderOfFewRows(t *testing.T) {
	for n, want := range map[int]bool{7: false, 8: false, 12: true, 29: true} {
		var b strings.Builder
		rng := rand.New(rand.NewPCG(9, uint64(n)))
		b.WriteString("leak,a,b,y\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%.3f,%.3f,%.3f\n", i*i, rng.NormFloat64(), rng.NormFloat64(), math.Sqrt(float64(i)))
		}
		l, err := learn(mustRead(t, b.String(), table.HeaderYes), recipe.Options{Number: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Equal(l.Leaks, []string{"leak"}); got != want || !got && l.Leaks != nil {
			t.Errorf("%d rows: leaks %v", n, l.Leaks)
		}
	}
}

// Concordance is that of all pairs, and of two outcomes the area under the curve.
func TestConcordance(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	for _, outcomes := range []int{2, 5, 1000} {
		n := 60
		x, y := make([]float64, n), make([]float64, n)
		o := new(numericOutcome)
		for i := range n {
			o.rows = append(o.rows, i)
			y[i] = float64(rng.IntN(outcomes))
			x[i] = math.Round(y[i]/float64(outcomes)*8 + 3*rng.NormFloat64())
		}
		slices.SortStableFunc(o.rows, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
		o.rank(y)
		right, pairs := 0.0, 0.0
		for i := range n {
			for j := range n {
				if y[i] < y[j] {
					pairs++
					right += (1 + float64(cmp.Compare(x[j], x[i]))) / 2
				}
			}
		}
		if got, want := o.concordance(func(row int) float64 { return x[row] }), right/pairs; math.Abs(got-want) > 1e-12 {
			t.Errorf("%d outcomes: %v, want %v", outcomes, got, want)
		}
		if outcomes == 2 {
			var of [2][]float64
			for i := range n {
				of[int(y[i])] = append(of[int(y[i])], x[i])
			}
			slices.Sort(of[0])
			slices.Sort(of[1])
			if got, want := right/pairs, areaUnder(of[1], of[0]); math.Abs(got-want) > 1e-12 {
				t.Errorf("area %v, want %v", want, got)
			}
		}
	}
}

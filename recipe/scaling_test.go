package recipe

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// Columns in one unit are divided by the root mean square of their standard deviations, also by a recipe
// that is read again and fitted to other rows, where one of them may be constant.
func TestCommonScale(t *testing.T) {
	const text = "a,b,c,d,y\n1,10,0,5,no\n3,30,0,5,yes\n1,10,0,7,no\n3,30,9,7,yes\n"
	whole := mustRead(t, text, table.HeaderYes)
	l, err := Learn(whole, Options{})
	if err != nil {
		t.Fatal(err)
	}
	common := l.Recipe.AllCommon()
	if l.Recipe.Columns[0].Common || common == nil {
		t.Fatal("a recipe has a common scale that nobody wanted, or four columns are too few for one")
	}
	for name, c := range map[string]struct {
		rows   []int
		scales []float64 // standard deviations of the columns that vary
	}{
		"all":    {[]int{0, 1, 2, 3}, []float64{1, 10, math.Sqrt(243) / 4, 1}},
		"two":    {[]int{0, 1}, []float64{1, 10}},
		"others": {[]int{2, 3}, []float64{1, 10, 4.5}},
	} {
		r, err := common.Refit(whole.Subset(c.rows))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		} else if r = new(Recipe); json.Unmarshal(data, r) != nil {
			t.Fatalf("%s: cannot be read again: %s", name, data)
		}
		sum := 0.0
		for _, s := range c.scales {
			sum += s * s
		}
		want := math.Sqrt(sum / float64(len(c.scales)))
		for _, column := range r.Columns[:4] {
			if !column.Common || math.Abs(column.Scale-want) > 1e-14*want { // rounding of a few squares
				t.Errorf("%s: column %s: common %v, scale %v, want %v", name, column.Name, column.Common, column.Scale, want)
			}
		}
	}
	if l.Recipe.Columns = l.Recipe.Columns[1:]; l.Recipe.AllCommon() != nil {
		t.Error("three columns are enough for a common scale")
	}
}

// Every bend increases, comes back, and goes on beyond the training values, so that what
// is far out stays far out.
func TestBends(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	columns := map[string][]float64{}
	for range 500 {
		z := rng.NormFloat64()
		columns["log-normal"] = append(columns["log-normal"], math.Exp(2*z))
		columns["zeros"] = append(columns["zeros"], math.Max(0, math.Floor(50*z)))
		columns["both signs"] = append(columns["both signs"], z*z*z*1e4)
		columns["probabilities"] = append(columns["probabilities"], 1/(1+math.Exp(3*z)))
		columns["certainties"] = append(columns["certainties"], max(0, min(1, 0.5+0.4*z)))
		columns["tiny"] = append(columns["tiny"], 1e-9*math.Exp(z))
	}
	for name, values := range columns {
		slices.Sort(values)
		for _, bend := range []Bend{Log, LogOdds, YeoJohnson, Rank} {
			s := newScaling(bend, values)
			if s == nil {
				if bend == YeoJohnson || bend == Rank || values[0] >= 0 && (bend == Log || values[499] <= 1) {
					t.Errorf("%s: no %s", name, bend)
				}
				continue
			}
			if problem := s.problem(); problem != "" {
				t.Errorf("%s, %s: %s", name, bend, problem)
			}
			span := values[len(values)-1] - values[0]
			previous := math.Inf(-1)
			for _, x := range []float64{values[0] - 100*span, values[0] - span, values[0], values[100], values[300], values[499], values[499] + span, values[499] + 1e6*span} {
				z := s.apply(x)
				if z < previous || math.IsNaN(z) {
					t.Errorf("%s, %s: %v becomes %v after %v", name, bend, x, z, previous)
				}
				previous = z
				// Of the way back: rounding of z, as steep as the inverse is there.
				if back := s.invert(z); math.Abs(back-x) > 1e-9*(math.Abs(x)+span) {
					t.Errorf("%s, %s: %v comes back as %v", name, bend, x, back)
				}
			}
			// Beyond the ends a million ranges stay far.
			if far := s.apply(values[499] + 1e6*span); far < 1e3 {
				t.Errorf("%s, %s: a million ranges out is %v", name, bend, far)
			}
		}
	}
}

// Normal scores of many values are normal, and a column keeps its values through them.
func TestRankIsNormal(t *testing.T) {
	text := manyRows(3000, "a", func(i int) string { return fmt.Sprintf("%.6f", math.Exp(3*math.Sin(float64(i*i)))) })
	recipe, x, _ := mustLearn(t, mustRead(t, text, table.HeaderYes), Options{Bends: map[string]Bend{"a": Rank}})
	column := mat.Col(nil, 0, x)
	slices.Sort(column)
	for _, c := range []struct{ share, quantile float64 }{{0.025, -1.96}, {0.5, 0}, {0.975, 1.96}} {
		if got := column[int(c.share*3000)]; math.Abs(got-c.quantile) > 0.03 { // knots, and 1/√n of the scale
			t.Errorf("quantile %v is %v, want %v", c.share, got, c.quantile)
		}
	}
	values, ok := recipe.Values(x, "a")
	want, err := mustRead(t, text, table.HeaderYes).Floats("a")
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	for i := range want {
		if math.Abs(values[i]-want[i]) > 1e-9*want[len(want)-1]+1e-12 && math.Abs(values[i]/want[i]-1) > 1e-9 {
			t.Fatalf("value %d comes back as %v, not %v", i, values[i], want[i])
		}
	}
	if !strings.Contains(strings.Join(recipe.Describe(), "\n"), `"a": numeric, normal scores`) {
		t.Error("the description does not say so")
	}
}

// Columns with long tails are bent, and no others: not what is even, in two heaps, or of
// two kinds of value however rare the one is.
func TestAutoBend(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, c := range []struct {
		name string
		draw func(z float64) float64
		want []Bend
	}{
		{"normal", func(z float64) float64 { return 50 + 7*z }, []Bend{Straight}},
		{"uniform", func(float64) float64 { return rng.Float64() }, []Bend{Straight}},
		{"exponential", func(float64) float64 { return rng.ExpFloat64() }, []Bend{Straight}},
		{"two heaps", func(z float64) float64 { return z + 20*float64(rng.IntN(2)) }, []Bend{Straight}},
		{"two values", func(z float64) float64 { return math.Copysign(1, z-2) }, []Bend{Straight}},
		{"amounts", func(z float64) float64 { return 1000 * math.Exp(1.5*z) }, []Bend{Log}},
		{"amounts, mostly none", func(z float64) float64 { return math.Max(0, 1000*math.Exp(1.5*z)-2000) }, []Bend{Log, YeoJohnson, Rank}},
		{"gains and losses", func(z float64) float64 { return math.Copysign(math.Exp(3*math.Abs(z)), z) }, []Bend{Rank}},
		{"a code among counts", func(z float64) float64 {
			if rng.IntN(200) == 0 {
				return 98
			}
			return float64(int(math.Abs(z)))
		}, []Bend{Log, YeoJohnson, Rank}},
	} {
		values := make([]float64, 1000)
		for i := range values {
			values[i] = c.draw(rng.NormFloat64())
		}
		slices.Sort(values)
		if got := chooseBend(values, nil); !slices.Contains(c.want, got) {
			t.Errorf("%s: %s, want %v", c.name, got, c.want)
		}
		if got := chooseBend(values[:bendRows-1], nil); got != Straight {
			t.Errorf("%s: %s from %d values", c.name, got, bendRows-1)
		}
	}
}

// The choice is made by the rows at hand: a fold without the long tail has none to bend.
func TestBendsAreChosenAnew(t *testing.T) {
	text := manyRows(200, "a,b", func(i int) string {
		if i >= 195 {
			return "1000000"
		}
		return fmt.Sprint(100 + i*i%89)
	}, amount)
	table := mustRead(t, text, table.HeaderYes)
	recipe, _, _ := mustLearn(t, table, Options{})
	if c := recipe.Columns[0]; c.Scaling == nil || !c.Auto {
		t.Fatalf("%+v is not bent", c)
	}
	if c := recipe.Columns[1]; c.Scaling != nil || !c.Auto {
		t.Fatalf("%+v is bent", c)
	}
	rows := make([]int, 190)
	for i := range rows {
		rows[i] = i
	}
	part, err := recipe.Refit(table.Subset(rows))
	if err != nil {
		t.Fatal(err)
	}
	alone, _, _ := mustLearn(t, table.Subset(rows), Options{})
	if diff := cmp.Diff(alone, part); diff != "" {
		t.Errorf("a recipe of some rows alone (-) and refitted to them (+):\n%s", diff)
	}
	if part.Columns[0].Scaling != nil {
		t.Errorf("%+v is bent by rows it does not have", part.Columns[0])
	}
	// A bend that was asked for stays.
	asked, _, _ := mustLearn(t, table, Options{Bends: map[string]Bend{"b": Log}, Scaling: Straight})
	if part, err = asked.Refit(table.Subset(rows)); err != nil || part.Columns[1].Scaling == nil || part.Columns[0].Scaling != nil {
		t.Errorf("%v: %+v", err, part)
	}
}

// A logarithm of what is below zero is refused by name, and said where all were asked.
func TestImpossibleLog(t *testing.T) {
	table := mustRead(t, manyRows(50, "a", func(i int) string { return fmt.Sprint(i - 10) }), table.HeaderYes)
	_, err := Learn(table, Options{Bends: map[string]Bend{"a": Log}})
	if want := `test.csv, column 1 ("a"): it has values down to -10, and a logarithm needs values from zero on; use another transformation: the option Bends "a=yeo-johnson" or the option Bends "a=rank"`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	l, err := Learn(table, Options{Scaling: Log})
	if err != nil || len(l.Notes) != 1 || l.Notes[0].Text != `column "a" is not transformed: it has values down to -10, and a logarithm needs values from zero on` {
		t.Errorf("%v, %+v", err, l)
	}
}

// A column that is named and numbered has one scaling, or none that could be named.
func TestTwoScalingsOfAColumn(t *testing.T) {
	table := mustRead(t, "a,b,y\n1,2,no\n2,3,yes\n3,5,no\n4,9,yes\n", table.HeaderYes)
	_, err := Learn(table, Options{Bends: map[string]Bend{"b": Log, "2": Rank}})
	if err == nil || !strings.Contains(err.Error(), "two scalings are given: rank and log") || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("error is %v", err)
	}
	if _, err := Learn(table, Options{Bends: map[string]Bend{"b": Log, "2": Log}}); err != nil {
		t.Errorf("the same scaling twice: %v", err)
	}
}

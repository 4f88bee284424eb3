package advise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// A column that tells the outcome is named; good ones are not.
func TestLeaks(t *testing.T) {
	text := manyRows(100, "leak,word,good", func(i int) string { return fmt.Sprint(100*(i%2) + i%7) }, func(i int) string { return []string{"paid", "due"}[i%2] }, amount)
	l, err := learn(mustRead(t, text, table.HeaderYes), recipe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(l.Notes, "\n")
	for _, want := range []string{`column "leak" alone decides the outcome in all 100 rows: is it known before the outcome is?`, `column "word" alone decides the outcome`} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
	if strings.Contains(notes, `"good"`) {
		t.Error(notes)
	}
}

// In few rows a column that has all of them on the right side is named where that is no chance: the more columns
// there are the more rows it takes.
func TestSeparationOfFewRows(t *testing.T) {
	t.Parallel()
	step := func(i int) string { return fmt.Sprint(50*(i%2) + i) }
	for name, c := range map[string]struct {
		rows, columns int
		value         func(i int) string
		want          bool
	}{
		"a threshold in 24 rows":        {24, 3, step, true},
		"one value each":                {24, 3, func(i int) string { return fmt.Sprint(i % 2) }, true},
		"a threshold in 10 rows":        {10, 3, step, false},
		"a threshold among 300 columns": {20, 300, step, false},
		"nearly":                        {24, 3, func(i int) string { return fmt.Sprint(50*((i+i/22)%2) + i) }, false},
	} {
		var b strings.Builder
		rng := rand.New(rand.NewPCG(7, 7))
		b.WriteString("leak")
		for k := range c.columns {
			fmt.Fprintf(&b, ",x%d", k)
		}
		b.WriteString(",y\n")
		for i := range c.rows {
			b.WriteString(c.value(i))
			for range c.columns {
				fmt.Fprintf(&b, ",%.4f", rng.NormFloat64())
			}
			fmt.Fprintf(&b, ",%s\n", []string{"no", "yes"}[i%2])
		}
		l, err := learn(mustRead(t, b.String(), table.HeaderYes), recipe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Equal(l.Leaks, []string{"leak"}); got != c.want || !got && l.Leaks != nil {
			t.Errorf("%s: leaks %v", name, l.Leaks)
		}
	}
}

// Where a column is filled may tell the outcome, whatever it says; gaps that come by chance
// do not, nor those that are only more frequent with one outcome.
func TestLeaksOfFilledCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	where := func(cell, gap func(i int) bool, text func(i int) string) func(int) string {
		return func(i int) string {
			if cell(i) && !gap(i) {
				return text(i)
			}
			return ""
		}
	}
	died := func(i int) bool { return i%2 == 1 }
	lived := func(i int) bool { return i%2 == 0 }
	never := func(int) bool { return false }
	some := func(int) bool { return rng.IntN(4) == 0 }
	always := func(int) bool { return true }
	any := func(int) string { return fmt.Sprint(rng.IntN(1000)) }
	text := manyRows(200, "cause,day,date,one,late,discharged,gaps,half,good",
		where(died, never, func(int) string { return []string{"heart", "lungs", "other"}[rng.IntN(3)] }),
		where(died, never, any),
		where(died, never, func(int) string { return fmt.Sprintf("2024-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28)) }),
		where(died, never, func(int) string { return "x" }),
		where(died, some, any),
		where(lived, never, any),
		where(always, some, any),
		where(func(i int) bool { return died(i) || i%10 == 0 }, never, any),
		amount)
	l, err := learn(mustRead(t, text, table.HeaderYes), recipe.Options{Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cause", "day", "date", "one", "late", "discharged"}; !slices.Equal(l.Leaks, want) {
		t.Errorf("leaks %v, want %v", l.Leaks, want)
	}
	notes := strings.Join(l.Notes, "\n")
	for _, want := range []string{`whether column "cause" is filled tells the outcome (it is in 100 % of the rows with "`, "is it known beforehand?"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note %q in\n%s", want, notes)
		}
	}
}

// A column that tells all of three outcomes apart is named, and one that tells a single one,
// as a petal tells one of three flowers, is not; that a column is filled with one of them
// only is named.
func TestLeaksOfSeveralOutcomes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	b.WriteString("pay,word,petal,kind,slip,y\n")
	for i := range 150 {
		y := i % 3
		slip := ""
		if y == 2 {
			slip = fmt.Sprint(rng.IntN(50))
		}
		petal := []float64{1.5, 4.3, 5.5}[y] + []float64{0.2, 0.45, 0.5}[y]*rng.NormFloat64()
		fmt.Fprintf(&b, "%d,%s,%.1f,%s,%s,%s\n", 10*y, []string{"none", "B", "A"}[y], petal, []string{"wings", "none", "none"}[y], slip, []string{"no", "part", "full"}[y])
	}
	l, err := learn(mustRead(t, b.String(), table.HeaderYes), recipe.Options{Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"pay", "word", "slip"}; !slices.Equal(l.Leaks, want) {
		t.Errorf("leaks %v, want %v:\n%s", l.Leaks, want, strings.Join(l.Notes, "\n"))
	}
}

// The area by counts is that of the shares as values.
func TestAreaOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 100 {
		var positive, negative []float64
		counts := [2][]float64{make([]float64, 6), make([]float64, 6)}
		for k := range 6 {
			for y := range 2 {
				counts[y][k] = float64(rng.IntN(4))
			}
		}
		counts[0][0], counts[1][1] = counts[0][0]+1, counts[1][1]+1
		for k := range 6 {
			share := counts[0][k] / (counts[0][k] + counts[1][k])
			for range int(counts[0][k]) {
				positive = append(positive, share)
			}
			for range int(counts[1][k]) {
				negative = append(negative, share)
			}
		}
		slices.Sort(positive)
		slices.Sort(negative)
		if got, want := areaOfCounts(counts[0], counts[1]), areaUnder(positive, negative); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v, want %v of %v", got, want, counts)
		}
	}
}

package recipe

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/radix"
	"github.com/lossep/lossep/table"
)

func mustLearn(t testing.TB, table *table.Table, o Options) (*Recipe, *mat.Dense, []int) {
	t.Helper()
	recipe, x, y, err := learnAll(table, o)
	if err != nil {
		t.Fatalf("Learn: %v", err)
	}
	if err := recipe.Validate(); err != nil {
		t.Fatalf("learned recipe: %v", err)
	}
	return recipe, x, y
}

// Worked by hand: x = 1, 2, 6 has mean 3 and variance (4+1+9)/3.
func TestLearnByHand(t *testing.T) {
	recipe, x, y := mustLearn(t, mustRead(t, "x,color,y\n1,red,no\n2,blue,yes\n6,red,no\n", table.HeaderYes), Options{})
	s := math.Sqrt(14.0 / 3)
	want := mat.NewDense(3, 2, []float64{ // the categories are blue and red
		-2 / s, 1,
		-1 / s, 0,
		3 / s, 1,
	})
	if !mat.EqualApprox(x, want, 1e-15) { // one rounding of numbers near one
		t.Errorf("X =\n%v\nwant\n%v", mat.Formatted(x), mat.Formatted(want))
	}
	if !cmp.Equal(y, []int{0, 1, 0}) {
		t.Errorf("y = %v", y)
	}
	if got := recipe.Features(); !cmp.Equal(got, []string{"x", "color=blue", "color=red"}) {
		t.Errorf("features %q", got)
	}
	if diff := cmp.Diff(Target{Column: "y", Outcomes: []string{"no", "yes"}, Rows: []int{2, 1}}, recipe.Target); diff != "" {
		t.Errorf("target (-want +got)\n%s", diff)
	}
}

func TestKeepScaleLeavesNumbersAlone(t *testing.T) {
	_, x, _ := mustLearn(t, mustRead(t, "0.1,-0.7,1\n1e-300,5,0\n", table.HeaderNo), Options{KeepScale: true})
	if want := mat.NewDense(2, 2, []float64{0.1, -0.7, 1e-300, 5}); !mat.Equal(x, want) {
		t.Errorf("X = %v", mat.Formatted(x))
	}
}

// Median of 1, 3, 10 is 3, the mode of a, a, b is a; missing cells set the
// indicator. A column with a value or nothing keeps only its indicator.
func TestImpute(t *testing.T) {
	table := mustRead(t, "n,c,flag,full,y\n1,a,set,1,1\n?,b,,2,0\n3,NA,set,3,1\n10,a,,5,0\n", table.HeaderYes)
	recipe, x, _ := mustLearn(t, table, Options{Impute: true, KeepScale: true})
	if got, want := recipe.Features(), []string{"n", "n missing", "c=a", "c=b", "c missing", "flag missing", "full"}; !cmp.Equal(got, want) {
		t.Fatalf("features %q, want %q", got, want)
	}
	want := mat.NewDense(4, 6, []float64{ // n and whether it is missing, whether c and flag are, full, the code of c
		1, 0, 0, 0, 1, 0,
		3, 1, 0, 1, 2, 1,
		3, 0, 1, 0, 3, 0,
		10, 0, 0, 1, 5, 0,
	})
	if !mat.Equal(x, want) {
		t.Errorf("X =\n%v\nwant\n%v", mat.Formatted(x), mat.Formatted(want))
	}
	// A cell that was never missing in training is filled all the same:
	// the median of 1, 2, 3, 5 is 2.5.
	row := make([]float64, recipe.Dim())
	if _, err := recipe.Encode(map[string]any{"n": 4, "c": "b", "flag": "set", "full": nil}, row); err != nil {
		t.Fatal(err)
	}
	if want := []float64{4, 0, 0, 0, 2.5, 1}; !cmp.Equal(row, want) {
		t.Errorf("row %v, want %v", row, want)
	}
}

// The filled column is what is standardised: it has mean zero and variance one.
func TestImputeThenStandardize(t *testing.T) {
	_, x, _ := mustLearn(t, mustRead(t, "n,y\n1,1\n,0\n3,1\n10,0\n", table.HeaderYes), Options{Impute: true})
	column := mat.Col(nil, 0, x)
	var sum, squares float64
	for _, z := range column {
		sum += z
		squares += z * z
	}
	if math.Abs(sum) > 1e-14 || math.Abs(squares/4-1) > 1e-14 { // four terms near one
		t.Errorf("column %v has sum %g and mean square %g", column, sum, squares/4)
	}
}

func TestDroppedColumns(t *testing.T) {
	const rows = 12
	column := map[string]func(i int) string{
		"id":         func(i int) string { return fmt.Sprint(900 - 7*i) },
		"patient_id": func(i int) string { return fmt.Sprintf("P%d", i) },
		"PatientID":  func(i int) string { return fmt.Sprint(i + 1) },
		"group_id":   func(i int) string { return fmt.Sprint(i / 2) },           // repeats: kept
		"PAID":       func(i int) string { return fmt.Sprint(3 * i) },           // no identifier: kept
		"time":       func(i int) string { return fmt.Sprint(i) },               // named otherwise: kept
		"":           func(i int) string { return fmt.Sprint(i) },               // row names of a spreadsheet
		"name":       func(i int) string { return fmt.Sprintf("name %d", i) },   // all differ
		"town":       func(i int) string { return fmt.Sprintf("town %d", i%9) }, // 9 of 12: kept
		"same":       func(int) string { return "x" },
		"rounding":   func(i int) string { return []string{"0.3", "0.30000000000000004"}[i%2] },
		"long":       func(i int) string { return fmt.Sprint(123456789012345 + i%2) },     // exact: kept
		"decimals":   func(i int) string { return fmt.Sprintf("123456789012.34%d", i%2) }, // and these
		"empty":      func(int) string { return "" },
		"idScore":    func(i int) string { return fmt.Sprint(float64(i) + 0.5) }, // kept
	}
	want := map[string]string{
		"id": "by its name", "patient_id": "by its name", "PatientID": "by its name", "c1": "consecutive row numbers",
		"name": "all 12 values are unique", "same": `every value is "x"`, "rounding": "its values, 0.3 to 0.30000000000000004, differ by no more than rounding", "empty": "no cell has a value",
	}
	names := []string{""}
	for name := range column {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(strings.Join(names, ",") + ",y\n")
	for i := range rows {
		for _, name := range names {
			b.WriteString(column[name](i) + ",")
		}
		fmt.Fprintln(&b, i%2)
	}
	recipe, _, _ := mustLearn(t, mustRead(t, b.String(), table.HeaderYes), Options{})
	for _, c := range recipe.Columns {
		reason, drop := want[c.Name]
		if drop != (c.Kind == Dropped) || !strings.Contains(c.Reason, reason) {
			t.Errorf("column %q: kind %s, reason %q; want dropped %v with %q", c.Name, c.Kind, c.Reason, drop, reason)
		}
	}
	// Declared categorical, an identifier is kept.
	recipe, _, _ = mustLearn(t, mustRead(t, b.String(), table.HeaderYes), Options{Categorical: []string{"id"}})
	i := slices.IndexFunc(recipe.Columns, func(c Column) bool { return c.Name == "id" })
	if c := recipe.Columns[i]; c.Kind != Categorical || len(c.Categories) != rows {
		t.Errorf("declared column: kind %s with %d categories", c.Kind, len(c.Categories))
	}
}

func TestPositiveSpelling(t *testing.T) {
	for _, c := range []struct{ a, b, wanted, positive string }{
		{"0", "1", "", "1"},
		{"-1", "1", "", "1"},
		{"'-1'", "'1'", "", "'1'"},
		{"No", "Yes", "", "Yes"},
		{"TRUE", "FALSE", "", "TRUE"},
		{"good", "bad", "", "bad"},
		{"g", "b", "", "b"},
		{"M", "B", "", "M"},
		{"M", "R", "", "M"},
		{"1", "2", "2", "2"},
		{"1", "2", "1", "1"},
		{"'1'", "'2'", "2", "'2'"}, // quotes may be left out
		{"1", "'1'", "1", "1"},     // the exact spelling comes first
		{"0", "1", "0", "0"},       // what is asked for beats convention
	} {
		table := mustRead(t, fmt.Sprintf("1,%s\n2,%s\n", c.a, c.b), table.HeaderNo)
		recipe, _, y := mustLearn(t, table, Options{Positive: c.wanted})
		if recipe.Target.Positive() != c.positive {
			t.Errorf("%s/%s, wanted %q: positive %q, want %q", c.a, c.b, c.wanted, recipe.Target.Positive(), c.positive)
		}
		if want := 1; (c.a == c.positive) != (y[0] == want) || y[0] != 1-y[1] {
			t.Errorf("%s/%s: labels %v", c.a, c.b, y)
		}
	}
}

// Categories and outcomes that look the same are the same, however a file, the options or new
// rows compose them: the recipe is that of a table in which all are composed.
func TestCellsComposedOtherwise(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	text := "x,place,y\n1,%[1]s,r\u00e9el\n2,bar,faux\n3,%[2]s,re\u0301el\n4,bar,faux\n5,%[2]s,faux\n6,bar,R\u00c9EL\n"
	want, wantX, wantY := mustLearn(t, mustRead(t, fmt.Sprintf(text, composed, composed), table.HeaderYes), Options{Positive: "r\u00e9el"})
	for _, spelling := range [][2]string{{composed, decomposed}, {decomposed, composed}, {decomposed, decomposed}} {
		table := mustRead(t, fmt.Sprintf(text, spelling[0], spelling[1]), table.HeaderYes)
		for _, o := range []Options{{Positive: "re\u0301el"}, {Target: "y == \"re\u0301el\" or y == \"R\u00c9EL\""}} {
			recipe, x, y := mustLearn(t, table, o)
			if !mat.Equal(x, wantX) || !slices.Equal(y, wantY) || o.Target == "" && !cmp.Equal(recipe, want) {
				t.Errorf("%+q, %+v: %v, %v, %v", spelling, o, recipe, y, mat.Formatted(x))
			}
		}
	}
	old := *want // as recipes were before
	old.Columns = slices.Clone(want.Columns)
	old.Columns[1].Categories = []string{"bar", decomposed}
	for _, r := range []*Recipe{want, &old} {
		for _, place := range []string{composed, decomposed} {
			row := make([]float64, r.Dim())
			if unseen, err := r.Encode(map[string]any{"x": 1.0, "place": place}, row); err != nil || unseen != nil || row[1] != 1 {
				t.Errorf("%+q: %v, unseen %q, %v", place, row, unseen, err)
			}
		}
		if y, known := r.Target.Label("Re\u0301el"); !known || y != +1 {
			t.Errorf("label %d, %v", y, known)
		}
	}
}

// Against exact rational sums: the mean to one unit in the last place of the
// largest value, the variance (of numbers that are exactly representable) to a
// relative 1e-13, which is what n = 200 roundings can add up to and far below
// what the one-pass formula loses at an offset of 1e9.
func TestMeanScaleAgainstRationals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []float64{1e-300, 1e-3, 1, 1e9, 1e290} {
		for _, offset := range []float64{0, 1, 1e9} {
			values := make([]float64, 200)
			for i := range values {
				values[i] = scale * (offset + rng.NormFloat64())
			}
			slices.Sort(values)
			n := big.NewRat(int64(len(values)), 1)
			mean := new(big.Rat)
			for _, x := range values {
				mean.Add(mean, new(big.Rat).SetFloat64(x))
			}
			mean.Quo(mean, n)
			variance := new(big.Rat)
			for _, x := range values {
				d := new(big.Rat).Sub(new(big.Rat).SetFloat64(x), mean)
				variance.Add(variance, d.Mul(d, d))
			}
			root, _ := new(big.Float).Sqrt(new(big.Float).SetPrec(200).SetRat(variance.Quo(variance, n))).Float64()
			exact, _ := mean.Float64()
			gotMean, gotScale := meanScale(values)
			if diff := math.Abs(gotMean - exact); diff > 2.3e-16*magnitude(values) {
				t.Errorf("scale %g offset %g: mean off by %g", scale, offset, diff)
			}
			if diff := math.Abs(gotScale/root - 1); diff > 1e-13 {
				t.Errorf("scale %g offset %g: deviation off by a factor 1+%g", scale, offset, diff)
			}
		}
	}
}

func TestStatisticsAtTheEdges(t *testing.T) {
	huge := []float64{-math.MaxFloat64, math.MaxFloat64}
	if mean, scale := meanScale(huge); mean != 0 || scale != math.MaxFloat64 {
		t.Errorf("meanScale(±max) = %g, %g", mean, scale)
	}
	if m := median([]float64{math.MaxFloat64 / 2, math.MaxFloat64}); math.IsInf(m, 0) {
		t.Error("median overflows")
	}
	negativeZero := math.Copysign(0, -1)
	if m := median([]float64{negativeZero}); math.Signbit(m) {
		t.Error("median is −0, which JSON drops")
	}
	if m := median([]float64{1, 2, 7}); m != 2 {
		t.Errorf("median of three = %g", m)
	}
	if m := median([]float64{1, 2, 7, 9}); m != 4.5 {
		t.Errorf("median of four = %g", m)
	}
}

// The median of many values is that of all in their order.
func TestMedianOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, spread := range []float64{0, 1, 30, 1e300} { // among which few and many begin with the same bits
		for _, n := range []int{radix.Many, radix.Many + 1} {
			values := make([]float64, n)
			for i := range values {
				values[i] = math.Round(spread * rng.NormFloat64())
			}
			before, sorted := slices.Clone(values), slices.Clone(values)
			slices.Sort(sorted)
			if m, want := median(values), sorted[(n-1)/2]/2+sorted[n/2]/2; m != want || !slices.Equal(values, before) {
				t.Errorf("spread %g: %g for %g", spread, m, want)
			}
		}
	}
}

// Kinds stay, statistics move: refitting on a fold equals learning there where
// the fold shows the same kinds.
func TestRefit(t *testing.T) {
	table := mustRead(t, "n,c,m,y\n1,a,5,1\n2,b,,0\n6,a,7,0\n8,c,9,1\n9,b,2,1\n", table.HeaderYes)
	whole, _, _ := mustLearn(t, table, Options{Impute: true})
	fold := table.Subset([]int{0, 1, 2, 4})
	refitted, err := whole.Refit(fold)
	if err != nil {
		t.Fatal(err)
	}
	learned, _, _ := mustLearn(t, fold, Options{Impute: true})
	if !cmp.Equal(refitted.Features(), whole.Features()) {
		t.Errorf("features changed to %q", refitted.Features())
	}
	learned.Columns[1].Categories = whole.Columns[1].Categories // "c" does not occur in the fold
	if diff := cmp.Diff(learned, refitted); diff != "" {
		t.Errorf("(-learned +refitted)\n%s", diff)
	}
	if whole.Rows != 5 {
		t.Error("Refit changed its receiver")
	}
	// A column constant in the fold becomes a feature of zeros, not of NaN.
	refitted, err = whole.Refit(table.Subset([]int{0, 0, 1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	if c := refitted.Columns[2]; c.Scale != 1 || c.Mean != 5 {
		t.Errorf("constant in the fold: mean %g, scale %g", c.Mean, c.Scale)
	}
	if _, err := whole.Refit(table.Subset([]int{0, 3})); err == nil {
		t.Error("Refit on one class gives no error")
	}
}

// learnAll is Learn with the parts that most tests look at.
func learnAll(t *table.Table, o Options) (*Recipe, *mat.Dense, []int, error) {
	l, err := Learn(t, o)
	if err != nil {
		return nil, nil, nil, err
	}
	return l.Recipe, l.X, l.Labels, nil
}

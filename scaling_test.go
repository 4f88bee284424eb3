package lossep_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// drawn is what a table is divided into: training rows and test rows, several times.
type drawn struct{ train, test [][]int }

// folds are k of them, each tested by the others.
func folds(n, k int, rng *rand.Rand) (d drawn) {
	d.train, d.test = make([][]int, k), make([][]int, k)
	for i, row := range rng.Perm(n) {
		for fold := range k {
			if i%k == fold {
				d.test[fold] = append(d.test[fold], row)
			} else {
				d.train[fold] = append(d.train[fold], row)
			}
		}
	}
	return d
}

// samples are times random choices of training rows, and of up to test others.
func samples(n, train, test, times int, rng *rand.Rand) (d drawn) {
	for range times {
		rows := rng.Perm(n)
		d.train = append(d.train, rows[:train])
		d.test = append(d.test, rows[train:min(n, train+test)])
	}
	return d
}

// paired is a mean difference with its standard error.
type paired struct{ difference, square, n float64 }

func (p *paired) add(now, before float64) {
	p.difference += now - before
	p.square += (now - before) * (now - before)
	p.n++
}

func (p *paired) values() (difference, stderr float64) {
	difference = p.difference / p.n
	return difference, math.Sqrt(math.Max(p.square/p.n-difference*difference, 0) / p.n)
}

// scaled compares automatic scaling with plain standardising: log loss, and cost at fn=5,
// fp=1. Training rows of which no column is bent would give the same model twice, and are
// not fitted.
func scaled(t *testing.T, table *table.Table, o recipe.Options, d drawn) (loss, cost paired, columns int) {
	t.Helper()
	for k := range d.train {
		train, test := table.Subset(d.train[k]), table.Subset(d.test[k])
		var problems [2]*lossep.Problem
		for side, bend := range []recipe.Bend{recipe.Straight, recipe.AutoBend} {
			var err error
			o.Scaling = bend
			problems[side], err = lossep.Prepare(train, lossep.Options{
				Data: o, Utility: costs(t, "fn=5,fp=1"), Method: lossep.EP, Inducing: lossep.NoInducing, Kernel: "matern32 + constant",
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		labels, err := problems[0].Recipe.Labels(test)
		if err != nil {
			t.Fatal(err)
		}
		bent := 0
		for _, c := range problems[1].Recipe.Columns {
			if c.Scaling != nil {
				bent++
			}
		}
		columns = max(columns, bent)
		l, c := make([][2]float64, len(labels)), make([][2]float64, len(labels))
		for side, p := range problems {
			if bent == 0 {
				break
			}
			m, err := p.Fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			x, _, err := m.Recipe().Apply(test)
			if err != nil {
				t.Fatal(err)
			}
			decisions, err := m.Decide(x)
			if err != nil {
				t.Fatal(err)
			}
			for i, one := range decisions {
				y := labels[i]
				l[i][side] = -math.Log(one.Probabilities[y])
				c[i][side] = [2][2]float64{{0, 5}, {1, 0}}[one.Action][y]
			}
		}
		for i := range labels {
			loss.add(l[i][1], l[i][0])
			cost.add(c[i][1], c[i][0])
		}
	}
	return loss, cost, columns
}

// Automatic scaling does not lose against plain standardising on tables that it was not
// chosen on. With LOSSEP_TABLES the tables of a folder (*.csv, the outcome last) are tried
// as well, 300 training and 1,500 test rows three times each; -v prints what
// docs/research/columns.md has.
func TestLongTailsOnRealTables(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	folder := filepath.Join("..", "shared", "data")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("the tables are not there: %v", err)
	}
	try := func(path, positive string, divide func(n int, rng *rand.Rand) drawn) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		table, err := table.Read(t.Context(), f, filepath.Base(path), table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		d := divide(table.Len(), rand.New(rand.NewPCG(7, 7)))
		loss, cost, columns := scaled(t, table, recipe.Options{Positive: positive, Impute: true}, d)
		difference, stderr := loss.values()
		line := fmt.Sprintf("%s: up to %d columns bent; log loss %+.4f ± %.4f", table.Name(), columns, difference, stderr)
		if difference > 2*stderr {
			t.Errorf("%s is worse than standardising", line)
		}
		difference, stderr = cost.values()
		t.Logf("%s, cost %+.4f ± %.4f", line, difference, stderr)
	}
	five := func(n int, rng *rand.Rand) drawn { return folds(n, 5, rng) }
	try(filepath.Join(folder, "german.csv"), "2", five)
	try(filepath.Join(folder, "pima-indians-diabetes.csv"), "", five)
	try(filepath.Join(folder, "ionosphere.csv"), "", five)
	try(filepath.Join(folder, "sonar.csv"), "", five)
	try(filepath.Join(folder, "mammography.csv"), "'1'", func(n int, rng *rand.Rand) drawn { return samples(n, 1000, 10000, 1, rng) })
	if own := os.Getenv("LOSSEP_TABLES"); own != "" {
		paths, err := filepath.Glob(filepath.Join(own, "*.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			try(path, "", func(n int, rng *rand.Rand) drawn { return samples(n, 300, 1500, 3, rng) })
		}
	}
}

// skewed are rows of an amount over several orders of magnitude.
func skewed(n int) string {
	rng := rand.New(rand.NewPCG(2, 2))
	var b strings.Builder
	b.WriteString("amount,gain,y\n")
	for range n {
		z, g := rng.NormFloat64(), rng.NormFloat64()
		y := 0
		if z+0.5*rng.NormFloat64() > 0 {
			y = 1
		}
		fmt.Fprintf(&b, "%.3f,%.4f,%d\n", 100*math.Exp(2*z), math.Copysign(math.Exp(3*math.Abs(g)), g), y)
	}
	return b.String()
}

// A bend is part of the model: through a file, with inducing points, and from objects as
// from tables, predictions are the same to the last bit; and a value far out is as
// uncertain as if nothing had been seen.
func TestBendsArePartOfTheModel(t *testing.T) {
	cases := tableOf(t, skewed(120))
	for _, inducing := range []int{lossep.NoInducing, 20} {
		m, err := lossep.Fit(t.Context(), cases, lossep.Options{
			Method: lossep.EP, Kernel: "matern32(variance=4, lengthscale=1) + constant(variance=1)", Fixed: true, Inducing: inducing,
		})
		if err != nil {
			t.Fatal(err)
		}
		if bends := [2]string{m.Recipe().Columns[0].Scaling.String(), m.Recipe().Columns[1].Scaling.String()}; bends != [2]string{"log", "normal scores"} {
			t.Fatalf("bends %q", bends)
		}
		loaded, err := lossep.Read(strings.NewReader(string(written(t, m))))
		if err != nil {
			t.Fatal(err)
		}
		rows := tableOf(t, "amount,gain\n0.5,5\n100,-3\n1000000000,0.5\n100,1000000000\n")
		x, _, err := m.Recipe().Apply(rows)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := loaded.Recipe().Apply(rows)
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Predict(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := loaded.Predict(again)
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%v after a file, %v before (%v)", got, want, err)
		}
		e := loaded.Recipe().NewEncoder()
		for i, row := range [][2]float64{{0.5, 5}, {100, -3}, {1e9, 0.5}, {100, 1e9}} {
			features := make([]float64, 2)
			e.Begin(features)
			e.Number(0, row[0])
			e.Number(1, row[1])
			remarks, err := e.End()
			if err != nil || !cmp.Equal(features, x.RawRowView(i)) {
				t.Errorf("row %d: %v as numbers, %v as a table (%v)", i, features, x.RawRowView(i), err)
			}
			if far := len(remarks.Far) > 0; far != (i >= 2) {
				t.Errorf("row %d: far %v", i, remarks.Far)
			}
		}
		for _, p := range want[2:] { // the process has variance 4 before any row, and 1 of the offset is known
			if p.Variance < 3.9 {
				t.Errorf("variance %v far out", p.Variance)
			}
		}
	}
}

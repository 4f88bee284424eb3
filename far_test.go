package lossep_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// nearby is a small table: a number, a category, and an outcome that depends on both.
func nearby() string {
	var b strings.Builder
	b.WriteString("income,job,class\n")
	for i := range 6 {
		class := "good"
		if (i*5)%6 < 2 || i == 3 {
			class = "bad"
		}
		fmt.Fprintf(&b, "%d,%s,%s\n", (i*5)%6, []string{"clerk", "smith"}[i%2], class)
	}
	return b.String()
}

var nearbyTable = sync.OnceValue(func() *table.Table {
	t, err := table.Read(context.Background(), strings.NewReader(nearby()), "nearby.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		panic(err)
	}
	return t
})

// fitNearby fits a kernel with fixed parameters.
func fitNearby(t testing.TB, kernel string, l lossep.Likelihood, method lossep.Method) *lossep.Model {
	t.Helper()
	m, err := lossep.Fit(context.Background(), nearbyTable(), lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: costs(t, "fn=5,fp=1"),
		Kernel: kernel, Fixed: true, Likelihood: l, Method: method, Seed: 1,
	})
	if err != nil {
		t.Fatalf("%s, %v, %s: %v", kernel, l, method, err)
	}
	return m
}

// leaves are the kernels of the language, with parameters that are not all 1.
var leaves = []string{
	"rbf(variance=2, lengthscale=0.7)", "matern12", "matern32(variance=3)", "matern52(lengthscale=2)",
	"linear(variance=0.5)", "periodic(period=3)", "constant", "white(variance=0.1)",
}

// compositions are all sums and products of up to so many leaves, each once: as a + b is
// b + a, terms stand in the order in which they were made, and as (a + b) + c is a + b + c,
// no term of a sum is a sum.
func compositions(most int) []string {
	type made struct{ sums, products []string } // with a number of leaves; a leaf is both
	by := make([]made, most+1)
	by[1] = made{leaves, leaves}
	all := slices.Clone(leaves)
	for n := 2; n <= most; n++ {
		// join puts together terms of n leaves in all: from those of size s on, and of them
		// from number i on.
		join := func(terms func(size int) []string, sign, open, end string) (out []string) {
			var add func(left, size, i int, text string)
			add = func(left, size, i int, text string) {
				if left == 0 {
					out = append(out, text)
					return
				}
				for s := size; s <= min(left, n-1); s++ {
					for k, term := range terms(s) {
						if s == size && k < i {
							continue
						}
						if s > 1 {
							term = open + term + end
						}
						if text != "" {
							term = text + sign + term
						}
						add(left-s, s, k, term)
					}
				}
			}
			add(n, 1, 0, "")
			return out
		}
		by[n].sums = join(func(s int) []string { return by[s].products }, " + ", "", "")
		by[n].products = join(func(s int) []string { return by[s].sums }, " * ", "(", ")")
		all = append(append(all, by[n].sums...), by[n].products...)
	}
	return all
}

func TestCompositions(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range compositions(4) {
		seen[k] = true
	}
	// Of 8 leaves two make 36 sums; three make 120, and 36·8 with a product; four make 330,
	// 36·36 with one product, 36·37/2 of two, and (120 + 36·8)·8 with one of three. There
	// are as many products.
	if want := 8 + 2*(36+120+36*8+330+36*36+36*37/2+(120+36*8)*8); len(seen) != want {
		t.Errorf("%d compositions and not %d", len(seen), want)
	}
}

// magnitudes are ±10^k for every k from 0 to 308, and the smallest numbers and the
// largest.
func magnitudes() []float64 {
	all := []float64{
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1e-310, -1e-310, 0x1p-1022, -0x1p-1022,
		math.MaxFloat64, -math.MaxFloat64,
	}
	for k := range 309 {
		x, err := strconv.ParseFloat(fmt.Sprintf("1e%d", k), 64)
		if err != nil {
			panic(err)
		}
		all = append(all, x, -x)
	}
	return all
}

// approaches are the likelihoods with the methods.
type approach struct {
	lossep.Likelihood
	method lossep.Method
}

func approaches() (all []approach) {
	for _, l := range []lossep.Likelihood{{Name: "probit"}, {Name: "logit"}, {Name: "robust", Noise: 0.01}} {
		for _, method := range lossep.Methods() {
			all = append(all, approach{l, method})
		}
	}
	return all
}

// checkAnswer is the law: numbers, or an error that names the row and the column.
func checkAnswer(t *testing.T, what string, m *lossep.Model, x *mat.Dense, row int) (refused bool) {
	t.Helper()
	predictions, err := m.Predict(x)
	var far *lossep.FarError
	switch {
	case errors.As(err, &far):
		if far.Row != row || far.Column != "income" {
			t.Errorf("%s, row %v: %v", what, x.RawRowView(row), err)
		}
	case err != nil:
		t.Errorf("%s, row %v: %v", what, x.RawRowView(row), err)
	}
	for _, p := range predictions {
		if !(math.Abs(p.Mean) <= math.MaxFloat64 && p.Variance >= 0 && p.Variance <= math.MaxFloat64 && p.Probability() >= 0 && p.Probability() <= 1) {
			t.Errorf("%s, row %v: %+v", what, x.RawRowView(row), p)
		}
	}
	decisions, refusal := m.Decide(x)
	if (refusal == nil) != (err == nil) {
		t.Errorf("%s, row %v: to predict %v, to decide %v", what, x.RawRowView(row), err, refusal)
	}
	if refusal == nil {
		m.Consult(x, decisions)
	}
	for i, d := range decisions {
		if d.Probability() != predictions[i].Probability() || math.IsNaN(d.Margin) || math.IsNaN(d.Expected[d.Action]) {
			t.Errorf("%s, row %v: %+v", what, x.RawRowView(row), d)
		}
	}
	return err != nil
}

// everywhere asks a model about a far row alone, in a pair of its like, and beside a row
// that is not far: what it says, it says of all three.
func everywhere(t *testing.T, what string, m *lossep.Model, z float64) (refused bool) {
	t.Helper()
	d := m.Recipe().Dim()
	row := make([]float64, d)
	row[0], row[1] = z, 1
	refused = checkAnswer(t, what, m, mat.NewDense(1, d, row), 0)
	if refused != checkAnswer(t, what, m, mat.NewDense(2, d, append(slices.Clone(row), row...)), 0) {
		t.Errorf("%s: %g is refused alone or in a pair, not both", what, z)
	}
	if refused != checkAnswer(t, what, m, mat.NewDense(2, d, append(make([]float64, d), row...)), 1) {
		t.Errorf("%s: %g is refused alone or beside another row, not both", what, z)
	}
	return refused
}

var robust = flag.Bool("robust", false, "ask about every far row in every composition of kernels, which takes long (make robust)")

// Whatever the kernel, the likelihood and the method, far rows have numbers or are refused,
// alone and in pairs, and rows beside them are none the worse.
//
// All together are 135 million questions: 12,008 compositions, 18 likelihoods with methods,
// 626 magnitudes. With -robust it is every magnitude in every composition by EP, every
// magnitude in every composition of two by every method, and three magnitudes in every
// composition by the methods in turn. Otherwise it is a design in which each has its turn:
// three magnitudes by the methods in turn in compositions of up to two, in a third of those of three and in every
// sixtieth of those of four, and by EP in a sixteenth of these.
func TestFarRowsOfEveryKernel(t *testing.T) {
	all, far, kernels := approaches(), magnitudes(), compositions(4)
	ordinary := slices.IndexFunc(all, func(a approach) bool { return a.method == lossep.EP && a.Name == "probit" })
	two, three := len(compositions(2)), len(compositions(3))
	var asked, refused atomic.Int64
	tasks.For(len(kernels), func(i int) {
		ask := func(turn int, magnitudes ...float64) {
			a := all[turn]
			what := fmt.Sprintf("%s, %v, %s", kernels[i], a.Likelihood, a.method)
			m := fitNearby(t, kernels[i], a.Likelihood, a.method)
			for _, z := range magnitudes {
				asked.Add(1)
				if everywhere(t, what, m, z) {
					refused.Add(1)
				}
			}
		}
		// A denormal, one that numbers can be had of, and one that may be beyond.
		some := []float64{far[i%8], far[8+i%102], far[8+(7*i)%618]}
		switch {
		case *robust && i < two:
			for turn := range all {
				ask(turn, far...)
			}
		case *robust:
			ask(ordinary, far...)
			ask(i%len(all), some...)
		case i < two || i < three && i%3 == 0 || i%60 == 0:
			ask(i/3%len(all), some...)
		case i%16 == 1:
			ask(ordinary, some...)
		}
	})
	t.Logf("%d far rows, of which %d are refused", asked.Load(), refused.Load())
	if r := refused.Load(); r == 0 || r == asked.Load() {
		t.Error("all are refused, or none")
	}
}

// Where there are more than two outcomes, too, and where kernels are mixed.
func TestFarRowsOfOtherModels(t *testing.T) {
	several := strings.Replace(strings.Replace(nearby(), ",good", ",fair", 1), ",good", ",fair", 1)
	for _, c := range []struct {
		text, kernel string
		method       lossep.Method
	}{
		{several, "rbf(ard) + linear", lossep.EP},
		{several, "linear*linear*linear*linear + constant", lossep.VI},
		{several, "(linear + matern32)*linear + white", lossep.Laplace},
		{nearby(), lossep.AutoKernel, lossep.EP},
		{nearby(), lossep.AutoKernel, lossep.Corrected},
	} {
		o := lossep.Options{Data: recipe.Options{Target: "class"}, Kernel: c.kernel, Fixed: c.kernel != lossep.AutoKernel, Method: c.method, Seed: 1}
		if c.kernel == lossep.AutoKernel {
			o.Data.Positive = "bad"
		}
		m, err := lossep.Fit(context.Background(), tableOf(t, c.text), o)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		refused := 0
		for _, z := range magnitudes() {
			if everywhere(t, fmt.Sprint(c.kernel, ", ", c.method), m, z) {
				refused++
			}
		}
		if refused == 0 || refused == len(magnitudes()) {
			t.Errorf("%v: %d are refused", c, refused)
		}
	}
}

// Beyond the farthest feature every kernel, likelihood and method refuses.
func TestBeyondFarthest(t *testing.T) {
	for i, a := range approaches() {
		m := fitNearby(t, leaves[i%len(leaves)]+" + linear", a.Likelihood, a.method)
		for _, z := range magnitudes() {
			if math.Abs(z) > lossep.Farthest && !everywhere(t, fmt.Sprint(a), m, z) {
				t.Errorf("%v: %g is not refused", a, z)
			}
		}
	}
}

// A row of a file is refused with its line and its column, and nothing is decided.
func TestFarRowOfAFile(t *testing.T) {
	m := fitNearby(t, "linear * linear * linear + rbf", lossep.Likelihood{Name: "probit"}, lossep.EP)
	for _, value := range []string{"1e120", "-1e300"} {
		text := "job,income\nclerk,3\nsmith,4\nclerk," + value + "\n"
		for what, read := range map[string]func(*recipe.Reader) error{
			"predict": func(r *recipe.Reader) (err error) {
				for _, err = range m.Predictions(context.Background(), r) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			"decide": func(r *recipe.Reader) (err error) {
				for _, err = range m.Decisions(context.Background(), r, nil, true) {
					if err != nil {
						return err
					}
				}
				return nil
			},
		} {
			r, err := recipe.NewReader(context.Background(), strings.NewReader(text), "new.csv", m.Recipe(), table.Format{Header: table.HeaderYes})
			if err != nil {
				t.Fatal(err)
			}
			err = read(r)
			var located *table.Error
			var far *lossep.FarError
			if !errors.As(err, &located) || located.Line != 4 || located.ColumnName != "income" || !errors.As(err, &far) || errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v", what, value, err)
			}
		}
	}
}

// Training rows that no kernel can take are refused by line and column, and those that
// one kernel cannot take by that kernel; everything else is fitted.
func TestFarTrainingRows(t *testing.T) {
	for _, kernel := range []string{"rbf + constant", "rbf(ard) + linear", "linear*linear*linear*linear + rbf"} {
		for _, fixed := range []bool{true, false} {
			for _, value := range []string{"1e10", "1e30", "1e49", "-1e200", "5e-324"} {
				for _, standardize := range []bool{true, false} {
					text := strings.Replace(nearby(), "\n3,", "\n"+value+",", 1)
					data, err := table.Read(context.Background(), strings.NewReader(text), "past.csv", table.Format{Header: table.HeaderYes})
					if err != nil {
						t.Fatal(err)
					}
					m, err := lossep.Fit(context.Background(), data, lossep.Options{
						Data: recipe.Options{Target: "class", Positive: "bad", KeepScale: !standardize}, Utility: costs(t, "fn=5,fp=1"),
						Kernel: kernel, Fixed: fixed, Method: lossep.Corrected, Seed: 1,
					})
					var input *lossep.InputError
					var rows *table.Error
					switch {
					case errors.As(err, &rows):
						if rows.Line == 0 || rows.ColumnName != "income" {
							t.Errorf("%s, %s: %v", kernel, value, err)
						}
					case errors.As(err, &input):
						if input.What != "kernel" {
							t.Errorf("%s, %s: %v", kernel, value, err)
						}
					case err != nil:
						t.Errorf("%s (fixed %v, standardised %v), %s: %v", kernel, fixed, standardize, value, err)
					default:
						if e := m.Summary().LogEvidence; math.IsNaN(e) || math.IsInf(e, 0) {
							t.Errorf("%s, %s: log evidence %v", kernel, value, e)
						}
					}
				}
			}
		}
	}
}

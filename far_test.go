package lossep_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
)

// nearby is a small table: a number, a category, and an outcome that depends on both.
func nearby() string {
	var b strings.Builder
	b.WriteString("income,job,class\n")
	for i := range 12 {
		class := "good"
		if (i*5)%12 < 5 || i == 3 {
			class = "bad"
		}
		fmt.Fprintf(&b, "%d,%s,%s\n", (i*5)%12, []string{"clerk", "smith"}[i%2], class)
	}
	return b.String()
}

// fitNearby fits a kernel with fixed parameters.
func fitNearby(t testing.TB, kernel string, l lossep.Likelihood, method lossep.Method) *lossep.Model {
	t.Helper()
	table, err := data.Read(context.Background(), strings.NewReader(nearby()), "nearby.csv", data.Format{Header: data.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(context.Background(), table, lossep.Options{
		Data: data.Options{Target: "class", Positive: "bad"}, Utility: costs(t, "fn=5,fp=1"),
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

// kernels are all leaves, sums and products of two of them, and from there on, up to
// degree four, what a far row can make overflow: products with linear kernels.
func kernels() []string {
	all := append([]string{}, leaves...)
	for i, a := range leaves {
		for _, b := range leaves[i:] {
			all = append(all, a+" + "+b)
			if !strings.HasPrefix(a+b, "white") {
				all = append(all, "("+a+" * "+b+") + white(variance=0.1)")
			}
		}
	}
	for _, a := range leaves {
		all = append(all,
			"linear * linear * "+a+" + constant", "linear * linear * linear * "+a+" + constant",
			"linear(ard) * (linear + "+a+") * linear + rbf", "(linear + "+a+") * (linear + "+a+") * (constant + linear) * linear + white")
	}
	return all
}

// magnitudes are ±10^k for every k, and the smallest numbers.
func magnitudes(step int) []float64 {
	all := []float64{0, math.SmallestNonzeroFloat64, 1e-310, -1e-310, math.MaxFloat64, -math.MaxFloat64}
	for k := 0; k <= 308; k += step {
		x := math.Pow(10, float64(k))
		all = append(all, x, -x)
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

// Whatever the kernel, far rows have numbers or are refused, alone and in pairs, and
// rows beside them are none the worse.
func TestFarRowsOfEveryKernel(t *testing.T) {
	for _, k := range kernels() {
		m := fitNearby(t, k, lossep.Likelihood{Name: "probit"}, lossep.EP)
		d := m.Recipe().Dim()
		for _, z := range magnitudes(3) {
			row := make([]float64, d)
			row[0], row[1] = z, 1
			if z == 0 {
				continue
			}
			refused := checkAnswer(t, k, m, mat.NewDense(1, d, row), 0)
			if refused != checkAnswer(t, k, m, mat.NewDense(2, d, append(append([]float64{}, row...), row...)), 0) {
				t.Errorf("%s: %g is refused alone or in a pair, not both", k, z)
			}
			beside := mat.NewDense(2, d, append(make([]float64, d), row...))
			if refused != checkAnswer(t, k, m, beside, 1) {
				t.Errorf("%s: %g is refused alone or beside another row, not both", k, z)
			}
		}
		if !checkAnswer(t, k, m, mat.NewDense(1, d, append([]float64{2 * lossep.Farthest}, make([]float64, d-1)...)), 0) {
			t.Errorf("%s: a feature beyond the farthest is not refused", k)
		}
	}
}

// Whatever the likelihood and the method, too; the kernels are those that a far row
// makes narrow, wide and infinite.
func TestFarRowsOfEveryMethod(t *testing.T) {
	for _, k := range []string{"rbf + constant", "rbf(ard) + linear", "linear * linear * linear + rbf", "linear * linear * linear * linear + constant"} {
		for _, l := range []lossep.Likelihood{{Name: "probit"}, {Name: "logit"}, {Name: "robust", Noise: 0.01}} {
			for _, method := range lossep.Methods() {
				m := fitNearby(t, k, l, method)
				d := m.Recipe().Dim()
				what := fmt.Sprintf("%s, %v, %s", k, l, method)
				for _, z := range magnitudes(7) {
					if z == 0 {
						continue
					}
					for _, row := range [][]float64{{z, 1, 0}, {z, 0, 1}} {
						checkAnswer(t, what, m, mat.NewDense(1, d, row), 0)
					}
				}
			}
		}
	}
}

// A row of a file is refused with its line and its column, and nothing is decided.
func TestFarRowOfAFile(t *testing.T) {
	m := fitNearby(t, "linear * linear * linear + rbf", lossep.Likelihood{Name: "probit"}, lossep.EP)
	for _, value := range []string{"1e120", "-1e300"} {
		text := "job,income\nclerk,3\nsmith,4\nclerk," + value + "\n"
		for what, read := range map[string]func(*data.Reader) error{
			"predict": func(r *data.Reader) (err error) {
				for _, err = range m.Predictions(context.Background(), r) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			"decide": func(r *data.Reader) (err error) {
				for _, err = range m.Decisions(context.Background(), r, nil) {
					if err != nil {
						return err
					}
				}
				return nil
			},
		} {
			r, err := data.NewReader(context.Background(), strings.NewReader(text), "new.csv", m.Recipe(), data.Format{Header: data.HeaderYes})
			if err != nil {
				t.Fatal(err)
			}
			err = read(r)
			var located *data.Error
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
					table, err := data.Read(context.Background(), strings.NewReader(text), "past.csv", data.Format{Header: data.HeaderYes})
					if err != nil {
						t.Fatal(err)
					}
					m, err := lossep.Fit(context.Background(), table, lossep.Options{
						Data: data.Options{Target: "class", Positive: "bad", KeepScale: !standardize}, Utility: costs(t, "fn=5,fp=1"),
						Kernel: kernel, Fixed: fixed, Method: lossep.Corrected, Seed: 1,
					})
					var input *lossep.InputError
					var rows *data.Error
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

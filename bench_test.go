package lossep_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// normalTable has n cases of d standard normal columns, with an outcome that depends on
// all of them a little.
func normalTable(b testing.TB, n, d int) *table.Table {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	var text strings.Builder
	for k := range d {
		fmt.Fprintf(&text, "x%d,", k)
	}
	text.WriteString("ill\n")
	for range n {
		sum := 0.0
		for k := range d {
			v := rng.NormFloat64()
			sum += v * math.Cos(float64(k))
			fmt.Fprintf(&text, "%.6f,", v)
		}
		ill := 0
		if sum+math.Sqrt(float64(d))*rng.NormFloat64() > 0 {
			ill = 1
		}
		fmt.Fprintf(&text, "%d\n", ill)
	}
	return tableOf(b, text.String())
}

// BenchmarkDecide decides by a model of 1000 training rows, EP.
func BenchmarkDecide(b *testing.B) {
	for _, d := range []int{20, 60} {
		m, err := lossep.Fit(context.Background(), normalTable(b, 1000, d), lossep.Options{
			Utility: costs(b, "fn=5,fp=1"), Method: lossep.EP, Fixed: true,
			Kernel: fmt.Sprintf("matern32(variance=3, lengthscale=%v) + constant", math.Sqrt(float64(d))),
		})
		if err != nil {
			b.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, rows := range []int{1, 8, 64, 1000} {
			x := mat.NewDense(rows, d, nil)
			x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
			b.Run(fmt.Sprintf("d=%d/rows=%d", d, rows), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N { // b.Loop would run the first of several -cpu before setting it
					must(m.Decide(x))
				}
				b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// BenchmarkConsult asks for second opinions on the 189 held-out rows of the example, by
// a model of 380 rows.
func BenchmarkConsult(b *testing.B) {
	p, err := lossep.Prepare(example.Training(), lossep.Options{
		Data:    recipe.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(b, example.Costs), Kernel: "rbf(variance=80, lengthscale=11)", Fixed: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	l, err := p.Learn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	x, _, err := p.Recipe.Apply(example.HeldOut())
	if err != nil {
		b.Fatal(err)
	}
	for _, method := range []lossep.Method{lossep.EP, lossep.Corrected} {
		m, err := l.Model(context.Background(), method)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(method), func(b *testing.B) {
			for range b.N {
				m.Consult(x, must(m.Decide(x)))
			}
		})
	}
}

// BenchmarkCalibrate calibrates a model of 380 rows to other costs.
func BenchmarkCalibrate(b *testing.B) {
	m, err := lossep.Fit(context.Background(), example.Training(), lossep.Options{
		Data:    recipe.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(b, example.Costs), Kernel: "rbf(variance=80, lengthscale=11)", Fixed: true, Method: lossep.EP,
	})
	if err != nil {
		b.Fatal(err)
	}
	s := bound(b, m, costs(b, "fn=7,fp=2"))
	for range b.N {
		if _, err := m.Calibrate(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFit finds the kernel for 380 rows of 30 columns.
func BenchmarkFit(b *testing.B) {
	rows := example.Training()
	o := lossep.Options{
		Data:    recipe.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(b, example.Costs),
	}
	for b.Loop() {
		if _, err := lossep.Fit(context.Background(), rows, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPredictInducing predicts rows seen from 200 inducing points: three numbers and
// three columns of categories, as the flights of docs/research/inducing.md have.
func BenchmarkPredictInducing(b *testing.B) {
	var text strings.Builder
	text.WriteString("distance,hour,day,weekday,origin,destination,late\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		hour := 24 * rng.Float64()
		late := rng.Float64() < 0.1+0.01*hour
		fmt.Fprintf(&text, "%d,%.2f,%d,d%d,o%d,t%d,%t\n", 100+rng.IntN(2500), hour, 1+rng.IntN(365), rng.IntN(7), rng.IntN(229), rng.IntN(228), late)
	}
	t, err := table.Read(context.Background(), strings.NewReader(text.String()), "flights.csv", table.Format{})
	if err != nil {
		b.Fatal(err)
	}
	for _, kernel := range []string{lossep.ManyColumnsKernel, lossep.ManyRowsKernel} {
		m, err := lossep.Fit(context.Background(), t, lossep.Options{
			Method: lossep.EP, Inducing: 200, Fixed: true, Kernel: kernel, Data: recipe.Options{Target: "late", Positive: "true"}, Seed: 1,
		})
		if err != nil {
			b.Fatal(err)
		}
		x, _, err := m.Recipe().Apply(t)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(kernel, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Predict(x); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(20_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkCorrected predicts 3,000 rows by EP and by corrected marginals, from the first
// rows of real tables where these are. What it reports is the price of the latter relative
// to EP's, what its tables take when they are first asked for, and what they take up.
func BenchmarkCorrected(b *testing.B) {
	for _, c := range []struct {
		file, positive string
		rows           int
	}{
		{"german.csv", "2", 300},
		{"german.csv", "2", 1000},
		{"pima-indians-diabetes.csv", "", 300},
		{"pima-indians-diabetes.csv", "", 768},
		{"ionosphere.csv", "", 351},
		{"sonar.csv", "", 200},
		{"mammography.csv", "'1'", 2000},
	} {
		b.Run(fmt.Sprintf("%s/rows=%d", c.file, c.rows), func(b *testing.B) {
			f, err := os.Open(filepath.Join("..", "shared", "data", c.file))
			if err != nil {
				b.Skip(err)
			}
			defer f.Close()
			whole, err := table.Read(b.Context(), f, c.file, table.Format{})
			if err != nil {
				b.Fatal(err)
			}
			train, asked := make([]int, c.rows), make([]int, 3000)
			for i := range train {
				train[i] = i * whole.Len() / c.rows
			}
			for i := range asked {
				asked[i] = i % whole.Len()
			}
			fit := func(m lossep.Method) *lossep.Model {
				return must(lossep.Fit(b.Context(), whole.Subset(train), lossep.Options{
					Data: recipe.Options{Positive: c.positive}, Utility: costs(b, "fn=5,fp=1"), Method: m,
					Kernel: "matern32 + constant", Inducing: lossep.NoInducing,
				}))
			}
			ep, corrected := fit(lossep.EP), fit(lossep.Corrected)
			x, _, err := ep.Recipe().Apply(whole.Subset(asked))
			if err != nil {
				b.Fatal(err)
			}
			took := func(m *lossep.Model) float64 {
				start := time.Now()
				must(m.Predict(x))
				return time.Since(start).Seconds()
			}
			took(ep)
			first, plain, full := took(corrected), 0.0, 0.0
			for b.Loop() {
				plain += took(ep)
				full += took(corrected)
			}
			n := float64(b.N)
			b.ReportMetric(full/plain, "×EP")
			b.ReportMetric(1e3*plain/n, "ms(ep)")
			b.ReportMetric(1e3*full/n, "ms(corrected)")
			b.ReportMetric(1e3*(first-full/n), "ms(first)")
			b.ReportMetric((corrected.Bytes()-ep.Bytes())/(1<<20), "MB(tables)")
		})
	}
}

// BenchmarkColumnWorth asks what a column of one case is worth to a model of 1000 training rows.
func BenchmarkColumnWorth(b *testing.B) {
	const cases = 256
	m, err := lossep.Fit(context.Background(), normalTable(b, 1000, 20), lossep.Options{
		Utility: costs(b, "fn=5,fp=1"), Method: lossep.EP, Fixed: true, Kernel: "matern32(variance=3, lengthscale=4.5) + constant",
	})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 3))
	x := mat.NewDense(cases, 20, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	for b.Loop() {
		if _, err := m.ColumnWorth(context.Background(), x, "x3"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*cases), "ns/case")
}

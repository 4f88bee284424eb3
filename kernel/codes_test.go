package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// codedInputs are n cases of some numbers and two codes, of 3 and 4 categories, with a few
// that are not known, and the same with 0/1 columns.
func codedInputs(seed uint64, n, numbers int) (coded, oneHot *mat.Dense) {
	rng := rand.New(rand.NewPCG(seed, 9))
	coded, oneHot = mat.NewDense(n, numbers+2, nil), mat.NewDense(n, numbers+7, nil)
	for i := range n {
		for k := range numbers {
			v := rng.NormFloat64()
			coded.Set(i, k, v)
			oneHot.Set(i, k, v)
		}
		for c, size := range []int{3, 4} {
			code := rng.IntN(size+1) - 1
			coded.Set(i, numbers+c, float64(code))
			if code >= 0 {
				oneHot.Set(i, numbers+3*c+code, 1)
			}
		}
	}
	return coded, oneHot
}

// A code is its 0/1 columns, in every kernel: covariances, variances and gradients are the
// same to rounding; and where columns have parameters of their own the gradient in that of
// a code is the sum of those in its columns'.
func TestCodesAreTheirColumns(t *testing.T) {
	for _, numbers := range []int{2, 0} {
		list := func(of string, name string) string {
			// The same value for all 0/1 columns of a code.
			values := []string{"0.7", "1.9"}[:numbers]
			expanded := append([]string{}, values...)
			for range 3 {
				expanded = append(expanded, "1.3")
			}
			for range 4 {
				expanded = append(expanded, "0.6")
			}
			if name == "coded" {
				expanded = append(append([]string{}, values...), "1.3", "0.6")
			}
			return fmt.Sprintf(of, "["+strings.Join(expanded, ", ")+"]")
		}
		for _, text := range []string{
			"rbf(variance=1.4, lengthscale=0.9)", "matern12(lengthscale=1.2)", "matern32(variance=0.8, lengthscale=1.7)", "matern52(lengthscale=0.8)",
			"rbf(variance=1.4, lengthscale=%s)", "matern12(lengthscale=%s)", "matern32(lengthscale=%s)", "matern52(lengthscale=%s)",
			"linear(variance=0.7)", "linear(variance=%s)", "periodic(variance=1.2, lengthscale=1.1, period=2.3)",
			"constant(variance=0.5)", "(matern32 + white(variance=0.3)) * linear + constant",
		} {
			coded, oneHot := text, text
			if strings.Contains(text, "%s") {
				coded, oneHot = list(text, "coded"), list(text, "one-hot")
			}
			k, err := ParseColumns(coded, Columns{Numbers: numbers, Codes: 2})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := Parse(oneHot, numbers+7)
			if err != nil {
				t.Fatal(err)
			}
			k = k.With(k.Params(nil)) // keeps its codes
			checkCodes(t, k, plain, numbers)
		}
	}
}

func checkCodes(t *testing.T, k, plain Kernel, numbers int) {
	t.Helper()
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-11*(1+math.Abs(want)) {
			t.Errorf("%v, %s: %v, of 0/1 columns %v", k, what, got, want)
		}
	}
	x, ox := codedInputs(1, severalTiles, numbers)
	z, oz := codedInputs(2, 9, numbers)
	var gram, plainGram mat.SymDense
	k.Gram(&gram, x)
	plain.Gram(&plainGram, ox)
	var cross, plainCross mat.Dense
	k.Cross(&cross, x, z)
	plain.Cross(&plainCross, ox, oz)
	variance, plainVariance := k.Diag(nil, x), plain.Diag(nil, ox)
	rng := rand.New(rand.NewPCG(3, 3))
	w, own := mat.NewDense(severalTiles, 9, nil), make([]float64, severalTiles)
	symmetric := mat.NewSymDense(severalTiles, nil)
	for i := range severalTiles {
		near("variance", variance[i], plainVariance[i])
		near("one pair", k.Cov(x.RawRowView(i), z.RawRowView(i%9)), cross.At(i, i%9))
		for j := range severalTiles {
			near("Gram", gram.At(i, j), plainGram.At(i, j))
			symmetric.SetSym(i, j, rng.NormFloat64())
		}
		for j := range 9 {
			near("cross", cross.At(i, j), plainCross.At(i, j))
			w.Set(i, j, rng.NormFloat64())
		}
		own[i] = rng.NormFloat64()
	}
	for name, grad := range map[string]func(k Kernel, x, z *mat.Dense) []float64{
		"gradient of Gram": func(k Kernel, x, _ *mat.Dense) []float64 { return k.WeightedGrad(nil, symmetric, x) },
		"gradient of cross": func(k Kernel, x, z *mat.Dense) []float64 {
			g := make([]float64, k.NumParams())
			k.AddCrossGrad(g, w, x, z)
			return g
		},
		"gradient of variances": func(k Kernel, x, _ *mat.Dense) []float64 {
			g := make([]float64, k.NumParams())
			k.AddDiagGrad(g, own, x)
			return g
		},
	} {
		got, want := grad(k, x, z), make([]float64, k.NumParams())
		params := k.Describe()
		at := 0
		for i, v := range grad(plain, ox, oz) {
			p := plain.Describe()[i]
			if p.Column < 0 {
				at = i
				if len(got) != plain.NumParams() { // parameters for all columns come first
					at = min(i, len(got)-1)
				}
				want[at] += v
				continue
			}
			column := p.Column
			if column >= numbers {
				column = numbers + (column-numbers)/3 - (column-numbers)/6 // 0 to 2, then 3 to 6
			}
			for q := range params {
				if params[q].Term == p.Term && params[q].Kind == p.Kind && params[q].Column == column {
					want[q] += v
				}
			}
		}
		for q := range got {
			if math.Abs(got[q]-want[q]) > 1e-9*(1+math.Abs(want[q])) {
				t.Errorf("%v, %s, %v: %v, of 0/1 columns %v", k, name, params[q], got[q], want[q])
			}
		}
	}
}

// Codes that are too many for tables are looked for one by one, with the same result.
func TestManyCodes(t *testing.T) {
	const n = 2500
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{float64(i) / 100, float64(i % 2300)})
	}
	k, err := ParseColumns("matern32", Columns{Numbers: 1, Codes: 1})
	if err != nil {
		t.Fatal(err)
	}
	var cross mat.Dense
	at := mat.NewDense(3, 2, []float64{0.3, 7, 1, -1, 2, 5000})
	k.Cross(&cross, at, x)
	for i := range 3 {
		for j := range n {
			if want := k.Cov(at.RawRowView(i), x.RawRowView(j)); math.Abs(cross.At(i, j)-want) > 1e-14 {
				t.Fatalf("pair %d, %d: %v, want %v", i, j, cross.At(i, j), want)
			}
		}
	}
}

// The sum over columns takes a code for one column, in which two that differ are √2 apart
// and one that is not known is 1 from any; bulk, pairs and differences agree.
func TestAdditiveTakesACodeForOneColumn(t *testing.T) {
	k, err := ParseColumns("additive(variance=[0.7, 1.9, 1.3, 0.6], lengthscale=[0.8, 2, 1.5, 0.9])", Columns{Numbers: 2, Codes: 2})
	if err != nil {
		t.Fatal(err)
	}
	fall := func(r float64) float64 { return (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r) }
	want := 0.7*fall(0.3/0.8) + 1.9*fall(1/2.) + 1.3*fall(math.Sqrt2/1.5) + 0.6*fall(1/0.9)
	if got := k.Cov([]float64{0.3, 1, 2, 1}, []float64{0, 0, 0, -1}); math.Abs(got-want) > 1e-14 {
		t.Errorf("covariance %v, want %v", got, want)
	}
	x, _ := codedInputs(1, severalTiles, 2)
	z, _ := codedInputs(2, 9, 2)
	rng := rand.New(rand.NewPCG(4, 4))
	w, symmetric := mat.NewDense(severalTiles, 9, nil), randomWeights(rng, severalTiles)
	w.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, w)
	var gram mat.SymDense
	var cross mat.Dense
	k.Gram(&gram, x)
	k.Cross(&cross, x, z)
	size := 0.0 // of what is contracted
	for i := range severalTiles {
		for j := range i {
			check(t, "Gram", gram.At(i, j), k.Cov(x.RawRowView(i), x.RawRowView(j)), 1e-13)
		}
		for j := range 9 {
			check(t, "cross", cross.At(i, j), k.Cov(x.RawRowView(i), z.RawRowView(j)), 1e-13)
			size += math.Abs(w.At(i, j) * cross.At(i, j))
		}
	}
	got := make([]float64, k.NumParams())
	k.AddCrossGrad(got, w, x, z)
	ofGram := k.WeightedGrad(nil, symmetric, x)
	logs := k.Params(nil)
	for p, name := range k.ParamNames() {
		contract := func(step float64) (ofCross, whole float64) {
			moved := append([]float64{}, logs...)
			moved[p] += step
			at := k.With(moved)
			for i := range severalTiles {
				for j := range 9 {
					ofCross += w.At(i, j) * at.Cov(x.RawRowView(i), z.RawRowView(j))
				}
				for j := range severalTiles {
					whole += symmetric.At(i, j) * at.Cov(x.RawRowView(i), x.RawRowView(j))
				}
			}
			return ofCross, whole
		}
		const step = 1e-5 // of which the square is what differences lack
		up, upWhole := contract(step)
		down, downWhole := contract(-step)
		check(t, name, got[p], (up-down)/(2*step), 1e-8*size)
		check(t, name+" of Gram", ofGram[p], (upWhole-downWhole)/(2*step), 1e-8*size*severalTiles/9)
	}
}

// Columns whose numbers are far from zero in units of the length scale, which are gone over by
// themselves, columns that are not, and codes alone: covariances are those pair by pair, and
// gradients those of the formula.
func TestAdditiveFarColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const n, m = 40, 35
	for _, c := range []Columns{{Numbers: 3}, {Numbers: 2, Codes: 1}, {Codes: 2}} {
		d := c.Len()
		variance, length := make([]float64, d), make([]float64, d)
		for k := range d {
			variance[k], length[k] = 0.5+rng.Float64(), 0.5+rng.Float64()
		}
		k := Additive(variance, length)
		k.codes, k.term = c.Codes, k.term.coded(c.Codes)
		x, z := mat.NewDense(n, d, nil), mat.NewDense(m, d, nil)
		for i := range n {
			for col := range d {
				v := rng.NormFloat64()
				switch {
				case col >= c.Numbers:
					v = float64(rng.IntN(4) - 1)
				case col == 0:
					v *= 2000
				}
				x.Set(i, col, v)
				if i < m {
					if col < c.Numbers {
						v += 0.5 * rng.NormFloat64() // near a row, wherever that is
					}
					z.Set(i, col, v)
				}
			}
		}
		w := mat.NewDense(n, m, nil)
		w.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, w)
		var cross mat.Dense
		k.Cross(&cross, x, z)
		want, size := make([]float64, 2*d), 0.0
		for i := range n {
			for j := range m {
				check(t, "cross", cross.At(i, j), k.Cov(x.RawRowView(i), z.RawRowView(j)), 1e-13)
				size += math.Abs(w.At(i, j))
				for col := range d {
					u := math.Abs(x.At(i, col) - z.At(j, col))
					if col >= c.Numbers {
						u = math.Sqrt(differ(x.At(i, col), z.At(j, col)))
					}
					u *= math.Sqrt(3) / length[col]
					want[col] += w.At(i, j) * variance[col] * (1 + u) * math.Exp(-u)
					want[d+col] += w.At(i, j) * variance[col] * u * u * math.Exp(-u)
				}
			}
		}
		got := make([]float64, 2*d)
		k.AddCrossGrad(got, w, x, z)
		for p := range want {
			check(t, k.ParamNames()[p], got[p], want[p], 1e-13*size)
		}
	}
}

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
)

// TestKnownValues has closed forms worked out by hand, in 30 digits.
func TestKnownValues(t *testing.T) {
	origin, diagonal := []float64{0, 0}, []float64{3, 4}
	for _, tt := range []struct {
		name string
		k    Kernel
		x, z []float64
		want float64
	}{
		{"e^(−1/2)", RBF(1, 5), origin, diagonal, 0.606530659712633424},
		{"ARD: 9/9 + 16/16 = 2", RBF(1, 3, 4), origin, diagonal, 0.367879441171442322},
		{"e^(−1)", Matern12(1, 5), origin, diagonal, 0.367879441171442322},
		{"(1+√3)e^(−√3)", Matern32(1, 5), origin, diagonal, 0.483357724596507651},
		{"(1+√5+5/3)e^(−√5)", Matern52(1, 5), origin, diagonal, 0.523994108831820311},
		{"2·(3·1 + 4·0.5)", Linear(2), diagonal, []float64{1, 0.5}, 10},
		{"2·3·1 + 3·4·0.5", Linear(2, 3), diagonal, []float64{1, 0.5}, 12},
		{"quarter period, 2·sin²(π/4) = 1", Periodic(1, 1, 4), []float64{7}, []float64{8}, 0.367879441171442322},
		{"a whole period", Periodic(3, 0.1, 4), []float64{0.5}, []float64{4.5}, 3},
		{"constant", Constant(0.5), origin, diagonal, 0.5},
		{"white", White(0.5), origin, origin, 0},
		{"sum", Sum(Constant(0.5), Linear(2), Constant(1)), diagonal, []float64{1, 0.5}, 11.5},
		{"product", Product(Constant(0.5), Linear(2), Constant(3)), diagonal, []float64{1, 0.5}, 15},
	} {
		if got := tt.k.Cov(tt.x, tt.z); math.Abs(got-tt.want) > 4e-16*tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestFivePointsInThePlane uses the inputs of Shogun's tests of Gaussian
// process classification, at length scale 2 and standard deviation 1.5; the
// covariances were computed in 30-digit decimal arithmetic.
func TestFivePointsInThePlane(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{
		-1.07932, -1.83544,
		1.15768, 2.91702,
		3.26631, -3.85663,
		1.79009, 0.11949,
		-3.66051, 1.75159,
	})
	want := mat.NewSymDense(5, []float64{
		2.25, 0.0715166195357000026, 0.127417851638563858, 0.498586633951682620, 0.195883430621305136,
		0, 2.25, 0.00416869753490916821, 0.804660888041420798, 0.104275637121201291,
		0, 0, 2.25, 0.237481809116704845, 0.000109652899098436553,
		0, 0, 0, 2.25, 0.0393338963212982123,
		0, 0, 0, 0, 2.25,
	})
	var got mat.SymDense
	RBF(2.25, 2).Gram(&got, x)
	if !mat.EqualApprox(&got, want, 1e-15) {
		t.Errorf("got\n%v\nwant\n%v", mat.Formatted(&got), mat.Formatted(want))
	}
}

// TestMaternAgainstBessel compares with the general Matérn form (Rasmussen and
// Williams 2006, equation 4.14),
//
//	2^(1−ν)/Γ(ν) · a^ν K_ν(a),  a = √(2ν) r,
//
// where K_ν(a) = ∫_0^∞ exp(−a cosh t) cosh(νt) dt by the trapezoidal rule, which
// is accurate to rounding for an integrand that decays doubly exponentially.
func TestMaternAgainstBessel(t *testing.T) {
	for nu, k := range map[float64]Kernel{0.5: Matern12(1, 1), 1.5: Matern32(1, 1), 2.5: Matern52(1, 1)} {
		for _, r := range []float64{0.01, 0.3, 1, 4, 20} {
			a := math.Sqrt(2*nu) * r
			const step = 1. / 64
			integral := 0.5 * math.Exp(-a)
			for u := step; u < 12; u += step {
				integral += math.Exp(-a*math.Cosh(u)) * math.Cosh(nu*u)
			}
			want := math.Pow(2, 1-nu) / math.Gamma(nu) * math.Pow(a, nu) * integral * step
			if got := k.Cov([]float64{r}, []float64{0}); math.Abs(got-want) > 1e-13*want {
				t.Errorf("ν = %v, r = %v: %v, want %v", nu, r, got, want)
			}
		}
	}
}

// TestConstructors checks each against the language, and that there is one for
// every family.
func TestConstructors(t *testing.T) {
	constructed := map[string]Kernel{
		"rbf(variance=2, lengthscale=[3, 4])":           RBF(2, 3, 4),
		"matern12(variance=2, lengthscale=3)":           Matern12(2, 3),
		"matern32(variance=2, lengthscale=3)":           Matern32(2, 3),
		"matern52(variance=2, lengthscale=[3, 4])":      Matern52(2, 3, 4),
		"additive(variance=2, lengthscale=[3, 4])":      Additive([]float64{2}, []float64{3, 4}),
		"linear(variance=[3, 4])":                       Linear(3, 4),
		"periodic(variance=2, lengthscale=3, period=4)": Periodic(2, 3, 4),
		"constant(variance=2)":                          Constant(2),
		"white(variance=2)":                             White(2),
	}
	for text, k := range constructed {
		if k.String() != text || mustParse(t, text, 2).String() != text {
			t.Errorf("%s prints as %s", text, k)
		}
	}
	if len(constructed) != len(families()) {
		t.Errorf("%d constructors for %d families", len(constructed), len(families()))
	}
}

func TestParameters(t *testing.T) {
	k := Sum(Product(RBF(2, 3, 4), Linear(5)), RBF(6, 7), Periodic(8, 9, 10))
	want := []Param{
		{"rbf#1", Variance, -1, false, 2},
		{"rbf#1", Lengthscale, 0, false, 3},
		{"rbf#1", Lengthscale, 1, false, 4},
		{"linear", Variance, -1, false, 5},
		{"rbf#2", Variance, -1, false, 6},
		{"rbf#2", Lengthscale, -1, false, 7},
		{"periodic", Variance, -1, false, 8},
		{"periodic", Lengthscale, -1, false, 9},
		{"periodic", Period, -1, false, 10},
	}
	if diff := cmp.Diff(want, k.Describe()); diff != "" {
		t.Error(diff)
	}
	names := "rbf#1.variance rbf#1.lengthscale[0] rbf#1.lengthscale[1] linear.variance " +
		"rbf#2.variance rbf#2.lengthscale periodic.variance periodic.lengthscale periodic.period"
	if got := strings.Join(k.ParamNames(), " "); got != names {
		t.Errorf("names are %s", got)
	}
	if k.NumParams() != len(want) || k.Dim() != 2 {
		t.Errorf("%d parameters, %d columns", k.NumParams(), k.Dim())
	}
	logs := make([]float64, len(want))
	k.Params(logs)
	for p, v := range logs {
		if v != math.Log(want[p].Value) {
			t.Errorf("log of %v is %v", want[p], v)
		}
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	lengthscales := []float64{3, 4}
	k := Sum(RBF(2, lengthscales...), White(1))
	before := k.String()
	lengthscales[0] = 99
	moved := k.With([]float64{0, math.Log(5), math.Log(6), math.Log(7)})
	if k.String() != before || !strings.Contains(before, "[3, 4]") {
		t.Errorf("%s became %s", before, k)
	}
	got := moved.Params(nil)
	want := []float64{0, math.Log(5), math.Log(6), math.Log(7)}
	// exp and log each round once.
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("parameters %v, want %v", got, want)
	}
}

// TestViews uses inputs and results that are parts of larger matrices, and
// checks that what is not theirs is left alone.
func TestViews(t *testing.T) {
	x := lawInputs(20, severalTiles)
	wide := mat.NewDense(severalTiles+4, lawDim+3, nil)
	view := wide.Slice(2, severalTiles+2, 1, lawDim+1).(*mat.Dense)
	view.Copy(x)
	k := mustParse(t, "rbf(ard) * linear + white", lawDim)

	var plain mat.SymDense
	k.Gram(&plain, x)
	const marker = -77
	data := make([]float64, (severalTiles+1)*(severalTiles+1))
	for i := range data {
		data[i] = marker
	}
	part := mat.NewSymDense(severalTiles+1, data).SliceSym(0, severalTiles).(*mat.SymDense)
	k.Gram(part, view)
	if !mat.Equal(&plain, part) {
		t.Error("the Gram matrix of a view differs")
	}
	for i := range severalTiles + 1 {
		for j := range severalTiles + 1 {
			ours := i <= j && j < severalTiles
			if !ours && data[i*(severalTiles+1)+j] != marker {
				t.Fatalf("entry (%d, %d) outside the upper triangle was written", i, j)
			}
		}
	}

	w := randomWeights(rand.New(rand.NewPCG(21, 22)), severalTiles)
	if a, b := k.WeightedGrad(nil, w, x), k.WeightedGrad(nil, w, view); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("the gradient of a view differs: %v and %v", a, b)
	}
}

func TestProgrammerErrorsPanic(t *testing.T) {
	two := mat.NewDense(4, 2, nil)
	three := mat.NewDense(4, 3, nil)
	k := RBF(1, 1, 1)
	for name, mistake := range map[string]func(){
		"no parts":              func() { Sum() },
		"no length scale":       func() { RBF(1) },
		"zero variance":         func() { RBF(0, 1) },
		"negative length scale": func() { Matern32(1, -1) },
		"NaN":                   func() { White(math.NaN()) },
		"infinite":              func() { Constant(math.Inf(1)) },
		"columns disagree":      func() { Sum(RBF(1, 1, 1), Linear(1, 1, 1)) },
		"too few logs":          func() { k.With([]float64{0}) },
		"log out of range":      func() { k.With([]float64{0, 0, MaxLog + 1}) },
		"log not a number":      func() { k.With([]float64{0, 0, math.NaN()}) },
		"params length":         func() { k.Params(make([]float64, 1)) },
		"input columns":         func() { k.Gram(new(mat.SymDense), three) },
		"Gram size":             func() { k.Gram(mat.NewSymDense(3, nil), two) },
		"Cross size":            func() { k.Cross(mat.NewDense(3, 4, nil), two, two) },
		"Cross columns":         func() { RBF(1, 1).Cross(new(mat.Dense), two, three) },
		"Diag length":           func() { k.Diag(make([]float64, 3), two) },
		"weights size":          func() { k.WeightedGrad(nil, mat.NewSymDense(3, nil), two) },
		"gradient length":       func() { k.WeightedGrad(make([]float64, 2), mat.NewSymDense(4, nil), two) },
		"Cov lengths":           func() { RBF(1, 1).Cov([]float64{1}, []float64{1, 2}) },
		"Variance length":       func() { k.Variance([]float64{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "kernel: ") {
					t.Errorf("recovered %v", message)
				}
			}()
			mistake()
		})
	}
}

// Every family says where the prior of each of its parameters is centred.
func TestFamiliesDeclarePriors(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 5, -2, 4})
	for _, f := range families() {
		k, err := Parse(f.name, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range k.Priors(NewScale(x, 0)) {
			if math.IsNaN(p.Mean) || math.IsInf(p.Mean, 0) || !(p.SD > 0) {
				t.Errorf("%s: parameter %d has the prior %v", f.name, i, p)
			}
		}
	}
}

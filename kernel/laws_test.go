package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
)

const lawDim = 3

// lawTable lists the kernels that every law runs over, for lawDim columns.
var lawTable = []struct {
	text string
	// stationary kernels depend on the difference of their inputs only.
	stationary bool
}{
	{"rbf(variance=2.25, lengthscale=2)", true},
	{"rbf(variance=0.7, lengthscale=[0.5, 1.1, 3])", true},
	{"matern12(variance=1.3, lengthscale=0.8)", true},
	{"matern12(variance=1.3, lengthscale=[0.5, 1.1, 3])", true},
	{"matern32(variance=0.4, lengthscale=1.7)", true},
	{"matern32(variance=0.4, lengthscale=[0.5, 1.1, 3])", true},
	{"matern52(variance=3.1, lengthscale=1.2)", true},
	{"matern52(variance=3.1, lengthscale=[0.5, 1.1, 3])", true},
	{"additive(variance=0.6, lengthscale=1.4)", true},
	{"additive(variance=[0.6, 1.5, 0.2], lengthscale=[0.5, 1.1, 3])", true},
	{"linear(variance=0.6)", false},
	{"linear(variance=[0.6, 1.5, 0.2])", false},
	{"periodic(variance=1.9, lengthscale=1.4, period=2.3)", true},
	{"constant(variance=0.3)", true},
	{"white(variance=0.25)", true},

	{"rbf(ard) + linear(variance=0.5)", false},
	{"additive(ard) * rbf + linear", false},
	{"rbf(lengthscale=2) + rbf(lengthscale=0.3) + white(variance=0.1)", true},
	{"matern52(ard) * linear(ard) + white(variance=0.1)", false},
	{"rbf(lengthscale=4) * periodic(lengthscale=2, period=3)", true},
	{"(constant(variance=0.5) + matern32(lengthscale=2)) * (linear(variance=0.3) + rbf(ard)) * matern12", false},
	{"white(variance=2) * linear(ard)", false},
	{"linear * linear * constant(variance=0.5)", false},

	{"score(variance=0.8) + matern32(variance=0.4, lengthscale=[0.5, 1.1])", false},
	{"additive(ard) * rbf + score(variance=2.5) + constant", false},
}

func mustParse(t testing.TB, text string, dim int) Kernel {
	t.Helper()
	k, err := ParseColumns(text, Columns{Numbers: dim, Score: strings.Contains(text, "score")})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// forLaws runs a law on every kernel of the table.
func forLaws(t *testing.T, law func(t *testing.T, k Kernel)) {
	for _, entry := range lawTable {
		t.Run(entry.text, func(t *testing.T) { law(t, mustParse(t, entry.text, lawDim)) })
	}
}

// lawInputs draws n cases, far enough from the origin to show what is lost by
// cancellation, the last of them a copy of the first.
func lawInputs(seed uint64, n int) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 6))
	x := randomInputs(rng, n, lawDim)
	x.Apply(func(_, k int, v float64) float64 { return v + 0.5*float64(k) }, x)
	x.SetRow(n-1, x.RawRowView(0))
	return x
}

// severalTiles is a number of cases that makes tiles on and off the diagonal,
// one of them not square.
const severalTiles = tileSize + 15

// bulkTolerance bounds the difference of bulk and pairwise covariances,
// relative to the variances: a few operations, in kernels whose relative slope is
// below 10, and sines of angles of up to 20.
const bulkTolerance = 1e-13

func TestEveryFamilyIsInTheLawTable(t *testing.T) {
	for _, f := range families() {
		var shared, perColumn bool
		for _, entry := range lawTable {
			l, ok := mustParse(t, entry.text, lawDim).term.(leaf)
			if !ok || l.family != f {
				continue
			}
			if l.numParams() == len(f.groups) {
				shared = true
			} else {
				perColumn = true
			}
		}
		if !shared {
			t.Errorf("%s alone is not in the law table", f.name)
		}
		for _, group := range f.groups {
			if group.perColumn && !perColumn {
				t.Errorf("%s with ard is not in the law table", f.name)
			}
		}
	}
}

func TestCovIsSymmetric(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		x := lawInputs(1, 20)
		for i := range 20 {
			for j := range i {
				a, b := k.Cov(x.RawRowView(i), x.RawRowView(j)), k.Cov(x.RawRowView(j), x.RawRowView(i))
				// Products of three numbers round by their order.
				if math.Abs(a-b) > 1e-14*math.Abs(a) {
					t.Errorf("k(x, z) = %v but k(z, x) = %v", a, b)
				}
			}
		}
	})
}

func TestGramIsPositiveSemidefinite(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		const n = 60
		var gram mat.SymDense
		k.Gram(&gram, lawInputs(2, n))
		var eigen mat.EigenSym
		if !eigen.Factorize(&gram, false) {
			t.Fatal("no eigenvalues")
		}
		values := eigen.Values(nil)
		// Eigenvalues are found to n units in the last place of the largest.
		if least, most := values[0], values[n-1]; least < -n*1e-15*most || most <= 0 {
			t.Errorf("eigenvalues from %v to %v", least, most)
		}
	})
}

func TestBulkIsPairwise(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		for _, n := range []int{1, 2, severalTiles} {
			x := lawInputs(3, n)
			z := lawInputs(4, n+tileSize/2)
			var gram mat.SymDense
			var cross mat.Dense
			k.Gram(&gram, x)
			k.Cross(&cross, x, z)
			diag := k.Diag(nil, x)
			for i := range n {
				xi := x.RawRowView(i)
				check(t, "diagonal", diag[i], k.Variance(xi), 0)
				check(t, "Gram diagonal", gram.At(i, i), k.Variance(xi), bulkTolerance*k.Variance(xi))
				for j := range i {
					xj := x.RawRowView(j)
					scale := math.Sqrt(k.Variance(xi) * k.Variance(xj))
					check(t, "Gram", gram.At(i, j), k.Cov(xi, xj), bulkTolerance*scale)
				}
				for j := range n + tileSize/2 {
					zj := z.RawRowView(j)
					scale := math.Sqrt(k.Variance(xi) * k.Variance(zj))
					check(t, "Cross", cross.At(i, j), k.Cov(xi, zj), bulkTolerance*scale)
				}
			}
		}
	})
}

func check(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s is %v, want %v within %.1g", what, got, want, tolerance)
	}
}

// TestVarianceIsCovWithItself also shows what white adds.
func TestVarianceIsCovWithItself(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		x := lawInputs(5, 2).RawRowView(0)
		agrees := math.Abs(k.Variance(x)-k.Cov(x, x)) <= 1e-15*k.Variance(x)
		if hasWhite := strings.Contains(k.String(), "white"); agrees == hasWhite {
			t.Errorf("variance %v, covariance with an equal case %v", k.Variance(x), k.Cov(x, x))
		}
	})
}

// TestWeightedGrad differentiates Σ_ij W_ij K_ij, with K from the pairwise
// covariances, by central differences.
func TestWeightedGrad(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		for _, n := range []int{1, 10, severalTiles} {
			x := lawInputs(7, n)
			w := randomWeights(rand.New(rand.NewPCG(8, 9)), n)
			contract := func(logs []float64, f func(float64) float64) float64 {
				at := k.With(logs)
				total := 0.0
				for i := range n {
					total += f(w.At(i, i) * at.Variance(x.RawRowView(i)))
					for j := range i {
						total += 2 * f(w.At(i, j)*at.Cov(x.RawRowView(i), x.RawRowView(j)))
					}
				}
				return total
			}
			logs := k.Params(nil)
			want := fd.Gradient(nil, func(logs []float64) float64 {
				return contract(logs, func(v float64) float64 { return v })
			}, logs, &fd.Settings{Formula: fd.Central})
			got := k.WeightedGrad(nil, w, x)
			// The step is 6e-6: truncation and rounding both leave about
			// 1e-10 of the summed magnitudes.
			tolerance := 1e-9 * contract(logs, math.Abs)
			for p, name := range k.ParamNames() {
				check(t, fmt.Sprintf("N=%d ∂/∂%s", n, name), got[p], want[p], tolerance)
			}
		}
	})
}

// TestVarianceGradientIsTheContraction: a log variance scales a leaf, so its
// weighted gradient is the contraction itself, to rounding and not only to the
// accuracy of differences.
func TestVarianceGradientIsTheContraction(t *testing.T) {
	x := lawInputs(10, severalTiles)
	w := randomWeights(rand.New(rand.NewPCG(10, 11)), severalTiles)
	for _, f := range families() {
		k := mustParse(t, f.name, lawDim)
		var gram mat.SymDense
		k.Gram(&gram, x)
		want, size := 0.0, 0.0
		for i := range severalTiles {
			for j := range severalTiles {
				want += w.At(i, j) * gram.At(i, j)
				size += math.Abs(w.At(i, j) * gram.At(i, j))
			}
		}
		check(t, f.name, k.WeightedGrad(nil, w, x)[0], want, 1e-14*size)
	}
}

func TestStationarity(t *testing.T) {
	for _, entry := range lawTable {
		t.Run(entry.text, func(t *testing.T) {
			k := mustParse(t, entry.text, lawDim)
			x := lawInputs(12, 10)
			var here, there mat.SymDense
			k.Gram(&here, x)
			x.Apply(func(_, k int, v float64) float64 { return v + 16*float64(k+1) }, x)
			k.Gram(&there, x)
			// Moving the inputs rounds them to 48 ulp of 1.
			if same := mat.EqualApprox(&here, &there, 1e-13); same != entry.stationary {
				t.Errorf("the same after a shift: %v, want %v", same, entry.stationary)
			}
		})
	}
}

// TestEqualRows: nothing is lost between a case and its copy, wherever the
// inputs are.
func TestEqualRows(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		if strings.Contains(k.String(), "white") || strings.Contains(k.String(), "linear") || strings.Contains(k.String(), "score") {
			t.Skip("not a function of the distance")
		}
		x := lawInputs(13, severalTiles)
		x.Apply(func(_, _ int, v float64) float64 { return 1e6 + v/1e3 }, x)
		var gram mat.SymDense
		k.Gram(&gram, x)
		last := severalTiles - 1
		if gram.At(0, last) != gram.At(0, 0) || gram.At(0, 0) != k.Variance(x.RawRowView(0)) {
			t.Errorf("a case %v, with its copy %v", gram.At(0, 0), gram.At(0, last))
		}
	})
}

// TestFarFromTheOrigin: moving the inputs far away costs the bulk no digits
// that the pairwise covariances of the moved inputs keep.
func TestFarFromTheOrigin(t *testing.T) {
	for _, entry := range lawTable {
		if !entry.stationary {
			continue
		}
		t.Run(entry.text, func(t *testing.T) {
			k := mustParse(t, entry.text, lawDim)
			const n = 30
			x := lawInputs(25, n)
			x.Apply(func(_, _ int, v float64) float64 { return v + 1e6 }, x)
			var gram mat.SymDense
			k.Gram(&gram, x)
			for i := range n {
				for j := range i {
					xi := x.RawRowView(i)
					check(t, "Gram", gram.At(i, j), k.Cov(xi, x.RawRowView(j)), bulkTolerance*k.Variance(xi))
				}
			}
		})
	}
}

// TestNearRows puts two cases at distances that the expansion of the square
// sees badly or not at all.
func TestNearRows(t *testing.T) {
	w := mat.NewSymDense(3, nil)
	w.SetSym(0, 1, 1)
	for _, r := range []float64{1e-9, 1e-6, 1e-3, 1e-2, 0.1} {
		x := mat.NewDense(3, 2, []float64{1, 1, 1 + r, 1, -1, -1})
		for _, text := range []string{"matern12", "matern12(ard)"} {
			k := mustParse(t, text, 2)
			var gram mat.SymDense
			k.Gram(&gram, x)
			// 1 + r is rounded to 1e-16.
			check(t, text, gram.At(0, 1), math.Exp(-r), 5e-16)
			// All of the gradient is from the first column.
			check(t, text+": gradient", k.WeightedGrad(nil, w, x)[1], 2*r*math.Exp(-r), 1e-14)
		}
	}
}

// TestExtremes: from length scales far below the spacing of the inputs to far
// above it, to the ends of the range of parameters and, for leaves, to the
// largest inputs, nothing overflows and no covariance exceeds the variances.
func TestExtremes(t *testing.T) {
	forLaws(t, func(t *testing.T, k Kernel) {
		_, isLeaf := k.term.(leaf)
		for _, size := range []float64{math.Log(1e3), MaxLog} {
			for pattern := range 1 << min(k.NumParams(), 5) {
				logs := k.Params(nil)
				for p, param := range k.Describe() {
					logs[p] = size * float64(2*(pattern>>(p%5)&1)-1)
					if param.Kind == Variance && !isLeaf {
						logs[p] /= 3 // three factors may multiply their variances
					}
				}
				checkFinite(t, k.With(logs), 1)
				if isLeaf {
					checkFinite(t, k.With(logs), 1e50)
					checkFinite(t, k.With(logs), 1e-50)
				}
			}
		}
	})
}

// checkFinite evaluates the kernel on inputs of the given magnitude.
func checkFinite(t *testing.T, k Kernel, magnitude float64) {
	t.Helper()
	const n = 12
	x := lawInputs(14, n)
	x.Scale(magnitude/mat.Max(x), x)
	var gram mat.SymDense
	k.Gram(&gram, x)
	for i := range n {
		for j := range n {
			bound := math.Sqrt(gram.At(i, i)) * math.Sqrt(gram.At(j, j)) * (1 + 1e-12)
			if v := gram.At(i, j); !(math.Abs(v) <= bound) || math.IsInf(v, 0) {
				t.Fatalf("%v: covariance %v, bound %v", k, v, bound)
			}
		}
	}
	w := randomWeights(rand.New(rand.NewPCG(15, 16)), n)
	for p, g := range k.WeightedGrad(nil, w, x) {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			t.Fatalf("%v: gradient for %s is %v", k, k.ParamNames()[p], g)
		}
	}
}

// TestSameBitsOnAnyNumberOfProcessors compares results bit by bit.
func TestSameBitsOnAnyNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n = 3*tileSize + 5
	x := lawInputs(17, n)
	w := randomWeights(rand.New(rand.NewPCG(18, 19)), n)
	k := mustParse(t, "matern52(ard) * linear(ard) + rbf + periodic + white", lawDim)
	evaluate := func(processors int) (*mat.SymDense, *mat.Dense, []float64) {
		runtime.GOMAXPROCS(processors)
		var gram mat.SymDense
		var cross mat.Dense
		k.Gram(&gram, x)
		k.Cross(&cross, x, x)
		return &gram, &cross, k.WeightedGrad(nil, w, x)
	}
	gram1, cross1, grad1 := evaluate(1)
	gram4, cross4, grad4 := evaluate(4)
	if !mat.Equal(gram1, gram4) || !mat.Equal(cross1, cross4) {
		t.Error("covariances depend on the number of processors")
	}
	if fmt.Sprint(grad1) != fmt.Sprint(grad4) {
		t.Errorf("gradients depend on the number of processors: %v and %v", grad1, grad4)
	}
}

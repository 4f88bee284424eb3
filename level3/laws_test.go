package level3

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawProblem draws a routine, its options and its shape.
func drawProblem(t *rapid.T) problem {
	side := rapid.IntRange(0, 70)
	scalar := rapid.SampledFrom([]float64{0, 1, -1, 0.5, -2})
	all := variants(problem{
		op: rapid.SampledFrom(ops).Draw(t, "op").name,
		m:  side.Draw(t, "m"), n: side.Draw(t, "n"), k: side.Draw(t, "k"),
		pad:   rapid.IntRange(0, 9).Draw(t, "pad"),
		alpha: scalar.Draw(t, "alpha"), beta: scalar.Draw(t, "beta"),
		seed: rapid.Uint64().Draw(t, "seed"),
	})
	return rapid.SampledFrom(all).Draw(t, "variant")
}

func TestAnyProblem(t *testing.T) {
	impls := everything()
	rapid.Check(t, func(t *rapid.T) { drawProblem(t).check(t, impls...) })
}

// FuzzProblem lets the fuzzer choose routine, options, shape and strides.
func FuzzProblem(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(3), uint8(9), uint8(25), uint8(1), 1.0, 0.0, uint64(1))
	f.Add(uint8(4), uint8(7), uint8(33), uint8(50), uint8(0), uint8(0), -1.0, 2.0, uint64(2))
	f.Add(uint8(6), uint8(1), uint8(0), uint8(100), uint8(0), uint8(3), 0.0, 1.0, uint64(3))
	impls := everything()
	f.Fuzz(func(t *testing.T, op, variant, m, n, k, pad uint8, alpha, beta float64, seed uint64) {
		// Beyond these the result overflows or the scalars hide errors of the rest.
		if !(math.Abs(alpha) <= 1e3 && math.Abs(beta) <= 1e3) {
			t.Skip()
		}
		all := variants(problem{
			op: ops[int(op)%len(ops)].name, m: int(m), n: int(n), k: int(k), pad: int(pad),
			alpha: alpha, beta: beta, seed: seed,
		})
		all[int(variant)%len(all)].check(t, impls...)
	})
}

// TestPartition states why results do not depend on the number of cores: an
// element of a product is the same bits whatever rectangle it is computed in, and
// whether the product or its transpose is asked for.
func TestPartition(t *testing.T) {
	for _, impl := range everything() {
		if impl.ks == nil || impl.ks.limits != (limits{}) {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			side := rapid.IntRange(1, 90)
			m, n, k := side.Draw(t, "m"), side.Draw(t, "n"), rapid.IntRange(1, 900).Draw(t, "k")
			o := problem{
				op: "gemm", m: m, n: n, k: k, tA: blas.NoTrans, tB: blas.NoTrans,
				seed: rapid.Uint64().Draw(t, "seed"),
			}.make(func(n int) []float64 { return make([]float64, n) })
			whole, part, turned := make([]float64, m*n), make([]float64, m*n), make([]float64, m*n)
			impl.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, o.a, k, o.b, n, 0, whole, n)
			impl.Dgemm(blas.Trans, blas.Trans, n, m, k, 1, o.b, n, o.a, k, 0, turned, m)
			i, j := rapid.IntRange(0, m-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
			impl.Dgemm(blas.NoTrans, blas.NoTrans, m-i, n-j, k, 1, o.a[i*k:], k, o.b[j:], n, 0, part[i*n+j:], n)
			for r := range m {
				for c := range n {
					if whole[r*n+c] != turned[c*m+r] {
						t.Fatalf("%s: element (%d,%d) differs from the transposed product's", impl.Name(), r, c)
					}
					if r >= i && c >= j && whole[r*n+c] != part[r*n+c] {
						t.Fatalf("%s: element (%d,%d) depends on the rectangle", impl.Name(), r, c)
					}
				}
			}
		})
	}
}

// TestCores runs every routine on different numbers of cores.
func TestCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := 420
	if testing.Short() {
		n = 230
	}
	for _, impl := range Available() {
		for _, op := range ops {
			shape := problem{op: op.name, m: n + 31, n: n, k: n - 7, alpha: 0.7, beta: 0.3, seed: 5}
			for i, p := range variants(shape) {
				if i%5 != 0 {
					continue
				}
				memory := newArena(p.size())
				o := p.make(memory.alloc)
				before := slices.Clone(memory.data)
				var want []float64
				for _, cores := range []int{1, 2, 3, 8} {
					runtime.GOMAXPROCS(cores)
					copy(memory.data, before)
					p.call(impl, o)
					if want == nil {
						want = slices.Clone(memory.data)
					}
					for j, x := range memory.data {
						if math.Float64bits(x) != math.Float64bits(want[j]) {
							t.Fatalf("%s: %v: element %d on %d cores is %v, on one %v", impl.Name(), p, j, cores, x, want[j])
						}
					}
				}
			}
		}
	}
}

// TestNonFinite spoils one element of each operand: the result must be spoilt
// where the definition says, as gonum's is, and nowhere else.
func TestNonFinite(t *testing.T) {
	const n, m, k = 45, 31, 29
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, op := range ops[:6] { // the BLAS routines
			for _, p := range variants(problem{op: op.name, m: m, n: n, k: k, alpha: 1, beta: 1, pad: 1, seed: 4}) {
				memory := newArena(p.size())
				o := p.make(memory.alloc)
				clean := slices.Clone(memory.data)
				for _, operand := range [][]float64{o.a, o.b, o.c} {
					for at := 3; at < len(operand); at += 1 + len(operand)/3 {
						copy(memory.data, clean)
						if isCanary(operand[at]) {
							continue
						}
						operand[at] = bad
						before := slices.Clone(memory.data)
						p.call(truth{}, o)
						want := slices.Clone(memory.data)
						for _, impl := range everything() {
							copy(memory.data, before)
							p.call(impl, o)
							compare(t, impl, p, memory.data, want)
						}
					}
				}
			}
		}
	}
}

// TestZeroTimesNaN is where gonum's code differs: a zero hides nothing here.
func TestZeroTimesNaN(t *testing.T) {
	const n = 20
	a, b := make([]float64, n*n), make([]float64, n*n)
	b[5*n+7] = math.NaN()
	for _, impl := range Available() {
		if impl.ks == nil {
			continue
		}
		c := make([]float64, n*n)
		impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, b, n, 0, c, n)
		for i, x := range c {
			if math.IsNaN(x) != (i%n == 7) {
				t.Fatalf("%s: element %d is %g", impl.Name(), i, x)
			}
		}
	}
}

// TestNotPositiveDefinite puts a pivot that is not positive everywhere: that is
// reported, and what is outside the triangle stays as it was.
func TestNotPositiveDefinite(t *testing.T) {
	for _, n := range []int{1, 7, 24, 50, 193, 300} {
		for _, p := range variants(problem{op: "cholesky", n: n, pad: 3, seed: 8}) {
			for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(-1)} {
				for at := 0; at < n; at += 1 + n/6 {
					for _, impl := range everything() {
						memory := newArena(p.size())
						o := p.make(memory.alloc)
						o.a[at*o.lda+at] = bad
						before := slices.Clone(memory.data)
						if p.call(impl, o) {
							t.Fatalf("%s: %v: %g on the diagonal at %d is accepted", impl.Name(), p, bad, at)
						}
						for i, x := range before {
							if isCanary(x) != isCanary(memory.data[i]) {
								t.Fatalf("%s: %v: element %d of memory written", impl.Name(), p, i)
							}
						}
					}
				}
			}
		}
	}
}

// TestZeroPivot ends a matrix with a pivot that is exactly zero, and only that.
func TestZeroPivot(t *testing.T) {
	for _, n := range []int{8, 12, 24, 48, 192, 216} {
		for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
			a := make([]float64, n*n)
			for i := range n - 1 {
				a[i*n+i] = 1
			}
			for _, impl := range everything() {
				if impl.Cholesky(ul, n, slices.Clone(a), n) {
					t.Errorf("%s: order %d: a zero pivot is accepted", impl.Name(), n)
				}
			}
		}
	}
}

// TestSingular refuses to invert, and leaves the matrix alone.
func TestSingular(t *testing.T) {
	const n = 70
	for _, impl := range everything() {
		a := make([]float64, n*n)
		for i := range n {
			a[i*n+i] = 1
		}
		a[33*n+33] = 0
		before := slices.Clone(a)
		if impl.TriangularInverse(blas.Lower, blas.NonUnit, n, a, n) || impl.CholeskyInverse(blas.Upper, n, a, n) {
			t.Errorf("%s: a singular matrix is inverted", impl.Name())
		}
		if !slices.Equal(a, before) {
			t.Errorf("%s: a singular matrix is changed", impl.Name())
		}
	}
}

// panicOf is what a call panics with, nil if it does not.
func panicOf(call func()) (value any) {
	defer func() { value = recover() }()
	call()
	return nil
}

// TestPanics makes every argument wrong in turn: the panic must be gonum's.
func TestPanics(t *testing.T) {
	const n = 60
	wrongs := map[string]func(p *problem, o *operands){
		"side":  func(p *problem, o *operands) { p.side = 'x' },
		"uplo":  func(p *problem, o *operands) { p.ul = 'x' },
		"trans": func(p *problem, o *operands) { p.tA = 'x' },
		"diag":  func(p *problem, o *operands) { p.diag = 'x' },
		"m":     func(p *problem, o *operands) { p.m = -1 },
		"n":     func(p *problem, o *operands) { p.n = -n },
		"k":     func(p *problem, o *operands) { p.k = -n },
		"lda":   func(p *problem, o *operands) { o.lda = n - 1 },
		"ldb":   func(p *problem, o *operands) { o.ldb = n - 1 },
		"ldc":   func(p *problem, o *operands) { o.ldc = n - 1 },
		"a":     func(p *problem, o *operands) { o.a = o.a[:max(0, len(o.a)-1)] },
		"b":     func(p *problem, o *operands) { o.b = o.b[:max(0, len(o.b)-1)] },
		"c":     func(p *problem, o *operands) { o.c = o.c[:max(0, len(o.c)-1)] },
	}
	for _, op := range ops {
		p := variants(problem{op: op.name, m: n, n: n, k: n, alpha: 1, beta: 1, seed: 6})[0]
		for name, wrong := range wrongs {
			call := func(r routines) any {
				o := p.make(func(n int) []float64 { return make([]float64, n) })
				p := p
				wrong(&p, &o)
				return panicOf(func() { p.call(r, o) })
			}
			want := call(truth{})
			if op.name == "symProduct" || op.name == "solveStairs" || op.name == "choleskySolve" {
				continue // the reference has a loop without checks
			}
			for _, impl := range everything() {
				if got := call(impl); got != want {
					t.Errorf("%s: %s with a wrong %s panics with %v, want %v", impl.Name(), op.name, name, got, want)
				}
			}
		}
	}
}

func TestOwnPanics(t *testing.T) {
	const n = 30
	a, c, d, lead := make([]float64, n*n), make([]float64, n*n), make([]float64, n), make([]int, n)
	product := func(impl Implementation, a []float64, lead []int, d []float64, ldc int) func() {
		return func() { impl.SymProduct(blas.Lower, blas.Trans, n, n, 1, a, n, lead, d, 0, nil, 0, c, ldc) }
	}
	solve := func(impl Implementation, side blas.Side, u, a []float64, lead []int, ldx int) func() {
		return func() { impl.SolveStairs(side, n, n, u, n, a, n, lead, c, ldx) }
	}
	factor := func(impl Implementation, k int, a []float64, lda int, u []float64, ldu int) func() {
		return func() { impl.CholeskySolve(n, k, a, lda, u, ldu) }
	}
	one, room := make([]float64, n*n), make([]float64, n*(n+1))
	for i := range n {
		one[i*n+i], room[i*n+i] = 1, 1
	}
	negative, large := slices.Clone(lead), slices.Clone(lead)
	negative[3], large[4] = -1, n+1
	for _, impl := range everything() {
		for _, c := range []struct {
			want string
			call func()
		}{
			{"level3: insufficient length of d", product(impl, a, nil, d[:n-1], n)},
			{"level3: insufficient length of lead", product(impl, a, lead[1:], d, n)},
			{"level3: lead out of range", product(impl, a, negative, d, n)},
			{"level3: lead out of range", product(impl, a, large, nil, n)},
			{"blas: insufficient length of a", product(impl, a[:n], nil, d, n)},
			{"blas: bad leading dimension of C", product(impl, a, nil, d, n-1)},
			{"blas: insufficient length of c", func() {
				impl.SymProduct(blas.Lower, blas.Trans, n, n, 1, a, n, nil, d, 1, a[1:], n, c, n)
			}},
			{"lapack: insufficient length of a", factor(impl, 1, one[1:], n, room, n+1)},
			{"lapack: bad leading dimension of A", factor(impl, 1, one, n-1, room, n+1)},
			{"lapack: insufficient length of a", factor(impl, 1, one, n, room[:n], n+1)},
			{"blas: bad leading dimension of B", factor(impl, n+1, one, n, room, n)},
			{"blas: n < 0", factor(impl, -1, one, n, room, n)},
			{"level3: insufficient length of lead", solve(impl, blas.Right, a, a, lead[1:], n)},
			{"level3: lead out of range", solve(impl, blas.Left, a, a, negative, n)},
			{"blas: illegal side", solve(impl, 'x', a, a, nil, n)},
			{"blas: insufficient length of a", solve(impl, blas.Left, a[1:], a, nil, n)},
			{"blas: insufficient length of b", solve(impl, blas.Left, a, a[1:], nil, n)},
			{"blas: bad leading dimension of B", solve(impl, blas.Left, a, a, nil, n-1)},
		} {
			if got := panicOf(c.call); got != c.want {
				t.Errorf("%s: panic %v, want %v", impl.Name(), got, c.want)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	all := Available()
	for _, name := range []string{"", "auto"} {
		if impl, err := choose(name, all); err != nil || impl != all[0] {
			t.Errorf("%q chooses %s, %v", name, impl.Name(), err)
		}
	}
	for _, want := range all {
		if impl, err := choose(want.Name(), all); err != nil || impl != want {
			t.Errorf("%q chooses %s, %v", want.Name(), impl.Name(), err)
		}
	}
	impl, err := choose("avx1024", all)
	var unknown *UnknownKernelError
	if !errors.As(err, &unknown) || unknown.Name != "avx1024" || impl != all[0] {
		t.Errorf("unknown name: %s, %v", impl.Name(), err)
	}
}

// TestGonumUses checks that gonum's own factorisation runs on these kernels.
func TestGonumUses(t *testing.T) {
	defer blas64.Use(blas64.Implementation())
	const n = 150
	p := problem{op: "cholesky", ul: blas.Upper, n: n, seed: 2}
	o := p.make(func(n int) []float64 { return make([]float64, n) })
	sym := mat.NewSymDense(n, o.a)
	for _, impl := range Available() {
		blas64.Use(impl)
		var chol mat.Cholesky
		var inv mat.SymDense
		var product mat.Dense
		if !chol.Factorize(sym) {
			t.Fatalf("%s: not positive definite", impl.Name())
		}
		if err := chol.InverseTo(&inv); err != nil {
			t.Fatal(err)
		}
		product.Mul(sym, &inv)
		for i := range n {
			product.Set(i, i, product.At(i, i)-1)
		}
		// The eigenvalues are between 1.5 and 2.5: errors do not grow.
		if dist := mat.Norm(&product, math.Inf(1)); dist > 1e-13 {
			t.Errorf("%s: ‖A·A⁻¹ − I‖ = %g", impl.Name(), dist)
		}
	}
}

func ExampleImplementation_Cholesky() {
	a := []float64{
		4, 0,
		2, 5,
	}
	impl, _ := Selected() // the fastest, also with an error
	fmt.Println(impl.Cholesky(blas.Lower, 2, a, 2), a)
	// Output: true [2 0 1 2]
}

func ExampleImplementation_SymProduct() {
	// Aᵀ·diag(1, −1)·A, the lower triangle.
	a := []float64{
		1, 2,
		3, 4,
	}
	c := make([]float64, 4)
	impl, _ := Selected() // the fastest, also with an error
	impl.SymProduct(blas.Lower, blas.Trans, 2, 2, 1, a, 2, nil, []float64{1, -1}, 0, nil, 0, c, 2)
	fmt.Println(c)
	// Output: [-8 0 -10 -12]
}

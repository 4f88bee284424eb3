package level3

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

// routines is what is tested, and what the reference must offer too.
type routines interface {
	blas.Float64Level3
	Cholesky(ul blas.Uplo, n int, a []float64, lda int) bool
	CholeskySolve(n, k int, a []float64, lda int, u []float64, ldu int) bool
	CholeskyInverse(ul blas.Uplo, n int, a []float64, lda int) bool
	TriangularInverse(ul blas.Uplo, d blas.Diag, n int, a []float64, lda int) bool
	SymProduct(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, lead []int, d []float64, beta float64, b []float64, ldb int, c []float64, ldc int)
	SolveStairs(side blas.Side, m, n int, u []float64, ldu int, a []float64, lda int, lead []int, x []float64, ldx int)
}

// truth is gonum's code, and loops that read as the definition where gonum has none.
type truth struct{ gonum.Implementation }

var _, _ routines = truth{}, Implementation{}

func (truth) Cholesky(ul blas.Uplo, n int, a []float64, lda int) bool {
	return lapack.Implementation{}.Dpotrf(ul, n, a, lda)
}

func (g truth) CholeskySolve(n, k int, a []float64, lda int, u []float64, ldu int) bool {
	for i := range n {
		copy(u[i*ldu+i:i*ldu+n], a[i*lda+i:])
	}
	if !g.Cholesky(blas.Upper, n, u, ldu) {
		return false
	}
	if n > 0 {
		g.Dtrsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, n, k, 1, u, ldu, u[n:], ldu)
	}
	return true
}

func (truth) CholeskyInverse(ul blas.Uplo, n int, a []float64, lda int) bool {
	return lapack.Implementation{}.Dpotri(ul, n, a, lda)
}

func (truth) TriangularInverse(ul blas.Uplo, d blas.Diag, n int, a []float64, lda int) bool {
	return lapack.Implementation{}.Dtrtri(ul, d, n, a, lda)
}

// Dsyrk overwrites C when beta is zero, where gonum's code multiplies a NaN by zero.
func (g truth) Dsyrk(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	clearTriangle(ul, n, beta, c, ldc)
	g.Implementation.Dsyrk(ul, tA, n, k, alpha, a, lda, beta, c, ldc)
}

func clearTriangle(ul blas.Uplo, n int, beta float64, c []float64, ldc int) {
	for i := range n {
		for j := range n {
			if beta == 0 && inTriangle(ul, i, j) {
				c[i*ldc+j] = 0
			}
		}
	}
}

func inTriangle(ul blas.Uplo, i, j int) bool { return i == j || (i > j) == (ul == blas.Lower) }

func (truth) SymProduct(ul blas.Uplo, tA blas.Transpose, n, k int, alpha float64, a []float64, lda int, _ []int, d []float64, beta float64, b []float64, ldb int, c []float64, ldc int) {
	at := func(i, l int) float64 {
		if tA == blas.NoTrans {
			return a[i*lda+l]
		}
		return a[l*lda+i]
	}
	for i := range n {
		for j := range n {
			if !inTriangle(ul, i, j) {
				continue
			}
			sum := 0.0
			for l := range k {
				weight := 1.0
				if d != nil {
					weight = d[l]
				}
				sum += at(i, l) * weight * at(j, l)
			}
			if beta == 0 {
				c[i*ldc+j] = alpha * sum
			} else {
				c[i*ldc+j] = alpha*sum + beta*b[i*ldb+j]
			}
		}
	}
}

func (g truth) SolveStairs(side blas.Side, m, n int, u []float64, ldu int, a []float64, lda int, _ []int, x []float64, ldx int) {
	for i := range m {
		copy(x[i*ldx:i*ldx+n], a[i*lda:])
	}
	tU := blas.NoTrans
	if side == blas.Left {
		tU = blas.Trans
	}
	g.Dtrsm(side, blas.Upper, tU, blas.NonUnit, m, n, 1, u, ldu, x, ldx)
}

// problem is one call of one routine.
type problem struct {
	op          string
	side        blas.Side
	ul          blas.Uplo
	tA, tB      blas.Transpose
	diag        blas.Diag
	m, n, k     int
	pad         int // elements added to every leading dimension
	alpha, beta float64
	diagonal    bool // SymProduct with a d
	lead        bool // SymProduct and SolveStairs with a lead
	inPlace     bool // SolveStairs with X for A, CholeskySolve with U for A, SymProduct with C for B
	seed        uint64
}

// Options of a routine, as bits.
const (
	optSide = 1 << iota
	optUplo
	optTransA
	optTransB
	optDiag
	optD
	optLead
	optInPlace
	optEnd
)

// ops are the routines with the options each of them has.
var ops = []struct {
	name    string
	options int
}{
	{"gemm", optTransA | optTransB},
	{"symm", optSide | optUplo},
	{"syrk", optUplo | optTransA},
	{"syr2k", optUplo | optTransA},
	{"trsm", optSide | optUplo | optTransA | optDiag},
	{"trmm", optSide | optUplo | optTransA | optDiag},
	{"cholesky", optUplo},
	{"choleskySolve", optInPlace},
	{"choleskyInverse", optUplo},
	{"triangularInverse", optUplo | optDiag},
	{"symProduct", optUplo | optTransA | optD | optLead | optInPlace},
	{"solveStairs", optSide | optLead | optInPlace},
}

// variants are all calls of a routine of this shape, one per setting of its options.
func variants(shape problem) []problem {
	relevant := 0
	for _, op := range ops {
		if op.name == shape.op {
			relevant = op.options
		}
	}
	var all []problem
	for bits := range optEnd {
		if bits&^relevant != 0 {
			continue
		}
		p := shape
		p.side, p.ul = blas.Left, blas.Lower
		p.tA, p.tB, p.diag = blas.NoTrans, blas.NoTrans, blas.NonUnit
		if bits&optSide != 0 {
			p.side = blas.Right
		}
		if bits&optUplo != 0 {
			p.ul = blas.Upper
		}
		if bits&optTransA != 0 {
			p.tA = blas.Trans
		}
		if bits&optTransB != 0 {
			p.tB = blas.Trans
		}
		if bits&optDiag != 0 {
			p.diag = blas.Unit
		}
		p.diagonal, p.lead, p.inPlace = bits&optD != 0, bits&optLead != 0, bits&optInPlace != 0
		if p.op == "solveStairs" || p.op == "choleskySolve" {
			p.ul = blas.Upper // the only kind there is
		}
		all = append(all, p)
	}
	return all
}

func (p problem) String() string {
	return fmt.Sprintf("%s(side %c, uplo %c, trans %c%c, diag %c, m %d, n %d, k %d, pad %d, alpha %g, beta %g, d %t, lead %t, in place %t)",
		p.op, p.side, p.ul, p.tA, p.tB, p.diag, p.m, p.n, p.k, p.pad, p.alpha, p.beta, p.diagonal, p.lead, p.inPlace)
}

// canary fills memory that a routine must not use. A NaN spoils every result it
// enters, and its payload betrays that it was replaced.
var canary = math.Float64frombits(0x7ff8_dead_beef_cafe)

func isCanary(x float64) bool { return math.Float64bits(x) == math.Float64bits(canary) }

// arena is memory for a problem's matrices with canaries between them.
type arena struct {
	data []float64
	used int
}

const arenaGap = 40

func newArena(size int) *arena {
	a := &arena{data: make([]float64, size)}
	for i := range a.data {
		a.data[i] = canary
	}
	return a
}

func (a *arena) alloc(n int) []float64 {
	lo := a.used + arenaGap
	a.used = lo + n
	return a.data[lo : lo+n : lo+n]
}

// operands are the arguments of a call.
type operands struct {
	a, b, c, d    []float64
	lda, ldb, ldc int
	lead          []int
}

// shapes returns the stored shapes of A, B and C, and the length of d.
func (p problem) shapes() (a, b, c [2]int, d int) {
	op := func(t blas.Transpose, rows, cols int) [2]int {
		if t == blas.NoTrans {
			return [2]int{rows, cols}
		}
		return [2]int{cols, rows}
	}
	square := [2]int{p.n, p.n}
	switch p.op {
	case "gemm":
		return op(p.tA, p.m, p.k), op(p.tB, p.k, p.n), [2]int{p.m, p.n}, 0
	case "symm":
		k := order(p.side, p.m, p.n)
		return [2]int{k, k}, [2]int{p.m, p.n}, [2]int{p.m, p.n}, 0
	case "trsm", "trmm":
		k := order(p.side, p.m, p.n)
		return [2]int{k, k}, [2]int{p.m, p.n}, [2]int{}, 0
	case "syrk":
		return op(p.tA, p.n, p.k), [2]int{}, square, 0
	case "symProduct":
		return op(p.tA, p.n, p.k), square, square, p.k
	case "syr2k":
		return op(p.tA, p.n, p.k), op(p.tA, p.n, p.k), square, 0
	case "choleskySolve":
		beside := [2]int{p.n, p.n + p.k}
		if p.inPlace {
			return [2]int{}, beside, beside, 0
		}
		return [2]int{}, square, beside, 0
	case "solveStairs":
		k := order(p.side, p.m, p.n)
		return [2]int{k, k}, [2]int{p.m, p.n}, [2]int{p.m, p.n}, 0
	default:
		return square, [2]int{}, [2]int{}, 0
	}
}

// size is the room the problem needs in an arena.
func (p problem) size() int {
	a, b, c, d := p.shapes()
	room := func(s [2]int) int { return s[0]*max(1, s[1]+p.pad) + 2*arenaGap }
	return room(a) + room(b) + room(c) + d + 4*arenaGap
}

// make fills the operands with numbers that depend on the problem alone: products
// of numbers in [-1, 1]; triangles with 1 to 2 on the diagonal and so little
// elsewhere that the norm of the inverse is at most 2; positive definite matrices
// with eigenvalues between 1.5 and 2.5. What must not be read is a canary.
func (p problem) make(alloc func(n int) []float64) operands {
	var o operands
	rng := rand.New(rand.NewPCG(p.seed, 1))
	shapeA, shapeB, shapeC, lenD := p.shapes()
	uniform := func(int, int) float64 { return 2*rng.Float64() - 1 }
	triangle := func(ul blas.Uplo, value func(i, j int) float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if !inTriangle(ul, i, j) {
				return canary
			}
			return value(i, j)
		}
	}
	small := func(diagonal float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			x := uniform(i, j) / float64(2*shapeA[0])
			if i == j {
				x = diagonal + math.Abs(uniform(i, j))
			}
			if i == j && p.diag == blas.Unit {
				x = canary
			}
			return x
		}
	}
	matrix := func(shape [2]int, value func(i, j int) float64) ([]float64, int) {
		rows, cols := shape[0], shape[1]
		ld := max(1, cols+p.pad)
		n := 0
		if rows > 0 { // as gonum counts, even without columns
			n = (rows-1)*ld + cols
		}
		s := alloc(n)
		for i := range n {
			s[i] = canary
		}
		for i := range rows {
			for j := range cols {
				s[i*ld+j] = value(i, j)
			}
		}
		return s, ld
	}

	// begins puts zeros at the beginning of rows, or of columns.
	begins := func(shape [2]int, columns bool, value func(i, j int) float64) func(i, j int) float64 {
		if !p.lead {
			return value
		}
		if columns {
			shape[0], shape[1] = shape[1], shape[0]
		}
		for i := len(o.lead); i < shape[0]; i++ {
			o.lead = append(o.lead, 0)
			o.lead[i] = rng.IntN(shape[1] + 1)
			if p.seed%2 == 0 { // as those of a triangle
				o.lead[i] = max(0, shape[1]-1-i)
			}
		}
		return func(i, j int) float64 {
			x := value(i, j)
			if columns {
				i, j = j, i
			}
			if j < o.lead[i] {
				return 0
			}
			return x
		}
	}

	definite := func(i, j int) float64 {
		if i == j {
			return 2
		}
		return uniform(i, j) / float64(2*p.n)
	}
	valueA, valueB, valueC := uniform, uniform, uniform
	unread := func(int, int) float64 { return math.NaN() }
	if p.beta == 0 {
		valueC = unread
	}
	switch p.op {
	case "symm":
		valueA = triangle(p.ul, uniform)
	case "trsm", "trmm", "choleskyInverse", "triangularInverse":
		valueA = triangle(p.ul, small(1))
	case "solveStairs":
		valueA = triangle(p.ul, small(1))
		valueB = begins(shapeB, p.side == blas.Left, uniform)
		valueC = begins(shapeB, p.side == blas.Left, func(int, int) float64 { return math.NaN() })
	case "symProduct":
		valueA = begins(shapeA, false, uniform)
		valueB, valueC = triangle(p.ul, valueC), unread
	case "cholesky":
		valueA = triangle(p.ul, definite)
	case "choleskySolve":
		valueB = triangle(p.ul, func(i, j int) float64 {
			if j >= p.n {
				return uniform(i, j)
			}
			return definite(i, j)
		})
		valueC = func(i, j int) float64 {
			if j >= p.n {
				return uniform(i, j)
			}
			return math.NaN()
		}
	}
	if p.op != "gemm" && p.op != "symm" && p.op != "solveStairs" {
		valueC = triangle(p.ul, valueC)
	}
	o.a, o.lda = matrix(shapeA, valueA)
	o.b, o.ldb = matrix(shapeB, valueB)
	o.c, o.ldc = matrix(shapeC, valueC)
	if p.inPlace {
		o.c, o.ldc = o.b, o.ldb
	}
	if p.diagonal {
		o.d = alloc(lenD)
		for i := range o.d {
			o.d[i] = 2 * uniform(i, 0)
		}
	}
	return o
}

// call runs the routine; ok is what a factorisation returns.
func (p problem) call(r routines, o operands) (ok bool) {
	ok = true
	switch p.op {
	case "gemm":
		r.Dgemm(p.tA, p.tB, p.m, p.n, p.k, p.alpha, o.a, o.lda, o.b, o.ldb, p.beta, o.c, o.ldc)
	case "symm":
		r.Dsymm(p.side, p.ul, p.m, p.n, p.alpha, o.a, o.lda, o.b, o.ldb, p.beta, o.c, o.ldc)
	case "syrk":
		r.Dsyrk(p.ul, p.tA, p.n, p.k, p.alpha, o.a, o.lda, p.beta, o.c, o.ldc)
	case "syr2k":
		r.Dsyr2k(p.ul, p.tA, p.n, p.k, p.alpha, o.a, o.lda, o.b, o.ldb, p.beta, o.c, o.ldc)
	case "trsm":
		r.Dtrsm(p.side, p.ul, p.tA, p.diag, p.m, p.n, p.alpha, o.a, o.lda, o.b, o.ldb)
	case "trmm":
		r.Dtrmm(p.side, p.ul, p.tA, p.diag, p.m, p.n, p.alpha, o.a, o.lda, o.b, o.ldb)
	case "cholesky":
		ok = r.Cholesky(p.ul, p.n, o.a, o.lda)
	case "choleskySolve":
		ok = r.CholeskySolve(p.n, p.k, o.b, o.ldb, o.c, o.ldc)
	case "choleskyInverse":
		ok = r.CholeskyInverse(p.ul, p.n, o.a, o.lda)
	case "triangularInverse":
		ok = r.TriangularInverse(p.ul, p.diag, p.n, o.a, o.lda)
	case "symProduct":
		r.SymProduct(p.ul, p.tA, p.n, p.k, p.alpha, o.a, o.lda, o.lead, o.d, p.beta, o.b, o.ldb, o.c, o.ldc)
	case "solveStairs":
		r.SolveStairs(p.side, p.m, p.n, o.a, o.lda, o.b, o.ldb, o.lead, o.c, o.ldc)
	}
	return ok
}

// tolerance bounds the difference of two ways of rounding the result. A sum of k
// products of numbers in [-1, 1] has an error of at most (k+2)·ε·k; triangles and
// factors are conditioned so well that the same holds with sums of at most 2.
// Leaving out or doubling a single term is a thousand times more.
func (p problem) tolerance() float64 {
	const ulp = 0x1p-52
	depth := float64(max(p.m, p.n, p.k) + 4)
	switch p.op {
	case "gemm", "symm", "syrk", "syr2k", "symProduct":
		return 4 * depth * ulp * (math.Abs(p.alpha)*depth + math.Abs(p.beta))
	default:
		return 16 * depth * ulp * (1 + math.Abs(p.alpha))
	}
}

// failer is what testing.T and rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check runs the problem on the reference and on the implementations and compares
// all memory: what is not the result must not have changed.
func (p problem) check(t failer, impls ...Implementation) {
	t.Helper()
	memory := newArena(p.size())
	o := p.make(memory.alloc)
	before := slices.Clone(memory.data)
	wantOK := p.call(truth{}, o)
	want := slices.Clone(memory.data)
	for _, impl := range impls {
		copy(memory.data, before)
		if ok := p.call(impl, o); ok != wantOK {
			t.Fatalf("%s: %v: returned %t, want %t", impl.Name(), p, ok, wantOK)
		}
		compare(t, impl, p, memory.data, want)
	}
}

func compare(t failer, impl Implementation, p problem, got, want []float64) {
	t.Helper()
	tol := p.tolerance()
	for i, w := range want {
		g := got[i]
		switch {
		case math.Float64bits(g) == math.Float64bits(w):
		case isCanary(w):
			t.Fatalf("%s: %v: element %d of memory written: %g", impl.Name(), p, i, g)
		case math.IsNaN(w) && math.IsNaN(g):
		case !(math.Abs(g-w) <= tol):
			t.Fatalf("%s: %v: element %d of memory is %g, want %g (difference %g, tolerance %g)", impl.Name(), p, i, g, w, g-w, tol)
		}
	}
}

// everything is the implementations of this machine, as they are and with nothing
// left to gonum, or done in one piece, for being small.
func everything() []Implementation {
	all := Available()
	for _, impl := range all {
		if impl.ks != nil {
			all = append(all, withoutLimits(impl))
		}
	}
	return all
}

func withoutLimits(impl Implementation) Implementation {
	ks := *impl.ks
	ks.limits, ks.triangleBlock = limits{}, 40
	return Implementation{ks: &ks}
}

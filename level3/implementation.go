package level3

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Variable is the environment variable that chooses the code to run: "auto" (or
// nothing) for the best the processor has, "avx512", "avx2", "neon", or "gonum" to
// switch this package's kernels off.
const Variable = "LOSSEP_KERNEL"

// gonumName names the code used where there are no vector kernels.
const gonumName = "gonum"

// Implementation is gonum's BLAS with the matrix-matrix operations replaced by
// this package's. The zero value is gonum's own code; the others come from
// Selected and Available. All are safe for concurrent use.
//
// Where gonum's code skips the zeros of an operand, so that a NaN or an infinity
// opposite to them goes unseen, the operations here multiply: 0·NaN is NaN.
// Parts of a matrix that an operation does not refer to are never read, C among
// them when beta is zero.
type Implementation struct {
	gonum.Implementation
	ks *kernels
}

var (
	_ blas.Float64 = Implementation{}

	// reference is gonum's code, for what is too small for packing.
	reference gonum.Implementation
)

// Name is "avx512", "avx2", "neon" or "gonum".
func (impl Implementation) Name() string {
	if impl.ks == nil {
		return gonumName
	}
	return impl.ks.name
}

// Available lists the implementations this machine can run, fastest first. The
// last is gonum's.
func Available() []Implementation {
	var all []Implementation
	for _, ks := range detect() {
		all = append(all, Implementation{ks: ks})
	}
	return append(all, Implementation{})
}

// Selected is the implementation the environment variable LOSSEP_KERNEL asks for,
// the fastest available one by default. The error says that the variable asks for
// something this machine has not; the fastest is returned with it.
func Selected() (Implementation, error) { return selected() }

var selected = sync.OnceValues(func() (Implementation, error) {
	return choose(os.Getenv(Variable), Available())
})

func choose(name string, all []Implementation) (Implementation, error) {
	if name == "" || name == "auto" {
		return all[0], nil
	}
	names := []string{"auto"}
	for _, impl := range all {
		if impl.Name() == name {
			return impl, nil
		}
		names = append(names, impl.Name())
	}
	return all[0], &UnknownKernelError{Name: name, Known: names}
}

// UnknownKernelError reports a value of LOSSEP_KERNEL that this machine cannot
// serve.
type UnknownKernelError struct {
	Name  string   // what was asked for
	Known []string // what may be asked for here
}

func (e *UnknownKernelError) Error() string {
	return fmt.Sprintf("level3: %s=%q is not available on this machine; set it to one of %s or unset it",
		Variable, e.Name, strings.Join(e.Known, ", "))
}

// Gemm replaces C by alpha·op(A)·op(B) + beta·C, on the selected implementation.
func Gemm(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	depth := a.Cols
	if tA == blas.Trans {
		depth = a.Rows
	}
	impl, _ := selected()
	impl.Dgemm(tA, tB, c.Rows, c.Cols, depth, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
}

// Use makes all of gonum (blas64, lapack64, mat) run on the selected implementation, for
// programs that have matrix work of their own: the packages of lossep do not need it. It
// changes a global variable of gonum's without a lock: call it once, before starting
// goroutines.
func Use() error {
	impl, err := Selected()
	blas64.Use(impl)
	return err
}

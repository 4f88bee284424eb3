package level3

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// AVX2 and NEON have tiles of one shape and take the same steps: their results are the same bits,
// on machines that never meet; so the hash of them is stated.
func TestSameBitsOnAMD64AndARM64(t *testing.T) {
	const n, want = 97, 0x9e597959b4d9e56a
	for _, impl := range Available() {
		if name := impl.Name(); name != "avx2" && name != "neon" {
			continue
		}
		impl = withoutLimits(impl)
		rng := rand.New(rand.NewPCG(1, 2))
		a, b := make([]float64, n*n), make([]float64, n*n)
		for i := range a {
			a[i], b[i] = rng.Float64()-0.5, rng.Float64()-0.5
		}
		hash := fnv.New64a()
		keep := func(x []float64) {
			for _, v := range x {
				hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			}
		}
		c := make([]float64, n*n)
		impl.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 0.7, a, n, b, n, 0, c, n)
		keep(c)
		impl.Dgemm(blas.Trans, blas.NoTrans, n, n, n, 0.7, a, n, b, n, 1, c, n)
		keep(c)
		for i := range n {
			b[i*n+i] = n
		}
		impl.Dsyrk(blas.Lower, blas.NoTrans, n, n, 1, a, n, 1, b, n)
		if !impl.Cholesky(blas.Lower, n, b, n) {
			t.Fatal("not positive definite")
		}
		keep(b)
		impl.Dtrsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, n, n, 1, b, n, c, n)
		keep(c)
		impl.Dtrmm(blas.Right, blas.Lower, blas.NoTrans, blas.NonUnit, n, n, 1, b, n, c, n)
		keep(c)
		impl.CholeskyInverse(blas.Lower, n, b, n)
		keep(b)
		if got := hash.Sum64(); got != want {
			t.Errorf("%s: the results have the hash %#x, want %#x", impl.Name(), got, uint64(want))
		}
	}
}

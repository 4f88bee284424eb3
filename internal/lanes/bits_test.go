package lanes

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// What is the same in every code of a machine is the same on all machines, which never meet; so
// the hash is stated.
func TestSameBitsOnAMD64AndARM64(t *testing.T) {
	const want = uint64(0x22f51c9c4b775b15)
	rng := rand.New(rand.NewPCG(15, 16))
	uniform := func(rows, cols int) blas64.General {
		m := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
		for i := range m.Data {
			m.Data[i] = 4*rng.Float64() - 2
		}
		return m
	}
	x, z := uniform(5, 7), uniform(64, 7)
	forEach(t, func(t *testing.T) {
		hash := fnv.New64a()
		keep := func(x []float64) {
			for _, v := range x {
				hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
			}
		}
		s := NewStrips(z, make([]float64, Size(64, 7)))
		for _, d := range []Decay{Gaussian, Exponential, Matern32, Matern52} {
			dst := blas64.General{Rows: 5, Cols: 64, Stride: 64, Data: make([]float64, 5*64)}
			s.Distances(dst, x)
			d.Apply(dst.Data, 1.3, 0.7)
			keep(dst.Data)
			density := make([]float64, len(dst.Data))
			s.Dots(dst, x)
			Normals(dst.Data, density)
			keep(dst.Data)
			keep(density)
		}
		if got := hash.Sum64(); got != want {
			t.Errorf("the hash is %#x, want %#x", got, want)
		}
	})
}

package lanes

import (
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas/blas64"
)

// guarded is n numbers of which the last touches a page that cannot be read or written.
func guarded(t *testing.T, n int) []float64 {
	t.Helper()
	page := unix.Getpagesize()
	body := (8*n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, body+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(m[body:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&m[body-8*n])), n)[:n:n]
}

// A vector instruction that reaches one number too far faults.
func TestGuardPages(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	matrix := func(rows, cols int) blas64.General {
		return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: guarded(t, rows*cols)}
	}
	forEach(t, func(t *testing.T) {
		for _, n := range []int{1, 12, 24, 33, 50} {
			for _, d := range []int{1, 5, 9} {
				s := NewStrips(matrix(n, d), guarded(t, Size(n, d)))
				x, dst := matrix(3, d), matrix(3, Padded(n))
				s.Distances(dst, x)
				s.WeightedDistances(dst, x, guarded(t, d))
				s.Dots(dst, x)
				triples := NewTriples(matrix(n, d), guarded(t, d), guarded(t, TriplesSize(n, d)))
				probes := NewProbes(x, guarded(t, d), guarded(t, ProbesSize(3, d)))
				triples.Matern32(dst, probes, guarded(t, d))
				triples.Slopes(guarded(t, d), guarded(t, d), matrix(3, n), probes, guarded(t, SlopesSize(d)))
			}
			for _, f := range []func([]float64, float64, float64){Gaussian.Apply, Exponential.Apply, Matern32.Apply, Matern52.Apply} {
				f(guarded(t, Padded(n)), 1, 1)
			}
			Add(guarded(t, Padded(n)), guarded(t, Padded(n)), 1)
			octets := (n + Octet - 1) / Octet * Octet
			Outer(guarded(t, n*octets), n, 1, guarded(t, octets))
			Blend(guarded(t, octets), new([4]float64), guarded(t, 4*octets))
			Normals(guarded(t, octets), guarded(t, octets))
			v := NewTriangle(blas64.Triangular{N: n, Stride: n, Data: guarded(t, n*n)})
			for i, panel := range v.panels {
				v.panels[i] = guarded(t, len(panel))
			}
			v.SquaredLengths(guarded(t, 8), matrix(8, n), guarded(t, 8*Group))
		}
	})
}

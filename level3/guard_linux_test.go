package level3

import (
	"fmt"
	"runtime/debug"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guarded hands out memory of which the last element, or the first, touches a page
// that cannot be read or written.
type guarded struct {
	t     *testing.T
	atEnd bool
	maps  [][]byte
}

func (g *guarded) alloc(n int) []float64 {
	page := unix.Getpagesize()
	body := max(page, roundUp(8*n, page))
	m, err := unix.Mmap(-1, 0, body+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		g.t.Fatal(err)
	}
	g.maps = append(g.maps, m)
	for _, guard := range [][]byte{m[:page], m[page+body:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			g.t.Fatal(err)
		}
	}
	start := page
	if g.atEnd {
		start = page + body - 8*n
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&m[start])), n)[:n:n]
}

func (g *guarded) free() {
	for _, m := range g.maps {
		if err := unix.Munmap(m); err != nil {
			g.t.Fatal(err)
		}
	}
}

// TestGuardPages runs every routine on matrices between two guard pages: a vector
// instruction that reaches one element too far faults.
func TestGuardPages(t *testing.T) {
	debug.SetPanicOnFault(true)
	sides := []int{1, 3, 8, 9, 23, 24, 25, 31, 49, 70}
	if testing.Short() {
		sides = []int{3, 9, 24, 31}
	}
	for _, atEnd := range []bool{true, false} {
		for _, impl := range everything() {
			if impl.ks == nil || impl.ks.limits != (limits{}) {
				continue
			}
			for i, n := range sides {
				for _, op := range ops {
					shape := problem{
						op: op.name, m: sides[(3*i+1)%len(sides)], n: n, k: sides[(7*i+2)%len(sides)],
						pad: i % 3, alpha: 1, beta: float64(i % 2), seed: 1,
					}
					for _, p := range variants(shape) {
						g := &guarded{t: t, atEnd: atEnd}
						o := p.make(g.alloc)
						if fault := panicOf(func() { p.call(impl, o) }); fault != nil {
							t.Fatalf("%s: %v: %v", impl.Name(), p, fmt.Sprint(fault))
						}
						g.free()
					}
				}
			}
		}
	}
}

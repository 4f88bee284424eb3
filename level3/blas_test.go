package level3

import "testing"

// lengths visits every side from 0 to 130 (some of them in a short run), and those
// around the edges of blocks.
func lengths() []int {
	step := 1
	if testing.Short() {
		step = 9
	}
	var all []int
	for n := 0; n <= 130; n += step {
		all = append(all, n)
	}
	return append(all, 191, 193)
}

// TestAgainstReference compares every routine and option with gonum's code. The
// three sides of a product go through all lengths in different orders, so that
// each of them meets each length and remainders of all kinds come together.
func TestAgainstReference(t *testing.T) {
	scalars := []float64{1, -0.5, 0, 2, 1}
	sides := lengths()
	for _, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			for i, n := range sides {
				shape := problem{
					op: op.name,
					m:  sides[(i*37+11)%len(sides)], n: n, k: sides[(i*53+7)%len(sides)],
					pad:   i % 4,
					alpha: scalars[i%len(scalars)], beta: scalars[i/2%len(scalars)],
					seed: uint64(i),
				}
				for _, p := range variants(shape) {
					p.check(t, everything()...)
				}
			}
		})
	}
}

// TestSmallShapes goes through all products of sides up to past the width of a
// vector, where every remainder meets every other.
func TestSmallShapes(t *testing.T) {
	limit := 10
	if testing.Short() {
		limit = 5
	}
	for _, op := range []string{"gemm", "syrk", "symProduct", "trsm", "trmm", "solveStairs"} {
		for m := range limit {
			for n := range limit {
				for k := range limit {
					for _, p := range variants(problem{op: op, m: m, n: n, k: k, pad: (m + n + k) % 2, alpha: 1.5, beta: 0, seed: 3}) {
						p.check(t, everything()...)
					}
				}
			}
		}
	}
}

// TestBlocks crosses the borders of the blocks in which large matrices are packed.
func TestBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("large matrices")
	}
	for i, s := range [][3]int{{5, 4100, 40}, {4100, 5, 40}, {30, 50, 1030}, {250, 300, 300}} {
		for _, p := range variants(problem{op: "gemm", m: s[0], n: s[1], k: s[2], alpha: 1, beta: 1, seed: uint64(i)}) {
			p.check(t, everything()...)
		}
	}
	for _, op := range []string{"syrk", "trsm", "trmm", "cholesky", "choleskySolve", "choleskyInverse", "triangularInverse", "symProduct", "solveStairs"} {
		for _, p := range variants(problem{op: op, m: 410, n: 390, k: 70, alpha: 1, beta: 0.5, seed: 9}) {
			p.check(t, everything()...)
		}
	}
}

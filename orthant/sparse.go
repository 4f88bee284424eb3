package orthant

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// grid is a rule for averages over dims independent standard normals.
type grid struct {
	nodes   []float64 // dims for each point
	weights []float64
}

// sparseGrids are those made so far, by dimension and level.
var sparseGrids sync.Map

// sparseGrid is Smolyak's rule of a level, made of the rules of Gauss and Hermite of
// 1, 3, 5, … nodes: with i_d the number of the rule in dimension d, from 0, it is
//
//	Σ_{|i| ≤ level} (−1)^(level−|i|) binomial(dims−1, level−|i|) ⊗_d U(i_d),
//
// the sum over |i| > level − dims. It is exact for polynomials of degree 2·level + 1.
func sparseGrid(dims, level int) grid {
	key := [2]int{dims, level}
	if g, ok := sparseGrids.Load(key); ok {
		return g.(grid)
	}
	var g grid
	place := make(map[string]int)
	node, at := make([]float64, dims), make([]byte, 8*dims)
	add := func(weight float64) {
		for d, x := range node {
			binary.LittleEndian.PutUint64(at[8*d:], math.Float64bits(x+0))
		}
		i, known := place[string(at)]
		if !known {
			i = len(g.weights)
			place[string(at)] = i
			g.nodes, g.weights = append(g.nodes, node...), append(g.weights, 0)
		}
		g.weights[i] += weight
	}
	var each func(d, left int, weight float64)
	each = func(d, left int, weight float64) {
		if d == dims {
			if left < dims {
				add(weight * alternating(dims-1, left))
			}
			return
		}
		for rule := range left + 1 {
			r := hermiteRule(2*rule + 1)
			for i, x := range r.x {
				node[d] = x
				each(d+1, left-rule, weight*r.w[i])
			}
		}
	}
	each(0, level, 1)
	g.nodes, g.weights = slices.Clip(g.nodes), slices.Clip(g.weights)
	sparseGrids.Store(key, g)
	return g
}

// alternating is (−1)^k binomial(n, k).
func alternating(n, k int) float64 {
	b := 1.0
	for i := range k {
		b *= -float64(n-i) / float64(i+1)
	}
	return b
}

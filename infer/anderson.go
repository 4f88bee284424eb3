package infer

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/gauss"
)

// mixer is Anderson's acceleration of the parallel sweep. From the last few sites
// and the steps that were proposed at them it finds the combination whose proposed
// step is smallest, and moves on from there: a secant method in the space that the
// sweeps have spanned. Steps are measured in units of the marginals, Δν·√c and
// Δτ·c, like the residual.
type mixer struct {
	sites, steps [][]gauss.Scalar // the last ones, newest last
	// Differences of successive steps, made orthonormal, and what was done to them
	// done to the differences of successive sites and steps added.
	basis, moves [][]float64
	target       []float64
}

// mixDepth is how many earlier sweeps are remembered. More gain little and make the
// small least-squares problem ill-conditioned.
const mixDepth = 6

// forget drops the memory, as after a step that did not help.
func (m *mixer) forget() { m.sites, m.steps = m.sites[:0], m.steps[:0] }

// propose remembers the full step proposed at sites and replaces it by the mixed
// one, in which the smallest step found is taken at the fraction beta.
func (m *mixer) propose(sites, step []gauss.Scalar, variance []float64, beta float64) {
	m.sites = remember(m.sites, sites)
	m.steps = remember(m.steps, step)
	k := len(m.steps) - 1
	m.target = flatten(m.target, step, variance)
	if len(m.basis) == 0 {
		m.basis, m.moves = make([][]float64, mixDepth), make([][]float64, mixDepth)
	}
	used := 0
	for j := k; j > 0; j-- {
		// Least squares by Gram–Schmidt on the changes of the step, the newest
		// first; a direction that is nearly spanned already adds only noise.
		f := flattenDifference(m.basis[used], m.steps[j], m.steps[j-1], variance)
		x := flattenDifference(m.moves[used], m.sites[j], m.sites[j-1], variance)
		floats.AddScaled(x, beta, f)
		m.basis[used], m.moves[used] = f, x
		size := floats.Norm(f, 2)
		for l := range used {
			c := floats.Dot(m.basis[l], f)
			floats.AddScaled(f, -c, m.basis[l])
			floats.AddScaled(x, -c, m.moves[l])
		}
		left := floats.Norm(f, 2)
		if !(left > 1e-6*size) {
			continue
		}
		floats.Scale(1/left, f)
		floats.Scale(1/left, x)
		used++
	}
	for i := range step {
		step[i].Nu *= beta
		step[i].Tau *= beta
	}
	for l := range used {
		// Subtracting c·basis from the step subtracts c·moves from its end.
		c := floats.Dot(m.basis[l], m.target)
		for i, c0 := range variance {
			if c0 == 0 {
				continue // a view that reads nothing keeps its empty site
			}
			step[i].Nu -= c * m.moves[l][2*i] / math.Sqrt(c0)
			step[i].Tau -= c * m.moves[l][2*i+1] / c0
		}
	}
}

// remember appends a copy of s, dropping the oldest when the memory is full.
func remember(memory [][]gauss.Scalar, s []gauss.Scalar) [][]gauss.Scalar {
	if len(memory) <= mixDepth {
		if len(memory) < cap(memory) && memory[:len(memory)+1][len(memory)] != nil {
			memory = memory[:len(memory)+1]
		} else {
			memory = append(memory, make([]gauss.Scalar, len(s)))
		}
	} else {
		oldest := memory[0]
		copy(memory, memory[1:])
		memory[len(memory)-1] = oldest
	}
	copy(memory[len(memory)-1], s)
	return memory
}

func flatten(dst []float64, s []gauss.Scalar, variance []float64) []float64 {
	if dst == nil {
		dst = make([]float64, 2*len(s))
	}
	for i, c := range variance {
		dst[2*i], dst[2*i+1] = s[i].Nu*math.Sqrt(c), s[i].Tau*c
	}
	return dst
}

func flattenDifference(dst []float64, s, t []gauss.Scalar, variance []float64) []float64 {
	if dst == nil {
		dst = make([]float64, 2*len(s))
	}
	for i, c := range variance {
		dst[2*i], dst[2*i+1] = (s[i].Nu-t[i].Nu)*math.Sqrt(c), (s[i].Tau-t[i].Tau)*c
	}
	return dst
}

package kernel

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Each returns the kernel of processes that have one each, such as the functions of several
// outcomes. As a covariance function it is the mean of the kernels, which is that of the
// difference of two independent processes over √2.
func Each(kernels ...Kernel) Kernel {
	if len(kernels) == 0 {
		panic("kernel: each of no kernels")
	}
	var t each
	for _, k := range kernels {
		if k.Each() != nil {
			panic("kernel: each inside each")
		}
		t.parts = append(t.parts, k.term)
	}
	k := newKernel(t)
	k.codes = kernels[0].codes
	return k
}

// Each are the kernels that processes have each, and nil if they have the same.
func (k Kernel) Each() []Kernel {
	t, ok := k.term.(each)
	if !ok {
		return nil
	}
	var kernels []Kernel
	for _, part := range t.parts {
		kernels = append(kernels, Kernel{term: part, dim: k.dim, codes: k.codes})
	}
	return kernels
}

// For is the kernel for so many processes: one that is given once, as in each(rbf), is for
// each of them. It is an error if it is given for another number.
func (k Kernel) For(processes int) (Kernel, error) {
	kernels := k.Each()
	switch len(kernels) {
	case 0, processes:
		return k, nil
	case 1:
		for len(kernels) < processes {
			kernels = append(kernels, kernels[0])
		}
		return Each(kernels...), nil
	}
	return k, fmt.Errorf("each(…) has %d kernels for %d outcomes; give one for each of them, separated by semicolons, or one, whose form they all have", len(kernels), processes)
}

// each is the mean of its parts. It is inside nothing.
type each struct{ parts }

func (t each) share() float64 { return 1 / float64(len(t.parts)) }

func (t each) cov(x, z []float64) float64   { return t.share() * sum(t).cov(x, z) }
func (t each) variance(x []float64) float64 { return t.share() * sum(t).variance(x) }

func (t each) against(z blas64.General, s *scratch) functions {
	return means(t.parts.each(z, s))
}

// means are the means of functions.
type means []functions

func (fs means) fill(dst, x blas64.General, s *scratch) {
	sums(fs).fill(dst, x, s)
	floats.Scale(1/float64(len(fs)), dst.Data)
}

func (t each) addGrad(grad []float64, w blas64.General, p pairs, s *scratch) {
	part := make([]float64, len(grad))
	sum(t).addGrad(part, w, p, s)
	floats.AddScaled(grad, t.share(), part)
}

func (t each) addVarianceGrad(grad []float64, w []float64, x blas64.General) {
	part := make([]float64, len(grad))
	sum(t).addVarianceGrad(part, w, x)
	floats.AddScaled(grad, t.share(), part)
}

func (t each) with(logs []float64) (term, []float64) {
	at, rest := t.moved(logs)
	return each{at}, rest
}

func (t each) coded(codes int) term { return each{t.parts.coded(codes)} }

func (t each) write(b *strings.Builder) {
	b.WriteString("each(")
	for i, part := range t.parts {
		if i > 0 {
			b.WriteString("; ")
		}
		part.write(b)
	}
	b.WriteByte(')')
}

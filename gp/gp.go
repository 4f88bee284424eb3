// Package gp turns inputs and a kernel into views of a standard Gaussian.
//
// A Gaussian process at N inputs has a covariance K = AAᵀ; its values are views
// f_i = a_i·v of v ~ N(0, I), and so are its values at new inputs, with a residual
// variance for what the inputs leave open. Working in v and never in f matters:
// K is nearly singular as soon as the process is smooth, and no inverse of it
// appears anywhere.
package gp

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
)

// Process is a Gaussian process with mean zero, and the inputs it is conditioned
// on.
type Process struct {
	kernel kernel.Kernel
	x      *mat.Dense
	basis  *kernel.Basis
	root   *gauss.Root
	views  *gauss.Views
	// outcomes are of a process that is seen by several outcomes, and nil where the views
	// are the values at the inputs.
	outcomes *Outcomes
}

// New is the process with kernel k at the rows of x, which it keeps.
func New(k kernel.Kernel, x *mat.Dense) (*Process, error) {
	var gram mat.SymDense
	k.Gram(&gram, x)
	root, err := gauss.NewRoot(&gram)
	if err != nil {
		return nil, fmt.Errorf("gp: kernel %v: %w", k, err)
	}
	return &Process{kernel: k, x: x, basis: k.Basis(x), root: root, views: root.Views()}, nil
}

// Kernel is the covariance function.
func (p *Process) Kernel() kernel.Kernel { return p.kernel }

// Inputs are the rows the process is conditioned on.
func (p *Process) Inputs() *mat.Dense { return p.x }

// Jitter is what had to be added to the diagonal of the kernel's matrix to make it
// positive definite to working precision; zero if nothing.
func (p *Process) Jitter() float64 { return p.root.Jitter }

// Views are the views of the values at the inputs.
func (p *Process) Views() *gauss.Views { return p.views }

// At are the views of the values at the rows of z.
func (p *Process) At(z *mat.Dense) *gauss.Views {
	var cross mat.Dense
	p.basis.Cross(&cross, z)
	return p.root.Project(&cross, p.kernel.Diag(nil, z))
}

// Classify is the model of labels 0 and 1, one for each input, with probit terms.
func (p *Process) Classify(labels []int) (*infer.Model, error) {
	if len(labels) != p.views.Len() {
		return nil, fmt.Errorf("gp: %d labels for %d inputs", len(labels), p.views.Len())
	}
	terms := make([]factor.Factor, len(labels))
	for i, y := range labels {
		if y != 0 && y != 1 {
			return nil, fmt.Errorf("gp: label %d is %d; labels are 0 or 1", i+1, y)
		}
		terms[i] = factor.NewProbit(y)
	}
	return &infer.Model{Views: p.views, Terms: terms}, nil
}

// EvidenceGradient writes ∂log Z_EP/∂θ for the logarithms θ of the kernel's
// parameters, for an EP result on this process without a utility.
//
// At the fixed point the sites are stationary, so only the explicit dependence on
// K counts (Rasmussen and Williams 2006, section 5.5.2):
// ∂log Z = ½ Σ_ij (β_i β_j − R_ij) ∂K_ij with β = ν − Tm and R = (K + T⁻¹)⁻¹. Here
// R = T − TCT with C the posterior covariance, which holds for site precisions of
// any sign.
func (p *Process) EvidenceGradient(r *infer.EPResult, dst []float64) []float64 {
	return new(Scratch).EvidenceGradient(p, r, dst)
}

// Scratch lets a search allocate the matrices of its processes and gradients once. It is for
// processes of the same rows, one after the other; the zero value is ready to use.
type Scratch struct {
	Workspace  gauss.Workspace
	values     *gauss.Values
	weight     *mat.SymDense
	covariance outcomesMatrices
}

// Values are the values at the rows of x with kernel k, for whoever needs no process. They are the same
// every time, with another prior.
func (s *Scratch) Values(k kernel.Kernel, x *mat.Dense) *gauss.Values {
	if s.values == nil {
		s.values = gauss.NewValues(x.RawMatrix().Rows)
	}
	k.Gram(s.values.Prior(), x)
	return s.values
}

// ValuesGradient is the gradient of log Z_EP, as EvidenceGradient has it, where Values hold the posterior.
func (s *Scratch) ValuesGradient(k kernel.Kernel, x *mat.Dense) []float64 {
	s.values.PriorSlope(s.weights(x.RawMatrix().Rows))
	return k.WeightedGrad(nil, s.weight, x)
}

// weights are the weights of the derivatives of n×n covariances, to be written.
func (s *Scratch) weights(n int) *mat.SymDense {
	if s.weight == nil {
		s.weight = mat.NewSymDense(n, nil)
	}
	return s.weight
}

// EvidenceGradient is that of the process.
func (s *Scratch) EvidenceGradient(p *Process, r *infer.EPResult, dst []float64) []float64 {
	n := p.views.Len()
	r.Q.Cross(p.views, s.weights(n), &s.Workspace)
	sites := r.Sites.Terms
	beta := make([]float64, n)
	p.views.At(beta, r.Q.Mean())
	for i, s := range sites {
		beta[i] = s.Nu - s.Tau*beta[i]
	}
	raw := s.weight.RawSymmetric()
	for i, s := range sites {
		row := raw.Data[i*raw.Stride : i*raw.Stride+n]
		for j := i; j < n; j++ {
			row[j] = 0.5 * (beta[i]*beta[j] + s.Tau*sites[j].Tau*row[j])
		}
		row[i] -= 0.5 * s.Tau
	}
	weight := s.weight
	if p.outcomes != nil {
		weight = p.outcomes.reduce(weight)
	}
	return p.kernel.WeightedGrad(dst, weight, p.x)
}

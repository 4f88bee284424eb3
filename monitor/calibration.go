package monitor

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// calibration makes probabilities those that reference cases like them had: log q_y = b·log p_y + a_y
// and what makes them add up to one, with a_0 = 0. Its parameters are b and a_1 … a_{C−1}, which have a
// Gaussian posterior.
type calibration struct {
	theta []float64
	cov   *mat.SymDense
}

const (
	// priorDeviation is how far slopes are from 1, and offsets from 0, before cases are seen.
	priorDeviation = 0.5
	leastP         = 1e-9 // of a probability whose logarithm is taken
)

// fit finds the parameters from cases that count as the weights say, nil if each counts once, scaled
// such that they are worth as many cases as they are effectively.
func fit(c *Cases, weights []float64) *calibration {
	k := len(c.Probabilities[0])
	cal := &calibration{theta: make([]float64, k), cov: mat.NewSymDense(k, nil)}
	cal.theta[0] = 1
	scale := 1.0
	if weights != nil {
		sum := 0.0
		for _, w := range weights {
			sum += w
		}
		scale = effective(weights) / sum
	}
	room := make([]float64, 3*k)
	for range 30 {
		gradient, curvature := make([]float64, k), make([]float64, k*k)
		hessian := mat.NewSymDense(k, curvature)
		for j := range k {
			centre := 0.0
			if j == 0 {
				centre = 1
			}
			gradient[j] = (centre - cal.theta[j]) / (priorDeviation * priorDeviation)
			hessian.SetSym(j, j, 1/(priorDeviation*priorDeviation))
		}
		for i, p := range c.Probabilities {
			w := scale
			if weights != nil {
				w *= weights[i]
			}
			cal.add(gradient, curvature, room, p, c.Outcomes[i], w)
		}
		var chol mat.Cholesky
		if !chol.Factorize(hessian) {
			break
		}
		var step mat.VecDense
		if chol.SolveVecTo(&step, mat.NewVecDense(k, gradient)) != nil {
			break
		}
		_ = chol.InverseTo(cal.cov) // which it can where it can solve
		longest := mat.Norm(&step, math.Inf(1))
		step.ScaleVec(min(1, 1/max(longest, 1e-300)), &step)
		for j := range k {
			cal.theta[j] += step.AtVec(j)
		}
		if longest < 1e-9 {
			break
		}
	}
	return cal
}

// add adds a case to the gradient and the negative Hessian of the log likelihood. With the features
// u_y = (log p_y, e_y) these are u_Y − E u and Var u. Room is for probabilities and features.
func (c *calibration) add(gradient, hessian, room, p []float64, y int, w float64) {
	k := len(c.theta)
	q, mean, u := room[:k], room[k:2*k], room[2*k:3*k]
	c.applyTo(q, p)
	copy(mean, q)
	mean[0] = 0
	for o, x := range q {
		mean[0] += x * logOf(p[o])
	}
	for o, x := range q {
		u[0] = logOf(p[o]) - mean[0]
		for j := 1; j < k; j++ {
			u[j] = -mean[j]
		}
		if o > 0 {
			u[o]++
		}
		for j := range k {
			if o == y {
				gradient[j] += w * u[j]
			}
			for l := j; l < k; l++ {
				hessian[j*k+l] += w * x * u[j] * u[l]
			}
		}
	}
}

func logOf(p float64) float64 { return math.Log(max(p, leastP)) }

func (c *calibration) params() int { return len(c.theta) }

// apply is what probabilities become.
func (c *calibration) apply(p []float64) []float64 {
	q := make([]float64, len(p))
	c.applyTo(q, p)
	return q
}

func (c *calibration) applyTo(q, p []float64) {
	top, sum := math.Inf(-1), 0.0
	for y, x := range p {
		q[y] = c.theta[0] * logOf(x)
		if y > 0 {
			q[y] += c.theta[y]
		}
		top = max(top, q[y])
	}
	for y := range q {
		q[y] = math.Exp(q[y] - top)
		sum += q[y]
	}
	for y := range q {
		q[y] /= sum
	}
}

// slope adds the derivative of an expected cost in the parameters, times a share: ∂E c = Cov(c, u).
func (c *calibration) slope(dst, p, q, costs []float64, share float64) {
	mean := dot(q, costs)
	for y, x := range q {
		d := share * x * (costs[y] - mean)
		dst[0] += d * logOf(p[y])
		if y > 0 {
			dst[y] += d
		}
	}
}

// variance is that of what has this gradient.
func (c *calibration) variance(gradient []float64) float64 {
	g := mat.NewVecDense(len(gradient), gradient)
	return max(0, mat.Inner(g, c.cov, g))
}

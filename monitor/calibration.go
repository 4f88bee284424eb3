package monitor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// calibration makes expected costs those that reference cases like them had.
type calibration interface {
	// estimate is the mean and the variance of the cost of a case. The derivative of the mean in the parameters, times a
	// share, is added to the gradient, unless that is nil.
	estimate(d Decisions, i int, gradient []float64, share float64) (mean, variance float64)
	parameters() int
	// scale is what a reference case costs, about, by the model.
	scale() float64
	// variance is that of what has this gradient.
	variance(gradient []float64) float64
}

// tilt makes probabilities those that reference cases like them had: log q_y = a_y + h_y(log p_y)
// and what makes them add up to one, with h_y linear between knots. The parameters of an outcome are a_y,
// its slope, and by how much the slope changes at every knot; together they have a Gaussian posterior.
type tilt struct {
	mean  float64     // what a reference case is expected to cost
	knots [][]float64 // of each outcome
	theta []float64   // block by block
	cov   *mat.SymDense
}

const (
	// priorDeviation is how far slopes are from 1, and offsets and changes of slopes from 0, before
	// cases are seen.
	priorDeviation = 0.5
	leastP         = 1e-9 // of a probability whose logarithm is taken
)

// places are the shares of reference cases below the knots.
var places = [...]float64{0.1, 0.3, 0.5, 0.7, 0.9}

// width is the number of parameters of an outcome.
const width = 2 + len(places)

// newTilt leaves probabilities as they are, with knots where cases lie.
func newTilt(c *Categories) *tilt {
	k := len(c.Probabilities[0])
	cal := &tilt{theta: make([]float64, k*width), cov: mat.NewSymDense(k*width, nil)}
	logs := make([]float64, c.Len())
	for i := range c.Len() {
		cal.mean += c.Expected(i) / float64(c.Len())
	}
	for y := range k {
		for i, p := range c.Probabilities {
			logs[i] = logOf(p[y])
		}
		slices.Sort(logs)
		knots := make([]float64, len(places))
		for j, share := range places {
			knots[j] = logs[int(share*float64(len(logs)))]
		}
		cal.knots = append(cal.knots, knots)
		cal.theta[y*width+1] = 1
	}
	return cal
}

// features writes those of an outcome.
func (c *tilt) features(u []float64, y int, p float64) {
	l := logOf(p)
	u[0], u[1] = 1, l
	for j, knot := range c.knots[y] {
		u[2+j] = max(0, l-knot)
	}
}

// fit is the calibration from cases. It starts from parameters nearby.
func (c *tilt) fit(cases *Categories) *tilt {
	n := len(c.theta)
	next := &tilt{mean: c.mean, knots: c.knots, theta: slices.Clone(c.theta), cov: mat.NewSymDense(n, nil)}
	const precision = 1 / (priorDeviation * priorDeviation)
	room := newRoom(n)
	for range 30 {
		clear(room.gradient)
		clear(room.hessian)
		for j, t := range next.theta {
			centre := 0.0
			if j%width == 1 {
				centre = 1
			}
			room.gradient[j], room.hessian[j*n+j] = precision*(centre-t), precision
		}
		for i, p := range cases.Probabilities {
			next.add(room, p, cases.Outcomes[i])
		}
		var chol mat.Cholesky
		var step mat.VecDense
		if !chol.Factorize(mat.NewSymDense(n, room.hessian)) || chol.SolveVecTo(&step, mat.NewVecDense(n, room.gradient)) != nil {
			break
		}
		_ = chol.InverseTo(next.cov) // which it can where it can solve
		longest := mat.Norm(&step, math.Inf(1))
		for j := range next.theta {
			next.theta[j] += step.AtVec(j) * min(1, 1/max(longest, 1e-300))
		}
		if longest < 1e-4 { // of the deviations before cases are seen, far below those after
			break
		}
	}
	return next
}

// room is memory of a fit.
type room struct{ gradient, hessian, u, mean, q []float64 }

func newRoom(n int) *room {
	return &room{make([]float64, n), make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, n/width)}
}

// add adds a case to the gradient u_Y − E u and the negative Hessian Var u of the log likelihood, where the
// features u_y of an outcome are in its own block.
func (c *tilt) add(r *room, p []float64, outcome int) {
	n := len(c.theta)
	c.applyTo(r.q, r.u, p)
	for y, x := range r.q {
		block := r.u[y*width : (y+1)*width]
		for j, v := range block {
			r.mean[y*width+j] = x * v
			at := y*width + j
			if y == outcome {
				r.gradient[at] += v
			}
			for l := j; l < width; l++ {
				r.hessian[at*n+y*width+l] += x * v * block[l]
			}
		}
	}
	for j, v := range r.mean {
		r.gradient[j] -= v
		row := r.hessian[j*n : (j+1)*n]
		for l := j; l < n; l++ {
			row[l] -= v * r.mean[l]
		}
	}
}

func logOf(p float64) float64 { return math.Log(max(p, leastP)) }

// apply is what probabilities become.
func (c *tilt) apply(p []float64) []float64 {
	q := make([]float64, len(p))
	c.applyTo(q, make([]float64, len(c.theta)), p)
	return q
}

// applyTo writes them, and the features.
func (c *tilt) applyTo(q, u, p []float64) {
	top, sum := math.Inf(-1), 0.0
	for y, x := range p {
		block := u[y*width : (y+1)*width]
		c.features(block, y, x)
		q[y] = dot(block, c.theta[y*width:(y+1)*width])
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

func (c *tilt) scale() float64 { return math.Abs(c.mean) }

func (c *tilt) parameters() int { return len(c.theta) }

// estimate implements calibration.
func (c *tilt) estimate(d Decisions, i int, gradient []float64, share float64) (mean, variance float64) {
	of := d.(*Categories)
	p, costs := of.Probabilities[i], of.Costs[i]
	q := c.apply(p)
	mean = dot(q, costs)
	for y, x := range costs {
		variance += q[y] * (x - mean) * (x - mean)
	}
	if gradient != nil {
		c.slope(gradient, p, q, costs, share)
	}
	return mean, variance
}

// slope adds the derivative of an expected cost in the parameters, times a share: ∂E c = Cov(c, u).
func (c *tilt) slope(dst, p, q, costs []float64, share float64) {
	mean := dot(q, costs)
	var u [width]float64
	for y, x := range q {
		c.features(u[:], y, p[y])
		d := share * x * (costs[y] - mean)
		for j, v := range u {
			dst[y*width+j] += d * v
		}
	}
}

// variance implements calibration.
func (c *tilt) variance(gradient []float64) float64 { return quadratic(c.cov, gradient) }

// quadratic is gᵀCg.
func quadratic(c *mat.SymDense, gradient []float64) float64 {
	g := mat.NewVecDense(len(gradient), gradient)
	return max(0, mat.Inner(g, c, g))
}

// slopeOf is the power that makes probabilities those that cases had, the calibration slope: log q = b log p
// and what makes them add up to one, by the likelihood of b with the same prior.
func slopeOf(c *Categories) float64 {
	b := 1.0
	for range 20 {
		const precision = 1 / (priorDeviation * priorDeviation)
		gradient, bend := precision*(1-b), precision
		for i, p := range c.Probabilities {
			sum, first, second := 0.0, 0.0, 0.0
			for _, x := range p {
				w, l := math.Exp(b*logOf(x)), logOf(x)
				sum, first, second = sum+w, first+w*l, second+w*l*l
			}
			gradient += logOf(p[c.Outcomes[i]]) - first/sum
			bend += second/sum - first/sum*first/sum
		}
		step := gradient / bend
		if b += max(-1, min(1, step)); math.Abs(step) < 1e-8 {
			break
		}
	}
	return b
}

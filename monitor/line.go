package monitor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// line makes expected costs those that reference cases like them had where these have no probabilities: E c = m·θᵀu with
// u = (1, e/m, max(0, e/m − knot) …), e the cost that the model expects and m its mean. With the variances that the model
// gives costs, times one factor φ, and the prior of tilt, parameters have a Gaussian posterior in closed form.
type line struct {
	scale   float64 // m
	knots   []float64
	theta   *mat.VecDense
	cov     *mat.SymDense
	unsure  float64 // φ
	smaller float64 // the least variance of a cost
}

func newLine(c *Numbers) *line {
	n := float64(c.Len())
	l := new(line)
	for i, e := range c.Means {
		l.scale += e / n
		l.smaller += leastShare * c.Variances[i] / n
	}
	if !(l.scale > 0) { // nothing costs anything
		l.scale = 1
	}
	l.smaller += leastShare * l.scale * l.scale
	sorted := slices.Sorted(slices.Values(c.Means))
	for _, share := range places {
		l.knots = append(l.knots, sorted[int(share*n)]/l.scale)
	}
	for i, e := range c.Means {
		l.unsure += (c.Costs[i] - e) * (c.Costs[i] - e) / l.floored(c.Variances[i]) / n
	}
	l.unsure = max(l.unsure, leastShare)
	const precision = 1 / (priorDeviation * priorDeviation)
	size := l.parameters()
	gram, right, u := mat.NewSymDense(size, nil), mat.NewVecDense(size, nil), mat.NewVecDense(size, nil)
	for j := range size {
		gram.SetSym(j, j, precision)
	}
	right.SetVec(1, precision) // slopes are about 1
	for i, e := range c.Means {
		l.features(u, e)
		weight := l.scale * l.scale / (l.unsure * l.floored(c.Variances[i]))
		gram.SymRankOne(gram, weight, u)
		right.AddScaledVec(right, weight*c.Costs[i]/l.scale, u)
	}
	l.theta, l.cov = mat.NewVecDense(size, nil), mat.NewSymDense(size, nil)
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.SolveVecTo(l.theta, right) != nil || chol.InverseTo(l.cov) != nil {
		l.theta.Zero() // costs are as the model expects them
		l.theta.SetVec(1, 1)
		l.cov.Zero()
	}
	return l
}

// leastShare is the least that variances are, in relation to their mean.
const leastShare = 1e-6

func (l *line) floored(variance float64) float64 { return max(variance, l.smaller) }

func (l *line) features(u *mat.VecDense, e float64) {
	x := e / l.scale
	u.SetVec(0, 1)
	u.SetVec(1, x)
	for j, knot := range l.knots {
		u.SetVec(2+j, math.Max(0, x-knot))
	}
}

func (l *line) parameters() int { return 2 + len(l.knots) }

// estimate implements calibration.
func (l *line) estimate(d Decisions, i int, gradient []float64, share float64) (mean, variance float64) {
	of := d.(*Numbers)
	u := mat.NewVecDense(l.parameters(), nil)
	l.features(u, of.Means[i])
	for j := range gradient {
		gradient[j] += share * l.scale * u.AtVec(j)
	}
	return math.Max(0, l.scale*mat.Dot(u, l.theta)), l.unsure * l.floored(of.Variances[i])
}

// variance implements calibration.
func (l *line) variance(gradient []float64) float64 { return quadratic(l.cov, gradient) }

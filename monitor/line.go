package monitor

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// line makes expected costs those that reference cases like them had where these have no probabilities: E c = m·θᵀu with
// u = (1, e/m, max(0, e/m − knot) …), e the cost that the model expects and m its mean. With the variances that the model
// gives costs, times one factor φ, and the prior of tilt, parameters have a Gaussian posterior in closed form.
type line struct {
	most    float64 // what costs are expected to be at most, by their reference
	mean    float64 // m
	knots   []float64
	theta   *mat.VecDense
	cov     *mat.SymDense
	unsure  float64 // φ
	smaller float64 // the least variance of a cost
}

func newLine(c *Numbers) *line {
	n := float64(c.Len())
	sorted := slices.Sorted(slices.Values(c.Means))
	l := &line{most: farTimes * sorted[int(farShare*n)]}
	for i := range c.Means {
		e, v := l.bounded(c, i)
		l.mean += e / n
		l.smaller += leastShare * v / n
	}
	if !(l.mean > 0) { // nothing costs anything
		l.mean = 1
	}
	l.smaller += leastShare * l.mean * l.mean
	for _, share := range places {
		l.knots = append(l.knots, sorted[int(share*n)]/l.mean)
	}
	for i, cost := range c.Costs {
		e, v := l.bounded(c, i)
		l.unsure += (cost - e) * (cost - e) / max(v, l.smaller) / n
	}
	l.unsure = max(l.unsure, leastShare)
	const precision = 1 / (priorDeviation * priorDeviation)
	size := l.parameters()
	gram, right, u := mat.NewSymDense(size, nil), mat.NewVecDense(size, nil), mat.NewVecDense(size, nil)
	for j := range size {
		gram.SetSym(j, j, precision)
	}
	right.SetVec(1, precision) // slopes are about 1
	for i, cost := range c.Costs {
		e, v := l.bounded(c, i)
		l.features(u, e)
		weight := l.mean * l.mean / (l.unsure * max(v, l.smaller))
		gram.SymRankOne(gram, weight, u)
		right.AddScaledVec(right, weight*cost/l.mean, u)
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

const (
	// leastShare is the least that variances are, in relation to their mean.
	leastShare = 1e-6
	// Where costs are expected to be farTimes what they are in all but one of a hundred reference cases, the model has no
	// idea: a long tail of a logarithm's noise may have any mean. One such case would make all others count nothing.
	farShare, farTimes = 0.99, 10
)

// bounded is the mean and the variance of a cost by the model, where it has an idea of them.
func (l *line) bounded(c *Numbers, i int) (e, v float64) {
	return min(c.Means[i], l.most), min(c.Variances[i], l.most*l.most)
}

func (l *line) features(u *mat.VecDense, e float64) {
	x := e / l.mean
	u.SetVec(0, 1)
	u.SetVec(1, x)
	for j, knot := range l.knots {
		u.SetVec(2+j, max(0, x-knot))
	}
}

func (l *line) parameters() int { return 2 + len(l.knots) }

// estimate implements calibration.
func (l *line) estimate(d Decisions, i int, gradient []float64, share float64) (mean, variance float64) {
	e, v := l.bounded(d.(*Numbers), i)
	u := mat.NewVecDense(l.parameters(), nil)
	l.features(u, e)
	for j := range gradient {
		gradient[j] += share * l.mean * u.AtVec(j)
	}
	return max(0, l.mean*mat.Dot(u, l.theta)), l.unsure * max(v, l.smaller)
}

func (l *line) scale() float64 { return l.mean }

// variance implements calibration.
func (l *line) variance(gradient []float64) float64 { return quadratic(l.cov, gradient) }

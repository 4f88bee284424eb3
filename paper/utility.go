package paper

import (
	"math"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/normal"
)

// utility is the paper's utility on points that share a table, with a LogMean for
// this case alone: probit outcomes and uniform weights. Loss-VI asks it at every
// draw and point, several thousand million times in all, which by the general way
// would take more time than everything else together.
type utility struct {
	*decision.Utility
	base, delta [2]float64 // u[a][0] and Δ = u[a][1] − u[a][0]
	// scale is 1/√(1+v) for v the residual variance of each point, around which
	// Loss-VI has its draws.
	residual, scale []float64
}

func newUtility(u10 float64, points *gauss.Views) (*utility, error) {
	n := points.Len()
	t := UtilityTable(u10)
	general, err := decision.NewUtility(decision.Probit(), n, nil, t)
	if err != nil {
		return nil, err
	}
	u := &utility{Utility: general, residual: make([]float64, n), scale: make([]float64, n)}
	for a, row := range t {
		u.base[a], u.delta[a] = row[0], row[1]-row[0]
	}
	for j := range n {
		u.residual[j] = points.Residual(j)
		u.scale[j] = 1 / math.Sqrt(1+u.residual[j])
	}
	return u, nil
}

// LogMean implements factor.Utility: Z = Σ_j (u[a_j][0] + Δ_j Φ(z_j))/n with
// z_j = m_j/s_j and s_j² = 1 + v_j, whose derivatives are Δ_j N(z_j)/s_j and
// −Δ_j N(z_j) z_j/s_j².
func (u *utility) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	n := len(actions)
	m, v, d1, d2 = m[:n], v[:n], d1[:n], d2[:n]
	residual, scales := u.residual[:n], u.scale[:n]
	sum := 0.0
	for j, a := range actions {
		scale := scales[j]
		if v[j] != residual[j] {
			scale = 1 / math.Sqrt(1+v[j])
		}
		z := m[j] * scale
		p, density := cdfAndDensity(z)
		sum += u.base[a&1] + u.delta[a&1]*p
		d := u.delta[a&1] * density * scale
		d1[j], d2[j] = d, -d*z*scale
	}
	// Where nearly every action meets its worst outcome the sum has lost its digits,
	// and what the table leaves out counts.
	if sum < 1e-4*float64(n) {
		return u.Utility.LogMean(actions, m, v, d1, d2)
	}
	inverse := 1 / sum
	for j := range d1 {
		d1[j] *= inverse
		d2[j] *= inverse
	}
	return math.Log(sum / float64(n))
}

// The table of normals: Φ and N at multiples of 1/tableDensity up to ±tableReach.
const (
	tableDensity = 64
	tableReach   = 7
)

var normals = func() (t [2*tableReach*tableDensity + 1][2]float64) {
	for i := range t {
		x := float64(i-tableReach*tableDensity) / tableDensity
		t[i] = [2]float64{normal.CDF(x), normal.Density(x)}
	}
	return t
}()

// cdfAndDensity are Φ(x) and N(x) to 1e-9, by their Taylor series to third order
// around the nearest node of the table: the next term is at most 0.06·2⁻²⁸ for Φ and
// 0.05·2⁻²⁸ for N. Beyond ±7 they are 0 or 1 to 2e-12.
func cdfAndDensity(x float64) (cdf, density float64) {
	if !(math.Abs(x) < tableReach) {
		if x > 0 {
			return 1, 0
		}
		return 0, 0
	}
	at := int(x*tableDensity + (tableReach*tableDensity + 0.5))
	x0 := float64(at-tableReach*tableDensity) * (1.0 / tableDensity)
	h := x - x0
	node := &normals[at]
	curve := x0*x0 - 1
	cdf = node[0] + node[1]*h*(1+h*(-x0/2+h*curve*(1.0/6)))
	density = node[1] * (1 + h*(-x0+h*(curve/2-h*x0*(curve-2)*(1.0/6))))
	return cdf, density
}

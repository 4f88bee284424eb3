package lab

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/internal/lanes"
)

// utility is the paper's utility on points that share a table, with a LogMean for
// this case alone: probit outcomes and uniform weights. Loss-VI asks it at every
// draw and point, several thousand million times in all, which by the general way
// would take more time than everything else together.
type paperUtility struct {
	*decision.Utility
	base, delta [2]float64 // u[a][0] and Δ = u[a][1] − u[a][0]
	// scale is 1/√(1+v) for v the residual variance of each point, around which
	// Loss-VI has its draws.
	residual, scale []float64
}

func newPaperUtility(u10 float64, points *gauss.Views) (*paperUtility, error) {
	n := points.Len()
	t := UtilityTable(u10)
	general, err := decision.NewUtility(decision.Probit(), n, nil, t)
	if err != nil {
		return nil, err
	}
	u := &paperUtility{Utility: general, residual: make([]float64, n), scale: make([]float64, n)}
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
func (u *paperUtility) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	n := len(actions)
	m, v, d1, d2 = m[:n], v[:n], d1[:n], d2[:n]
	scales := u.scale[:n]
	if !slices.Equal(v, u.residual) {
		scales = make([]float64, n)
		for j, x := range v {
			scales[j] = 1 / math.Sqrt(1+x)
		}
	}
	for j, x := range m {
		d2[j] = x * scales[j]
	}
	normals(d2, d1)
	sum := 0.0
	for j, a := range actions {
		delta, scale := u.delta[a&1], scales[j]
		sum += u.base[a&1] + delta*d2[j]
		d := delta * scale * d1[j]
		d1[j], d2[j] = d, -d*scale*scale*m[j]
	}
	// Where nearly every action meets its worst outcome the sum has lost its digits.
	if sum < 1e-4*float64(n) {
		return u.Utility.LogMean(actions, m, v, d1, d2)
	}
	inverse := 1 / sum
	floats.Scale(inverse, d1)
	floats.Scale(inverse, d2)
	return math.Log(sum / float64(n))
}

// normals is lanes.Normals of any number of values.
func normals(z, density []float64) {
	whole := len(z) / lanes.Octet * lanes.Octet
	lanes.Normals(z[:whole], density[:whole])
	if whole < len(z) {
		var rest, densities [lanes.Octet]float64
		copy(rest[:], z[whole:])
		lanes.Normals(rest[:], densities[:])
		copy(z[whole:], rest[:])
		copy(density[whole:], densities[:])
	}
}

package orthant

import (
	"math"

	"github.com/lossep/lossep/normal"
)

// squeezedExcess is excessAt to 1e-9 in a third of the time: by cubics through value and slope
// at the nodes of two tables of Φ⁻¹, of log p in the lower half and of 1 − p in the upper one.
// Beyond the tables all digits are asked for.
func squeezedExcess(u, t, logTail float64) float64 {
	logP := math.Log(u) + logTail
	if logP < logTo {
		if logP < logFrom {
			return excessAt(u, t, logTail)
		}
		return math.Max(0, -cubic(logQuantiles, (logP-logFrom)*logDensity)-t)
	}
	rest := 1 - math.Exp(logP)
	if !(rest >= restFrom) { // NaN, too
		return excessAt(u, t, logTail)
	}
	return math.Max(0, cubic(restQuantiles, (rest-restFrom)*restDensity)-t)
}

const (
	logFrom, logTo, logDensity = -24.0, -1.0, 64
	// 1 − e^logTo is 0.632.
	restFrom, restTo, restDensity = 0.02, 0.64, 4096
)

// logQuantiles and restQuantiles are Φ⁻¹(e^s) and Φ⁻¹(p) and their slopes, times the spacing,
// at the nodes.
var (
	logQuantiles = tabulate(logFrom, logTo, logDensity, func(s float64) (x, slope float64) {
		x = normal.QuantileLog(s)
		return x, 1 / normal.Hazard(x)
	})
	restQuantiles = tabulate(restFrom, restTo, restDensity, func(p float64) (x, slope float64) {
		x = normal.Quantile(p)
		return x, 1 / normal.Density(x)
	})
)

// tabulate is a function with its slope at equal steps.
func tabulate(from, to, density float64, of func(float64) (value, slope float64)) [][2]float64 {
	nodes := make([][2]float64, int((to-from)*density)+2)
	for k := range nodes {
		value, slope := of(from + float64(k)/density)
		nodes[k] = [2]float64{value, slope / density}
	}
	return nodes
}

// cubic is what a table says between its nodes.
func cubic(table [][2]float64, at float64) float64 {
	k := min(int(at), len(table)-2) // rounding may lead to the end
	u := at - float64(k)
	a, b := &table[k], &table[k+1]
	rise := b[0] - a[0]
	return a[0] + u*(a[1]+u*(3*rise-2*a[1]-b[1]+u*(a[1]+b[1]-2*rise)))
}

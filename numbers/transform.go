package numbers

import (
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep"
)

// Transform is how outcomes are made as near to normal as can be before they are fitted. It is
// recorded, and undone in what is predicted.
type Transform struct {
	// Name is none, log, root, yeo-johnson, or count for counts, which have Mean alone: the logarithm of
	// the mean count.
	Name string `json:"name"`
	// Unit is what is added before a logarithm or a root, or divided by before yeo-johnson, whose power is
	// Power.
	Unit  float64 `json:"unit,omitempty"`
	Power float64 `json:"power,omitempty"`
	// Mean and Scale make what comes of it about standard.
	Mean  float64 `json:"mean"`
	Scale float64 `json:"scale"`
}

// transforms are those that can be tried for outcomes, the plain one first, or counts where they can be.
func transforms(y []float64) []Transform {
	sorted := slices.Sorted(slices.Values(y))
	low, scale := sorted[0], robustScale(sorted)
	all := []Transform{{Name: "none"}}
	switch {
	case low >= 0 && sorted[len(sorted)-1] > 0:
		unit := 0.0
		if low == 0 { // half the smallest amount keeps zeros apart from it as far as its double is, and slopes finite
			unit = sorted[slices.IndexFunc(sorted, func(x float64) bool { return x > 0 })] / 2
		}
		all = append(all, Transform{Name: "log", Unit: unit}, Transform{Name: "root", Unit: unit})
	default:
		for _, power := range []float64{0.25, 0.5, 1.5, 1.75} {
			all = append(all, Transform{Name: "yeo-johnson", Unit: scale, Power: power})
		}
	}
	for k := range all {
		all[k].standardise(sorted)
	}
	if t := counted(y); t != nil && !many(y) {
		all = append([]Transform{*t}, all...)
	}
	return slices.DeleteFunc(all, func(t Transform) bool {
		return !(t.Scale > 0) || math.IsInf(t.Scale, 0) || math.IsNaN(t.Mean) || math.IsInf(t.Mean, 0)
	})
}

// standardise finds mean and scale from sorted outcomes: by the median and the quartiles, which
// outliers do not move.
func (t *Transform) standardise(sorted []float64) {
	z := make([]float64, len(sorted))
	for i, y := range sorted {
		z[i] = t.curve(y)
	}
	t.Mean, t.Scale = z[len(z)/2], robustScale(z)
}

// robustScale is the standard deviation that a normal distribution with the quartiles of sorted
// numbers has, or, where most are the same, that of all.
func robustScale(sorted []float64) float64 {
	n := len(sorted)
	if s := (sorted[3*n/4] - sorted[n/4]) / 1.349; s > 0 {
		return s
	}
	mean, square := 0.0, 0.0
	for _, x := range sorted {
		mean += x / float64(n)
	}
	for _, x := range sorted {
		square += (x - mean) / float64(n) * (x - mean)
	}
	return math.Sqrt(square)
}

// curve is the transformation before it is standardised.
func (t *Transform) curve(y float64) float64 {
	switch t.Name {
	case "log":
		return math.Log(y + t.Unit)
	case "root":
		return math.Sqrt(y + t.Unit)
	case "yeo-johnson":
		if y < 0 {
			return -power(-y/t.Unit, 2-t.Power)
		}
		return power(y/t.Unit, t.Power)
	}
	return y
}

// power is ((1 + x)^λ − 1)/λ.
func power(x, lambda float64) float64 { return math.Expm1(lambda*math.Log1p(x)) / lambda }

// At is the transformed outcome.
func (t *Transform) At(y float64) float64 {
	if t.Name == "count" {
		return y
	}
	if t.amounts() {
		y = max(y, 0)
	}
	return (t.curve(y) - t.Mean) / t.Scale
}

// Back is the outcome that a transformed one stands for. Amounts are not below zero.
func (t *Transform) Back(z float64) float64 {
	x := t.Mean + t.Scale*z
	switch t.Name {
	case "log":
		return max(0, math.Exp(x)-t.Unit)
	case "root":
		x = max(x, 0)
		return max(0, x*x-t.Unit)
	case "yeo-johnson":
		if x < 0 {
			return -t.Unit * math.Expm1(math.Log1p(-x*(2-t.Power))/(2-t.Power))
		}
		return t.Unit * math.Expm1(math.Log1p(x*t.Power)/t.Power)
	}
	return x
}

// logSlope is the logarithm of the derivative: what makes a density of the transformed outcome one
// of the outcome.
func (t *Transform) logSlope(y float64) float64 {
	l := -math.Log(t.Scale) // nothing for counts
	switch t.Name {
	case "log":
		l -= math.Log(y + t.Unit)
	case "root":
		l -= math.Log(2) + 0.5*math.Log(y+t.Unit)
	case "yeo-johnson":
		lambda, x := t.Power, y/t.Unit
		if y < 0 {
			lambda, x = 2-lambda, -x
		}
		l += (lambda-1)*math.Log1p(x) - math.Log(t.Unit)
	}
	return l
}

func (t *Transform) plain() bool { return t.Name == "none" }

// amounts tells whether no outcome is below zero.
func (t *Transform) amounts() bool { return t.Name == "root" || t.Name == "log" }

func (t *Transform) String() string {
	switch {
	case t.plain():
		return "as it is"
	case t.Name == "count":
		return "count, log link"
	case t.Name == "log" && t.Unit > 0:
		return fmt.Sprintf("log(outcome + %.4g)", t.Unit)
	case t.Name == "log":
		return "log(outcome)"
	case t.Name == "root" && t.Unit > 0:
		return fmt.Sprintf("square root of outcome + %.4g", t.Unit)
	case t.Name == "root":
		return "square root"
	}
	return fmt.Sprintf("yeo-johnson with power %g", t.Power)
}

// check refuses what no fit makes.
func (t *Transform) check() error {
	ok := t.Scale > 0 && t.Unit >= 0
	for _, x := range []float64{t.Scale, t.Mean, t.Unit} { // of outcomes, or smaller
		ok = ok && math.Abs(x) <= lossep.Farthest
	}
	switch t.Name {
	case "none", "log", "root", "count":
	case "yeo-johnson":
		ok = ok && t.Unit > 0 && t.Power > 0 && t.Power < 2
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("its outcome is transformed by %+v, which no fit does", *t)
	}
	return nil
}

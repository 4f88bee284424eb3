package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/normal"
)

// Distribution is that of a number that is not known, as it stands in an expression:
//
//	uniform(low, high)  triangular(low, mode, high)  normal(mean, sd)  lognormal(mean, sd)
//
// of which the last has the mean and the standard deviation of the number itself. The value of an
// expression is its mean, so what is not known may be added, and multiplied by what is known, only.
type Distribution struct {
	Name string
	args []float64
}

// distributions are the names with the number of their arguments.
var distributions = map[string]int{"uniform": 2, "triangular": 3, "normal": 2, "lognormal": 2}

// wrong says why there is no such distribution; empty if there is.
func (d *Distribution) wrong() string {
	a := d.args
	switch {
	case len(a) != distributions[d.Name]:
		return map[string]string{"uniform": "give the lowest and the highest value", "triangular": "give the lowest, the most likely and the highest value"}[d.Name] + map[bool]string{true: "give the mean and the standard deviation"}[strings.HasSuffix(d.Name, "normal")]
	case d.Name == "uniform" && !(a[0] < a[1]), d.Name == "triangular" && !(a[0] <= a[1] && a[1] <= a[2] && a[0] < a[2]):
		return "give values in rising order"
	case strings.HasSuffix(d.Name, "normal") && !(a[1] > 0):
		return "give a standard deviation above 0"
	case d.Name == "lognormal" && !(a[0] > 0):
		return "give a mean above 0"
	case d.Name == "lognormal" && a[1] > 1e6*a[0]: // the square of the quotient has to stay finite, and to mean something
		return "give a standard deviation of at most a million times the mean"
	}
	return ""
}

// Mean is the expectation.
func (d *Distribution) Mean() float64 {
	switch a := d.args; d.Name {
	case "uniform":
		return a[0] + (a[1]-a[0])/2
	case "triangular":
		return a[0]/3 + a[1]/3 + a[2]/3
	default:
		return a[0]
	}
}

// logs are mean and standard deviation of the logarithm of a lognormal number.
func (d *Distribution) logs() (m, s float64) {
	v := math.Log1p(math.Pow(d.args[1]/d.args[0], 2))
	return math.Log(d.args[0]) - v/2, math.Sqrt(v)
}

// Below is P(θ ≤ x) and E[θ; θ ≤ x].
func (d *Distribution) Below(x float64) (p, mean float64) {
	a := d.args
	switch d.Name {
	case "uniform":
		x = min(max(x, a[0]), a[1])
		p = (x - a[0]) / (a[1] - a[0])
		return p, p * (a[0] + (x-a[0])/2)
	case "triangular":
		if x >= a[2] {
			return 1, d.Mean()
		}
		// Up to the mode the density is 2(θ − low)/(width·left); beyond it 2(high − θ)/(width·right).
		width, left, right := a[2]-a[0], a[1]-a[0], a[2]-a[1]
		if u := max(0, x-a[0]); x <= a[1] && left > 0 {
			p = u * u / (width * left)
			return p, p * (a[0] + u*2/3)
		}
		if x <= a[0] {
			return 0, 0
		}
		u := a[2] - x
		above := u * u / (width * right)
		return 1 - above, d.Mean() - above*(a[2]-u*2/3)
	case "normal":
		z := (x - a[0]) / a[1]
		p = normal.CDF(z)
		return p, a[0]*p - a[1]*normal.Density(z)
	}
	if x <= 0 {
		return 0, 0
	}
	m, s := d.logs()
	z := (math.Log(x) - m) / s
	return normal.CDF(z), a[0] * normal.CDF(z-s)
}

// Range is between the lowest and the highest value, or holds 95 % where there is none.
func (d *Distribution) Range() (low, high float64) {
	const z = 1.959963984540054
	switch a := d.args; d.Name {
	case "normal":
		return a[0] - z*a[1], a[0] + z*a[1]
	case "lognormal":
		m, s := d.logs()
		return math.Exp(m - z*s), math.Exp(m + z*s)
	default:
		return a[0], a[len(a)-1]
	}
}

// Unknown is a number of an expression that is not known.
type Unknown struct {
	*Distribution
	Text string // as it is written
	node *node
}

// Unknowns are those of the expression, in their order.
func (e Expr) Unknowns() []Unknown { return e.root.unknowns(nil) }

func (n *node) unknowns(all []Unknown) []Unknown {
	if n.op == uncertain {
		return append(all, Unknown{n.of, n.String(), n})
	}
	for _, a := range n.args {
		all = a.unknowns(all)
	}
	return all
}

// Slope is by how much the value in a case changes with an unknown of the expression. Errors are those
// of Eval.
func (e Expr) Slope(of Unknown, value func(column string) (float64, error)) (float64, error) {
	return e.root.slope(of.node, value)
}

func (n *node) slope(of *node, value func(string) (float64, error)) (float64, error) {
	if n == of {
		return 1, nil
	}
	sum := 0.0
	for i, a := range n.args {
		s, err := a.slope(of, value)
		if err != nil {
			return 0, err
		}
		if s == 0 {
			continue
		}
		switch n.op {
		case negative:
			s = -s
		case minus:
			if i == 1 {
				s = -s
			}
		case times, over: // the other factor is known, and so is what is divided by
			x, err := n.args[1-i].eval(value)
			if err != nil {
				return 0, err
			}
			if n.op == over {
				x = 1 / x
			}
			s *= x
		}
		sum += s
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0, &ValueError{n.String(), sum}
	}
	return sum, nil
}

// linear tells whether the value is the mean over what is not known: it is only added, and multiplied by
// or divided by what is known.
func (n *node) linear() bool {
	some := slices.ContainsFunc(n.args, func(a *node) bool { return len(a.unknowns(nil)) > 0 })
	switch {
	case !some:
		return true
	case n.op == times && len(n.args[0].unknowns(nil)) > 0 && len(n.args[1].unknowns(nil)) > 0,
		n.op == over && len(n.args[1].unknowns(nil)) > 0,
		n.op != times && n.op != over && n.op != plus && n.op != minus && n.op != negative:
		return false
	}
	return !slices.ContainsFunc(n.args, func(a *node) bool { return !a.linear() })
}

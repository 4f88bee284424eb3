package report

import "slices"

// Series is a line of [Lines] or a density of [Densities].
type Series struct {
	Method string // decides the look
	Label  string // in the legend; empty for the method's printed name
	X, Y   []float64
	// Low and High bound a shaded band around the line; leave both nil for none.
	Low, High []float64
}

// Lines is a line chart: net benefit over cost ratios, cost over a parameter.
type Lines struct {
	X, Y   Axis
	Series []Series
	Rules  []Rule
}

func (f Lines) layout() (layout, error) {
	x, y := ranges(f.Series, f.Rules)
	return chart(f.X, f.Y, f.X.resolve(x, 0), f.Y.resolve(y, 0.05), f.Series, f.Rules, -1)
}

// Densities shows densities over one variable, with a threshold or other rules.
// What a method decides goes into the label of its series.
type Densities struct {
	XLabel string
	Series []Series
	Rules  []Rule
}

func (f Densities) layout() (layout, error) {
	x, y := ranges(f.Series, f.Rules)
	// Densities stand on the axis and have air only above.
	up := span{0, y.max * 1.05}
	if y.max == 0 {
		up.max = 1
	}
	return chart(Axis{Label: f.XLabel}, Axis{Label: "Density"}, Axis{}.resolve(x, 0), up, f.Series, f.Rules, 0.05)
}

// ranges are what series and rules span.
func ranges(series []Series, vertical rules) (x, y span) {
	x, y = emptySpan(), emptySpan()
	for _, s := range series {
		name := titled(s.Label, s.Method)
		mustMatch(name, len(s.X), len(s.Y))
		if s.Low != nil || s.High != nil {
			mustMatch(name, len(s.X), len(s.Low), len(s.High))
		}
		x.include(s.X...)
		y.include(slices.Concat(s.Y, s.Low, s.High)...)
	}
	x.include(vertical.values()...)
	return x, y
}

// chart draws series in one pair of axes.
func chart(xAxis, yAxis Axis, x, y span, series []Series, vertical rules, floor float64) (layout, error) {
	a, err := newAxes(xAxis, yAxis, x, y, 5)
	if err != nil {
		return layout{}, err
	}
	a.rules = vertical
	a.add(vertical)
	var c cast
	var l legend
	for i, s := range series {
		lk := c.look(s.Method)
		a.add(curve{
			x: s.X, y: s.Y, low: s.Low, high: s.High, look: lk,
			phase: (float64(i) + 0.5) / float64(len(series)), floor: floor,
		})
		l.add(lk, titled(s.Label, s.Method))
	}
	return plan(plotHeight+vertical.height(), l, a.draw), nil
}

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
	x, y, err := ranges("lines", f.Series, f.Rules)
	if err != nil {
		return layout{}, err
	}
	if err := f.X.check("lines", "x", x); err != nil {
		return layout{}, err
	}
	if err := f.Y.check("lines", "y", y); err != nil {
		return layout{}, err
	}
	return chart(f.X, f.Y, f.X.resolve(x, 0), f.Y.resolve(y, 0.05), f.Series, f.Rules, -1), nil
}

// Densities shows densities over one variable, with a threshold or other rules.
// What a method decides goes into the label of its series.
type Densities struct {
	XLabel string
	Series []Series
	Rules  []Rule
}

func (f Densities) layout() (layout, error) {
	x, y, err := ranges("densities", f.Series, f.Rules)
	if err != nil {
		return layout{}, err
	}
	if y.min < 0 {
		return layout{}, &DataError{"densities", "", "a density is negative; give values of at least zero"}
	}
	// Densities stand on the axis and have air only above.
	up := span{0, y.max * 1.05}
	if y.max == 0 {
		up.max = 1
	}
	return chart(Axis{Label: f.XLabel}, Axis{Label: "Density"}, Axis{}.resolve(x, 0), up, f.Series, f.Rules, 0.05), nil
}

// ranges checks series and returns what they span.
func ranges(figure string, series []Series, vertical rules) (x, y span, err error) {
	if len(series) == 0 {
		return x, y, &DataError{figure, "", "there is nothing to draw; give at least one series"}
	}
	x, y = emptySpan(), emptySpan()
	for _, s := range series {
		name := titled(s.Label, s.Method)
		mustMatch(figure+" "+name, len(s.X), len(s.Y))
		if s.Low != nil || s.High != nil {
			mustMatch(figure+" "+name, len(s.X), len(s.Low), len(s.High))
		}
		if len(s.X) == 0 {
			return x, y, &DataError{figure, name, "the series is empty; leave it out"}
		}
		if err := checkFinite(figure, name, s.X, s.Y, s.Low, s.High); err != nil {
			return x, y, err
		}
		if !slices.IsSorted(s.X) {
			return x, y, &DataError{figure, name, "x must not decrease; sort the points"}
		}
		x.include(s.X...)
		y.include(s.Y...)
		y.include(s.Low...)
		y.include(s.High...)
	}
	if err := checkFinite(figure, "rules", vertical.values()); err != nil {
		return x, y, err
	}
	x.include(vertical.values()...)
	return x, y, nil
}

// chart draws series in one pair of axes.
func chart(xAxis, yAxis Axis, x, y span, series []Series, vertical rules, floor float64) layout {
	a := newAxes(xAxis, yAxis, x, y, 5)
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
	return plan(plotHeight+vertical.height(), l, a.draw)
}

package report

import "math"

// The samples below are invented, of the kind of numbers the figures are for.

func gaussian(x, mean, variance float64) float64 {
	return math.Exp(-(x-mean)*(x-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
}

// grid returns n equally spaced points.
func grid(from, to float64, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = from + (to-from)*float64(i)/float64(n-1)
	}
	return v
}

// over evaluates f at every point of x.
func over(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

func sampleDensities() Densities {
	x := grid(-10, 10, 101)
	curve := func(mean, variance float64) []float64 {
		return over(x, func(v float64) float64 { return gaussian(v, mean, variance) })
	}
	exact := over(x, func(v float64) float64 {
		return 0.66*gaussian(v, -2.2, 1.3) + 0.2*gaussian(v, 0.5, 30) + 0.14*gaussian(v, 4.9, 1.1)
	})
	return Densities{
		XLabel: "State of the reactor φ",
		Series: []Series{
			{Method: "exact", Label: "Exact — shut down, U = (0.85, 0.92)", X: x, Y: exact},
			{Method: "vi", Label: "VI — leave on, U = (1.00, 0.90)", X: x, Y: curve(-2.23, 1.25)},
			{Method: "loss-vi", Label: "Loss-VI — leave on, U = (1.00, 0.90)", X: x, Y: curve(-2.23, 1.21)},
			{Method: "ep", Label: "EP — leave on, U = (0.99, 0.90)", X: x, Y: curve(-2.32, 2.80)},
			{Method: "loss-ep", Label: "Loss-EP — shut down, U = (0.63, 0.94)", X: x, Y: curve(0.30, 35.1)},
		},
		Rules: []Rule{{2.2, "threshold T = 2.2"}},
	}
}

// sampleGrid is a skewed density: a Gaussian cut softly along both axes.
func sampleGrid(shift float64, n int) Grid {
	g := Grid{X: grid(-8, 3, n), Y: grid(-3, 8, n)}
	for _, y := range g.Y {
		g.Z = append(g.Z, over(g.X, func(x float64) float64 {
			q := (x*x - 0.4*x*y + y*y) / (2 * 12)
			return math.Exp(-q) * 0.5 * math.Erfc((x+shift)/math.Sqrt2) * 0.5 * math.Erfc(-(y-shift)/math.Sqrt2)
		}))
	}
	return g
}

func sampleContours() Contours {
	at := func(method string, m, v, c float64) Ellipse {
		return Ellipse{Method: method, Mean: [2]float64{-m, m}, Covariance: [2][2]float64{{v, c}, {c, v}}}
	}
	return Contours{
		XLabel: "f(x₁)", YLabel: "f(x₂)",
		Mass: []float64{0.5, 0.9},
		Panels: []Panel{
			{"Posterior", sampleGrid(0, 34), []Ellipse{at("vi", 2.28, 3.58, 0.55), at("ep", 2.33, 4.82, 0.98)}},
			{"Utility-weighted", sampleGrid(0.3, 34), []Ellipse{at("loss-vi", 2.31, 3.56, 0.55), at("loss-ep", 2.40, 4.75, 1.00)}},
		},
	}
}

func sampleIntervals() Intervals {
	return Intervals{
		X: Axis{Label: "Mean cost per case"},
		Rows: []Interval{
			{"corrected", "", 0.521, 0.478, 0.566},
			{"loss-ep", "", 0.524, 0.480, 0.569},
			{"ep", "", 0.524, 0.481, 0.568},
			{"vi", "", 0.527, 0.484, 0.571},
			{"laplace", "", 0.531, 0.488, 0.575},
			{"linear", "Bayesian probit regression", 0.546, 0.502, 0.590},
			{"always 1", "refuse everybody", 0.700, 0.671, 0.728},
			{"half", "threshold of one half", 0.812, 0.744, 0.881},
		},
		Rules: []Rule{{0.524, "EP"}},
	}
}

func sampleLines() Lines {
	x := make([]float64, 41)
	for i := range x {
		x[i] = math.Pow(10, -1+float64(i)/20)
	}
	benefit := func(gain float64) []float64 {
		return over(x, func(r float64) float64 { return 0.3*gain - 0.08*r/(1+r/6)*math.Sqrt(gain) })
	}
	y := benefit(1)
	low := over(x, func(r float64) float64 { return -0.015 - 0.012*math.Log10(10*r) })
	high := make([]float64, len(x))
	for i := range x {
		high[i] = y[i] - low[i]
		low[i] += y[i]
	}
	return Lines{
		X: Axis{Label: "Cost ratio (false alarm : miss)", Log: true},
		Y: Axis{Label: "Net benefit", Min: -0.1, Max: 0.35},
		Series: []Series{
			{Method: "corrected", X: x, Y: y, Low: low, High: high},
			{Method: "ep", X: x, Y: benefit(0.95)},
			{Method: "act on all", X: x, Y: over(x, func(r float64) float64 { return 0.3 - 0.7*r/8 })},
			{Method: "act on none", X: x, Y: make([]float64, len(x))},
		},
		Rules: []Rule{{0.2, "costs given"}},
	}
}

func sampleReliability() Reliability {
	counts := [...]int{182, 141, 96, 71, 58, 0, 37, 30, 24, 19}
	f := Reliability{Method: "ep"}
	for i, n := range counts {
		from := float64(i) / 10
		p := from + 0.048
		observed := p + 0.05*math.Sin(7*p)
		half := math.Min(1.96*math.Sqrt(observed*(1-observed)/math.Max(float64(n), 1)), math.Min(observed, 1-observed))
		f.Bins = append(f.Bins, Bin{From: from, To: from + 0.1, Count: n, Predicted: p, Observed: observed, Low: observed - half, High: observed + half})
	}
	return f
}

func sampleTable() *Table {
	t := &Table{
		Caption: "Table 1. Mean normalised regret with its standard error over 20 data sets.",
		Columns: []Column{{"Shift", Left}, {"VI", Right}, {"Loss-VI", Right}, {"EP", Right}, {"Loss-EP", Right}, {"Corrected", Right}},
		Best:    "the lowest mean of the row.",
		Notes:   []Note{{"a", "Below the resolution of the reference."}},
	}
	for i, group := range [...]string{"u₁₀ = 0", "u₁₀ = 0.95"} {
		scale := math.Pow(40, float64(i))
		for j, shift := range [...]string{"none", "1 length scale", "2 length scales"} {
			row := Row{Group: group, Cells: []Cell{{Text: shift}}}
			for k, v := range [...]float64{4e-6, 3e-6, 8e-6, 5e-6, 1e-6} {
				cell := Cell{Text: PlusMinus(v*scale*float64(j+1), v*scale*0.31), Best: k == 4}
				if k == 4 && i == 0 && j == 0 {
					cell.Mark = "a"
				}
				row.Cells = append(row.Cells, cell)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func samplePage() *Page {
	p := NewPage("The paper, reproduced", "Seed 1, 20 data sets, 1000 predictive points")
	p.Text("Everything on this page was computed in one run. Costs of mistakes differ, so the best guess and the best decision are not the same thing.")
	p.Code("lossep paper --out out --seed 1")
	p.Section("Verdict")
	p.Verdict(Holds, "holds", "EP is ahead of VI.", "EP's mean regret is lower in 12 of 15 cells, by a factor of 1.8 on average.")
	p.Verdict(Partly, "holds in part", "Loss-EP is ahead at moderate asymmetry and small shift.", "It is in 4 of 6 such cells; after Holm's correction no difference is significant (smallest p = 0.083).")
	p.Verdict(Fails, "does not hold", "Loss-VI is never ahead of VI.", "It is in 3 of 15 cells.")
	p.Verdict(Neutral, "note", "The reference has its own error.", "")
	p.Section("Figures")
	p.Figure(sampleDensities(), "Figure 1. The reactor: densities of its state and what each method decides.", "Five densities over the state of the reactor with a threshold at 2.2.")
	p.Figure(sampleContours(), "Figure 2. Two data points: exact densities and Gaussian approximations.", "Two panels of contours with ellipses.")
	p.Subsection("Costs")
	p.Figure(sampleIntervals(), "Figure 3. Mean cost per case with 95 % intervals.", "Eight methods by mean cost.")
	p.Figure(sampleLines(), "Figure 4. Decision curve.", "Net benefit falls as false alarms cost more.")
	p.Figure(sampleReliability(), "Figure 5. Reliability of EP's probabilities.", "Observed against predicted.")
	p.Section("Table")
	p.Table(sampleTable())
	p.Details("How the numbers were made", func(b *Body) {
		b.Text("Truth from exact draws, cross-checked by a second method.")
		b.List("20 data sets of 15 points.", "Three shifts of the inputs.")
		small := &Table{Columns: []Column{{"Stage", Left}, {"Seconds", Right}}}
		small.AddRow("exact draws", "12.1")
		small.AddRow("EP", "1.3")
		b.Table(small)
	})
	return p
}

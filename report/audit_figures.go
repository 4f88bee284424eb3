package report

import "github.com/lossep/lossep/audit"

func (r *Audit) figures() map[string]Figure {
	f := map[string]Figure{
		"cost":        r.costFigure(),
		"reliability": r.reliabilityFigure(r.Reliable),
	}
	if !r.several() {
		f["sensitivity"], f["gains"] = r.sensitivityFigure(), r.gainsFigure()
	}
	if r.Benefit != nil {
		f["net_benefit"] = r.benefitFigure()
	}
	return f
}

// costAxis is what costs per case are called beside an axis.
func (r *Audit) costAxis() string { return perCase(r.noun(), r.Currency) }

// perCase is what is had per case, in a currency that may be empty.
func perCase(noun, currency string) string {
	text := sentence(noun) + " per case"
	if currency != "" {
		text += " (" + currency + ")"
	}
	return text
}

// costFigure leaves out other methods of inference, and constant actions but the best one: the others can cost so much
// that all else would be one point.
func (r *Audit) costFigure() Intervals {
	f := Intervals{X: Axis{Label: r.costAxis() + ", with 95 % interval"}}
	best, shown := r.BestConstant().Method, r.withoutMethods()
	for i, s := range shown {
		if i >= len(shown)-len(r.Actions) && s.Method != best {
			continue
		}
		m := r.Stated(cost(s))
		f.Rows = append(f.Rows, Interval{Method: r.look(s.Method), Label: r.label(s.Method), Value: m.Value, Low: m.Low, High: m.High})
	}
	return f
}

func (r *Audit) reliabilityFigure(of audit.Reliability) Reliability {
	f := Reliability{Method: r.look(r.Method)}
	for _, b := range of.Bins {
		f.Bins = append(f.Bins, Bin(b))
	}
	return f
}

func (r *Audit) benefitFigure() Lines {
	share := r.Share
	if r.Benefit.By != "" {
		// Acting in all cases is worth share − (1 − share)/ratio, where cases count by their stakes.
		all, last := r.Benefit.Curves[0].Values, len(r.Benefit.Ratios)-1
		share = (all[last]*r.Benefit.Ratios[last] + 1) / (r.Benefit.Ratios[last] + 1)
	}
	f := Lines{
		X: Axis{Label: "Cost ratio FN:FP", Log: true},
		// Acting in all cases loses without bound where false alarms are dear.
		Y:     Axis{Label: "Net benefit (true positives per case)", Min: -share / 5, Max: 1.05 * share},
		Rules: []Rule{{At: r.Benefit.Given, Label: "as given: " + Number(r.Benefit.Given)}},
	}
	for _, c := range r.Benefit.Curves {
		label := r.label(c.Method)
		switch c.Method {
		case "treat all":
			label = "always " + r.Actions[r.Acting()]
		case "treat none":
			label = "always " + r.Actions[1-r.Acting()]
		}
		f.Series = append(f.Series, Series{Method: r.look(c.Method), Label: label, X: r.Benefit.Ratios, Y: c.Values})
	}
	return f
}

func (r *Audit) sensitivityFigure() Lines {
	f := Lines{
		X:     Axis{Label: "Multiplier of the " + r.noun() + " of " + r.casesOf(1), Log: true},
		Y:     Axis{Label: r.costAxis()},
		Rules: []Rule{{At: 1, Label: "as stated"}},
	}
	adapted := Series{Method: r.look(r.Method), Label: r.rule() + " for the new costs"}
	kept := Series{Method: "kept", Label: r.rule() + " unchanged"}
	for _, s := range r.Sensitive {
		adapted.X, adapted.Y = append(adapted.X, s.Factor), append(adapted.Y, r.Stated(audit.Measure{Value: s.Cost}).Value)
		kept.X, kept.Y = append(kept.X, s.Factor), append(kept.Y, r.Stated(audit.Measure{Value: s.Kept}).Value)
	}
	f.Series = []Series{adapted, kept}
	return f
}

func (r *Audit) gainsFigure() Lines {
	f := Lines{
		X: Axis{Label: "Share of cases, highest probability first", Min: 0, Max: 1},
		Y: Axis{Label: "Recall of " + r.called[1], Min: 0, Max: 1},
	}
	model := Series{Method: r.look(r.Method), Label: r.label(r.Method), X: []float64{0}, Y: []float64{0}, Low: []float64{0}, High: []float64{0}}
	for _, g := range r.Gains {
		if g.OfPositive != nil {
			model.X, model.Y = append(model.X, g.Share), append(model.Y, g.OfPositive.Value)
			model.Low, model.High = append(model.Low, g.OfPositive.Low), append(model.High, g.OfPositive.High)
		}
	}
	f.Series = []Series{model, {Method: "at random", X: []float64{0, 1}, Y: []float64{0, 1}}}
	return f
}

// look is the look of a way to decide in figures: the audited one stands out, even if its
// probabilities were made elsewhere.
func (r *Audit) look(method string) string {
	if method == r.Method && r.external() {
		return "loss-ep"
	}
	return method
}

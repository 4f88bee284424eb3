package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
)

// tones are the colours of verdicts.
var tones = map[audit.Tone]Outcome{audit.Good: Holds, audit.Mixed: Partly, audit.Bad: Fails, audit.Neutral: Neutral}

// subtitle says which cases were decided, for which population, and by what.
func (r *Audit) subtitle() string {
	by := "each decided by a model fitted without it"
	switch {
	case r.external():
		by = "decided by the probabilities of " + r.Method
	case r.Test != "":
		by = "decided by a model fitted to " + r.Data
	}
	text := fmt.Sprintf("%s past cases, %s; %s", Count(r.Rows), r.outcomesText(), by)
	if who := r.population(); who != "" {
		text += "; target population: " + who
	}
	return text
}

// population says how frequent outcomes are among the cases to be decided, if that was given.
func (r *Audit) population() string {
	if r.Prevalence > 0 {
		return Percent(r.Prevalence) + " " + r.being(1)
	}
	var of []string
	for y, share := range r.Population {
		of = append(of, fmt.Sprintf("%s are %s", Percent(share), r.Outcomes[y]))
	}
	return strings.Join(of, ", ")
}

// subject is the table that was decided.
func (r *Audit) subject() string {
	if r.Test != "" {
		return r.Test
	}
	return r.Data
}

// page begins with what fits on one printed page, and ends with an appendix for those who know
// methods.
func (r *Audit) page() *Page {
	p := NewPage("Decision audit: "+r.subject(), r.subtitle())

	p.Section("Summary")
	for _, v := range r.Verdicts {
		if v.about != audit.AboutCalibration { // which is for the appendix
			p.Verdict(tones[v.Tone], v.Answer, v.Question, v.Finding)
		}
	}
	p.Table(r.summaryTable())
	p.Table(r.entriesTable())
	p.PageBreak()
	r.countsSection(p)
	r.costSection(p)
	r.reliabilitySection(p)
	if !r.several() {
		r.rankedSections(p)
	}
	if len(r.Parts) > 0 {
		p.Section("By " + r.By)
		r.partsSection(p)
	}
	r.nearestSection(p)
	if len(r.Known) > 0 {
		p.Section("Value of information")
		p.Text(r.knownText())
		p.Table(r.knownTable())
	}
	if r.Uncertain != nil {
		p.Section("Uncertain " + r.nouns())
		p.Text(r.uncertainText())
	}
	if r.Limited != nil {
		p.Section("Capacity")
		p.Text(r.limitedText())
	}
	if len(r.Importances) > 0 {
		r.importanceSection(p)
	}
	if len(r.Families) > 0 {
		r.effectsSection(p)
	}
	if len(r.Recalibrations) > 0 {
		p.Section("Recalibration")
		p.Text("Probabilities recalibrated on the cases of all other folds: isotonic regression, Platt scaling (logistic regression on the log odds), and a Gaussian process over the probability alone (GP).")
		p.Table(r.pairsTable("Recalibrated compared with original probabilities", r.Recalibrations))
	}
	p.Section("Methods")
	r.methodSection(p)
	return p
}

// countsSection is which outcome gets which action.
func (r *Audit) countsSection(p *Page) {
	p.Section("Decisions by outcome")
	if who := r.population(); who != "" {
		p.Text(fmt.Sprintf("Counts are scaled to %s cases of the target population (%s), so they need not be whole numbers.", Count(r.Rows), who))
	}
	p.Text(r.mistakesText(r.Methods[0]))
	p.Table(r.countsTable(r.Methods[0]))
	switch {
	case len(r.Actions) == 2 && !r.several():
		p.Table(r.ratesTable(r.shown(audit.OneHalf)))
		if r.external() { // of a fitted model that is for the appendix
			r.allRates(&p.Body)
		}
	default:
		p.Details("Shares of each outcome, with intervals", func(b *Body) { b.Table(r.sharesTable(r.Methods[0])) })
	}
}

// costSection is what everything that was tried costs.
func (r *Audit) costSection(p *Page) {
	p.Section(sentence(r.noun()) + " of the decisions")
	p.Text(r.costText())
	p.Figure(r.costFigure(), sentence(r.noun())+" per case. Of the constant actions, only the best is shown.", "Mean "+r.noun()+" per case with interval, one row for each way to decide; the table below has the numbers.")
	p.Table(r.costTable(r.withoutMethods(), r.label))
	text := "“Differs in” is the share of cases that are decided differently from " + r.label(r.Method) + ", and p the p-value for no difference in the mean. The comparisons with the best constant action and with " + r.mostProbable() + " were planned, and their p-values are not adjusted; those with other models are Holm-adjusted (made larger for the number of comparisons), among the models that decide at least one case differently"
	if len(r.Recalibrations) > 0 {
		text += ", and those with recalibrated probabilities separately"
	}
	p.Text(text + ".")
}

func (r *Audit) costText() string {
	s := "Every case was decided by models that were fitted without it: " + r.Split + ". "
	if r.external() {
		s = sentence(r.Split) + ". They must come from models that were not fitted to these cases, which cannot be checked here. "
	}
	s += fmt.Sprintf("The %s is that of the action given the observed outcome. ", r.noun())
	if r.Threshold != nil {
		return s + fmt.Sprintf("The rule: “%s” if P(%s) > %s, else “%s”.", r.Actions[r.Acting()], r.called[1], threshold(*r.Threshold), r.Actions[1-r.Acting()])
	}
	s += "The rule: " + r.Utility.RuleLine() + "."
	if len(r.Actions) > 2 && !r.several() {
		s += fmt.Sprintf(" With %d actions there is no single threshold, so other thresholds are not compared.", len(r.Actions))
	}
	return s
}

// reliabilitySection compares probabilities with frequencies, of the positive outcome of two
// or of each of more.
func (r *Audit) reliabilitySection(p *Page) {
	p.Section("Calibration of the probabilities")
	const about = "Reliability diagram; points on the diagonal are calibrated probabilities."
	method := r.label(r.Method)
	figure := func(b *Body, of audit.Reliability, outcome string) {
		b.Figure(r.reliabilityFigure(of), fmt.Sprintf("Observed frequency of %s against its predicted probability (%s), in up to ten bins of at least 15 cases; below, the number of cases in each bin.", outcome, method), about)
	}
	if r.several() {
		figure(&p.Body, r.Reliable, "each outcome")
		p.Table(r.reliabilityTable())
		p.Details("Each outcome separately", func(b *Body) {
			for y, of := range r.ReliableOf {
				figure(b, of, r.called[y])
			}
		})
	} else {
		figure(&p.Body, r.Reliable, r.called[1])
	}
	p.Text(r.calibrationText())
	first := r.shown(audit.ProbitRegression)
	p.Table(r.qualityTable(first))
	if r.external() && r.ranked() > len(first) {
		r.allQualities(&p.Body)
	}
}

// allRates and allQualities are those of everything that decides.
func (r *Audit) allRates(b *Body) {
	b.Details("Sensitivity, specificity and predictive values of all methods", func(b *Body) { b.Table(r.ratesTable(r.Methods)) })
}

func (r *Audit) allQualities(b *Body) {
	b.Details("Quality of the probabilities of all methods", func(b *Body) { b.Table(r.qualityTable(r.Methods)) })
}

// calibrationText says whether probabilities are what they claim to be, as far as costs go.
func (r *Audit) calibrationText() string {
	m := r.Reliable
	text := fmt.Sprintf("The mean absolute difference between predicted and observed frequencies (expected calibration error) is %s.", Percent(m.Error))
	if !r.several() {
		s := percentScale(m.Excess)
		text += fmt.Sprintf(" Observed minus predicted frequency of %s: %s (95 %% interval %s).", r.called[1], Signed(s.number(m.Excess.Value)), s.interval(m.Excess.Low, m.Excess.High))
	}
	surprise, s := r.Stated(m.Surprise), r.money()
	return text + fmt.Sprintf(" The model expects a %s of %s per case; realised: %s (95 %% interval of the difference %s).",
		r.noun(), s.number(r.Stated(audit.Measure{Value: m.Expected}).Value), s.number(r.Stated(cost(r.Methods[0])).Value), s.interval(surprise.Low, surprise.High))
}

// rankedSections are those that rank cases by the probability of the positive outcome.
func (r *Audit) rankedSections(p *Page) {
	if len(r.Cuts) > 0 {
		r.thresholdsSection(p)
	}

	p.Section("Gains")
	p.Figure(r.gainsFigure(), fmt.Sprintf("Cumulative gains: recall of %s against the share of cases selected, highest probability first.", r.casesOf(1)),
		"Recall against the share of cases selected, highest probability first, with interval, and the diagonal of random selection.")
	p.Table(r.gainsTable())

	p.Section("Sensitivity to the " + r.nouns())
	p.Figure(r.sensitivityFigure(), sentence(r.noun())+" per case if the "+r.noun()+" of "+r.casesOf(1)+" is multiplied by a factor.",
		sentence(r.noun())+" per case against the multiplier, "+r.rule()+" for the new costs and unchanged.")
	p.Table(r.sensitivityTable())
}

// thresholdsSection is what other thresholds would have given.
func (r *Audit) thresholdsSection(p *Page) {
	p.Section("Other thresholds")
	if r.Benefit != nil {
		p.Figure(r.benefitFigure(), "Decision curve: net benefit (true positives per case) against the cost ratio FN:FP.",
			"Net benefit against the cost ratio, for the audited method, probit regression, always positive and always negative.")
		text := "A model is useful where its curve lies above always positive and always negative."
		if r.Benefit.By != "" {
			text += fmt.Sprintf(" All costs are multiples of %[1]s, so the threshold is the same in every case; cases are weighted by %[1]s.", r.Benefit.By)
		}
		p.Text(text)
	}
	p.Table(r.cutsTable())
}

// nearestSection is the cases that are nearly as well decided otherwise.
func (r *Audit) nearestSection(p *Page) {
	p.Section("Cases with the smallest margin")
	text := "The margin is the difference in expected " + r.noun() + " to the next best action. Where it is small, the decision is a close call."
	if len(r.Nearest) > 0 && len(r.Nearest[0].Effects) > 0 {
		text += fmt.Sprintf(" Effect of a feature: P(%s) minus its mean over the values of the feature in the training rows, all other features unchanged. * The decision changes if the feature is averaged out.", r.called[1])
	}
	p.Text(text)
	p.Table(r.nearestTable())
}

// knownText says what information can be worth at most.
func (r *Audit) knownText() string {
	all, s := r.Known[0], r.money()
	return fmt.Sprintf("Knowing the outcome of every case in advance (perfect information) would have %s %s per case on average (95 %% interval %s; expected by the model: %s). No test, expert opinion or wait can be worth more than this. Buying it pays in cases where its expected value exceeds its price; doing so would have %s:",
		r.either("saved", "brought"), s.number(all.Saved.Value), s.interval(all.Saved.Low, all.Saved.High), s.number(all.Expected), r.either("saved", "brought"))
}

// mostColumns is how many features are shown before one asks for all.
const mostColumns = 12

func (r *Audit) importanceSection(p *Page) {
	p.Section("Feature importance")
	p.Text("How much more a case " + r.either("costs", "would bring") + " on average if the values of a feature are permuted between cases (permutation importance). Each case is decided by models fitted without it. p-values are Holm-adjusted: made larger for the number of features; intervals are not. Correlated features share their importance, and may each seem unimportant.")
	all, first := r.Importances, min(mostColumns, len(r.Importances))
	if !slices.ContainsFunc(all, func(i audit.Importance) bool { return i.Changed > 0 && i.P < 1-audit.Level }) {
		p.Text(fmt.Sprintf("With %s compared, no feature is significant on its own, though the interval of a single one may exclude zero.", plural(len(all), "feature", "features")))
	}
	p.Table(r.importanceTable(all[:first]))
	if len(all) > first {
		p.Details(plural(len(all)-first, "more feature", "more features"), func(b *Body) { b.Table(r.importanceTable(all[first:])) })
	}
}

// ranked is how many ways to decide have probabilities of their own.
func (r *Audit) ranked() (n int) {
	for _, s := range r.Methods {
		if s.Quality != nil {
			n++
		}
	}
	return n
}

// shown are the ways to decide that a reader looks at first: the audited one, other
// probabilities made elsewhere, and one baseline.
func (r *Audit) shown(baseline string) []audit.Score {
	var all []audit.Score
	for i, s := range r.Methods {
		if i == 0 || s.Kind == audit.External || s.Method == baseline {
			all = append(all, s)
		}
	}
	return all
}

func (r *Audit) nearestTable() *Table {
	t := new(Table)
	add := func(title string, align Align) { t.Columns = append(t.Columns, Column{Title: title, Align: align}) }
	if r.ID != "" {
		add(r.ID, Left)
	} else {
		add("line", Right)
	}
	if r.several() {
		add("P(observed outcome)", Right)
	} else {
		add("P("+r.called[1]+")", Right)
	}
	for _, column := range r.Utility.Columns() {
		add(column, Right)
	}
	add("action", Left)
	add("margin", Right)
	add("value of information", Right)
	add("outcome", Left)
	explained := len(r.Nearest) > 0 && len(r.Nearest[0].Effects) > 0
	if explained {
		add("effects of features", Left)
	}
	s := r.perCase()
	for _, c := range r.Nearest {
		name, outcome := c.ID, slices.Index(r.Outcomes, c.Outcome)
		if r.ID == "" {
			name = strconv.Itoa(c.Line)
		}
		shown := 1
		if r.several() {
			shown = outcome
		}
		row := append([]string{name, probability(c.Probabilities[shown])}, c.Stakes...)
		row = append(row, c.Action, s.small(c.Margin), s.small(c.Worth), c.Outcome)
		if explained {
			row = append(row, effects(c.Effects))
		}
		t.AddRow(row...)
	}
	return t
}

// effects writes the three largest, in hundredths.
func effects(all []audit.Effect) string {
	text := ""
	for k, e := range all {
		if k == 3 || math.Abs(e.Raises) < 0.005 {
			break
		}
		if k > 0 {
			text += ", "
		}
		text += e.Column + " " + Signed(fixed(e.Raises, 2))
		if e.Flips {
			text += "*"
		}
	}
	return text
}

// knownTable is what it would have brought to find out outcomes first, by what that costs.
func (r *Audit) knownTable() *Table {
	t := newNumberTable("Saving per case, net of the price, with 95 % intervals",
		"price", "cases where it pays", r.either("net saving", "net gain"), "expected by the model")
	s := r.perCase()
	for _, k := range r.Known {
		t.AddRow(threshold(k.Price), Percent(k.Share), s.measure(&k.Saved), s.number(k.Expected))
	}
	return t
}

package report

import (
	"fmt"
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
	text := fmt.Sprintf("%s: %s past cases, %s; %s", r.subject(), Count(r.Rows), r.outcomesText(), by)
	if who := r.population(); who != "" {
		text += "; for a population of which " + who
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
	p := NewPage("What these decisions "+r.verb(), r.subtitle())

	p.Section("Summary")
	for _, v := range r.Verdicts {
		if v.about != audit.AboutCalibration { // which is for the appendix
			p.Verdict(tones[v.Tone], v.Answer, v.Question, v.Finding)
		}
	}
	p.Table(r.summaryTable())
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
	if r.Limited != nil {
		p.Section("Capacity")
		p.Text(r.limitedText())
	}
	if len(r.Importances) > 0 {
		r.importanceSection(p)
	}
	if len(r.Recalibrations) > 0 {
		p.Section("Recalibration")
		p.Text("The probabilities after recalibration by the cases of all other folds: isotonic regression, logistic regression on the log odds (Platt), and a Gaussian process over the probability alone (GP).")
		p.Table(r.pairsTable("Recalibrated probabilities against the original ones", r.Recalibrations))
	}
	p.Section("Methods")
	r.methodSection(p)
	return p
}

// countsSection is which outcome gets which action.
func (r *Audit) countsSection(p *Page) {
	p.Section("Decisions by outcome")
	if who := r.population(); who != "" {
		p.Text(fmt.Sprintf("Counts are of %s cases of the population that decisions are for, of which %s; they need not be whole numbers.", Count(r.Rows), who))
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
	p.Figure(r.costFigure(), sentence(r.noun())+" per case; of single actions for all cases, only the best is shown.", "Mean "+r.noun()+" per case with interval, one row for each way to decide; the table below has the numbers.")
	p.Table(r.costTable(r.withoutMethods(), r.label))
	text := "“Differs in” is the share of cases that are decided differently from " + r.label(r.Method) + ", and p the probability of a difference at least as large by chance. The comparisons with the best single action and with " + r.mostProbable() + " were planned, and their p are not corrected; those with other models are (Holm), among the models that decide at least one case differently"
	if len(r.Recalibrations) > 0 {
		text += ", and those with recalibrated probabilities among themselves"
	}
	p.Text(text + ".")
}

func (r *Audit) costText() string {
	s := "Every case was decided by models that were fitted without it: " + r.Split + ". "
	if r.external() {
		s = sentence(r.Split) + ". They have to be of cases that their models had not seen, which cannot be checked here. "
	}
	s += fmt.Sprintf("The %s is what the action turned out to %s. ", r.noun(), r.verb())
	if r.Threshold != nil {
		return s + fmt.Sprintf("The rule: “%s” where P(%s) is above %s, else “%s”.", r.Actions[r.Acting()], r.called[1], threshold(*r.Threshold), r.Actions[1-r.Acting()])
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
		b.Figure(r.reliabilityFigure(of), fmt.Sprintf("Observed frequency of %s against its predicted probability (%s), in up to ten bins of at least 15 cases; below, the cases of each bin.", outcome, method), about)
	}
	if r.several() {
		figure(&p.Body, r.Reliable, "each outcome")
		p.Table(r.reliabilityTable())
		p.Details("Each outcome by itself", func(b *Body) {
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
	return text + fmt.Sprintf(" The model expects a %s of %s per case; observed: %s (95 %% interval of the difference %s).",
		r.noun(), s.number(r.Stated(audit.Measure{Value: m.Expected}).Value), s.number(r.Stated(cost(r.Methods[0])).Value), s.interval(surprise.Low, surprise.High))
}

// rankedSections are those that rank cases by the probability of the positive outcome.
func (r *Audit) rankedSections(p *Page) {
	if len(r.Cuts) > 0 {
		r.thresholdsSection(p)
	}

	p.Section("Gains")
	p.Figure(r.gainsFigure(), fmt.Sprintf("Gains: the share of %s found among the cases with the highest probabilities.", r.casesOf(1)),
		"Share of positive cases found against the share of cases looked at, most probable first, with interval, and the diagonal of looking at random.")
	p.Table(r.gainsTable())

	p.Section("Sensitivity to the " + r.nouns())
	p.Figure(r.sensitivityFigure(), sentence(r.noun())+" per case if the "+r.noun()+" of "+r.casesOf(1)+" is a multiple of that stated.",
		sentence(r.noun())+" per case against the multiple, decided by the multiple and as stated.")
	p.Table(r.sensitivityTable())
}

// thresholdsSection is what other thresholds would have given.
func (r *Audit) thresholdsSection(p *Page) {
	p.Section("Other thresholds")
	if r.Benefit != nil {
		p.Figure(r.benefitFigure(), "Decision curve: net benefit of deciding by a model over costs of a miss, in true positives per case.",
			"Net benefit against the ratio of costs, for the audited method, probit regression, treating all and treating none.")
		text := "Deciding case by case pays where the curve of a model lies above those of treating all and treating none."
		if r.Benefit.By != "" {
			text += fmt.Sprintf(" All costs are multiples of %[1]s, so the threshold is the same in every case; cases are weighted by %[1]s.", r.Benefit.By)
		}
		p.Text(text)
	}
	p.Table(r.cutsTable())
}

// nearestSection is the cases that are nearly as well decided otherwise.
func (r *Audit) nearestSection(p *Page) {
	p.Section("Borderline cases")
	text := "In these cases the next best action is expected to be worse by the margin only, so a second look is worth most here."
	if len(r.Nearest) > 0 && len(r.Nearest[0].Effects) > 0 {
		text += fmt.Sprintf(" The last column has the effects of single features: by how much P(%s) is higher or lower than its mean over the values that the feature has in the training rows, all other features as they are. A star marks a feature without which the decision would change.", r.called[1])
	}
	p.Text(text)
	p.Table(r.nearestTable())
}

// knownText says what information can be worth at most.
func (r *Audit) knownText() string {
	all, s := r.Known[0], r.money()
	return fmt.Sprintf("Had the outcome of every case been known before acting, a case would have %s %s on average (95 %% interval %s; expected by the model: %s). No test, expert or delay can be worth more. Finding out pays where the expected value of the outcome exceeds its price; what it would have %s to find out there, and only there:",
		r.either("cost less by", "brought more by"), s.number(all.Saved.Value), s.interval(all.Saved.Low, all.Saved.High), s.number(all.Expected), r.either("saved", "brought"))
}

// mostColumns is how many features are shown before one asks for all.
const mostColumns = 12

func (r *Audit) importanceSection(p *Page) {
	p.Section("Feature importance")
	p.Text("How much more a case " + r.either("costs", "would bring") + " on average if the values of a feature are permuted between cases (permutation importance). Cases were decided by models that were fitted without them. The p are corrected for the number of features that change a decision (Holm). Correlated features share their importance, and may each seem unimportant.")
	p.Table(r.importanceTable(mostColumns))
	if len(r.Importances) > mostColumns {
		p.Details("All features", func(b *Body) { b.Table(r.importanceTable(len(r.Importances))) })
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

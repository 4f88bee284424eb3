package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/lossep/lossep/audit"
)

// Verdict answers a question in words.
type Verdict struct {
	Question string     `json:"question"`
	Tone     audit.Tone `json:"tone"`
	Answer   string     `json:"answer"`
	Finding  string     `json:"finding"`

	about audit.Question
}

// verdict says one in words.
func (r *Audit) verdict(v audit.Verdict) Verdict {
	in := Verdict{Tone: v.Tone, about: v.Question}
	switch v.Question {
	case audit.AboutLeakage:
		in = leakage(r.Leaks)
	case audit.AboutCost:
		in.Question = fmt.Sprintf("What will these decisions %s?", r.verb())
		in.Answer, in.Finding = r.costAnswer(), r.costFinding(v.Reason)
	case audit.AboutOtherMethods:
		in.Question = "Is this the best that can be done?"
		in.Answer, in.Finding = r.othersAnswer(v.Reason), r.othersFinding(v.Reason)
	case audit.AboutProbabilities:
		in.Question = "Can the probabilities be trusted?"
		in.Answer, in.Finding = r.probabilitiesFinding(v.Reason)
	case audit.AboutRule:
		in.Question = fmt.Sprintf("Does using the %s help?", r.nouns())
		in.Answer, in.Finding = ruleAnswers[v.Reason], r.ruleFinding(v.Reason)
	case audit.AboutCalibration:
		in.Question = "Does loss calibration matter here?"
		in.Answer, in.Finding = calibrationAnswers[v.Reason], r.calibrationFinding()
	}
	return in
}

// written is a number with its interval, in words.
type written struct{ value, interval string }

// cost is that of a way to decide, per case.
func cost(s audit.Score) audit.Measure {
	return audit.Measure{Value: s.MeanCost, Low: s.Low, High: s.High}
}

// difference is that of a comparison.
func difference(c audit.Comparison) audit.Measure {
	return audit.Measure{Value: c.Difference, Low: c.Low, High: c.High}
}

// perCase is the scale of all costs per case: one, so that the same number is the same text
// wherever it stands.
func (r *Audit) perCase() scale {
	return scaleOf(append(present(r.Methods, r.statedCost), present(r.Comparisons, r.statedDifference)...)...)
}

// money is the same with the currency, for sentences.
func (r *Audit) money() scale { return r.inCurrency(r.perCase()) }

func (r *Audit) inCurrency(s scale) scale { return s.in(r.Currency) }

// stated writes a cost, or the utility that it is.
func (r *Audit) stated(m audit.Measure) written {
	m = r.Stated(m)
	return written{r.money().number(m.Value), r.money().interval(m.Low, m.High)}
}

// differs writes by how much something costs more or less, or brings more or less, and the
// interval in the same direction.
func (r *Audit) differs(m audit.Measure) written { return r.more(m, r.money()) }

func (r *Audit) more(m audit.Measure, s scale) written {
	m = r.Stated(m)
	word := " more"
	ends := "" // both are named where the sign is open, so that they read as the number does
	if m.Low < 0 && m.High > 0 {
		ends = s.number(-m.Low) + " less to " + s.number(m.High) + " more"
	}
	if m.Value < 0 {
		m, word = negative(m), " less"
	}
	w := written{s.number(m.Value) + word, cmp.Or(ends, s.interval(m.Low, m.High))}
	if strings.Trim(s.digits(m.Value), "0.") == "" {
		w.value = "the same"
	}
	return w
}

// negative is a difference seen from the other side.
func negative(m audit.Measure) audit.Measure {
	return audit.Measure{Value: -m.Value, Low: -m.High, High: -m.Low}
}

// pEquals writes a p-value in a sentence.
func pEquals(p float64) string {
	text := PValue(p)
	if strings.HasPrefix(text, "<") {
		return "p " + text
	}
	return "p = " + text
}

// leakage asks about columns that tell the outcome almost by themselves.
func leakage(leaks []string) Verdict {
	v := Verdict{
		Question: "Are all features known before the decision?", Tone: audit.Bad, Answer: "check " + list(leaks), about: audit.AboutLeakage,
		Finding: fmt.Sprintf("Features %s each predict the outcome almost perfectly, by their values or by where they are missing. If they are known only after the outcome, all results below are too optimistic: exclude them and run the audit again.", list(leaks)),
	}
	if len(leaks) == 1 {
		v.Finding = fmt.Sprintf("Feature %s alone predicts the outcome almost perfectly, by its values or by where they are missing. If it is known only after the outcome, all results below are too optimistic: exclude it and run the audit again.", leaks[0])
	}
	return v
}

// costAnswer is what a case costs, and what those of a year do.
func (r *Audit) costAnswer() string {
	text := r.stated(cost(r.Methods[0])).value + " per case"
	if y := r.Yearly; y != nil {
		text += fmt.Sprintf(", %s a year", r.inCurrency(totalScale(y.Cost)).number(r.Stated(y.Cost).Value))
	}
	return text
}

// constantFor is the action that is the best if all cases get the same.
func (r *Audit) constantFor() string {
	c := r.BestConstant()
	return fmt.Sprintf("the best constant action (%s: %s)", c.Method, r.stated(cost(c)).value)
}

// costFinding says what the decisions cost, and how that compares with one action for all.
func (r *Audit) costFinding(why audit.Reason) string {
	own, constant := r.stated(cost(r.Methods[0])), r.BestConstant()
	text := fmt.Sprintf("Decided by %s, new cases like these %s %s each on average (95 %% interval %s). ", r.label(r.Method), r.verb(), own.value, own.interval)
	c := r.Comparison(constant.Method)
	than := r.differs(negative(difference(c)))
	switch why {
	case audit.SameForAll:
		text += fmt.Sprintf("Every case gets the same action (%s), so the probabilities change no decision.", constant.Method)
	case audit.BetterThanConstant:
		text += fmt.Sprintf("This is %s (95 %% interval %s) than %s", than.value, than.interval, r.constantFor())
		if r.Costs {
			text += fmt.Sprintf(", a saving of %.0f %%", 100*c.Difference/constant.MeanCost)
		}
		text += "; the difference is statistically significant."
	case audit.WorseThanConstant:
		text += fmt.Sprintf("This is %s (95 %% interval %s) than %s.", than.value, than.interval, r.constantFor())
	default:
		text += fmt.Sprintf("The difference from %s is not clear (%s).", r.constantFor(), notSignificant(c))
	}
	if y := r.Yearly; y != nil {
		s := r.inCurrency(totalScale(y.Cost, y.Saved))
		total, than := r.Stated(y.Cost), r.more(negative(y.Saved), s)
		text += fmt.Sprintf(" %s cases a year %s %s (95 %% interval %s)", Count(y.Cases), r.verb(), s.number(total.Value), s.interval(total.Low, total.High))
		if why != audit.SameForAll {
			text += fmt.Sprintf(", %s (95 %% interval %s) than the best constant action", than.value, than.interval)
		}
		text += "."
	}
	switch {
	case !(r.Avoidable > 0):
		text += " No decision turned out to be wrong, so the interval depends on the number of cases alone."
	case r.FewMistakes():
		text += fmt.Sprintf(" A few mistakes make up most of the avoidable %s (effective number of mistakes: %.1f), too few for narrower intervals.", r.noun(), r.Mistakes)
	}
	return text
}

// notSignificant says that a difference may be chance, and how many cases would tell with a power of
// 80 %, or that too few decisions differ to test it. The tables below have p.
func notSignificant(c audit.Comparison) string {
	switch {
	case c.TooFew:
		return fmt.Sprintf("not tested: too little at stake in the %s", plural(c.Flips, "decision that differs", "decisions that differ"))
	case c.Needed == 0:
		return "could be chance"
	}
	// Two digits, for it is a guess.
	scale := math.Pow(10, math.Floor(math.Log10(float64(c.Needed)))-1)
	return fmt.Sprintf("could be chance; about %s cases would be needed to tell", Count(int(math.Ceil(float64(c.Needed)/scale)*scale)))
}

// plural writes a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

func (r *Audit) othersAnswer(why audit.Reason) string {
	better := r.either("cheaper", "better")
	switch why {
	case audit.OtherBetter:
		return "no"
	case audit.NoneLower:
		return "nothing tried is " + better
	}
	return "nothing tried is clearly " + better
}

// othersFinding says whether anything that was tried is better, and what was not tried.
func (r *Audit) othersFinding(why audit.Reason) string {
	lowest := r.either("the lowest mean cost", "the highest mean utility")
	first := r.Methods[0]
	var ahead []string
	for _, s := range r.Methods[1:] {
		if s.Cheaper(&first) {
			first = s
		}
		if c := r.Comparison(s.Method); c.Better() {
			w := r.differs(difference(c))
			ahead = append(ahead, fmt.Sprintf("%s (%s, 95 %% interval %s)", r.introduced(s), w.value, w.interval))
		}
	}
	own, text := r.label(r.Method), ""
	switch why {
	case audit.OtherBetter:
		use := "Use it instead."
		if len(ahead) > 1 {
			use = "Use one of these instead."
		}
		text = fmt.Sprintf("Clearly %s: %s. %s", r.either("cheaper", "better"), list(ahead), use)
	case audit.NoneLower:
		text = fmt.Sprintf("%s has %s.", sentence(own), lowest)
	default:
		c := r.Comparison(first.Method)
		w := r.differs(difference(c))
		text = fmt.Sprintf("%s is that of %s, %s (95 %% interval %s; %s).", sentence(lowest), r.introduced(first), w.value, w.interval, notSignificant(c))
	}
	return text + r.tried(first.Method) + r.checked() + r.notTried()
}

// introduced is a way to decide for readers who do not know methods.
func (r *Audit) introduced(s audit.Score) string {
	if s.Kind == audit.Fitted {
		return "another inference method (" + MethodLabel(s.Method) + ")"
	}
	return MethodLabel(s.Method)
}

// tried lists what else was compared, and says of other methods of inference, which compute the
// same model, only how many there are.
func (r *Audit) tried(named string) string {
	var others []string
	methods, identical := 0, 0
	for i, s := range r.Methods[1:] {
		switch c := r.Comparison(s.Method); {
		case s.Kind == audit.Fitted:
			methods++
			if c.Identical {
				identical++
			}
		case i+1 >= len(r.Methods)-len(r.Actions) || s.Method == named:
		case c.Identical:
			others = append(others, MethodLabel(s.Method)+" (the same decisions)")
		default:
			others = append(others, MethodLabel(s.Method))
		}
	}
	text := fmt.Sprintf(" Also tried: %s.", list(append(others, "constant actions")))
	switch {
	case methods == 0:
	case identical == methods:
		text += fmt.Sprintf(" %s the same decisions (see Methods).", plural(methods, "other inference method makes", "other inference methods make"))
	case identical == 0:
		text += fmt.Sprintf(" %s some cases differently (see Methods).", plural(methods, "other inference method decides", "other inference methods decide"))
	default:
		text += fmt.Sprintf(" %d of %d other inference methods %s the same decisions (see Methods).", identical, methods, conjugated(identical, "makes", "make"))
	}
	return text
}

// conjugated is a verb for one or for many.
func conjugated(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// checked says what the exact posterior of the same model would decide.
func (r *Audit) checked() string {
	if r.external() || r.notCompared() != "" {
		return ""
	}
	g := r.Regrets[0]
	text := fmt.Sprintf(" The exact posterior of the same model, computed for %s cases, gives the same decision in all of them", Count(g.Cases))
	if g.Differ > 0 {
		text = fmt.Sprintf(" The exact posterior of the same model, computed for %s cases, gives a different decision in %s of them", Count(g.Cases), Count(g.Differ))
	}
	switch r.Approximation() {
	case audit.TooFewCases:
		return text + "; these are too few cases to judge by."
	case audit.Negligible:
		return text + fmt.Sprintf("; the remaining %s is not due to the approximation.", r.noun())
	}
	return text + "; a closer approximation is worth trying (see Methods)."
}

// notTried says what an audit leaves open.
func (r *Audit) notTried() string {
	if r.external() {
		return " Not tried: any other model; nothing was fitted here."
	}
	return " Not tried: boosted trees, random forests and other kinds of models; their probabilities can be audited in the same way (see Methods)."
}

// notCompared says why there is no comparison with the exact posterior; empty if there is.
func (r *Audit) notCompared() string {
	switch r.Approximation() {
	case audit.NotAsked:
		return "No fold was compared with the exact posterior"
	case audit.OnlyProbit:
		return fmt.Sprintf("The exact posterior is computed for the probit likelihood only, not for %s", r.Likelihood)
	}
	return ""
}

// approximation says what the approximation itself costs.
func (r *Audit) approximation() string {
	g := r.Regrets[0]
	text := fmt.Sprintf("In all %d cases tried, the exact posterior of the same model (%s) gives the same decision", g.Cases, drawnBy(g))
	if g.Differ > 0 {
		text = fmt.Sprintf("In %d cases, the exact posterior of the same model (%s) decides %d differently and expects that to save %s per case (Monte Carlo error below %s)",
			g.Cases, drawnBy(g), g.Differ, Number(g.Mean), Number(math.Max(g.StdErr, 1e-12)))
	}
	if g.Doubt != "" {
		text += "; the draws may not be reliable: " + g.Doubt
	}
	switch r.Approximation() {
	case audit.TooFewCases:
		return text + ". These are too few cases to judge the approximation; compare more folds with the exact posterior."
	case audit.Negligible:
		return text + fmt.Sprintf(". The remaining %s is not due to the approximation.", r.noun())
	}
	return text + ". A closer approximation is worth trying."
}

// drawnBy is how the exact posterior was sampled.
func drawnBy(g audit.Regret) string {
	if g.By == "exact" {
		return "independent draws"
	}
	return "Markov chains, NUTS"
}

// probabilitiesFinding says whether probabilities are what they claim to be, and what
// recalibrating them would bring.
func (r *Audit) probabilitiesFinding(why audit.Reason) (answer, finding string) {
	m, s := r.Stated(r.Reliable.Surprise), r.money()
	expected := s.number(r.Stated(audit.Measure{Value: r.Reliable.Expected}).Value)
	found := s.number(r.Stated(cost(r.Methods[0])).Value)
	finding = fmt.Sprintf("Expected %s according to the probabilities: %s per case; realised: %s (95 %% interval of the difference %s).", r.noun(), expected, found, s.interval(m.Low, m.High))
	if !r.several() {
		finding += fmt.Sprintf(" %s of cases %s; the mean predicted probability is %s.", Percent(r.Share), r.being(1), Percent(r.Share-r.Reliable.Excess.Value))
	}
	switch why {
	case audit.Inverted:
		return "no: they rank cases in reverse", r.inverted()
	case audit.RecalibrationSaves:
		answer = "no: recalibration pays"
	case audit.Miscalibrated:
		answer = fmt.Sprintf("not quite: expected %s per case, observed %s", expected, found)
	case audit.TooFewToTell:
		answer = "too few cases to tell"
	default:
		answer = "no miscalibration detected"
	}
	return answer, finding + r.recalibrated()
}

// inverted says of which outcomes the probabilities are the wrong way round, and what may be the
// reason.
func (r *Audit) inverted() string {
	var parts []string
	for _, y := range r.Inverted() {
		area := r.Methods[0].Quality.Area
		if r.several() {
			area = r.ReliableOf[y].Area
		}
		parts = append(parts, fmt.Sprintf("%s have lower probabilities of it than other cases (AUC %s, 95 %% interval %s)", r.casesOf(y), Within(area.Value, area.Low, area.High), Range(area.Low, area.High)))
	}
	text := sentence(list(parts)) + ", by more than chance. "
	switch {
	case !r.external():
		return text + "The features do not predict the outcome of cases that the model has not seen: do not decide by it."
	case r.several():
		return text + "The columns of the outcomes may have been interchanged: check which is which, and run the audit again."
	}
	return text + fmt.Sprintf("The column may hold the probability of %s: check, give 1 − p, and run the audit again.", r.called[0])
}

// recalibrated says what recalibrating the audited probabilities would bring.
func (r *Audit) recalibrated() string {
	var ways, pays []string
	for _, c := range r.Recalibrations {
		if c.Than != r.Method {
			continue
		}
		way := strings.TrimSuffix(strings.TrimPrefix(MethodLabel(c.Method), r.Method+" ("), ")")
		ways = append(ways, way)
		if c.Better() {
			w := r.differs(difference(c))
			pays = append(pays, fmt.Sprintf("%s %ss %s (95 %% interval %s)", way, r.verb(), w.value, w.interval))
		}
	}
	switch {
	case len(pays) > 0:
		return " Recalibrated by cross-validation: " + list(pays) + "; the difference is statistically significant."
	case len(ways) > 0:
		return fmt.Sprintf(" Recalibration (%s) does not clearly %s the %s.", list(ways), r.either("lower", "raise"), r.noun())
	}
	return ""
}

var ruleAnswers = map[audit.Reason]string{
	audit.RuleSame:    "no: the decisions are the same without them",
	audit.RuleSaves:   "yes",
	audit.RuleCosts:   "no: it makes the decisions worse",
	audit.RuleUnclear: "not clearly",
}

// ruleFinding says whether using the costs helps.
func (r *Audit) ruleFinding(why audit.Reason) string {
	c, like := r.MostProbable(), r.mostProbable()
	w := r.differs(difference(c))
	switch why {
	case audit.RuleSame:
		return sentence(like) + " gives the same decisions."
	case audit.RuleCosts:
		return fmt.Sprintf("With %s, the same probabilities %s %s per case (95 %% interval %s), which indicates poor calibration.", like, r.verb(), w.value, w.interval)
	case audit.RuleSaves:
		return fmt.Sprintf("With %s, the same probabilities %s %s per case (95 %% interval %s).", like, r.verb(), w.value, w.interval)
	}
	return fmt.Sprintf("With %s, the same probabilities %s %s per case (95 %% interval %s; %s).", like, r.verb(), w.value, w.interval, notSignificant(c))
}

var calibrationAnswers = map[audit.Reason]string{
	audit.NotCompared:        "not compared",
	audit.CalibrationSaves:   "yes, for the better",
	audit.CalibrationCosts:   "yes, for the worse",
	audit.CalibrationBoth:    "yes, in both directions",
	audit.CalibrationNeutral: "no significant difference",
}

// calibrationFinding says whether it matters to fit with the costs in mind.
func (r *Audit) calibrationFinding() string {
	if len(r.Calibrations) == 0 {
		return "No loss-calibrated method was compared with its uncalibrated counterpart."
	}
	var parts []string
	for _, c := range r.Calibrations {
		method, plain := MethodLabel(c.Method), MethodLabel(c.Than)
		if c.Identical {
			parts = append(parts, fmt.Sprintf("%s makes the same decisions as %s in all %s cases", method, plain, Count(c.Decisions)))
			continue
		}
		w := r.differs(difference(c))
		parts = append(parts, fmt.Sprintf("%s decides %s of %s cases differently from %s and %ss %s per case (95 %% interval of the difference %s, %s)",
			method, Count(c.Flips), Count(c.Decisions), plain, r.verb(), w.value, w.interval, pEquals(c.Corrected)))
	}
	return sentence(strings.Join(parts, "; ")) + "."
}

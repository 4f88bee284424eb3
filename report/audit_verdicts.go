package report

import (
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
}

// verdict says one in words.
func (r *Audit) verdict(v audit.Verdict) Verdict {
	in := Verdict{Tone: v.Tone}
	switch v.Question {
	case audit.AboutLeakage:
		in.Question = "Are all features known before the decision?"
		in.Answer, in.Finding = "check "+list(r.Leaks), r.leakage()
	case audit.AboutCost:
		in.Question = fmt.Sprintf("What will these decisions %s me?", r.verb())
		in.Answer, in.Finding = r.stated(cost(r.Methods[0])).value+" per case", r.costFinding(v.Reason)
	case audit.AboutOtherMethods:
		in.Question = "Is this the best that can be done?"
		in.Answer, in.Finding = r.othersAnswer(v.Reason), r.othersFinding(v.Reason)
	case audit.AboutProbabilities:
		in.Question = "Can the probabilities be trusted?"
		in.Answer, in.Finding = r.probabilitiesFinding(v.Reason)
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

// stated writes a cost, or the utility that it is, to the place of costTable.
func (r *Audit) stated(m audit.Measure) written {
	m = r.Stated(m)
	s := columnScale(r.Methods, r.statedCost)
	return written{s.number(m.Value), s.interval(m.Low, m.High)}
}

// differs writes by how much one of some comparisons costs more or less, or brings more or
// less, and the interval in the same direction, to the place of their table.
func (r *Audit) differs(m audit.Measure, among []audit.Comparison) written {
	m = r.Stated(m)
	s, word := columnScale(among, r.statedDifference), " more"
	if m.Value < 0 {
		m, word = audit.Measure{Value: -m.Value, Low: -m.High, High: -m.Low}, " less"
	}
	w := written{s.number(m.Value) + word, s.interval(m.Low, m.High)}
	if m.Value == 0 {
		w.value = "the same"
	}
	return w
}

// pEquals writes a p-value in a sentence.
func pEquals(p float64) string {
	text := PValue(p)
	if strings.HasPrefix(text, "<") {
		return "p " + text
	}
	return "p = " + text
}

func (r *Audit) leakage() string {
	if len(r.Leaks) == 1 {
		return fmt.Sprintf("Feature %s alone predicts the outcome almost perfectly, by its values or by where they are missing. If it is known only after the outcome, all results below are too optimistic: exclude it and run the audit again.", r.Leaks[0])
	}
	return fmt.Sprintf("Features %s each predict the outcome almost perfectly, by their values or by where they are missing. If they are known only after the outcome, all results below are too optimistic: exclude them and run the audit again.", list(r.Leaks))
}

// costFinding says what the decisions cost, and how that compares with one action for all.
func (r *Audit) costFinding(why audit.Reason) string {
	own, constant := r.stated(cost(r.Methods[0])), r.BestConstant()
	text := fmt.Sprintf("Decided by %s, new cases like these %s %s each on average (95 %% interval %s). ", MethodLabel(r.Method), r.verb(), own.value, own.interval)
	c := r.Comparison(constant.Method)
	m := difference(c)
	than := r.differs(audit.Measure{Value: -m.Value, Low: -m.High, High: -m.Low}, r.Comparisons)
	best := fmt.Sprintf("the best constant decision (%s: %s)", constant.Method, r.stated(cost(constant)).value)
	switch why {
	case audit.SameForAll:
		text += fmt.Sprintf("Every case gets the same action (%s), so the probabilities change no decision.", constant.Method)
	case audit.BetterThanConstant:
		text += fmt.Sprintf("This is %s (95 %% interval %s) than %s", than.value, than.interval, best)
		if r.Costs {
			text += fmt.Sprintf(", a saving of %.0f %%", 100*c.Difference/constant.MeanCost)
		}
		text += "."
	case audit.WorseThanConstant:
		text += fmt.Sprintf("This is %s (95 %% interval %s) than %s.", than.value, than.interval, best)
	default:
		text += fmt.Sprintf("The difference from %s is not significant (%s)%s.", best, pEquals(c.P), sampleSize(c))
	}
	switch {
	case !(r.Avoidable > 0):
		text += " No decision turned out to be wrong, so the interval depends on the number of cases alone."
	case r.FewMistakes():
		text += fmt.Sprintf(" Few mistakes make up most of the avoidable %s (as many as %.1f of equal size), so there are too few to say more.", r.noun(), r.Mistakes)
	}
	return text
}

// sampleSize says why a difference is not significant, and how many cases would do.
func sampleSize(c audit.Comparison) string {
	text := ""
	if c.TooFew {
		text = "; too few cases differ for a reliable test"
	}
	if c.Needed == 0 {
		return text
	}
	// Two digits, for it is a guess.
	scale := math.Pow(10, math.Floor(math.Log10(float64(c.Needed)))-1)
	return text + fmt.Sprintf("; about %s cases like these would detect a difference of this size with 80 %% power", Count(int(math.Ceil(float64(c.Needed)/scale)*scale)))
}

func (r *Audit) othersAnswer(why audit.Reason) string {
	better := r.either("cheaper", "better")
	switch why {
	case audit.OtherBetter:
		return "no"
	case audit.NoneLower:
		return "no other method tried is " + better
	}
	return "no other method tried is significantly " + better
}

// othersFinding says whether anything that was tried is better.
func (r *Audit) othersFinding(why audit.Reason) string {
	lowest := r.either("the lowest mean cost", "the highest mean utility")
	first := r.Methods[0]
	var ahead, tried, identical []string
	for _, s := range r.Methods[1:] {
		c := r.Comparison(s.Method)
		if s.Cheaper(&first) {
			first = s
		}
		if c.Better() {
			w := r.differs(difference(c), r.Comparisons)
			ahead = append(ahead, fmt.Sprintf("%s (%s, 95 %% interval %s)", MethodLabel(s.Method), w.value, w.interval))
		}
		if c.Identical {
			identical = append(identical, MethodLabel(s.Method))
		} else {
			tried = append(tried, MethodLabel(s.Method))
		}
	}
	own, text := MethodLabel(r.Method), ""
	switch why {
	case audit.OtherBetter:
		use := "Use it instead."
		if len(ahead) > 1 {
			use = "Use one of these instead."
		}
		text = fmt.Sprintf("Significantly %s: %s. %s", r.either("cheaper", "better"), list(ahead), use)
	case audit.NoneLower:
		text = fmt.Sprintf("%s has %s; also tried: %s.", own, lowest, list(tried))
	default:
		c := r.Comparison(first.Method)
		w := r.differs(difference(c), r.Comparisons)
		text = fmt.Sprintf("%s is that of %s, %s (95 %% interval %s), which is not significant (%s).", sentence(lowest), MethodLabel(first.Method), w.value, w.interval, pEquals(c.Corrected))
		if others := without(tried, MethodLabel(first.Method)); len(others) > 0 {
			text += fmt.Sprintf(" Also tried: %s.", list(others))
		}
	}
	if len(identical) > 0 {
		verb := "makes"
		if len(identical) > 1 {
			verb = "make"
		}
		text += fmt.Sprintf(" %s %s the same decisions as %s.", list(identical), verb, own)
	}
	if !r.external() {
		text += " " + r.approximation()
	}
	return text
}

func without(names []string, name string) []string {
	var others []string
	for _, n := range names {
		if n != name {
			others = append(others, n)
		}
	}
	return others
}

// notCompared says why there is no comparison with the exact posterior; empty if there is.
func (r *Audit) notCompared() string {
	switch r.Approximation() {
	case audit.NotAsked:
		return "No fold was compared with the exact posterior"
	case audit.OnlyTwoOutcomes:
		return "The exact posterior is computed for two outcomes only"
	case audit.OnlyProbit:
		return fmt.Sprintf("The exact posterior is computed for the probit likelihood only, not for %s", r.Likelihood)
	}
	return ""
}

// approximation says what the approximation itself costs.
func (r *Audit) approximation() string {
	if why := r.notCompared(); why != "" {
		return why + ", so the effect of the approximation itself is unknown."
	}
	g := r.Regrets[0]
	text := fmt.Sprintf("In %d cases, the exact posterior of the same model (%s) makes the same decision every time", g.Cases, drawnBy(g))
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
		return text + fmt.Sprintf(". The remaining %s is due to the model and the features, not to the approximation.", r.noun())
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

// probabilitiesFinding says whether probabilities made elsewhere are what they claim to be,
// and what recalibrating them would bring.
func (r *Audit) probabilitiesFinding(why audit.Reason) (answer, finding string) {
	m := r.Stated(r.Reliable.Surprise)
	s := scaleOf(m)
	expected := s.number(r.Stated(audit.Measure{Value: r.Reliable.Expected}).Value)
	found := s.number(r.Stated(cost(r.Methods[0])).Value)
	finding = fmt.Sprintf("Expected %s by these probabilities: %s per case; observed: %s (95 %% interval of the difference %s). ", r.noun(), expected, found, s.interval(m.Low, m.High))
	var parts []string
	for _, c := range r.Recalibrations {
		if c.Than != r.Method {
			continue
		}
		way := strings.TrimSuffix(strings.TrimPrefix(MethodLabel(c.Method), r.Method+" ("), ")")
		if c.Identical {
			parts = append(parts, way+" changes no decision")
			continue
		}
		w := r.differs(difference(c), r.Recalibrations)
		parts = append(parts, fmt.Sprintf("%s %ss %s (95 %% interval %s, %s)", way, r.verb(), w.value, w.interval, pEquals(c.Corrected)))
	}
	if len(parts) > 0 {
		finding += "Recalibrated by cross-validation: " + list(parts) + ". "
	}
	switch why {
	case audit.RecalibrationSaves:
		answer = "no: recalibration pays"
	case audit.Miscalibrated:
		answer = fmt.Sprintf("not quite: expected %s per case, observed %s", expected, found)
	default:
		answer = "yes, as far as these decisions depend on them"
	}
	return answer, finding + r.costsMatter()
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
		return "No loss-calibrated method was compared with its plain counterpart. " + r.costsMatter()
	}
	var parts []string
	for _, c := range r.Calibrations {
		method, plain := MethodLabel(c.Method), MethodLabel(c.Than)
		if c.Identical {
			parts = append(parts, fmt.Sprintf("%s makes the same decisions as %s in all %s cases", method, plain, Count(c.Decisions)))
			continue
		}
		w := r.differs(difference(c), r.Calibrations)
		parts = append(parts, fmt.Sprintf("%s decides %s of %s cases differently from %s and %ss %s per case (95 %% interval of the difference %s, %s)",
			method, Count(c.Flips), Count(c.Decisions), plain, r.verb(), w.value, w.interval, pEquals(c.Corrected)))
	}
	return sentence(strings.Join(parts, "; ")) + ". " + r.costsMatter()
}

// costsMatter says whether it matters to decide by the costs.
func (r *Audit) costsMatter() string {
	c, like := r.MostProbable(), r.mostProbable()
	w := r.differs(difference(c), r.Comparisons)
	switch {
	case c.Identical:
		return sentence(like) + " gives the same decisions."
	case c.Better():
		return fmt.Sprintf("With %s, the same probabilities %s %s per case (95 %% interval %s), which indicates poor calibration.", like, r.verb(), w.value, w.interval)
	case c.Significant():
		return fmt.Sprintf("Deciding by the %s does matter: with %s, the same probabilities %s %s per case (95 %% interval %s).", r.nouns(), like, r.verb(), w.value, w.interval)
	}
	return fmt.Sprintf("Deciding by the %s is not significantly different from %s, which %ss %s per case (95 %% interval %s, %s)%s.", r.nouns(), like, r.verb(), w.value, w.interval, pEquals(c.P), sampleSize(c))
}

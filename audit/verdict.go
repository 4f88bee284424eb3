package audit

import (
	"fmt"
	"math"
	"strings"
)

// Verdict answers a question in words.
type Verdict struct {
	Question string `json:"question"`
	// Tone is "good", "mixed", "bad" or "neutral".
	Tone    string `json:"tone"`
	Answer  string `json:"answer"`
	Finding string `json:"finding"`
}

func (r *Result) verdicts() []Verdict {
	if r.Methods[0].Kind == "given" {
		return []Verdict{r.price(), r.best(), r.trust()}
	}
	all := []Verdict{r.price(), r.best(), r.calibration()}
	if len(r.Leaks) > 0 {
		all = append([]Verdict{r.leaking()}, all...)
	}
	return all
}

// leaking asks about columns that are too good to be true.
func (r *Result) leaking() Verdict {
	column, it := "column "+list(r.Leaks)+" alone tells", "it is"
	if len(r.Leaks) > 1 {
		column, it = "columns "+list(r.Leaks)+" each alone tell", "they are"
	}
	return Verdict{
		Tone: "bad", Question: "Is it all known beforehand?", Answer: "ask about " + list(r.Leaks),
		Finding: fmt.Sprintf("The %s the outcome almost perfectly, by its values or by where there are any. If %s known only once the outcome is, everything below is too good to be true: leave it out and audit again.", column, it),
	}
}

// price says what the decisions cost.
func (r *Result) price() Verdict {
	own, constant := r.Methods[0], r.BestConstant()
	c := r.comparison(constant.Method)
	value, interval := r.stated(own.MeanCost, own.Low, own.High)
	v := Verdict{Question: fmt.Sprintf("What will these decisions %s me?", r.verb()), Answer: value + " per case"}
	v.Finding = fmt.Sprintf("Decided by %s, new cases like these %s %s each (95 %% interval %s). ", Label(own.Method), r.verb(), value, interval)
	value, _ = r.stated(constant.MeanCost, constant.Low, constant.High)
	constantly := fmt.Sprintf("%s, %s", constant.Method, value)
	reversed := Comparison{Difference: -c.Difference, Low: -c.High, High: -c.Low}
	value, interval = r.differs(reversed)
	switch {
	case c.Identical:
		v.Tone = "mixed"
		v.Finding += fmt.Sprintf("Every case gets the same action (%s), so nothing is decided case by case.", constant.Method)
	case c.Significant() && c.Difference > 0:
		v.Tone = "good"
		v.Finding += fmt.Sprintf("That is %s (%s) than the best action that is the same for everybody (%s)", value, interval, constantly)
		if r.Costs {
			v.Finding += fmt.Sprintf(", a saving of %.0f %%", 100*c.Difference/constant.MeanCost)
		}
		v.Finding += "."
	case c.Significant():
		v.Tone = "bad"
		v.Finding += fmt.Sprintf("That is %s (%s) than the same action for everybody (%s).", value, interval, constantly)
	default:
		v.Tone = "mixed"
		v.Finding += fmt.Sprintf("These %d cases cannot tell that from the best action that is the same for everybody (%s; %s)%s.", r.Rows, constantly, chance(c.P), needed(c))
	}
	v.Finding += r.fewCases()
	return v
}

// needed says why a difference is not told, and how many cases would tell it.
func needed(c Comparison) string {
	text := ""
	if c.TooFew {
		text = "; what differs is too little to tell"
	}
	if c.Needed == 0 {
		return text
	}
	return text + fmt.Sprintf("; about %s cases like these would tell a difference of the size seen four times in five", rounded(c.Needed))
}

// few is the number of mistakes, counted by what they cost, below which an interval is
// said to rest on few.
const few = 5

// fewCases warns where a handful of mistakes make up the cost.
func (r *Result) fewCases() string {
	sum, squares := 0.0, 0.0
	for _, m := range r.mistakes {
		sum += m
		squares += m * m
	}
	switch {
	case sum <= 0:
		return " Not a single decision turned out wrong, so how much worse it can be rests on the number of cases alone."
	case sum*sum < few*squares:
		return fmt.Sprintf(" A few mistakes make up most of the difference to hindsight (as if there were %.1f of equal size): the data are too few to say more.", sum*sum/squares)
	}
	return ""
}

// best says whether anything that was tried is better.
func (r *Result) best() Verdict {
	v := Verdict{Question: "Is this the best that can be done?"}
	better := "cheaper"
	lowest := "the lowest mean cost"
	if !r.Costs {
		better, lowest = "better", "the highest mean utility"
	}
	first := r.Methods[0]
	var ahead, tried, identical []string
	for _, s := range r.Methods[1:] {
		c := r.comparison(s.Method)
		if s.MeanCost < first.MeanCost {
			first = s
		}
		if c.Significant() && c.Difference < 0 {
			value, interval := r.differs(c)
			ahead = append(ahead, fmt.Sprintf("%s (%s, 95 %% interval %s)", Label(s.Method), value, interval))
		}
		if c.Identical {
			identical = append(identical, Label(s.Method))
		} else {
			tried = append(tried, Label(s.Method))
		}
	}
	switch {
	case len(ahead) > 0:
		v.Tone, v.Answer = "bad", "no"
		v.Finding = fmt.Sprintf("%s by more than chance: %s. Decide by %s instead.", capital(better), strings.Join(ahead, ", "), map[bool]string{true: "it", false: "one of these"}[len(ahead) == 1])
	case first.Method == r.Method:
		v.Tone, v.Answer = "good", "nothing tried is "+better
		v.Finding = fmt.Sprintf("%s is that of %s; also tried: %s.", capital(lowest), Label(r.Method), list(tried))
	default:
		v.Tone, v.Answer = "good", "nothing tried is "+better+" by more than chance"
		c := r.comparison(first.Method)
		value, interval := r.differs(c)
		v.Finding = fmt.Sprintf("Of %s %s is that of %s, %s (%s); a difference of that size is what chance brings (%s).",
			list(tried), lowest, Label(first.Method), value, interval, chance(c.Corrected))
	}
	if len(identical) > 0 {
		v.Finding += fmt.Sprintf(" Every decision of %s is that of %s.", list(identical), Label(r.Method))
	}
	if r.Methods[0].Kind != "given" {
		v.Finding += " " + r.regretSentence()
	}
	return v
}

// trust says whether probabilities made elsewhere are what they claim to be, and what
// recalibrating them would bring.
func (r *Result) trust() Verdict {
	v := Verdict{Question: "Can the probabilities be trusted?"}
	m := r.Reliable.Surprise
	off := m.Low > 0 || m.High < 0
	expected, _ := r.stated(r.Reliable.Expected, m.Low, m.High)
	_, interval := r.stated(m.Value, m.Low, m.High)
	found, _ := r.stated(r.Methods[0].MeanCost, m.Low, m.High)
	v.Finding = fmt.Sprintf("By their own account these decisions %[1]s %[2]s per case; in fact they %[1]s %[3]s (95 %% interval of the difference %[4]s). ", r.verb(), expected, found, interval)
	var parts []string
	saves := ""
	for _, c := range r.Recalibrations {
		if c.Than != r.Method {
			continue
		}
		way := strings.TrimSuffix(strings.TrimPrefix(Label(c.Method), r.Method+" ("), ")")
		if c.Identical {
			parts = append(parts, way+" changes no decision")
			continue
		}
		value, interval := r.differs(c)
		parts = append(parts, fmt.Sprintf("%s %ss %s (%s, %s)", way, r.verb(), value, interval, chance(c.Corrected)))
		if c.Significant() && c.Difference < 0 {
			saves = way
		}
	}
	if len(parts) > 0 {
		v.Finding += "Recalibrated by the other folds: " + list(parts) + ". "
	}
	switch {
	case saves != "":
		v.Tone, v.Answer = "bad", "no: recalibrating pays"
	case off:
		v.Tone, v.Answer = "mixed", fmt.Sprintf("not quite: they promise %s per case and %s %s", expected, r.verb(), found)
	default:
		v.Tone, v.Answer = "good", "as far as these decisions go"
	}
	v.Finding += r.oneHalfSentence()
	return v
}

func (r *Result) regretSentence() string {
	if len(r.Regrets) == 0 {
		return "The exact posterior was not asked, so what the approximation itself costs is not known."
	}
	g := r.Regrets[0]
	how := "independent exact draws"
	if g.By != "exact" {
		how = "Markov chains (NUTS)"
	}
	s := fmt.Sprintf("On %d cases the exact posterior of the same model, by %s, decides %d otherwise; by its own account that would save %s per case (Monte Carlo error below %s).",
		g.Cases, how, g.Differ, number(g.Mean), number(math.Max(g.StdErr, 1e-12)))
	if g.Differ == 0 {
		s = fmt.Sprintf("On %d cases the exact posterior of the same model, by %s, makes the same decision every time.", g.Cases, how)
	}
	if g.Doubt != "" {
		s += " Take this with care: " + g.Doubt + "."
	}
	lost := 0.0
	for _, m := range r.mistakes {
		lost += m
	}
	// A fiftieth of what is lost is less than the error of any estimate here.
	switch {
	case g.Differ == 0 && g.Cases < tellingCases:
		return s + " So few cases say little about the approximation; with references in more folds there are more."
	case g.Mean <= lost/50:
		return s + " What remains is due to the model and to what the columns tell, not to the approximation."
	}
	return s + " So a closer approximation is worth looking for."
}

// tellingCases is how many cases without another decision tell that there are hardly any: of 30,
// one in ten would have been seen with a probability of 0.96.
const tellingCases = 30

// calibration says whether it matters to fit with the costs in mind.
func (r *Result) calibration() Verdict {
	v := Verdict{Question: "Does loss calibration matter here?"}
	if len(r.Calibrations) == 0 {
		v.Tone, v.Answer = "neutral", "not asked"
		v.Finding = "No calibrated method was compared with its plain sibling."
	}
	var gains, losses int
	var parts []string
	for _, c := range r.Calibrations {
		if c.Significant() {
			if c.Difference < 0 {
				gains++
			} else {
				losses++
			}
		}
		if c.Identical {
			parts = append(parts, fmt.Sprintf("%s makes the same decision as %s in all %d cases", Label(c.Method), Label(c.Than), c.Decisions))
			continue
		}
		value, interval := r.differs(c)
		parts = append(parts, fmt.Sprintf("%s decides %d of %d cases otherwise than %s and %ss %s per case (95 %% interval of the difference %s, %s)",
			Label(c.Method), c.Flips, c.Decisions, Label(c.Than), r.verb(), value, interval, chance(c.Corrected)))
	}
	switch {
	case len(parts) == 0:
	case gains > 0 && losses == 0:
		v.Tone, v.Answer = "good", "yes, it saves"
	case losses > 0 && gains == 0:
		v.Tone, v.Answer = "bad", "yes, for the worse"
	case gains > 0:
		v.Tone, v.Answer = "mixed", "yes, in both directions"
	default:
		v.Tone, v.Answer = "neutral", "not measurably"
	}
	if len(parts) > 0 {
		v.Finding = capital(strings.Join(parts, "; ")) + "."
	}
	v.Finding += " " + r.oneHalfSentence()
	return v
}

// oneHalfSentence says whether it matters to decide by the costs.
func (r *Result) oneHalfSentence() string {
	half, like := r.oneHalf(), "a threshold of one half"
	if len(r.Outcomes) > 2 {
		like = "taking the most probable outcome for certain"
	}
	value, interval := r.differs(half)
	by := "the " + map[bool]string{true: "costs", false: "utilities"}[r.Costs]
	switch {
	case half.Identical:
		return capital(like) + " makes the same decisions."
	case half.Significant() && half.Difference > 0:
		return fmt.Sprintf("Deciding by %s does matter: with %s the same probabilities %s %s per case (95 %% interval %s).", by, like, r.verb(), value, interval)
	case half.Significant():
		return fmt.Sprintf("With %s the same probabilities would %s %s per case (95 %% interval %s), which says that they are not reliable.", like, r.verb(), value, interval)
	}
	return fmt.Sprintf("These data cannot tell deciding by %s from %s, which %ss %s (%s)%s.", by, like, r.verb(), value, chance(half.P), needed(half))
}

// BestConstant is the baseline of the best action that is the same for all. It is the
// best on the very cases that are judged, which favours it a little.
func (r *Result) BestConstant() Score {
	constants := r.Methods[len(r.Methods)-len(r.Actions):]
	best := constants[0]
	for _, s := range constants[1:] {
		if s.MeanCost < best.MeanCost {
			best = s
		}
	}
	return best
}

// comparison is that of another with the audited method.
func (r *Result) comparison(name string) Comparison {
	for _, c := range r.Comparisons {
		if c.Method == name {
			return c
		}
	}
	panic("audit: nothing was compared with " + name)
}

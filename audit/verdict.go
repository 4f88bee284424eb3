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

func (r *Result) verdicts() []Verdict { return []Verdict{r.price(), r.best(), r.calibration()} }

// price says what the decisions cost.
func (r *Result) price() Verdict {
	own, constant := r.Methods[0], r.BestConstant()
	c := r.comparison(constant.Method)
	v := Verdict{Question: "What will these decisions cost me?", Answer: fmt.Sprintf("%s per case", number(own.MeanCost))}
	if !r.Costs {
		v.Answer += " less than in hindsight"
	}
	v.Finding = fmt.Sprintf("Decided by %s, new cases like these cost %s each (95 %% interval %s to %s). ", own.Method, number(own.MeanCost), number(own.Low), number(own.High))
	switch {
	case c.Significant() && c.Difference > 0:
		v.Tone = "good"
		v.Finding += fmt.Sprintf("That is %s less than the best action that is the same for everybody (%s, %s), a saving of %.0f %%.",
			number(c.Difference), constant.Method, number(constant.MeanCost), 100*c.Difference/constant.MeanCost)
	case c.Significant():
		v.Tone = "bad"
		v.Finding += fmt.Sprintf("The same action for everybody (%s) costs less: %s.", constant.Method, number(constant.MeanCost))
	default:
		v.Tone = "mixed"
		v.Finding += fmt.Sprintf("The same action for everybody (%s) costs %s, and these data cannot tell the two apart (%s).",
			constant.Method, number(constant.MeanCost), chance(c.Adjusted))
	}
	return v
}

// best says whether anything that was tried is better.
func (r *Result) best() Verdict {
	v := Verdict{Question: "Is this the best that can be done?"}
	cheapest := r.Methods[0]
	var cheaper []string
	for _, s := range r.Methods[1:] {
		if s.MeanCost < cheapest.MeanCost {
			cheapest = s
		}
		if c := r.comparison(s.Method); c.Significant() && c.Difference < 0 {
			cheaper = append(cheaper, fmt.Sprintf("%s (by %s)", s.Method, number(-c.Difference)))
		}
	}
	switch {
	case len(cheaper) > 0:
		v.Tone, v.Answer = "bad", "no"
		v.Finding = fmt.Sprintf("Cheaper by more than chance: %s. Decide by one of these instead.", strings.Join(cheaper, ", "))
	case cheapest.Method == r.Method:
		v.Tone, v.Answer = "good", "nothing tried is cheaper"
		v.Finding = fmt.Sprintf("No other method and no baseline has a lower mean cost than %s.", r.Method)
	default:
		v.Tone, v.Answer = "good", "nothing tried is cheaper by more than chance"
		c := r.comparison(cheapest.Method)
		v.Finding = fmt.Sprintf("The lowest mean cost is that of %s, %s, which is %s lower; a difference of that size is what chance brings (%s after Holm's correction).",
			cheapest.Method, number(cheapest.MeanCost), number(-c.Difference), chance(c.Adjusted))
	}
	v.Finding += " " + r.regretSentence()
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
	// A fiftieth of the cost is less than the error of any estimate here.
	if g.Mean < r.Methods[0].MeanCost/50 {
		return s + " What remains is due to the model and to what the columns tell, not to the approximation."
	}
	return s + " So a closer approximation is worth looking for."
}

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
		if c.Flips == 0 {
			parts = append(parts, fmt.Sprintf("%s makes the same decision as %s in all %d cases", c.Method, c.Than, c.Decisions))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s decides %d of %d cases otherwise than %s and costs %s per case (95 %% interval of the difference %s to %s, %s after Holm's correction)",
			c.Method, c.Flips, c.Decisions, c.Than, moreOrLess(c.Difference), number(c.Low), number(c.High), chance(c.Adjusted)))
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
	half := r.comparison(OneHalf)
	switch {
	case half.Significant() && half.Difference > 0:
		v.Finding += fmt.Sprintf(" Deciding by the costs does matter: with a threshold of one half the same probabilities cost %s more per case.", number(half.Difference))
	case half.Significant():
		v.Finding += fmt.Sprintf(" With a threshold of one half the same probabilities would cost %s less per case, which says that they are not reliable.", number(-half.Difference))
	default:
		v.Finding += " These data cannot tell deciding by the costs from a threshold of one half."
	}
	return v
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func moreOrLess(d float64) string {
	switch {
	case d == 0:
		return "the same"
	case d > 0:
		return number(d) + " more"
	}
	return number(-d) + " less"
}

// BestConstant is the baseline of the best action that is the same for all.
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

// number writes a value to three significant digits.
func number(v float64) string {
	switch size := math.Abs(v); {
	case size == 0:
		return "0"
	case size < 1e-3:
		return fmt.Sprintf("%.1e", v)
	case size < 1000:
		return fmt.Sprintf("%#.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// chance writes a probability of a test.
func chance(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.2g", p)
}

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
	return []Verdict{r.price(), r.best(), r.calibration()}
}

// price says what the decisions cost.
func (r *Result) price() Verdict {
	own, constant := r.Methods[0], r.BestConstant()
	c := r.comparison(constant.Method)
	v := Verdict{Question: "What will these decisions cost me?", Answer: fmt.Sprintf("%s per case", like(own.MeanCost, own.Low, own.High))}
	if u := own.Utility; u != nil {
		v.Question, v.Answer = "What will these decisions bring me?", fmt.Sprintf("%s per case", like(u.Value, u.Low, u.High))
		v.Finding = fmt.Sprintf("Decided by %s, new cases like these bring %s each (95 %% interval %s). In what follows a cost is what that falls short of the best action in hindsight. ",
			own.Method, like(u.Value, u.Low, u.High), between(u.Low, u.High))
	}
	v.Finding += fmt.Sprintf("Decided by %s, new cases like these cost %s each (95 %% interval %s). ", own.Method, like(own.MeanCost, own.Low, own.High), between(own.Low, own.High))
	constantly := fmt.Sprintf("%s, %s", constant.Method, like(constant.MeanCost, constant.Low, constant.High))
	switch {
	case c.Identical:
		v.Tone = "mixed"
		v.Finding += fmt.Sprintf("Every case gets the same action (%s), so nothing is decided case by case.", constant.Method)
	case c.Significant() && c.Difference > 0:
		v.Tone = "good"
		v.Finding += fmt.Sprintf("That is %s less (%s) than the best action that is the same for everybody (%s), a saving of %.0f %%.",
			like(c.Difference, c.Low, c.High), between(c.Low, c.High), constantly, 100*c.Difference/constant.MeanCost)
	case c.Significant():
		v.Tone = "bad"
		v.Finding += fmt.Sprintf("The same action for everybody costs less (%s), by %s (%s).", constantly, like(-c.Difference, c.Low, c.High), between(-c.High, -c.Low))
	default:
		v.Tone = "mixed"
		v.Finding += fmt.Sprintf("These %d cases cannot tell that from the best action that is the same for everybody (%s; %s)%s.", r.Rows, constantly, chance(c.P), needed(c))
	}
	v.Finding += r.fewCases()
	return v
}

// needed says how many cases would tell a difference.
func needed(c Comparison) string {
	if c.Needed == 0 {
		return ""
	}
	return fmt.Sprintf("; about %s cases like these would tell a difference of the size seen, %s, four times in five", rounded(c.Needed), number(math.Abs(c.Difference)))
}

// few is the number of mistakes, counted by what they cost, below which an interval is
// said to rest on few.
const few = 5

// fewCases warns where a handful of cases make up the cost.
func (r *Result) fewCases() string {
	sum, squares := 0.0, 0.0
	for _, l := range r.Methods[0].losses {
		sum += l
		squares += l * l
	}
	switch {
	case sum <= 0:
		return " Not a single case cost anything, so how much more costly decisions can be rests on the number of cases alone."
	case sum*sum < few*squares:
		return fmt.Sprintf(" A few cases make up most of this cost (as if there were %.1f of equal size): the data are too few to say more.", sum*sum/squares)
	}
	return ""
}

// best says whether anything that was tried is better.
func (r *Result) best() Verdict {
	v := Verdict{Question: "Is this the best that can be done?"}
	cheapest := r.Methods[0]
	var cheaper, tried, identical []string
	for _, s := range r.Methods[1:] {
		c := r.comparison(s.Method)
		if s.MeanCost < cheapest.MeanCost {
			cheapest = s
		}
		if c.Significant() && c.Difference < 0 {
			cheaper = append(cheaper, fmt.Sprintf("%s (by %s, 95 %% interval %s)", s.Method, like(-c.Difference, c.Low, c.High), between(-c.High, -c.Low)))
		}
		if c.Identical {
			identical = append(identical, s.Method)
		} else {
			tried = append(tried, s.Method)
		}
	}
	switch {
	case len(cheaper) > 0:
		v.Tone, v.Answer = "bad", "no"
		v.Finding = fmt.Sprintf("Cheaper by more than chance: %s. Decide by one of these instead.", strings.Join(cheaper, ", "))
	case cheapest.Method == r.Method:
		v.Tone, v.Answer = "good", "nothing tried is cheaper"
		v.Finding = fmt.Sprintf("None of these has a lower mean cost than %s: %s.", r.Method, list(tried))
	default:
		v.Tone, v.Answer = "good", "nothing tried is cheaper by more than chance"
		c := r.comparison(cheapest.Method)
		v.Finding = fmt.Sprintf("Of %s the lowest mean cost is that of %s, %s lower (%s); a difference of that size is what chance brings (%s).",
			list(tried), cheapest.Method, like(-c.Difference, c.Low, c.High), between(-c.High, -c.Low), chance(c.Corrected))
	}
	if len(identical) > 0 {
		v.Finding += fmt.Sprintf(" Every decision of %s is that of %s.", list(identical), r.Method)
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
	v.Finding = fmt.Sprintf("By their own account these decisions cost %s per case, and they cost %s (95 %% interval of the difference %s). ",
		like(r.Reliable.Expected, m.Low, m.High), like(r.Methods[0].MeanCost, m.Low, m.High), between(m.Low, m.High))
	var parts []string
	saves := ""
	for _, c := range r.Recalibrations {
		if c.Than != r.Method {
			continue
		}
		way := strings.TrimSuffix(strings.TrimPrefix(c.Method, r.Method+" ("), ")")
		if c.Identical {
			parts = append(parts, way+" changes no decision")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s costs %s (%s, %s)", way, moreOrLess(c), between(c.Low, c.High), chance(c.Corrected)))
		if c.Significant() && c.Difference < 0 {
			saves = way
		}
	}
	if len(parts) > 0 {
		v.Finding += "Recalibrated by the other folds: " + list(parts) + ". "
	}
	switch {
	case saves != "":
		v.Tone, v.Answer = "bad", "no: recalibrating saves"
	case off:
		v.Tone, v.Answer = "mixed", "not quite: they do not expect what they cost"
	default:
		v.Tone, v.Answer = "good", "as far as these costs go"
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
	// A fiftieth of the cost is less than the error of any estimate here.
	if g.Mean <= r.Methods[0].MeanCost/50 {
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
		if c.Identical {
			parts = append(parts, fmt.Sprintf("%s makes the same decision as %s in all %d cases", c.Method, c.Than, c.Decisions))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s decides %d of %d cases otherwise than %s and costs %s per case (95 %% interval of the difference %s, %s)",
			c.Method, c.Flips, c.Decisions, c.Than, moreOrLess(c), between(c.Low, c.High), chance(c.Corrected)))
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
	half := r.comparison(OneHalf)
	switch {
	case half.Identical:
		return "A threshold of one half makes the same decisions."
	case half.Significant() && half.Difference > 0:
		return fmt.Sprintf("Deciding by the costs does matter: with a threshold of one half the same probabilities cost %s more per case (95 %% interval %s).",
			like(half.Difference, half.Low, half.High), between(half.Low, half.High))
	case half.Significant():
		return fmt.Sprintf("With a threshold of one half the same probabilities would cost %s less per case (95 %% interval %s), which says that they are not reliable.",
			like(-half.Difference, half.Low, half.High), between(-half.High, -half.Low))
	}
	return fmt.Sprintf("These data cannot tell deciding by the costs from a threshold of one half, which costs %s (%s)%s.", moreOrLess(half), chance(half.P), needed(half))
}

func moreOrLess(c Comparison) string {
	switch {
	case c.Difference == 0:
		return "the same"
	case c.Difference > 0:
		return like(c.Difference, c.Low, c.High) + " more"
	}
	return like(-c.Difference, c.Low, c.High) + " less"
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

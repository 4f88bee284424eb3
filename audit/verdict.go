package audit

// Question is what a reader asks of an audit.
type Question string

// Questions, in the order in which they are answered.
const (
	AboutLeakage       Question = "leakage"       // is a feature known only once the outcome is?
	AboutCost          Question = "cost"          // what will these decisions cost?
	AboutOtherMethods  Question = "other methods" // is this the best that can be done?
	AboutProbabilities Question = "probabilities" // can the probabilities be trusted?
	AboutRule          Question = "rule"          // does using the costs help?
	AboutCalibration   Question = "calibration"   // does loss calibration matter?
)

// Tone is whether an answer is good news.
type Tone string

// Tones of answers.
const (
	Good    Tone = "good"
	Mixed   Tone = "mixed"
	Bad     Tone = "bad"
	Neutral Tone = "neutral"
)

// Reason is what the numbers say, from which the answer follows. Package report says it in
// words.
type Reason string

// Reasons for the answers to each of the questions.
const (
	TellsOutcome Reason = "a feature tells the outcome"

	SameForAll         Reason = "every case gets the same action"
	BetterThanConstant Reason = "significantly better than the best constant action"
	WorseThanConstant  Reason = "significantly worse than the best constant action"
	UnclearOfConstant  Reason = "no significant difference from the best constant action"

	OtherBetter        Reason = "another method is significantly better"
	NoneLower          Reason = "no other method has a lower mean cost"
	LowerByChance      Reason = "no other method is significantly better"
	Inverted           Reason = "the probabilities rank cases the wrong way round"
	RecalibrationSaves Reason = "recalibration is significantly better"
	Miscalibrated      Reason = "the cost is significantly other than expected"
	Calibrated         Reason = "no significant difference from the expected cost"
	TooFewToTell       Reason = "too few cases to compare the cost with the expected one"

	RuleSame    Reason = "acting on the most probable outcome decides the same"
	RuleSaves   Reason = "deciding by the costs is significantly better"
	RuleCosts   Reason = "deciding by the costs is significantly worse"
	RuleUnclear Reason = "deciding by the costs makes no significant difference"

	NotCompared        Reason = "no calibrated method was compared"
	CalibrationSaves   Reason = "calibration is significantly better"
	CalibrationCosts   Reason = "calibration is significantly worse"
	CalibrationBoth    Reason = "calibration is significantly better and worse"
	CalibrationNeutral Reason = "calibration makes no significant difference"
)

// Verdict answers a question. The numbers behind it are in the Result.
type Verdict struct {
	Question Question
	Tone     Tone
	Reason   Reason
}

func (r *Result) verdicts() []Verdict {
	trust := r.aboutProbabilities()
	all := []Verdict{r.aboutCost(), r.aboutOthers(), trust, r.aboutRule()}
	if trust.Reason == Inverted { // before all that rests on them
		all = []Verdict{trust, r.aboutCost(), r.aboutOthers(), r.aboutRule()}
	}
	if r.Methods[0].Kind == External {
		return all
	}
	all = append(all, r.aboutCalibration())
	if len(r.Leaks) > 0 {
		all = append([]Verdict{{AboutLeakage, Bad, TellsOutcome}}, all...)
	}
	return all
}

func (r *Result) aboutCost() Verdict {
	c := r.Comparison(r.BestConstant().Method)
	switch {
	case c.Identical:
		return Verdict{AboutCost, Mixed, SameForAll}
	case !c.Significant():
		return Verdict{AboutCost, Mixed, UnclearOfConstant}
	case c.Difference > 0:
		return Verdict{AboutCost, Good, BetterThanConstant}
	}
	return Verdict{AboutCost, Bad, WorseThanConstant}
}

func (r *Result) aboutOthers() Verdict {
	v := Verdict{AboutOtherMethods, Good, NoneLower}
	for _, s := range r.Methods[1:] {
		if r.Comparison(s.Method).Better() {
			return Verdict{AboutOtherMethods, Bad, OtherBetter}
		}
		if s.Cheaper(&r.Methods[0]) {
			v.Reason = LowerByChance
		}
	}
	return v
}

// Inverted are the outcomes whose cases have lower probabilities of the outcome than the others
// have, by more than chance: their column may be another's, or of what did not happen.
func (r *Result) Inverted() (outcomes []int) {
	if q := r.Methods[0].Quality; q != nil && below(q.Area) {
		return []int{1}
	}
	for y, of := range r.ReliableOf {
		if below(of.Area) {
			outcomes = append(outcomes, y)
		}
	}
	return outcomes
}

// below tells whether an area under the curve is that of a ranking the wrong way round.
func below(area *Measure) bool { return area != nil && area.High < 0.5 }

func (r *Result) aboutRule() Verdict {
	switch c := r.MostProbable(); {
	case c.Identical:
		return Verdict{AboutRule, Neutral, RuleSame}
	case c.Better():
		return Verdict{AboutRule, Bad, RuleCosts}
	case c.Significant():
		return Verdict{AboutRule, Good, RuleSaves}
	}
	return Verdict{AboutRule, Neutral, RuleUnclear}
}

func (r *Result) aboutProbabilities() Verdict {
	if len(r.Inverted()) > 0 {
		return Verdict{AboutProbabilities, Bad, Inverted}
	}
	for _, c := range r.Recalibrations {
		if c.Than == r.Method && c.Better() {
			return Verdict{AboutProbabilities, Bad, RecalibrationSaves}
		}
	}
	if m := r.Reliable.Surprise; m.Low > 0 || m.High < 0 {
		return Verdict{AboutProbabilities, Mixed, Miscalibrated}
	}
	if r.Independent < tellingCases {
		return Verdict{AboutProbabilities, Neutral, TooFewToTell}
	}
	return Verdict{AboutProbabilities, Good, Calibrated}
}

func (r *Result) aboutCalibration() Verdict {
	if len(r.Calibrations) == 0 {
		return Verdict{AboutCalibration, Neutral, NotCompared}
	}
	var saves, costs bool
	for _, c := range r.Calibrations {
		saves = saves || c.Better()
		costs = costs || c.Significant() && c.Difference > 0
	}
	switch {
	case saves && costs:
		return Verdict{AboutCalibration, Mixed, CalibrationBoth}
	case saves:
		return Verdict{AboutCalibration, Good, CalibrationSaves}
	case costs:
		return Verdict{AboutCalibration, Bad, CalibrationCosts}
	}
	return Verdict{AboutCalibration, Neutral, CalibrationNeutral}
}

// Approximation is what the exact posterior says about the audited method.
type Approximation int

// What may be known about the approximation, or why nothing is.
const (
	NotAsked    Approximation = iota // no fold was compared with the exact posterior
	OnlyProbit                       // the exact posterior is not drawn for other likelihoods
	TooFewCases                      // the same decisions, in too few cases to tell
	Negligible                       // what it costs is less than the error of any estimate
	Costly                           // a closer approximation is worth trying
)

// tellingCases is how many cases without another decision tell that there are hardly any: of 30,
// one in ten would have been seen with a probability of 0.96.
const tellingCases = 30

// Approximation is what is known about that of the audited method.
func (r *Result) Approximation() Approximation {
	switch {
	case len(r.Regrets) == 0 && r.Likelihood != "" && r.Likelihood != "probit":
		return OnlyProbit
	case len(r.Regrets) == 0:
		return NotAsked
	}
	switch g := r.Regrets[0]; {
	case g.Differ == 0 && g.Cases < tellingCases:
		return TooFewCases
	case g.Mean <= max(r.Avoidable/50, 2*g.StdErr): // less than the error of any estimate here
		return Negligible
	}
	return Costly
}

// few is the number of mistakes, counted by what they cost, below which an interval is
// said to rest on few.
const few = 5

// FewMistakes tells whether a handful of mistakes make up most of the avoidable cost.
func (r *Result) FewMistakes() bool { return r.Avoidable > 0 && r.Mistakes < few }

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

// Comparison is that of another with the audited method.
func (r *Result) Comparison(name string) Comparison {
	for _, c := range r.Comparisons {
		if c.Method == name {
			return c
		}
	}
	panic("audit: nothing was compared with " + name)
}

// MostProbable is the comparison with acting as if the most probable outcome were certain.
func (r *Result) MostProbable() Comparison {
	if len(r.Outcomes) > 2 || len(r.Actions) > 2 {
		return r.Comparison(Likeliest)
	}
	return r.Comparison(OneHalf)
}

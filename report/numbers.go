package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/numbers"
)

// NumberAudit is what was found about decisions on outcomes that are numbers, in the form of Results.
type NumberAudit struct {
	Origin
	Data string `json:"data"` // the name of the table
	*numbers.Audit
	Verdicts []Verdict `json:"verdict"`
}

// NewNumberAudit puts the result of an audit of a table into words.
func NewNumberAudit(from Origin, data string, a *numbers.Audit) *NumberAudit {
	r := &NumberAudit{Origin: from, Data: data, Audit: a}
	if len(a.Leaks) > 0 {
		r.Verdicts = append(r.Verdicts, leakage(a.Leaks))
	}
	r.Verdicts = append(r.Verdicts, r.aboutCost())
	if len(r.others()) > 0 {
		r.Verdicts = append(r.Verdicts, r.aboutOthers())
	}
	r.Verdicts = append(r.Verdicts, r.aboutPredictions())
	if m := r.method(numbers.PredictedMedian); m != nil {
		r.Verdicts = append(r.Verdicts, r.aboutCosts(m))
	}
	return r
}

// Files are the contents of the report's files, by name, of those of AuditFiles.
func (r *NumberAudit) Files() (map[string][]byte, error) {
	f := files{"index.html": r.page().Write, "decisions.csv": r.writeDecisions, "quality.csv": r.writeQuality}
	f.figure("cost", r.costFigure())
	f.figure("pit", r.pitFigure())
	if r.Ratios != nil {
		f.figure("sensitivity", r.ratioFigure())
	}
	f.results(r, "  ")
	return f.contents()
}

// WriteText writes the verdicts and what they rest on.
func (r *NumberAudit) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s, costs %s\n\n", r.subtitle(), r.Costs)
	writeVerdicts(w, r.Verdicts)
	for _, t := range []*Table{r.costTable(), r.qualityTable(), r.worstTable(5)} {
		if err := t.WriteText(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if r.Limited != nil {
		fmt.Fprintf(w, "%s\n\n", wrapText(r.limitedText(), textWidth))
	}
	for _, note := range r.notes() {
		fmt.Fprintln(w, note)
	}
	return nil
}

// notes are what a reader should know besides.
func (r *NumberAudit) notes() (all []string) {
	for _, m := range r.Models {
		for _, text := range m.Warnings {
			if !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return append(slices.Clone(r.Notes), all...)
}

// method is a way to choose actions by name, nil if there is none.
func (r *NumberAudit) method(name string) *numbers.Audited {
	if k := slices.IndexFunc(r.Methods, func(m numbers.Audited) bool { return m.Name == name }); k >= 0 {
		return &r.Methods[k]
	}
	return nil
}

// others are the models that the audited one is compared with.
func (r *NumberAudit) others() []numbers.Audited {
	return slices.DeleteFunc(slices.Clone(r.Methods[1:]), func(m numbers.Audited) bool { return m.Planned() })
}

func costOf(m numbers.Audited) *audit.Measure {
	return &audit.Measure{Value: m.Cost, Low: m.Low, High: m.High}
}

func savedOf(m numbers.Audited) *audit.Measure {
	return &audit.Measure{Value: m.Saved, Low: m.SavedLow, High: m.SavedHigh}
}

// perCase is the scale of all costs per case.
func (r *NumberAudit) perCase() scale {
	return scaleOf(append(present(r.Methods, costOf), present(r.Methods[1:], savedOf)...)...)
}

func (r *NumberAudit) inCurrency(s scale) scale { return s.in(r.Currency) }

// than writes by how much the model costs less, or more, with the interval in the same direction.
func than(m audit.Measure, s scale) written {
	word := " less"
	if m.Value < 0 {
		m, word = negative(m), " more"
	}
	interval := s.interval(m.Low, m.High)
	if m.Low < 0 && m.High > 0 { // each end says which way it goes
		other := map[string]string{" less": " more", " more": " less"}[word]
		interval = s.number(-m.Low) + other + " to " + s.number(m.High) + word
	}
	return written{s.number(m.Value) + word, interval}
}

// against compares the model with another way to choose.
func (r *NumberAudit) against(m *numbers.Audited) string {
	s, by := r.inCurrency(r.perCase()), "; could be chance"
	switch {
	case r.differs(m):
		by = ", " + pEquals(m.P)
	case m.SavedLow > 0 || m.SavedHigh < 0:
		by = ", " + pEquals(m.P) + " after adjustment for several comparisons; could be chance"
	}
	w, name := than(*savedOf(*m), s), r.label(m.Name)
	if m.Planned() {
		name = "the " + name
	}
	if m.SavedLow == m.SavedHigh && m.Saved == 0 {
		return "the same as with " + name
	}
	return fmt.Sprintf("%s (95 %% interval %s%s) than with %s, which costs %s", w.value, w.interval, by, name, s.number(m.Cost))
}

// differs tells whether a difference is more than chance.
func (r *NumberAudit) differs(m *numbers.Audited) bool { return m.P < 1-audit.Level }

// label is how people read the name of a way to choose.
func (r *NumberAudit) label(name string) string {
	switch name {
	case "model":
		return "Gaussian process"
	case numbers.BestConstant:
		if k := slices.IndexFunc(r.Ratios, func(x numbers.Ratio) bool { return x.Times == 1 && x.Ratio > 0 }); k >= 0 {
			q := r.Ratios[k].Ratio
			return fmt.Sprintf("best constant action (sample quantile at %s)", threshold(q/(1+q)))
		}
	}
	return name
}

// tone is that of a comparison which should be in favour of the model.
func (r *NumberAudit) tone(m *numbers.Audited) audit.Tone {
	switch {
	case !r.differs(m):
		return audit.Mixed
	case m.Saved > 0:
		return audit.Good
	}
	return audit.Bad
}

func (r *NumberAudit) aboutCost() Verdict {
	s, own, constant := r.inCurrency(r.perCase()), r.Methods[0], r.method(numbers.BestConstant)
	v := Verdict{Question: "What will these decisions cost?", Tone: r.tone(constant), Answer: s.number(own.Cost) + " per case"}
	v.Finding = fmt.Sprintf("New cases like these cost %s each on average (95 %% interval %s). That is %s", s.number(own.Cost), s.interval(own.Low, own.High), r.against(constant))
	if constant.Cost > 0 && r.differs(constant) && constant.Saved > 0 {
		v.Finding += fmt.Sprintf(": a saving of %.0f %%", 100*constant.Saved/constant.Cost)
	}
	v.Finding += "."
	if y := r.Yearly; y != nil {
		s := r.inCurrency(totalScale(y.Cost, y.Saved))
		w := than(y.Saved, s)
		v.Answer += fmt.Sprintf(", %s a year", s.number(y.Cost.Value))
		v.Finding += fmt.Sprintf(" %s cases a year cost %s (95 %% interval %s), %s than with the best constant action (95 %% interval %s).", Count(y.Cases), s.number(y.Cost.Value), s.interval(y.Cost.Low, y.Cost.High), w.value, w.interval)
	}
	return v
}

func (r *NumberAudit) aboutOthers() Verdict {
	others := r.others()
	best := slices.MinFunc(others, func(a, b numbers.Audited) int { return int(math.Copysign(1, a.Cost-b.Cost)) })
	v := Verdict{Question: "Is this the best that can be done?", Tone: audit.Good, Answer: "yes, of what was tried"}
	v.Finding = "A case costs " + r.against(&best) + "."
	switch {
	case !r.differs(&best):
		v.Tone, v.Answer = audit.Mixed, "no clear difference from "+r.label(best.Name)
	case best.Saved < 0:
		v.Tone, v.Answer = audit.Bad, "no: "+r.label(best.Name)+" costs less"
	}
	return v
}

// aboutPredictions compares intervals with the outcomes in them, actions with those up to them, and costs with those expected.
func (r *NumberAudit) aboutPredictions() Verdict {
	v := Verdict{Question: "Can the predictions be trusted?", Tone: audit.Good, Answer: "yes"}
	covered, money := r.covered(), r.inCurrency(r.perCase())
	expected := covered.Expected
	s, surprise := percentScale(covered.Share, audit.Measure{Value: expected, Low: expected, High: expected}), r.Scores.Surprise
	off := covered.Differs()
	at := r.Scores.UpToAction
	misplaced := at != nil && at.Differs()
	surprised := surprise.Low > 0 || surprise.High < 0
	switch {
	case off && covered.Far() || surprised && math.Abs(surprise.Value) > numbers.MostSurprise*r.Scores.Expected || misplaced && at.Far():
		v.Tone, v.Answer = audit.Bad, "no"
	case off || surprised || misplaced:
		v.Tone, v.Answer = audit.Mixed, "in part"
	}
	word := ""
	if off {
		word = ": predictions are too wide"
		if covered.Share.Value < expected {
			word = ": predictions are too narrow"
		}
	}
	v.Finding = fmt.Sprintf("The 90 %% predictive intervals contain %s of the outcomes (95 %% interval %s); the model expects %s%s.%s The model expects a cost of %s per case; realised: %s (95 %% interval of the difference %s).",
		s.number(covered.Share.Value), s.interval(covered.Share.Low, covered.Share.High), s.number(expected), word, upToAction(at), money.number(r.Scores.Expected), money.number(r.Methods[0].Cost), money.interval(surprise.Low, surprise.High))
	return v
}

// upToAction says how many outcomes are no larger than the actions; where these are quantiles, they are to be as many as the costs ask for.
func upToAction(at *numbers.Compared) string {
	if at == nil {
		return ""
	}
	word := ""
	if at.Differs() {
		word = ": actions are too large"
		if at.Share.Value < at.Expected {
			word = ": actions are too small"
		}
	}
	s := percentScale(at.Share, audit.Measure{Value: at.Expected, Low: at.Expected, High: at.Expected})
	return fmt.Sprintf(" The model expects %s of the outcomes to be no larger than the action; %s are (95 %% interval %s)%s.", s.number(at.Expected), s.number(at.Share.Value), s.interval(at.Share.Low, at.Share.High), word)
}

// covered is about intervals that should have 90 % of the outcomes.
func (r *NumberAudit) covered() *numbers.Covered {
	return &r.Scores.Coverage[slices.IndexFunc(r.Scores.Coverage, func(c numbers.Covered) bool { return c.Level == 0.9 })]
}

func (r *NumberAudit) aboutCosts(m *numbers.Audited) Verdict {
	v := Verdict{Question: "Does using the costs help?", Tone: r.tone(m), Answer: "yes", Finding: "A case costs " + r.against(m) + " and does not depend on the costs."}
	switch {
	case m.Saved == 0 && m.SavedLow == 0 && m.SavedHigh == 0:
		v.Tone, v.Answer, v.Finding = audit.Neutral, "the same", "Under these costs the best action is the predicted median."
	case !r.differs(m):
		v.Answer = "no clear difference"
	case m.Saved < 0:
		v.Answer = "no"
	}
	return v
}

// limitedText says what decisions within a capacity cost.
func (r *NumberAudit) limitedText() string {
	s := r.inCurrency(r.perCase())
	return capacityText(r.Limited, r.Limited.Cost, s, "cost", "more") + gapText(r.Limited, s)
}

// writeDecisions writes every case with all its actions.
func (r *NumberAudit) writeDecisions(w io.Writer) error {
	head := []string{"line"}
	if r.ID != "" {
		head = append(head, r.ID)
	}
	head = append(head, "outcome", "low", "high", "expected_cost", "cost")
	for _, m := range r.Methods {
		head = append(head, "action: "+m.Name)
	}
	rows := [][]string{head}
	for i, c := range r.Decisions {
		row := []string{strconv.Itoa(c.Line)}
		if r.ID != "" {
			row = append(row, c.ID)
		}
		row = append(row, exactly(c.Outcome), exactly(c.Low), exactly(c.High), exactly(c.Expected), exactly(c.Cost))
		for _, actions := range r.Actions {
			row = append(row, r.action(actions[i], exactly))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// action is a number, or the name of an action.
func (r *NumberAudit) action(a float64, write func(float64) string) string {
	if r.Choices != nil {
		return r.Choices[int(a)]
	}
	return write(a)
}

// writeQuality writes how good predicted quantiles are.
func (r *NumberAudit) writeQuality(w io.Writer) error {
	rows := [][]string{{"quantile", "outcomes_below", "low", "high", "pinball", "pinball_of_constant"}}
	for _, q := range r.Scores.Quantiles {
		rows = append(rows, []string{exactly(q.Level), exactly(q.Below.Value), exactly(q.Below.Low), exactly(q.Below.High), exactly(q.Pinball), exactly(q.Constant)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

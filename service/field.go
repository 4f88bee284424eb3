package service

import (
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// Case is what is known about one case when it is answered. What a request does not ask for
// is nil.
type Case struct {
	ID         string // its cell of the column of identifiers, or its line in the file
	Prediction *lossep.Prediction
	Decision   *lossep.Decision
	Limited    *Limited // what a capacity makes of it
	Worth      *lossep.Worth
	Number     *NumberCase
	Unusual    []string // columns in which it is unlike the training rows
}

// Field is something that an answer says about every case. It is defined once: front ends
// only write it, as columns of a table, members of a JSON object or tensors.
type Field struct {
	Name    string   // of a tensor
	JSON    string   // of a member, where it is not Name
	Columns []string // of a table, one for each element; nil if tables do not have it
	Over    []string // what a list has an element for: actions, outcomes or columns
	// One of these is the value.
	Text    func(*Case) string
	Texts   func(*Case) []string
	Whole   func(*Case) int
	Number  func(*Case) float64
	Numbers func(c *Case, to []float64) []float64 // is appended to
	Truth   func(*Case) bool
	Named   func(*Case) map[string]string
	Object  func(*Case) Object
	Kinds   []table.CellKind // of the columns of an object
}

// Object is a value that JSON has as encoding/json writes it, and a table in several cells.
type Object interface {
	// Cells are as many as the field has columns.
	Cells() []any
}

// Key is the name of the field in JSON.
func (f *Field) Key() string {
	if f.JSON != "" {
		return f.JSON
	}
	return f.Name
}

// numbersField is one of a number for each of some names, in columns HEAD_NAME.
func numbersField(name, json, head string, over []string, numbers func(*Case, []float64) []float64) Field {
	f := Field{Name: name, JSON: json, Over: over, Numbers: numbers}
	for _, element := range over {
		f.Columns = append(f.Columns, head+"_"+element)
	}
	return f
}

func numberField(name string, value func(*Case) float64) Field {
	return Field{Name: name, Columns: []string{name}, Number: value}
}

// IDField is what names the case.
var IDField = Field{Name: "id", Columns: []string{"id"}, Text: func(c *Case) string { return c.ID }}

// UnusualField names the columns in which the case is unlike the training rows: those with a
// category that they did not have, a number far outside theirs, or a missing cell where they had none.
var UnusualField = Field{Name: "unusual", Columns: []string{"unusual"}, Texts: func(c *Case) []string { return c.Unusual }}

// probabilityField is the probability of the positive one of two outcomes, or that of each of
// more.
func probabilityField(outcomes []string, of func(*Case) []float64) Field {
	if len(outcomes) > 2 {
		return numbersField("probability", "probabilities", "probability", outcomes, func(c *Case, to []float64) []float64 { return append(to, of(c)...) })
	}
	return numberField("probability", func(c *Case) float64 { return of(c)[1] })
}

// PredictFields are what is predicted of a case: with two outcomes the mean and variance of
// the latent value too.
func PredictFields(outcomes []string) (fields []Field) {
	if len(outcomes) <= 2 {
		fields = append(fields,
			numberField("mean", func(c *Case) float64 { return c.Prediction.Mean }),
			numberField("variance", func(c *Case) float64 { return c.Prediction.Variance }))
	}
	return append(fields, probabilityField(outcomes, func(c *Case) []float64 { return c.Prediction.Probabilities }))
}

// actionFields are the action, and its number from 0, which tables do not have.
func actionFields(s *decision.Spec) []Field {
	actions := s.Actions()
	return []Field{
		{Name: "action", Columns: []string{"action"}, Text: func(c *Case) string { return actions[c.Decision.Action] }},
		{Name: "action_index", Whole: func(c *Case) int { return c.Decision.Action }},
	}
}

// DecideFields are what is said about a decided case: the action, what each action is expected
// to cost or to bring, the probabilities, by how much the action is better than the next best
// (the margin), by how much each is better than the best other one (its advantage, which is
// negative for those not taken), and what is saved against the baseline, an action by its
// number. Opinions of other methods are there if they were asked, and so many reasons.
func DecideFields(s *decision.Spec, baseline int, opinions bool, e *lossep.Explainer) []Field {
	actions, kind, costs := s.Actions(), s.Kind(), s.Costs()
	fields := append(actionFields(s),
		numbersField("expected", "expected_"+kind, kind, actions, func(c *Case, to []float64) []float64 { return append(to, c.Decision.Expected...) }),
		probabilityField(s.Outcomes(), func(c *Case) []float64 { return c.Decision.Probabilities }),
		numberField("margin", func(c *Case) float64 { return c.Decision.Margin }),
		numbersField("advantage", "", "advantage", actions, func(c *Case, to []float64) []float64 { return advantages(to, c.free(), costs) }),
		numberField("saving", func(c *Case) float64 { return c.saving(baseline, costs) }),
	)
	fields = append(fields, flipFields(s)...)
	if opinions {
		fields = append(fields,
			Field{Name: "disagreement", Columns: []string{"disagreement"}, Truth: func(c *Case) bool { return len(c.Decision.Disagreeing) > 0 }},
			Field{Name: "disagreeing", Named: func(c *Case) map[string]string {
				named := make(map[string]string, len(c.Decision.Disagreeing))
				for method, a := range c.Decision.Disagreeing {
					named[string(method)] = actions[a]
				}
				return named
			}})
	}
	if e.Reasons() > 0 {
		fields = append(fields, reasonFields(actions, e)...)
	}
	return fields
}

// gain is by how much one expectation is better than another.
func gain(one, other float64, costs bool) float64 {
	if costs {
		return other - one
	}
	return one - other
}

// advantages are by how much each action is better than the best of the others: the expected
// cost of that one minus its own. The action that is taken has the margin.
func advantages(to []float64, c *decision.Choice, costs bool) []float64 {
	best := c.Expected[c.Action]
	for a, x := range c.Expected {
		if a == c.Action {
			to = append(to, c.Margin)
		} else {
			to = append(to, min(0, gain(x, best, costs))) // equal to rounding is equal
		}
	}
	return to
}

// free is the choice without a capacity.
func (c *Case) free() *decision.Choice {
	if c.Limited != nil {
		return &c.Limited.Free
	}
	return &c.Decision.Choice
}

// saving is what the action is expected to save against the baseline, or to bring beyond it. Without
// a capacity it is never below 0.
func (c *Case) saving(baseline int, costs bool) float64 {
	d := c.Decision
	saved := gain(d.Expected[d.Action], d.Expected[baseline], costs)
	if c.Limited == nil || d.Action == baseline {
		return max(0, saved)
	}
	return saved
}

// ValueFields are what is said about the value of information in a case: the action, the
// probabilities, and what it would be worth to know its outcome, each of the columns asked
// about less what measuring it costs, and its label.
func ValueFields(s *decision.Spec, ask lossep.Ask, prices []float64) []Field {
	return worthFields(append(actionFields(s), probabilityField(s.Outcomes(), func(c *Case) []float64 { return c.Decision.Probabilities })), ask, prices)
}

// worthFields are what is said of a decision, and what it would be worth to know more before it.
func worthFields(fields []Field, ask lossep.Ask, prices []float64) []Field {
	fields = append(fields, numberField("worth_outcome", func(c *Case) float64 { return c.Worth.Outcome }))
	taken := []string{"worth_label"}
	for _, f := range fields {
		taken = append(taken, f.Columns...)
	}
	columns := numbersField("worth_columns", "", "worth", ask.Columns, func(c *Case, to []float64) []float64 {
		for k, x := range c.Worth.Columns {
			to = append(to, x-prices[k])
		}
		return to
	})
	for k, name := range columns.Columns { // of a column that is called as another of the answer
		for slices.Contains(taken, name) {
			name += "_column"
		}
		taken, columns.Columns[k] = append(taken, name), name
	}
	if len(ask.Columns) > 0 {
		fields = append(fields, columns)
	}
	if ask.Labels {
		fields = append(fields, numberField("worth_label", func(c *Case) float64 { return c.Worth.Label }))
	}
	return fields
}

// Record is the values of the fields for a case, one for each: a string, []string, int,
// float64, []float64, bool, map[string]string or Object, which are its own.
func Record(fields []Field, c *Case) []any {
	record := make([]any, len(fields))
	for k := range fields {
		switch f := &fields[k]; {
		case f.Text != nil:
			record[k] = f.Text(c)
		case f.Texts != nil:
			record[k] = append([]string{}, f.Texts(c)...)
		case f.Whole != nil:
			record[k] = f.Whole(c)
		case f.Number != nil:
			record[k] = f.Number(c)
		case f.Numbers != nil:
			record[k] = f.Numbers(c, make([]float64, 0, len(f.Over)))
		case f.Truth != nil:
			record[k] = f.Truth(c)
		case f.Object != nil:
			record[k] = f.Object(c)
		default:
			record[k] = f.Named(c)
		}
	}
	return record
}

// Baseline is the number of the action that savings are against: the one of that name, or the
// first if none is named.
func Baseline(s *decision.Spec, name string) (int, error) {
	if name == "" {
		return 0, nil
	}
	return actionOf(s.Actions(), "baseline", name)
}

// actionOf is the action that an option names.
func actionOf(actions []string, option, name string) (int, error) {
	if a := slices.Index(actions, name); a >= 0 {
		return a, nil
	}
	return 0, optionError(option, "unknown action %q; %s", name, table.Instead(name, actions))
}

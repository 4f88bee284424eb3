package decision

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/expr"
)

// NumberCosts are what actions cost where the outcome is a number.
type NumberCosts struct {
	under, over expr.Expr   // of a pinball cost
	formulas    []expr.Expr // of the action and the outcome, or of each named action; nil for a pinball cost
	actions     Actions
	efforts     []effort // of a unit of the action, or of each named one
	file        string   // that they were read from
}

// LargestNumberCost is the largest cost of a unit or a case, so that squares of sums are finite.
const LargestNumberCost = 1e100

// mostUnequal is how many times a unit too little may cost one too much, or the reverse: the action is
// a quantile, and distributions are not known to shares below a billionth.
const mostUnequal = 1e9

// The names that stand for the action and the outcome in a formula.
const (
	actionName  = "action"
	outcomeName = "outcome"
)

// ForNumbers tells whether costs on one line are those of numbers.
func ForNumbers(text string) bool {
	return slices.ContainsFunc(expr.Split(text), func(part string) bool {
		name, _, _ := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		return name == "under" || name == "over"
	})
}

// ParseNumberCosts reads costs such as under=15,over=5: what every unit costs that the action is below
// the outcome, or above it. They may be made of columns.
func ParseNumberCosts(text string) (*NumberCosts, error) {
	const form = "write what a unit too little and too much costs, as in under=15,over=5"
	s := new(NumberCosts)
	places, given := map[string]*expr.Expr{"under": &s.under, "over": &s.over}, make(map[string]bool)
	for _, part := range expr.Split(text) {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok || places[name] == nil || given[name] {
			return nil, &SpecError{File: "costs", Msg: quoted(part) + " is not one of under=COST and over=COST", Fix: form}
		}
		e, err := parseEntry(value)
		if err != nil {
			return nil, &SpecError{File: "costs", Msg: name + ": " + err.Msg, Fix: err.Fix}
		}
		if scale, _ := e.Scale(); !(scale > 0) {
			return nil, &SpecError{File: "costs", Msg: fmt.Sprintf("%s: a unit costs %v", name, e), Fix: "give a cost above 0"}
		}
		*places[name], given[name] = e, true
	}
	if !given["under"] || !given["over"] {
		return nil, &SpecError{File: "costs", Msg: "under or over is missing", Fix: form}
	}
	if err := s.constant(); err != nil {
		err.File = "costs"
		return nil, err
	}
	return s, nil
}

// constant refuses costs of a unit that are out of bounds in every case.
func (s *NumberCosts) constant() *SpecError {
	var fault *SpecError
	if s.formulas == nil && len(s.Columns()) == 0 {
		_, err := s.Stake(nil)
		errors.As(err, &fault)
	}
	return fault
}

// AbsoluteError is what costs are where none are given: one for every unit that the action is off.
func AbsoluteError() *NumberCosts {
	return &NumberCosts{under: expr.Number(1), over: expr.Number(1)}
}

// IsNumberSpec tells whether a YAML text is one of costs of numbers, by its members.
func IsNumberSpec(text []byte) bool {
	root, err := yamlDocument(text)
	return err == nil && slices.ContainsFunc(root.names, func(n node) bool {
		return slices.Contains([]string{"cost", "under", "over", "action"}, n.text)
	}) || err == nil && !slices.ContainsFunc(root.names, func(n node) bool { return n.text == "outcomes" }) &&
		slices.ContainsFunc(root.names, func(n node) bool { return n.text == "costs" })
}

// ParseNumberSpec reads costs of numbers from YAML: under and over, or a cost, a formula of action and
// outcome, such as
//
//	cost: 15*max(outcome - action, 0) + 5*max(action - outcome, 0)
//	action: {from: 0, to: 200, step: 5}
//
// where action may be a list of numbers too, or costs, with a formula of the outcome for each of
// some named actions. Columns of the table may stand in all of them. Errors are *SpecError.
func ParseNumberSpec(file string, text []byte) (*NumberCosts, error) {
	r := specReader{file, true}
	root, fault := yamlDocument(text)
	if fault != nil {
		return nil, r.at(node{line: fault.Line, column: fault.Column}, fault)
	}
	s, err := r.numbers(root)
	if s != nil {
		s.file = file
	}
	return s, err
}

func (r specReader) numbers(root node) (*NumberCosts, error) {
	if err := r.object(root, "the costs"); err != nil {
		return nil, err
	}
	s := new(NumberCosts)
	members := make(map[string]node)
	for k, name := range root.names {
		if !slices.Contains([]string{"under", "over", "cost", "costs", "action", "effort"}, name.text) {
			return nil, r.faultf(name, "use under and over, or cost, or costs, and action and effort", "%s is unknown", quoted(name.text))
		}
		members[name.text] = root.values[k]
	}
	entry := func(name string, to *expr.Expr) (err error) {
		if n, ok := members[name]; ok {
			*to, err = r.entry(n, name)
		}
		return err
	}
	_, under := members["under"]
	_, over := members["over"]
	_, cost := members["cost"]
	named, several := members["costs"]
	switch {
	case under != over || under == cost && under || cost == several && cost || !under && !cost && !several || under && several:
		return nil, r.faultf(root, "give under and over, or cost, a formula of action and outcome, or costs, a formula of outcome for each named action", "it is not one kind of costs")
	case under:
		if err := entry("under", &s.under); err != nil {
			return nil, err
		}
		if err := entry("over", &s.over); err != nil {
			return nil, err
		}
		if err := s.constant(); err != nil {
			return nil, r.at(members["under"], err)
		}
	case cost:
		s.formulas = make([]expr.Expr, 1)
		if err := entry("cost", &s.formulas[0]); err != nil {
			return nil, err
		}
		if !slices.Contains(s.formulas[0].Columns(), actionName) {
			return nil, r.faultf(members["cost"], "write a formula such as 15*max(outcome - action, 0) + 5*max(action - outcome, 0)", "the cost does not depend on the action")
		}
	default:
		if err := r.choices(named, s); err != nil {
			return nil, err
		}
	}
	if a, ok := members["action"]; ok {
		if s.actions.Choices != nil {
			return nil, r.faultf(a, "leave it out", "named actions have no range")
		}
		if err := r.span(a, &s.actions); err != nil {
			return nil, err
		}
	}
	if e, ok := members["effort"]; ok {
		var err error
		s.efforts, err = r.efforts(s.Named(), e)
		return s, err
	}
	return s, nil
}

// choices reads the costs of named actions.
func (r specReader) choices(named node, s *NumberCosts) error {
	if err := r.object(named, "costs"); err != nil {
		return err
	}
	for k, name := range named.names {
		e, err := r.entry(named.values[k], name.text)
		if err != nil {
			return err
		}
		if slices.Contains(e.Columns(), actionName) {
			return r.faultf(named.values[k], "write a formula of outcome and of columns of other names", "%s: a named action is no number to compute with", quoted(name.text))
		}
		s.formulas, s.actions.Choices = append(s.formulas, e), append(s.actions.Choices, name.text)
	}
	if len(s.formulas) < 2 {
		return r.faultf(named, "name two or more", "there are fewer than two actions")
	}
	return nil
}

// span reads the numbers that an action can be.
func (r specReader) span(n node, a *Actions) error {
	const fix = "give a list of numbers, or a range such as {from: 0, to: 200, step: 5}"
	number := func(n node) (float64, error) {
		x, err := strconv.ParseFloat(n.text, 64)
		if n.kind != aNumber || err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return 0, r.faultf(n, fix, "%s is not a number", quoted(n.text))
		}
		return x, nil
	}
	if n.kind == aList {
		for _, v := range n.values {
			x, err := number(v)
			if err != nil {
				return err
			}
			a.List = append(a.List, x)
		}
		slices.Sort(a.List)
		if a.List = slices.Compact(a.List); len(a.List) == 0 {
			return r.faultf(n, fix, "the list of actions is empty")
		}
		return nil
	}
	if err := r.object(n, "action"); err != nil {
		return err
	}
	places := map[string]*float64{"from": &a.From, "to": &a.To, "step": &a.Step}
	for k, name := range n.names {
		to := places[name.text]
		if to == nil {
			return r.faultf(name, fix, "%s is unknown", quoted(name.text))
		}
		var err error
		if *to, err = number(n.values[k]); err != nil {
			return err
		}
		if name.text == "step" && !(a.Step > 0) {
			return r.faultf(n.values[k], "give a step above 0, or leave it out for all numbers of the range", "the step is %v", a.Step)
		}
	}
	if !a.isRange() {
		return r.faultf(n, fix, "from %v to %v in steps of %v is not a range", a.From, a.To, a.Step)
	}
	return nil
}

// Columns are those that costs are made of. What a unit costs knows no action and no outcome: there
// these are names of columns like others.
func (s *NumberCosts) Columns() (names []string) {
	parts := s.formulas
	if parts == nil {
		parts = []expr.Expr{s.under, s.over}
	}
	for _, e := range parts {
		for _, name := range e.Columns() {
			if (s.formulas == nil || name != actionName && name != outcomeName) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// AllColumns are those of Columns, and those that efforts depend on.
func (s *NumberCosts) AllColumns() []string {
	columns := s.Columns()
	for _, e := range s.efforts {
		columns = columnsOf(columns, e.entries)
	}
	return columns
}

// Named are the names of actions, or that of the one number that is chosen.
func (s *NumberCosts) Named() []string {
	if s.actions.Choices != nil {
		return s.actions.Choices
	}
	return []string{actionName}
}

// Within finds what actions take of capacities: of numbers the effort of that name for every unit, or 1; see Spec.Within.
func (s *NumberCosts) Within(all []Capacity) (*Capacities, error) {
	const fix = "what else is short is called by an effort of the costs, such as effort: {kg: 0.4}"
	return within(s.Named(), s.efforts, all, fix)
}

// Actions are those that can be chosen.
func (s *NumberCosts) Actions() *Actions { return &s.actions }

// Stake is what is at stake in a case, given the numbers in its columns.
func (s *NumberCosts) Stake(value func(column string) (float64, error)) (Stake, error) {
	if s.formulas == nil {
		var c Pinball
		for _, part := range []struct {
			name string
			e    expr.Expr
			to   *float64
		}{{"under", s.under, &c.Under}, {"over", s.over, &c.Over}} {
			x, err := part.e.Eval(value)
			if err != nil {
				return Stake{}, err
			}
			if !(x >= 1/LargestNumberCost && x <= LargestNumberCost) {
				return Stake{}, specFault(fmt.Sprintf("give a cost above 0, from %g to %g", 1/LargestNumberCost, LargestNumberCost), "%s: a unit costs %v", part.name, x)
			}
			*part.to = x
		}
		if ratio := c.Under / c.Over; !(ratio <= mostUnequal && ratio >= 1/mostUnequal) {
			return Stake{}, specFault("give costs that are closer to each other", "under=%v and over=%v differ by more than a factor of %g", c.Under, c.Over, float64(mostUnequal))
		}
		return Stake{Loss: c, Actions: s.actions}, nil
	}
	known := make(map[string]float64)
	for _, name := range s.Columns() {
		x, err := value(name)
		if err != nil {
			return Stake{}, err
		}
		known[name] = x
	}
	at := func(e expr.Expr, action, outcome float64) (float64, error) {
		return e.Eval(func(name string) (float64, error) {
			switch name {
			case actionName:
				return action, nil
			case outcomeName:
				return outcome, nil
			}
			return known[name], nil
		})
	}
	costs := func(e func(action float64) expr.Expr) func(action, outcome float64) float64 {
		return func(action, outcome float64) float64 {
			c, err := at(e(action), action, outcome)
			if err != nil { // a division by zero, or beyond the largest number
				return math.Inf(1)
			}
			return c
		}
	}
	term := func(e expr.Expr, text string) Term {
		names := e.Columns()
		return Term{costs(func(float64) expr.Expr { return e }), slices.Contains(names, actionName), slices.Contains(names, outcomeName), text}
	}
	f := Formula{Of: costs(s.of)}
	for _, formula := range s.formulas {
		for _, bend := range formula.Bends() {
			if t := term(bend, ""); t.Action || t.Outcome {
				f.Bends = append(f.Bends, t)
			}
		}
		for _, divisor := range formula.Divisors() {
			if t := term(divisor, ""); !t.Action && !t.Outcome {
				if x, err := at(divisor, 0, 0); err == nil && x == 0 {
					return Stake{}, s.fault(nonzero(divisor.String()), "what the cost is divided by, %v, is 0 in this case", divisor)
				}
			}
			for _, factor := range divisor.Factors() {
				if t := term(factor, divisor.String()); t.Action || t.Outcome {
					f.Divisors = append(f.Divisors, t)
				}
			}
		}
	}
	return Stake{Loss: f, Actions: s.actions}, nil
}

// nonzero is how to keep a divisor from being zero.
func nonzero(divisor string) string {
	return fmt.Sprintf("keep it away from 0, as in max(%s, 0.1)", divisor)
}

// of is the formula of an action.
func (s *NumberCosts) of(action float64) expr.Expr {
	if s.actions.Choices != nil {
		return s.formulas[int(action)]
	}
	return s.formulas[0]
}

// Check refuses costs that are negative for one of the outcomes, or have no least one.
func (s *NumberCosts) Check(stake Stake, d Distribution, outcomes []float64) error {
	if s.formulas == nil {
		return nil
	}
	tried := stake.Actions.Listed(50)
	if stake.Actions.Len() == 0 {
		best := stake.Best(d)
		if way := falls(stake, d, best); way != 0 {
			return s.fault("give the cost of actions on both sides, or a range: action: {from: 0, to: 200}", "the cost does not rise again as the action goes to %v: there is no best one", math.Inf(way))
		}
		tried = append(tried, best)
	}
	for _, a := range tried {
		for _, y := range outcomes {
			if c := stake.Cost(a, y); !(c >= 0 && c <= LargestNumberCost) {
				return s.fault(fmt.Sprintf("write costs, which are from 0 to %g", LargestNumberCost), "the cost of %s under outcome %v is %v", s.actions.called(a), y, c)
			}
		}
	}
	return nil
}

// falls is the sign of the actions far from the best of all on whose side costs are no higher, or 0, as within bounds.
func falls(l Stake, d Distribution, best float64) int {
	if l.bounded() {
		return 0
	}
	if math.IsInf(best, 0) {
		return int(math.Copysign(1, best))
	}
	far, least := 1e3*(d.Quantile(1-1e-3)-d.Quantile(1e-3)), l.Expected(best, d)
	for _, way := range []int{-1, 1} {
		if !(l.Expected(best+float64(way)*far, d) > least) {
			return way
		}
	}
	return 0
}

// CheckChoice refuses what is not made of numbers, or of costs below 0: the last thing that is done
// before a choice is returned.
func (s *NumberCosts) CheckChoice(c NumberChoice) error {
	if c.Divisor != "" {
		return s.fault(nonzero(c.Divisor), "the expected cost of %s, or of one beside it, is infinite: what it is divided by, %s, may be 0", s.actions.called(c.Action), c.Divisor)
	}
	for _, x := range []float64{c.Action, c.Lower, c.Higher} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return s.fault("give the cost of actions on both sides, or a range: action: {from: 0, to: 200}", "there is no best action in this case: it would be %v", x)
		}
	}
	// Of a distribution without end a sum is infinite, or the difference of two such.
	if math.IsInf(c.Expected, 1) || math.IsNaN(c.Expected+c.ExpectedLower+c.ExpectedHigher) {
		return s.fault("bound the cost, as in min(exp(outcome - action), 1000), or leave outcomes out that are far from all others", "the expected cost of %s is infinite, or rests on outcomes too rare to be known", s.actions.called(c.Action))
	}
	for _, x := range []float64{c.Expected, c.ExpectedLower, c.ExpectedHigher} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return s.fault("write costs, which are numbers from 0 on", "an action beside %s, or that itself, has the expected cost %v in this case", s.actions.called(c.Action), x)
		}
	}
	return nil
}

func (s *NumberCosts) fault(fix, format string, args ...any) error {
	err := specFault(fix, format, args...)
	err.File = s.file
	return err
}

// MarshalJSON writes the costs in the form of ParseNumberJSON, in which named actions keep their order.
func (s *NumberCosts) MarshalJSON() ([]byte, error) {
	var members []string
	add := func(to *[]string, name string, value any) {
		key, _ := json.Marshal(name) // texts, numbers and lists of them can be written
		text, _ := json.Marshal(value)
		*to = append(*to, string(key)+":"+string(text))
	}
	switch {
	case s.formulas == nil:
		add(&members, "under", s.under.String())
		add(&members, "over", s.over.String())
	case s.actions.Choices == nil:
		add(&members, "cost", s.formulas[0].String())
	default:
		var named []string
		for k, name := range s.actions.Choices {
			add(&named, name, s.formulas[k].String())
		}
		add(&members, "costs", json.RawMessage("{"+strings.Join(named, ",")+"}"))
	}
	if len(s.efforts) > 0 {
		add(&members, "effort", json.RawMessage(effortJSON(s.Named(), s.efforts)))
	}
	switch a := s.actions; {
	case a.List != nil:
		add(&members, "action", a.List)
	case a.bounded() && a.Step > 0:
		add(&members, "action", map[string]float64{"from": a.From, "to": a.To, "step": a.Step})
	case a.bounded():
		add(&members, "action", map[string]float64{"from": a.From, "to": a.To})
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// UnmarshalJSON is ParseNumberJSON.
func (s *NumberCosts) UnmarshalJSON(text []byte) error {
	read, err := ParseNumberJSON(text)
	if err == nil {
		*s = *read
	}
	return err
}

// String is the costs on one line.
func (s *NumberCosts) String() string {
	switch {
	case s.formulas == nil:
		return fmt.Sprintf("under=%v,over=%v", s.under, s.over)
	case s.actions.Choices == nil:
		return s.formulas[0].String()
	}
	var all []string
	for k, name := range s.actions.Choices {
		all = append(all, name+": "+s.formulas[k].String())
	}
	return strings.Join(all, "; ")
}

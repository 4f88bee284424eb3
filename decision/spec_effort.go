package decision

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/lossep/lossep/expr"
)

// effort is what actions take of something there is a limit of, by action; nil takes none.
type effort struct {
	name    string
	entries []*expr.Expr
}

// alone is the entry of an effort that is that of the one action it is called after.
func (e *effort) alone(actions []string) *expr.Expr {
	at := slices.Index(actions, e.name)
	if at < 0 {
		return nil
	}
	for a, entry := range e.entries {
		if (entry != nil) != (a == at) {
			return nil
		}
	}
	return e.entries[at]
}

// efforts reads what actions take: {visit: travel_minutes} of a limit of the action itself, or
// {minutes: {visit: travel_minutes, call: 10}} of one that actions share. Where there is one action alone, a number,
// {kg: weight} is what a unit of it takes.
func (r specReader) efforts(actions []string, n node) (all []effort, err error) {
	if err := r.object(n, "the effort"); err != nil {
		return nil, err
	}
	for i, name := range n.names {
		shared := n.values[i]
		if shared.kind != anObject {
			of := name
			if len(actions) == 1 {
				of.text = actions[0]
			}
			shared = node{kind: anObject, line: name.line, column: name.column, names: []node{of}, values: []node{shared}}
		} else if err := r.object(shared, "the effort "+quoted(name.text)); err != nil {
			return nil, err
		}
		e := effort{name.text, make([]*expr.Expr, len(actions))}
		for k, action := range shared.names {
			a := slices.Index(actions, action.text)
			if a < 0 {
				return nil, r.faultf(action, "the actions are "+listed(actions), "the effort names the unknown action %s", quoted(action.text))
			}
			entry, err := r.entry(shared.values[k], "the effort of "+quoted(action.text))
			if err != nil {
				return nil, err
			}
			if x, err := entry.Eval(noValues); err == nil && x < 0 {
				return nil, r.faultf(shared.values[k], "give one from 0", "the effort of %s is %v", quoted(action.text), x)
			}
			e.entries[a] = &entry
		}
		all = append(all, e)
	}
	return all, nil
}

// effortJSON writes efforts as specReader.efforts reads them.
func effortJSON(actions []string, all []effort) string {
	parts := make([]string, len(all))
	text := func(v string) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // texts only
		}
		return string(b)
	}
	for k := range all {
		e := &all[k]
		value := ""
		if own := e.alone(actions); own != nil {
			value = text(own.String())
		} else {
			var shared []string
			for a, entry := range e.entries {
				if entry != nil {
					shared = append(shared, text(actions[a])+":"+text(entry.String()))
				}
			}
			value = "{" + strings.Join(shared, ",") + "}"
		}
		parts[k] = text(e.name) + ":" + value
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// AllColumns are those of Columns, and those that efforts depend on.
func (s *Spec) AllColumns() []string {
	columns := s.Columns()
	for _, e := range s.efforts {
		columns = columnsOf(columns, e.entries)
	}
	return columns
}

// columnsOf adds the columns of entries, each once.
func columnsOf(columns []string, entries []*expr.Expr) []string {
	for _, e := range entries {
		if e == nil {
			continue
		}
		for _, name := range e.Columns() {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// Capacity is how much there is of an action, or of what actions take by the effort of the
// specification.
type Capacity struct {
	Name string
	Most float64
}

// Capacities are those of a specification, with what actions take of each.
type Capacities struct {
	All     []Capacity
	actions []string
	entries [][]*expr.Expr // by capacity and action
	fixed   [][]float64    // by capacity: the efforts of all cases; nil if they differ
}

// Takes tells whether an action takes of any capacity.
func (c *Capacities) Takes(action int) bool {
	return slices.ContainsFunc(c.entries, func(of []*expr.Expr) bool { return of[action] != nil })
}

// Idle is the first action that takes none of the capacities, 0 if all do.
func (c *Capacities) Idle() int {
	for a := range c.actions {
		if !c.Takes(a) {
			return a
		}
	}
	return 0
}

// Uncertain tells whether an effort is not known, such as uniform(20, 40): then it counts by its mean.
func (c *Capacities) Uncertain() bool {
	return slices.ContainsFunc(c.entries, func(of []*expr.Expr) bool {
		return slices.ContainsFunc(of, func(e *expr.Expr) bool { return e != nil && len(e.Unknowns()) > 0 })
	})
}

// Within finds what actions take of capacities: the effort of that name, or else 1 for each time that the
// action of that name is taken. Errors are *SpecError.
func (s *Spec) Within(all []Capacity) (*Capacities, error) {
	const fix = "what several of them take is called by an effort of the costs, such as effort: {minutes: {visit: 30, call: 5}}"
	return within(s.Actions(), s.efforts, all, fix)
}

// within is Within of actions with efforts, and what to do about a capacity of none.
func within(actions []string, efforts []effort, all []Capacity, another string) (*Capacities, error) {
	c := &Capacities{All: all, actions: actions}
	one := expr.Number(1)
	for _, capacity := range all {
		entries := make([]*expr.Expr, len(actions))
		if k := slices.IndexFunc(efforts, func(e effort) bool { return e.name == capacity.Name }); k >= 0 {
			entries = efforts[k].entries
		} else if a := slices.Index(actions, capacity.Name); a >= 0 {
			entries[a] = &one
		} else {
			fix := "the actions are " + listed(actions)
			if len(efforts) == 0 {
				fix += "; " + another
			}
			return nil, specFault(fix, "the capacity %s is that of no action", quoted(capacity.Name))
		}
		c.entries = append(c.entries, entries)
		fixed, err := c.effortsOf(entries, noValues)
		if err != nil {
			fixed = nil
		}
		c.fixed = append(c.fixed, fixed)
	}
	return c, nil
}

// Columns are those that efforts depend on.
func (c *Capacities) Columns() (columns []string) {
	for _, entries := range c.entries {
		columns = columnsOf(columns, entries)
	}
	return columns
}

// Efforts are what the actions of a case take, by capacity; those that are the same in all cases are
// shared. Errors are those of Spec.Stakes.
func (c *Capacities) Efforts(values func(column string) (float64, error)) ([][]float64, error) {
	all := make([][]float64, len(c.All))
	for l, entries := range c.entries {
		if all[l] = c.fixed[l]; all[l] != nil {
			continue
		}
		var err error
		if all[l], err = c.effortsOf(entries, values); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *Capacities) effortsOf(entries []*expr.Expr, values func(column string) (float64, error)) ([]float64, error) {
	efforts := make([]float64, len(entries))
	for a, e := range entries {
		if e == nil {
			continue
		}
		x, err := e.Eval(values)
		if err != nil {
			return nil, err
		}
		if x < 0 || x > largest {
			return nil, specFault(fmt.Sprintf("give efforts from 0 to %g", largest), "the effort of %s, %v, is %v in this case", quoted(c.actions[a]), e, x)
		}
		efforts[a] = x
	}
	return efforts, nil
}

// Allocate decides cases within the capacities: costs, or utilities, are what each action is expected to
// cost or bring in each, and efforts those of Efforts.
func (c *Capacities) Allocate(expected [][]float64, costs bool, efforts [][][]float64) (*Allocation, error) {
	if !costs {
		turned := make([][]float64, len(expected))
		for n, row := range expected {
			turned[n] = make([]float64, len(row))
			for a, u := range row {
				turned[n][a] = 0 - u
			}
		}
		expected = turned
	}
	limits := make([]Limit, len(c.All))
	for l, capacity := range c.All {
		limits[l] = Limit{capacity.Name, capacity.Most, make([][]float64, len(expected))}
		for n := range expected {
			limits[l].Efforts[n] = efforts[n][l]
		}
	}
	out, err := Allocate(expected, limits)
	if err != nil {
		return nil, fmt.Errorf("capacity: %w", err)
	}
	return out, nil
}

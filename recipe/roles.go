package recipe

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// roles are what the options say about columns, by number.
type roles struct {
	target, id, weights, groups, score int // −1 where there is none

	condition   *expr.Condition // the outcome, if it is no column
	parts       []int           // and the columns it is made of
	categorical map[int]bool
	ordered     map[int]*OrderedSet
	dropped     map[int]string  // with the reason
	costs       map[int]bool    // that costs are made of
	notation    *table.Notation // of an outcome that is a number, nil if it is plain
}

// costReason is why a column that costs are made of makes no feature: it says what is at stake, which
// is often not known, or not the same, where probabilities are asked for.
const costReason = "used in the costs, not to predict (the option use-cost-columns makes it a feature, too)"

// roles finds the columns that options name.
func (o *Options) roles(t *table.Table) (*roles, error) {
	r := &roles{id: -1, weights: -1, groups: -1, score: -1, categorical: make(map[int]bool), ordered: make(map[int]*OrderedSet), dropped: make(map[int]string), costs: make(map[int]bool)}
	f := &finder{table: t}
	o.Target = cmp.Or(o.Target, "last")
	if r.target, f.err = t.Column(o.Target); f.err != nil {
		r.target = -1
		r.condition, r.parts, f.err = findCondition(t, o.Target)
	}
	f.find(o.ID, func(j int) { r.id = j })
	f.find(o.Weights, func(j int) { r.weights = j })
	f.find(o.Groups, func(j int) { r.groups = j })
	f.find(o.Score, func(j int) { r.score, o.Score = j, t.ColumnName(j) })
	for _, ref := range o.Categorical {
		f.find(ref, func(j int) { r.categorical[j] = true })
	}
	o.findOrders(f, r.ordered)
	bent := o.findBends(f)
	if len(o.Features) > 0 {
		for j := range t.Columns() {
			r.dropped[j] = "not in the chosen features"
		}
		for _, ref := range o.Features {
			f.find(ref, func(j int) { delete(r.dropped, j) })
		}
	}
	delete(r.dropped, r.score)
	for _, name := range o.Costs {
		if j, unknown := t.Column(name); unknown == nil && len(o.Features) == 0 && j != r.score { // costs find it, or say that there is none
			r.dropped[j], r.costs[j] = costReason, true
		}
	}
	for _, ref := range o.Drop {
		f.find(ref, func(j int) { r.dropped[j] = "excluded by an option" })
	}
	f.find(o.NoiseSD, func(j int) {
		r.dropped[j] = "standard deviation of the noise"
		if j == r.target || j == r.weights || j == r.id || j == r.groups {
			f.err = t.ColumnPlace(j).Say("give it one part only", "the column is the standard deviation of the noise, and has another part, too")
		}
	})
	if r.groups >= 0 {
		r.dropped[r.groups] = "grouping column"
	}
	if t.Counted() {
		r.dropped[t.CountColumn()] = "frequency column"
	}
	for _, j := range r.parts {
		r.dropped[j] = "used in the target"
	}
	if f.err != nil {
		return nil, f.err
	}
	if err := r.check(t); err != nil {
		return nil, err
	}
	if o.Number && bent[r.target] == AutoBend { // which says that all of its numbers are some
		delete(bent, r.target)
	}
	return r, r.checkBent(t, bent)
}

// finder finds the columns of a table that options name, up to the first that it does not have.
type finder struct {
	table *table.Table
	err   error
}

func (f *finder) find(ref string, use func(j int)) {
	if ref == "" || f.err != nil {
		return
	}
	var j int
	if j, f.err = f.table.Column(ref); f.err == nil {
		use(j)
	}
}

// findOrders finds the columns whose categories are in an order.
func (o *Options) findOrders(f *finder, ordered map[int]*OrderedSet) {
	for k := range o.Ordered {
		order := &o.Ordered[k]
		f.find(order.Column, func(j int) {
			if problem := order.Check(); problem != nil {
				f.err = &table.Error{File: f.table.Name(), Column: j + 1, ColumnName: f.table.ColumnName(j), Msg: problem.Error(), Fix: "give every category once"}
			} else if before := ordered[j]; before != nil && !slices.Equal(before.Categories, order.Categories) {
				f.err = f.table.ColumnPlace(j).Say("give one of them",
					"two orders are given: %s and %s", strings.Join(before.Categories, ","), strings.Join(order.Categories, ","))
			}
			ordered[j] = order
		})
	}
}

// checkOrder refuses an order of outcomes that are to be fitted as what has none but its own.
func (o *Options) checkOrder(t *table.Table, roles *roles) error {
	order, as := roles.ordered[roles.target], "categories, which have no order"
	if o.Number {
		as = "a number, which has its own"
	}
	if order == nil || !o.Number && o.Grading != Ungraded {
		return nil
	}
	return t.ColumnPlace(roles.target).Say("leave the order out, or fit grades",
		"the order %s of the outcome is given, and it is to be fitted as %s", strings.Join(order.Categories, " < "), as).By(table.Way{Option: table.WayOutcome, Value: "ordered"})
}

// findBends finds the columns whose scaling is given.
func (o *Options) findBends(f *finder) map[int]Bend {
	bent, named := make(map[int]Bend), make(map[string]Bend)
	for _, ref := range slices.Sorted(maps.Keys(o.Bends)) {
		b := o.Bends[ref]
		f.find(ref, func(j int) {
			if before, known := bent[j]; known && before != b {
				f.err = f.table.ColumnPlace(j).Say("give one of them", "two scalings are given: %s and %s", before, b)
			}
			bent[j], named[f.table.ColumnName(j)] = b, b
		})
	}
	if f.err == nil {
		o.Bends = named // a reference may be a number
	}
	return bent
}

// DecidedBy is the number of columns of a table that may be decided by. Some of them may turn out
// to say nothing.
func (o Options) DecidedBy(t *table.Table) int {
	r, err := o.roles(t)
	if err != nil {
		return t.Width() // Learn will say why
	}
	n := 0
	for j := range t.Columns() {
		if r.decides(j) {
			n++
		}
	}
	return n
}

// decides tells whether a column is one that may be decided by.
func (r *roles) decides(j int) bool {
	_, dropped := r.dropped[j]
	return !dropped && j != r.target && j != r.id && j != r.weights
}

// checkBent refuses to bend what is not decided by.
func (r *roles) checkBent(t *table.Table, bent map[int]Bend) error {
	var others []string
	for j, name := range t.Columns() {
		if r.decides(j) {
			others = append(others, name)
		}
	}
	if b, given := bent[r.score]; given {
		return t.ColumnPlace(r.score).Say("leave it out of the scaling", "the column is a score, which has a scale of its own in place of %s", b)
	}
	for j := range t.Columns() {
		if b, given := bent[j]; given && !r.decides(j) {
			why := cmp.Or(r.dropped[j], "it is the outcome, names the rows or weighs them")
			return t.ColumnPlace(j).Say("leave it out of the scaling; the features are "+table.QuoteList(others),
				"the column is not a feature (%s), so that there is nothing for %s to scale", why, b)
		}
	}
	return nil
}

// check refuses roles that exclude each other.
func (r *roles) check(t *table.Table) error {
	clash := func(j int, text string) error {
		return &table.Error{File: t.Name(), Column: j + 1, ColumnName: t.ColumnName(j), Msg: text, Fix: "give it one part only"}
	}
	if r.target >= 0 && (r.target == r.id || r.target == r.weights) {
		return clash(r.target, "the outcome cannot name the rows or weigh them")
	}
	if r.id >= 0 && r.id == r.weights {
		return clash(r.id, "the column cannot name the rows and weigh them")
	}
	if r.groups >= 0 && (r.groups == r.target || r.groups == r.weights) {
		return clash(r.groups, "the outcome and the weights of rows cannot name the groups of rows")
	}
	switch counts := t.CountColumn(); {
	case counts >= 0 && (counts == r.target || counts == r.id || counts == r.groups):
		return clash(counts, "the column that says how often a row comes cannot be the outcome, name rows or groups of rows")
	case counts >= 0 && r.weights >= 0:
		return &table.Error{File: t.Name(), Msg: "rows come as often as " + table.Quote(t.ColumnName(counts)) + " says, and are weighted besides", Fix: "give counts or weights"}
	}
	if _, dropped := r.dropped[r.score]; dropped || r.score >= 0 && (r.score == r.target || r.score == r.id || r.score == r.weights || r.categorical[r.score] || r.ordered[r.score] != nil) {
		return clash(r.score, "the column is a score, and has another part, too")
	}
	for j := range t.Columns() {
		if r.categorical[j] && r.ordered[j] != nil {
			return clash(j, "the column is declared both categorical and ordered")
		}
	}
	return nil
}

// settled is what becomes of a column that is no feature whatever it holds.
func (r *roles) settled(t *table.Table, j int) (Column, bool) {
	c := Column{Name: t.ColumnName(j)}
	switch reason, drop := r.dropped[j]; {
	case j == r.target:
		c.Kind, c.Notation = Outcome, r.notation
	case j == r.weights:
		c.Kind = Weights
	case j == r.id:
		c.Kind = Identity
	case drop:
		c.Kind, c.Reason = Dropped, reason
		if t.Cells(j).Unread() {
			break
		}
		// Costs and conditions may need its numbers.
		s := table.NewScan(t, j, table.NewMarkers(table.DefaultMissing()))
		if n, odd := s.Notation(); n != nil && len(odd) == 0 && *n != (table.Notation{}) {
			c.Notation = n
		}
		if r.costs[j] {
			c.Low, c.High = stakes(s, c.Notation)
		}
	default:
		return c, false
	}
	return c, true
}

// stakes are the smallest and the largest number of a column that costs are made of, by which
// others are known to be far outside; zeros if there are none.
func stakes(s *table.Scan, n *table.Notation) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range s.Table.Len() {
		x := s.Table.At(i, s.Column)
		switch ok := true; {
		case s.IsMissing(x):
			continue
		case table.IsText(x) && n == nil:
			continue
		case table.IsText(x):
			if x, ok = n.Parse(s.Table.Cells(s.Column).Bytes(x)); !ok {
				continue
			}
		}
		low, high = min(low, x), max(high, x)
	}
	if low > high {
		return 0, 0
	}
	return low + 0, high + 0 // never −0
}

// weigh sets the shares of the outcomes in the weights. Every outcome that rows have needs some
// weight.
func (target *Target) weigh(t *table.Table, j int, labels []int, weights []float64) error {
	sums := make([]float64, len(target.Outcomes))
	for i, y := range labels {
		sums[y] += weights[i]
	}
	for y, sum := range sums {
		if sum == 0 && (target.Rows[y] > 0 || target.Binary()) {
			return t.ColumnPlace(j).Say("give rows of every outcome weights above zero, or leave the weights out",
				"the weights of an outcome add up to zero")
		}
	}
	switch len(sums) {
	case 0: // the outcome is a number
		return nil
	case 2:
		target.Share = sums[1] / (sums[0] + sums[1])
		return nil
	}
	floats.Scale(1/floats.Sum(sums), sums)
	target.Shares = sums
	return nil
}

// named are the markers with the columns of NAME=TEXT called as in the table; a text before
// the last = that is no column is part of the spelling. Those of columns that are neither
// decided by nor the outcome are refused.
func (r *roles) named(t *table.Table, all []string) ([]string, error) {
	named := slices.Clone(all)
	for k, text := range all {
		at := strings.LastIndex(text, "=")
		if at < 1 {
			continue
		}
		j, err := t.Column(text[:at])
		if err != nil {
			continue
		}
		if !r.decides(j) && j != r.target && !r.costs[j] {
			return nil, t.ColumnPlace(j).Say(
				"give the spelling without the name of a column; it then counts in all of them",
				"the missing marker %s is of a column that is not a feature", table.Quote(text))
		}
		named[k] = t.ColumnName(j) + "=" + strings.TrimSpace(text[at+1:])
	}
	return named, nil
}

// noColumns says of markers with a = that they are spellings, where no column is called what stands
// before it.
func noColumns(t *table.Table, markers []string) (notes []string) {
	for _, text := range markers {
		if at := strings.LastIndex(text, "="); at >= 1 {
			if _, err := t.Column(text[:at]); err != nil {
				notes = append(notes, fmt.Sprintf("the missing marker %s is looked for as it stands, as there is no column %s", table.Quote(text), table.Quote(text[:at])))
			}
		}
	}
	return notes
}

// Skips tells which of the columns of a table these options make no use of, so that they
// need not be read; the columns named in also are read in any case.
func (o *Options) Skips(columns []string, also ...string) func(column string) bool {
	t := table.NamesOnly(columns)
	named := *o
	r, err := named.roles(t)
	if err != nil {
		return nil // Learn will say it again
	}
	skip := make(map[string]bool)
	for j := range r.dropped {
		skip[columns[j]] = j != r.target && j != r.id && j != r.weights && j != r.groups && !slices.Contains(r.parts, j)
	}
	for _, ref := range also {
		if j, err := t.Column(ref); err == nil {
			delete(skip, columns[j])
		}
	}
	return func(column string) bool { return skip[column] }
}

// assign settles which column has which role, the last being the outcome where none is named, and
// which texts mark missing cells.
func (o *Options) assign(t *table.Table) (*roles, []string, error) {
	r, err := o.roles(t)
	if err != nil {
		return nil, nil, err
	}
	named, err := r.named(t, o.Markers)
	return r, named, err
}

package service

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// Capacity is how much there is of actions, for all cases together or for those of each period.
type Capacity struct {
	Limits []decision.Capacity
	table.Division
}

// Limit is the option that says how much there is.
func (c *Capacity) Limit() *Option {
	return &Option{Name: "capacity", Group: Basics, Help: "maximum number of times an action can be taken, such as visit=100, or total effort if the costs define it; can be repeated. Actions minimise the total expected cost within it", Value: capacities{&c.Limits}}
}

// Periods are the options that divide cases into those that share a capacity.
func (c *Capacity) Periods() Options {
	return Options{
		{Name: "per", Group: Basics, Help: "apply {capacity} per hour, day, week or month of the {time} column, or per value of a column", Shown: "all cases together", Value: text{&c.Per, "hour|day|week|month|COLUMN"}},
		{Name: "time", Group: Basics, Help: "time column, for {per}", Value: text{&c.Time, "COLUMN"}},
	}
}

// Clock is the option of a period by the clock, for cases that arrive one by one.
func (c *Capacity) Clock() *Option {
	return &Option{Name: "per", Group: Basics, Help: "period of {capacity}", Value: choice[string]{to: &c.Per, of: []string{"hour", "day", "week", "month"}}}
}

// Check checks options against each other.
func (c *Capacity) Check() error {
	switch {
	case c.Per != "" && len(c.Limits) == 0:
		return optionError("per", "no capacity given; give {capacity=ACTION=N}")
	case c.Time != "" && c.Division.Period() == "":
		return optionError("time", "for {per} with one of %v", table.Periods())
	}
	return nil
}

// checkColumn refuses a column that divides cases and is not there.
func (c *Capacity) checkColumn(columns []string) error {
	name := c.Column()
	period := c.Division.Period() == "" && slices.Contains(table.Periods(), table.Period(name))
	switch known := slices.Contains(columns, name); {
	case name == "", known && !period:
		return nil
	case known:
		return optionError("per", "%q may be the period or the column of that name; give the column of times by {time=COLUMN}, or rename the column", name)
	}
	option := "per"
	if c.Division.Period() != "" {
		option = "time"
	} else if period {
		return optionError("per", "give the column of times by {time=COLUMN}")
	}
	return optionError(option, "unknown column %q; %s", name, table.Instead(name, columns))
}

// capacities is the value of the option: NAME=NUMBER, several with commas or repeated.
type capacities struct{ to *[]decision.Capacity }

func (v capacities) Type() string { return "ACTION=N" }

func (v capacities) String() string {
	texts := make([]string, len(*v.to))
	for k, c := range *v.to {
		texts[k] = c.Name + "=" + strconv.FormatFloat(c.Most, 'g', -1, 64)
	}
	return strings.Join(texts, ",")
}

func (v capacities) Set(text string) error {
	for _, part := range strings.Split(text, ",") {
		cut := strings.LastIndex(part, "=")
		if cut < 1 {
			return fmt.Errorf("%q is not an action and how often it can be taken, such as visit=100", part)
		}
		name := strings.TrimSpace(part[:cut])
		most, err := ParseNumber(part[cut+1:])
		if err != nil || most < 0 {
			return fmt.Errorf("invalid capacity %q of %q; give a number from 0", strings.TrimSpace(part[cut+1:]), name)
		}
		if slices.ContainsFunc(*v.to, func(c decision.Capacity) bool { return c.Name == name }) {
			return fmt.Errorf("%q is given twice; give it once", name)
		}
		*v.to = append(*v.to, decision.Capacity{Name: name, Most: most})
	}
	return nil
}

func (v capacities) replace(texts []string) error {
	*v.to = nil
	return setAll(v, texts)
}

// Limited is what a capacity makes of a case.
type Limited struct {
	Free    decision.Choice // without the capacity
	Efforts []float64       // of the action taken, by limit
	Period  string
}

// Limits decides cases within a capacity.
type Limits struct {
	*decision.Capacities
	spec *decision.Spec
	Per  string // empty for all cases together
}

// Within are the limits on decisions under a specification, nil if there are none.
func (c *Capacity) Within(spec *decision.Spec) (*Limits, error) {
	if len(c.Limits) == 0 {
		return nil, nil
	}
	all, err := spec.Within(c.Limits)
	if err != nil {
		return nil, &Error{Option: "capacity", Msg: err.Error(), Err: err}
	}
	return &Limits{all, spec, c.Per}, nil
}

// Columns are those that efforts depend on.
func (l *Limits) Columns() []string {
	if l == nil {
		return nil
	}
	return l.Capacities.Columns()
}

// Bytes is about how much memory a case takes until all are decided: what its actions are expected to
// cost, what they take, and the steps between them.
func (l *Limits) Bytes() int64 {
	return int64(96 + len(l.spec.Actions())*(24+8*len(l.All)) + 48*len(l.All))
}

// Fields are what is said about a case within limits.
func (l *Limits) Fields() []Field {
	if l == nil {
		return nil
	}
	actions, costs := l.spec.Actions(), l.spec.Costs()
	return append([]Field{
		{Name: "unlimited", Columns: []string{"unlimited"}, Text: func(c *Case) string { return actions[c.Limited.Free.Action] }},
		{Name: "unlimited_index", Whole: func(c *Case) int { return c.Limited.Free.Action }},
		numberField("forgone", func(c *Case) float64 {
			return max(0, gain(c.Limited.Free.Expected[c.Limited.Free.Action], c.Decision.Expected[c.Decision.Action], costs))
		}),
	}, limitFields(l.Capacities, l.Per)...)
}

// limitFields are what a case takes of limits, and the period that it is in.
func limitFields(l *decision.Capacities, per string) []Field {
	names := make([]string, len(l.All))
	for k, c := range l.All {
		names[k] = c.Name
	}
	fields := []Field{numbersField("effort", "", "effort", names, func(c *Case, to []float64) []float64 { return append(to, c.Limited.Efforts...) })}
	if per != "" {
		fields = append(fields, Field{Name: "period", Columns: []string{"period"}, Text: func(c *Case) string { return c.Limited.Period }})
	}
	return fields
}

// Allocate gives cases the actions that are best within the limits, in each period by itself, and says
// what limits cost. Groups may be nil.
func (l *Limits) Allocate(decisions []*lossep.Decision, efforts [][][]float64, groups []string) ([]Limited, *Shortage, error) {
	limited := make([]Limited, len(decisions))
	short, err := sharedOut(l.Capacities, l.Per, len(decisions), groups, func(rows []int, short *Shortage, name string) (*decision.Allocation, error) {
		expected, taken := make([][]float64, len(rows)), make([][][]float64, len(rows))
		for k, n := range rows {
			expected[k], taken[k] = decisions[n].Expected, efforts[n]
		}
		short.shares = l.shares(short.shares, taken)
		out, err := l.Capacities.Allocate(expected, l.spec.Costs(), taken)
		if err != nil {
			return nil, err
		}
		for k, n := range rows {
			if out.Actions[k] != decisions[n].Action {
				short.Changed++
			}
			limited[n] = l.Case(decisions[n], decisions[n].Choice, out.Actions[k], efforts[n])
			limited[n].Period = name
		}
		return out, nil
	})
	return limited, short, err
}

// shares are what each action would take if it were taken in all cases of a period, as a share of the limit that it takes most
// of; or those of earlier periods that are larger.
func (l *Limits) shares(earlier []float64, efforts [][][]float64) []float64 {
	shares := make([]float64, len(l.spec.Actions()))
	copy(shares, earlier)
	for a := range shares {
		for k, limit := range l.All {
			sum := 0.0
			for _, of := range efforts {
				sum += of[k][a]
			}
			if sum > 0 {
				shares[a] = max(shares[a], sum/limit.Most)
			}
		}
	}
	return shares
}

// sharedOut has a capacity shared out among the cases of each period, and says what its limits cost. Groups may be nil.
func sharedOut(c *decision.Capacities, per string, cases int, groups []string, allocate func(rows []int, short *Shortage, name string) (*decision.Allocation, error)) (*Shortage, error) {
	var names []string
	members := make(map[string][]int)
	for n := range cases {
		name := ""
		if groups != nil {
			name = groups[n]
		}
		if _, seen := members[name]; !seen {
			names = append(names, name)
		}
		members[name] = append(members[name], n)
	}
	short := newShortage(c, per, len(names))
	for _, name := range names {
		out, err := allocate(members[name], short, name)
		if err != nil {
			if name != "" {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return nil, &Error{Option: "capacity", Msg: strings.TrimPrefix(err.Error(), "capacity: "), Err: err}
		}
		short.add(out)
	}
	short.finish()
	return short, nil
}

// Case gives a case the action that there is room for.
func (l *Limits) Case(d *lossep.Decision, free decision.Choice, action int, efforts [][]float64) Limited {
	limited := Limited{Free: free}
	for _, of := range efforts {
		limited.Efforts = append(limited.Efforts, of[action])
	}
	if action != d.Action {
		d.Action, d.Margin = action, d.Stakes.Advantage(action, d.Probabilities)
	}
	return limited
}

// Interval is a number with the 95 % interval that it has by chance.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (i Interval) String() string {
	return fmt.Sprintf("%s (95 %% interval %s to %s)", digits4(i.Value), digits4(i.Low), digits4(i.High))
}

// Shortage is what limits cost.
type Shortage struct {
	Periods int         `json:"periods"`
	Limits  []LimitUsed `json:"limits"`
	// Cost is that of the limits in all, against the best actions without them.
	Cost Interval `json:"cost" doc:"what the limits cost in all cases together, against the best actions without them"`
	// Gap is the most that another allocation could save.
	Gap     float64 `json:"gap" doc:"the most that another allocation within the limits could save"`
	Changed int     `json:"changed" doc:"in how many cases another action is taken than without limits"`

	per    string
	unsure bool      // efforts are not known
	sums   []float64 // of costs of the limits, by period
	shares []float64 // by action, in the period where it is largest; see Limits.shares
	stderr float64
}

// LimitUsed is how much of a limit is used, and what one more unit is worth.
type LimitUsed struct {
	Name  string   `json:"name"`
	Most  float64  `json:"limit" doc:"in each period"`
	Used  float64  `json:"used" doc:"mean over periods"`
	Price Interval `json:"price" doc:"what one more unit in each period would save in it"`

	used, prices []float64
	least        float64 // effort that an action takes in some case
	first        float64 // sum over periods of what the first action that takes some would save, where none fits
}

func newShortage(of *decision.Capacities, per string, periods int) *Shortage {
	s := &Shortage{Periods: periods, per: per, unsure: of.Uncertain()}
	for _, c := range of.All {
		s.Limits = append(s.Limits, LimitUsed{Name: c.Name, Most: c.Most})
	}
	return s
}

func (s *Shortage) add(out *decision.Allocation) {
	for l := range s.Limits {
		u := &s.Limits[l]
		price, low, high := out.Prices[l], out.Ranges[l][0], out.Ranges[l][1]
		if out.Least[l] > u.Most+1 { // no case fits, nor would one with a unit more
			price, low, high = 0, 0, 0
		}
		u.used, u.prices = append(u.used, out.Used[l]), append(u.prices, price)
		u.Price.Low, u.Price.High = low, high
		if out.Least[l] > u.Most {
			u.first += out.First[l]
		}
		if e := out.Least[l]; e > 0 && (u.least == 0 || e < u.least) {
			u.least = e
		}
	}
	s.sums = append(s.sums, out.Cost-out.Free)
	s.Gap += out.Cost - out.Bound
	s.stderr = out.StdErr
}

// finish makes intervals: within the only period, or by Student's t from how periods differ.
func (s *Shortage) finish() {
	n := float64(len(s.sums))
	if n == 0 {
		return
	}
	const z = 1.959963984540054
	t := 0.0
	if n > 1 {
		t = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
	}
	mean, sd := stat.MeanStdDev(s.sums, nil)
	s.Cost.Value = n * mean
	h := z * s.stderr
	if n > 1 {
		h = t * sd * math.Sqrt(n)
	}
	s.Cost.Low, s.Cost.High = max(0, s.Cost.Value-h), s.Cost.Value+h
	for l := range s.Limits {
		u := &s.Limits[l]
		u.Used = stat.Mean(u.used, nil)
		mean, sd := stat.MeanStdDev(u.prices, nil)
		if u.Price.Value = mean; n > 1 {
			h := t * sd / math.Sqrt(n)
			u.Price.Low, u.Price.High = max(0, mean-h), mean+h
		}
	}
}

// Lines say it in words.
func (s *Shortage) Lines() (lines []string) {
	if len(s.sums) == 0 {
		return nil
	}
	each, of := "", ""
	if s.per != "" {
		each, of = " per "+s.per, fmt.Sprintf(", mean of %s", table.Plural(s.Periods, s.per))
	}
	for _, u := range s.Limits {
		worth := fmt.Sprintf("one more%s is worth %v", each, u.Price)
		if u.least > u.Most {
			worth = fmt.Sprintf("no row can get it: the action takes at least %.6g; the first%s would be worth %s", u.least, each, digits4(u.first/float64(len(s.sums))))
		}
		lines = append(lines, fmt.Sprintf("%s: %.6g of %.6g%s used%s; %s", u.Name, u.Used, u.Most, each, of, worth))
	}
	if s.unsure {
		lines = append(lines, "efforts that are not known count by their means: what is used may come to more")
	}
	what := [][2]string{{"the limit costs", "it"}, {"the limits cost", "them"}}[min(1, len(s.Limits)-1)]
	lines = append(lines, fmt.Sprintf("%s %v in all; %s would get another action without %s", what[0], s.Cost, table.Plural(s.Changed, "row"), what[1]))
	if s.Gap > 1e-9*math.Abs(s.Cost.Value) {
		lines = append(lines, fmt.Sprintf("there are too many allocations to try all; another one could save up to %s of it", digits4(s.Gap)))
	}
	return lines
}

// digits4 is a number with four digits, and an exponent only where it would be very long.
func digits4(x float64) string {
	short := strconv.FormatFloat(x, 'g', 4, 64)
	if a := math.Abs(x); a != 0 && a < 1e-4 || !(a < 1e9) {
		return short
	}
	rounded, _ := strconv.ParseFloat(short, 64) // it was just written
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

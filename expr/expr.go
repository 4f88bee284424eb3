// Package expr reads arithmetic over the columns of a table, as people write it into a
// specification of costs or on a command line.
//
//	0.6 * amount + 10
//	min(amount, 5000) / (1 + `interest rate`)
//	0.6 * default(amount, 100)
//	delay >= 15 or cancelled == 1 and reason != "weather"
//
// An Expr is a number in each case: numbers, columns, + − * /, parentheses, min and max, exp,
// default, whose second argument stands in where a column of the first is missing, and numbers that
// are not known, by their distribution.
// A Condition holds or does not: comparisons of such numbers, comparisons of a column
// with a text, and, or, not. A column is named as it is if its name is made of letters,
// digits, _ and ., and does not begin with a digit; every other name stands in backticks.
package expr

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Expr is an expression whose value is a number.
type Expr struct{ root *node }

// Number is the expression of one number, which has to be finite.
func Number(x float64) Expr { return Expr{&node{op: number, x: x}} }

// Parse reads an expression whose value is a number. Errors are *Error.
func Parse(text string) (Expr, error) {
	root, err := parse(text, false)
	return Expr{root}, err
}

// Columns are the names of the columns in it, in the order of their first use.
func (e Expr) Columns() []string { return e.root.columns(nil) }

// String writes the expression so that it reads back the same.
func (e Expr) String() string { return e.root.String() }

// Name is how a column is written in an expression: in backticks where it needs them.
func Name(name string) string { return (&node{op: column, name: name}).String() }

// Composed is the spelling by which names, categories and outcomes that look the same are the
// same: é is one letter in some files and an e with an accent in others (NFC and NFD of Unicode).
func Composed(text string) string { return norm.NFC.String(text) }

// ErrMissing says that a case has no value in a column, which default makes up for. Functions that
// give values return it, or an error that wraps it.
var ErrMissing = errors.New("missing value")

// Eval is the value in one case, whose columns value gives; it may be nil if there are
// none. An error of value is returned as it is, but for ErrMissing within default; a column, or a
// result on the way, that is not finite is a *ValueError.
func (e Expr) Eval(value func(column string) (float64, error)) (float64, error) {
	return e.root.eval(value)
}

// Scale divides the expression into a number times the rest: 0.6 and amount of
// 0.6 * amount, or of amount * 0.6. The rest of a number is nothing; that of an expression
// which is no such product is itself.
func (e Expr) Scale() (by float64, rest Expr) {
	by, root := e.root.scale()
	return by, Expr{root}
}

// Bends are the differences of what min and max choose between: where one of them is zero, the slope of the value may jump.
func (e Expr) Bends() []Expr { return e.root.bends(nil) }

// Divisors are what is divided by: where one of them is zero, there is no value.
func (e Expr) Divisors() []Expr { return e.root.divisors(nil) }

// Factors are what the expression is a product of, or itself: it is zero where one of them is.
func (e Expr) Factors() []Expr { return e.root.factors(nil) }

// Constant tells whether the expression names no column, or is nothing.
func (e Expr) Constant() bool { return e.root == nil || len(e.Columns()) == 0 }

// Condition is an expression that holds or does not.
type Condition struct{ root *node }

// ParseCondition reads a condition. Errors are *Error.
func ParseCondition(text string) (Condition, error) {
	root, err := parse(text, true)
	return Condition{root}, err
}

// Columns are the names of the columns in it, in the order of their first use.
func (c Condition) Columns() []string { return c.root.columns(nil) }

// String writes the condition so that it reads back the same.
func (c Condition) String() string { return c.root.String() }

// Holds tells whether the condition holds in a case, whose columns are asked for as
// numbers, or as texts where they are compared with one. Errors are those of Eval. Both
// sides of and and or are always evaluated, so that a case that cannot be read is never
// passed over.
func (c Condition) Holds(value func(column string) (float64, error), text func(column string) (string, error)) (bool, error) {
	return c.root.holds(value, text)
}

// ValueError says that an expression has no finite value in a case.
type ValueError struct {
	Expr  string // the column, or the part of the expression
	Value float64
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s is %v in this case, and not a finite number", e.Expr, e.Value)
}

// op is what a node does with its arguments. The order of operators is that of how
// tightly they bind.
type op int

const (
	or op = iota
	and
	not
	less
	atMost
	more
	atLeast
	equal
	different
	plus
	minus
	times
	over
	negative
	number
	column
	quote // a text
	minimum
	maximum
	fallback
	exponential
	uncertain
)

var symbols = [...]string{
	or: "or", and: "and", not: "not", less: "<", atMost: "<=", more: ">", atLeast: ">=", equal: "==",
	different: "!=", plus: "+", minus: "-", times: "*", over: "/", negative: "-", minimum: "min", maximum: "max",
	fallback: "default", exponential: "exp", uncertain: "",
}

// level is how tightly an operator binds; those of the same level go from left to right.
func (o op) level() int {
	switch o {
	case or, and, not:
		return int(o)
	case less, atMost, more, atLeast, equal, different:
		return int(less)
	case plus, minus:
		return int(plus)
	case times, over:
		return int(times)
	case negative:
		return int(negative)
	}
	return int(number)
}

// truth tells whether the result holds or does not, and is no number.
func (o op) truth() bool { return o <= different }

type node struct {
	op   op
	x    float64 // of a number
	name string  // of a column, or the text
	args []*node
	of   *Distribution // of what is not known
}

func (n *node) columns(names []string) []string {
	if n.op == column && !slices.Contains(names, n.name) {
		names = append(names, n.name)
	}
	for _, a := range n.args {
		names = a.columns(names)
	}
	return names
}

func (n *node) bends(all []Expr) []Expr {
	for i, a := range n.args {
		all = a.bends(all)
		for _, b := range n.args[:i] {
			if n.op == minimum || n.op == maximum {
				all = append(all, Expr{&node{op: minus, args: []*node{a, b}}})
			}
		}
	}
	return all
}

func (n *node) divisors(all []Expr) []Expr {
	for i, a := range n.args {
		if all = a.divisors(all); n.op == over && i == 1 {
			all = append(all, Expr{a})
		}
	}
	return all
}

func (n *node) factors(all []Expr) []Expr {
	switch n.op {
	case times:
		return n.args[1].factors(n.args[0].factors(all))
	case over, negative:
		return n.args[0].factors(all)
	}
	return append(all, Expr{n})
}

func (n *node) String() string {
	switch n.op {
	case number:
		return strconv.FormatFloat(n.x, 'g', -1, 64)
	case quote:
		return `"` + n.name + `"`
	case column:
		if plain(n.name) {
			return n.name
		}
		return "`" + n.name + "`"
	case minimum, maximum, fallback, exponential, uncertain:
		parts := make([]string, len(n.args))
		for i, a := range n.args {
			parts[i] = a.String()
		}
		name := symbols[n.op]
		if n.op == uncertain {
			name = n.of.Name
		}
		return name + "(" + strings.Join(parts, ", ") + ")"
	case negative:
		return "-" + n.inner(0, int(negative))
	case not:
		return "not " + n.inner(0, int(not))
	}
	level := n.op.level()
	left := level
	if n.op >= less && n.op <= different {
		left++ // comparisons do not chain
	}
	return n.inner(0, left) + " " + symbols[n.op] + " " + n.inner(1, level+1)
}

// inner writes an argument, in parentheses if it binds less tightly than is wanted.
func (n *node) inner(i, level int) string {
	a := n.args[i]
	if a.op.level() < level {
		return "(" + a.String() + ")"
	}
	return a.String()
}

func (n *node) eval(value func(string) (float64, error)) (float64, error) {
	var x float64
	switch n.op {
	case number:
		return n.x, nil
	case uncertain:
		return n.of.Mean(), nil
	case column:
		var err error
		if x, err = value(n.name); err != nil {
			return 0, err
		}
	case fallback:
		var err error
		if x, err = n.args[0].eval(value); errors.Is(err, ErrMissing) {
			return n.args[1].eval(value)
		}
		return x, err
	default:
		for i, arg := range n.args {
			y, err := arg.eval(value)
			if err != nil {
				return 0, err
			}
			x = n.op.apply(x, y, i == 0)
		}
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, &ValueError{n.String(), x}
	}
	return x + 0, nil // the sum turns −0 into 0
}

// mostExp is the largest power of e: what stands for more is beyond any cost, and min can bound it.
const mostExp = 1e150

// apply takes one more argument into a result.
func (o op) apply(x, y float64, first bool) float64 {
	switch {
	case o == negative:
		return -y
	case o == exponential:
		return min(math.Exp(y), mostExp)
	case first:
		return y
	}
	switch o {
	case plus:
		return x + y
	case minus:
		return x - y
	case times:
		return x * y
	case over:
		return x / y
	case minimum:
		return min(x, y)
	}
	return max(x, y)
}

// scale is a number and what it multiplies, nil for one.
func (n *node) scale() (float64, *node) {
	if len(n.columns(nil)) == 0 {
		if x, err := n.eval(nil); err == nil {
			return x, nil
		}
		return 1, n
	}
	switch n.op {
	case negative:
		x, rest := n.args[0].scale()
		return -x, rest
	case times, over:
		x, left := n.args[0].scale()
		y, right := n.args[1].scale()
		switch {
		case n.op == over && right == nil && y != 0:
			return x / y, left
		case n.op == times && right == nil:
			return x * y, left
		case n.op == times && left == nil:
			return x * y, right
		case n.op == times:
			return x * y, &node{op: times, args: []*node{left, right}}
		case left != nil:
			return x, &node{op: over, args: []*node{left, n.args[1]}}
		}
	}
	return 1, n
}

func (n *node) holds(value func(string) (float64, error), text func(string) (string, error)) (bool, error) {
	switch n.op {
	case not:
		b, err := n.args[0].holds(value, text)
		return !b, err
	case and, or:
		a, err := n.args[0].holds(value, text)
		if err != nil {
			return false, err
		}
		b, err := n.args[1].holds(value, text)
		if n.op == and {
			return a && b, err
		}
		return a || b, err
	}
	left, right := n.args[0], n.args[1]
	if left.op == quote {
		left, right = right, left
	}
	if right.op == quote {
		s, err := text(left.name)
		return (Composed(s) == Composed(right.name)) == (n.op == equal), err
	}
	x, err := left.eval(value)
	if err != nil {
		return false, err
	}
	y, err := right.eval(value)
	return err == nil && n.op.compare(x, y), err
}

func (o op) compare(x, y float64) bool {
	switch o {
	case less:
		return x < y
	case atMost:
		return x <= y
	case more:
		return x > y
	case atLeast:
		return x >= y
	case equal:
		return x == y
	}
	return x != y
}

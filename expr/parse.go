package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with a text that is no expression, where, and what to do.
type Error struct {
	Column   int // the character, from 1
	Msg, Fix string
}

func (e *Error) Error() string { return e.Msg + "; " + e.Fix }

// maxTokens bounds what one expression asks of every case, and how deep it is nested.
const maxTokens = 200

const (
	form      = "write a number, the name of a column, or arithmetic such as 0.6 * amount + 10 or min(amount, 5000)"
	backticks = "a name that is not made of letters, digits, _ and . stands in backticks, such as `credit amount`"
)

// token is a part of the text. Its kind is one of the letters below, or the sign itself.
type token struct {
	kind byte
	text string // without quotes
	at   int    // the byte where it begins
}

const (
	isNumber = '0'
	isName   = 'a' // a column, a function, and, or, not
	isColumn = '`' // a column for sure
	isText   = '"'
	isSign   = '+'
	isEnd    = '.'
)

type parser struct {
	text   string
	tokens []token
	next   int
}

func parse(text string, truth bool) (*node, error) {
	p := &parser{text: text}
	if err := p.scan(); err != nil {
		return nil, err
	}
	if len(p.tokens) == 1 {
		return nil, p.fault(0, form, "nothing is given")
	}
	n, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if t := p.tokens[p.next]; t.kind != isEnd {
		return nil, p.unexpected(t)
	}
	switch {
	case truth && !n.op.truth():
		return nil, p.fault(0, "compare it with something, as in delay >= 15", "%s is no condition", cut(text))
	case !truth && n.op.truth():
		return nil, p.fault(0, form, "%s holds or does not, and is no number", cut(text))
	case !n.linear():
		return nil, p.fault(0, "only add it, or multiply it by what is known", "what is not known stands in a product with itself, in a divisor, a condition, min or max in %s", cut(text))
	case !truth && n.op == quote:
		return nil, p.fault(0, backticks, "%s is a text, and no number", cut(text))
	}
	return n, nil
}

func (p *parser) fault(at int, fix, format string, args ...any) *Error {
	return &Error{utf8.RuneCountInString(p.text[:at]) + 1, fmt.Sprintf(format, args...), fix}
}

// unexpected says that something stands where an operator or the end should be.
func (p *parser) unexpected(t token) *Error {
	switch {
	case t.kind == isEnd:
		return p.fault(t.at, form, "%s ends too early", cut(p.text))
	case t.kind == isSign && t.text == "=":
		return p.fault(t.at, "write ==, or one of <, <=, >, >=, !=", "a single = compares nothing")
	case t.kind == isSign:
		return p.fault(t.at, form, "%q is out of place in %s", t.text, cut(p.text))
	}
	return p.fault(t.at, backticks, "%s in %s follows without an operator", cut(t.text), cut(p.text))
}

// scan divides the text into tokens.
func (p *parser) scan() error {
	if !utf8.ValidString(p.text) {
		return &Error{1, "the expression is not UTF-8", "spell it in UTF-8"}
	}
	for at := 0; at < len(p.text); {
		rest := p.text[at:]
		r, size := utf8.DecodeRuneInString(rest)
		t := token{at: at}
		switch {
		case unicode.IsSpace(r):
			at += size
			continue
		case r >= '0' && r <= '9' || r == '.':
			t.kind, t.text = isNumber, rest[:numberLength(rest)]
			size = len(t.text)
		case r == '`' || r == '"':
			end := strings.IndexRune(rest[1:], r)
			if end < 1 {
				return p.fault(at, "close it, with a name between", "the %q that begins here encloses nothing", string(r))
			}
			t.kind, t.text = byte(r), rest[1:1+end]
			size = end + 2
		case letter(r):
			t.kind, t.text = isName, rest[:nameLength(rest)]
			size = len(t.text)
		default:
			t.kind, t.text = isSign, sign(rest)
			if t.text == "" {
				return p.fault(at, form+"; "+backticks, "%q is not understood", string(r))
			}
			size = len(t.text)
		}
		if len(p.tokens) == maxTokens {
			return p.fault(at, "make it shorter", "the expression has more than %d parts", maxTokens)
		}
		p.tokens = append(p.tokens, t)
		at += size
	}
	p.tokens = append(p.tokens, token{isEnd, "", len(p.text)})
	return nil
}

// sign is the operator, parenthesis or comma that a text begins with.
func sign(text string) string {
	for _, s := range []string{"<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "(", ")", ","} {
		if strings.HasPrefix(text, s) {
			return s
		}
	}
	return ""
}

func letter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

// nameLength is the bytes of the name that a text begins with.
func nameLength(text string) int {
	for i, r := range text {
		if !letter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '.' {
			return i
		}
	}
	return len(text)
}

// plain tells whether a column's name needs no backticks.
func plain(name string) bool {
	if _, word := words[name]; word {
		return false
	}
	r, _ := utf8.DecodeRuneInString(name)
	return letter(r) && nameLength(name) == len(name)
}

// numberLength is the bytes of the number that a text begins with, and of letters that
// follow it at once, which make it none.
func numberLength(text string) int {
	i := 0
	for i < len(text) {
		c := text[i]
		exponent := (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E') && i >= 2
		if c >= utf8.RuneSelf || !exponent && c != '.' && c != '_' && !(c >= '0' && c <= '9') && !(c|0x20 >= 'a' && c|0x20 <= 'z') {
			break
		}
		i++
	}
	return i
}

// words are the names that are not columns.
var words = map[string]op{"or": or, "and": and, "not": not}

// operator is the binary operator that a token stands for.
func (t token) operator() (op, bool) {
	if t.kind == isName {
		o, ok := words[t.text]
		return o, ok && o != not
	}
	if t.kind == isSign {
		for o := less; o <= over; o++ {
			if symbols[o] == t.text {
				return o, true
			}
		}
	}
	return 0, false
}

// binary reads operators that bind at least so tightly, and what is between them.
func (p *parser) binary(level int) (*node, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for {
		t := p.tokens[p.next]
		o, ok := t.operator()
		if !ok || o.level() < level {
			return left, nil
		}
		p.next++
		right, err := p.binary(o.level() + 1)
		if err != nil {
			return nil, err
		}
		n := &node{op: o, args: []*node{left, right}}
		if err := p.check(n, t); err != nil {
			return nil, err
		}
		left = n
	}
}

// check refuses arguments of the wrong kind.
func (p *parser) check(n *node, t token) error {
	texts := 0
	for _, a := range n.args {
		wantTruth := n.op == or || n.op == and || n.op == not
		switch {
		case a.op.truth() != wantTruth && wantTruth:
			return p.fault(t.at, "compare it with something, as in delay >= 15", "%s holds or does not only of conditions, and %s is none", t.text, a)
		case a.op.truth() && !wantTruth:
			return p.fault(t.at, "join conditions by and and or", "%s is no number for %s", a, t.text)
		case a.op == quote:
			texts++
		}
	}
	if texts == 0 {
		return nil
	}
	if n.op != equal && n.op != different || texts == 2 || n.args[0].op != column && n.args[1].op != column {
		return p.fault(t.at, `compare a text with a column, by == or !=, as in status == "late"; `+backticks, "%s is no number", n.args[len(n.args)-1])
	}
	return nil
}

// unary reads a sign, not, or a single value.
func (p *parser) unary() (*node, error) {
	t := p.tokens[p.next]
	p.next++
	switch {
	case t.kind == isSign && (t.text == "-" || t.text == "+"):
		a, err := p.binary(negative.level())
		if err != nil {
			return nil, err
		}
		n := &node{op: negative, args: []*node{a}}
		if err := p.check(n, t); err != nil {
			return nil, err
		}
		switch {
		case t.text == "+":
			return a, nil
		case a.op == number:
			return &node{op: number, x: -a.x + 0}, nil // −0 is 0
		}
		return n, nil
	case t.kind == isName && t.text == "not":
		a, err := p.binary(not.level())
		if err != nil {
			return nil, err
		}
		n := &node{op: not, args: []*node{a}}
		return n, p.check(n, t)
	case t.kind == isNumber:
		return p.number(t)
	case t.kind == isText:
		return &node{op: quote, name: t.text}, nil
	case t.kind == isColumn:
		return &node{op: column, name: t.text}, nil
	case t.kind == isName && p.tokens[p.next].text == "(" && p.tokens[p.next].kind == isSign:
		return p.function(t)
	case t.kind == isName:
		if _, word := words[t.text]; word {
			return nil, p.unexpected(token{isSign, t.text, t.at})
		}
		return &node{op: column, name: t.text}, nil
	case t.kind == isSign && t.text == "(":
		n, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		return n, p.expect(")")
	}
	return nil, p.unexpected(t)
}

// number reads a number, and refuses what other programs read as another or what is none.
func (p *parser) number(t token) (*node, error) {
	if date := p.date(); date != "" {
		return nil, p.fault(t.at, "give a number; where a difference or a quotient is meant, put spaces around the signs", "%s looks like a date", cut(date))
	}
	x, err := strconv.ParseFloat(t.text, 64)
	digits, _, _ := strings.Cut(strings.ToLower(t.text), "e")
	switch {
	case err != nil && !math.IsInf(x, 0) || strings.ContainsAny(t.text, "_xXpP"):
		return nil, p.fault(t.at, form+", with a point for decimals and no unit; "+backticks, "%s is neither a number nor a column", cut(t.text))
	case math.IsInf(x, 0):
		return nil, p.fault(t.at, "give a smaller one", "%s is not a finite number", cut(t.text))
	case x == 0 && strings.ContainsAny(digits, "123456789"):
		return nil, p.fault(t.at, "give 0, or a larger one", "%s is too small to be told from 0", cut(t.text))
	case len(digits) > 1 && digits[0] == '0' && digits[1] != '.':
		return nil, p.fault(t.at, "leave out the zeros", "%s begins with zeros, which some programs take for another base", cut(t.text))
	}
	return &node{op: number, x: x}, nil
}

// date is what looks like one, such as 2024-01-05 or 5/1/2024, from the number that was taken
// last: three numbers with the same sign between them, without spaces.
func (p *parser) date() string {
	first := p.next - 1
	if len(p.tokens) < first+5 {
		return ""
	}
	t := p.tokens[first : first+5]
	sign := t[1].text
	if t[1].kind != isSign || t[3].kind != isSign || sign != t[3].text || sign != "-" && sign != "/" || t[2].kind != isNumber || t[4].kind != isNumber {
		return ""
	}
	for k := range 4 {
		if t[k].at+len(t[k].text) != t[k+1].at {
			return ""
		}
	}
	long := func(k, least, most int) bool {
		return len(t[k].text) >= least && len(t[k].text) <= most && strings.Trim(t[k].text, "0123456789") == ""
	}
	if long(2, 1, 2) && (long(0, 4, 4) && long(4, 1, 2) || long(0, 1, 2) && long(4, 4, 4)) {
		return p.text[t[0].at : t[4].at+len(t[4].text)]
	}
	return ""
}

func (p *parser) expect(text string) error {
	t := p.tokens[p.next]
	if t.kind != isSign || t.text != text {
		return p.unexpected(t)
	}
	p.next++
	return nil
}

// function reads the arguments of a function.
func (p *parser) function(t token) (*node, error) {
	functions := []op{minimum, maximum, fallback, exponential}
	k := slices.IndexFunc(functions, func(o op) bool { return symbols[o] == t.text })
	n := &node{op: uncertain}
	if k >= 0 {
		n.op = functions[k]
	} else if distributions[t.text] == 0 {
		return nil, p.fault(t.at, "there are min, max, exp and default, and uniform, triangular, normal and lognormal of what is not known; "+backticks, "the function %s is unknown", cut(t.text))
	}
	for end := "("; end != ")"; {
		p.next++ // the parenthesis or the comma
		a, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, a)
		if end = p.tokens[p.next].text; p.tokens[p.next].kind != isSign || end != "," && end != ")" {
			return nil, p.unexpected(p.tokens[p.next])
		}
	}
	p.next++
	if n.op == uncertain {
		return p.distribution(n, t)
	}
	if n.op == fallback {
		if len(n.args) != 2 || len(n.args[0].columns(nil)) == 0 {
			return nil, p.fault(t.at, "give a column and what stands in where it is missing, as in default(amount, 100)", "default is of a column and a value")
		}
		return n, p.check(n, t)
	}
	if n.op == exponential {
		if len(n.args) != 1 {
			return nil, p.fault(t.at, "give one, as in exp(0.1 * amount)", "exp is of one value")
		}
		return n, p.check(n, t)
	}
	if len(n.args) < 2 {
		return nil, p.fault(t.at, "give at least two, as in min(amount, 5000)", "%s of a single value is that value", t.text)
	}
	return n, p.check(n, t)
}

// distribution makes a number that is not known of its arguments.
func (p *parser) distribution(n *node, t token) (*node, error) {
	n.of = &Distribution{Name: t.text}
	for _, a := range n.args {
		if a.op != number {
			return nil, p.fault(t.at, "give numbers, and multiply by columns, as in uniform(0.4, 0.8) * amount", "%s is not a number, as %s wants", a, t.text)
		}
		n.of.args = append(n.of.args, a.x)
	}
	if wrong := n.of.wrong(); wrong != "" {
		return nil, p.fault(t.at, wrong, "there is no distribution %s", n)
	}
	return n, nil
}

// cut makes a part of the text safe and short enough for a message.
func cut(text string) string {
	const longest = 40
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return strconv.Quote(text)
}

// Split divides a text at its commas, but for those within parentheses or quotes, so that
// each part can be parsed.
func Split(text string) []string {
	var parts []string
	depth, begin, quoted := 0, 0, rune(0)
	for i, r := range text {
		switch {
		case quoted != 0:
			if r == quoted {
				quoted = 0
			}
		case r == '`' || r == '"':
			quoted = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth <= 0:
			parts = append(parts, text[begin:i])
			begin = i + 1
		}
	}
	return append(parts, text[begin:])
}

package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where and why a kernel expression cannot be read.
type SyntaxError struct {
	// Text is the whole expression.
	Text string
	// Column is the place of the error in it, counted in characters from 1.
	Column int
	// Problem says what was expected there.
	Problem string
}

// Error returns the message with the column and the expression.
func (e *SyntaxError) Error() string {
	const longest = 200 // characters that are worth repeating
	return fmt.Sprintf("kernel %q, column %d: %s", excerpt(e.Text, longest), e.Column, e.Problem)
}

// Parse reads a kernel expression for cases of dim input columns. The package
// documentation describes the language; in short
//
//	expression = product { "+" product }
//	product    = factor { "*" factor }
//	factor     = "(" expression ")" | name [ "(" [ setting { "," setting } ] ")" ]
//	setting    = "ard" | parameter "=" ( number | "[" number { "," number } "]" )
//
// Names may be in upper or lower case. The error is a [*SyntaxError].
func Parse(text string, dim int) (Kernel, error) {
	p := parser{text: text, dim: dim, families: families()}
	return p.whole()
}

// whole reads all of the text.
func (p *parser) whole() (Kernel, error) {
	p.advance()
	k, err := p.expression()
	if err != nil {
		return Kernel{}, err
	}
	if p.kind != endToken {
		return Kernel{}, p.expected(`"+", "*" or the end`)
	}
	return k, nil
}

const (
	// maxDepth bounds the nesting of parentheses, and so the recursion.
	maxDepth = 100
	// maxLeaves bounds the sums and products: every kernel in them is computed for every
	// pair of cases.
	maxLeaves = 200
)

type tokenKind int

const (
	endToken tokenKind = iota
	nameToken
	numberToken
	symbolToken
)

// parser reads by recursive descent with one token of look-ahead.
type parser struct {
	text     string
	dim      int
	families []*family
	depth    int
	leaves   int

	// The token ahead is text[start:end].
	kind       tokenKind
	start, end int
}

func (p *parser) token() string { return p.text[p.start:p.end] }

// excerpt is as much of a text as is worth repeating.
func excerpt(text string, longest int) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// longestToken is how many characters of a token are worth repeating.
const longestToken = 50

// advance moves to the next token.
func (p *parser) advance() {
	p.start = p.end
	for p.start < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.start]) >= 0 {
		p.start++
	}
	rest := p.text[p.start:]
	switch {
	case rest == "":
		p.kind, p.end = endToken, p.start
	case isLetter(rest[0]):
		p.kind, p.end = nameToken, p.start+run(rest, isLetterOrDigit)
	case numberLength(rest) > 0:
		p.kind, p.end = numberToken, p.start+numberLength(rest)
	default:
		_, size := utf8.DecodeRuneInString(rest)
		p.kind, p.end = symbolToken, p.start+size
	}
}

func isLetter(c byte) bool        { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool         { return '0' <= c && c <= '9' }
func isLetterOrDigit(c byte) bool { return isLetter(c) || isDigit(c) }

// run returns the length of the longest prefix of text whose bytes are all in.
func run(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

// numberLength returns the length of the decimal number text starts with, or
// 0. A leading minus is read so that it can be refused with a better reason.
func numberLength(text string) int {
	n := 0
	if strings.HasPrefix(text, "-") {
		n++
	}
	digits := run(text[n:], isDigit)
	n += digits
	if n < len(text) && text[n] == '.' {
		fraction := run(text[n+1:], isDigit)
		digits += fraction
		n += 1 + fraction
	}
	if digits == 0 {
		return 0
	}
	if n < len(text) && text[n]|0x20 == 'e' {
		sign := 0
		if n+1 < len(text) && (text[n+1] == '+' || text[n+1] == '-') {
			sign = 1
		}
		if exponent := run(text[n+1+sign:], isDigit); exponent > 0 {
			n += 1 + sign + exponent
		}
	}
	return n
}

// accept moves past the symbol if it is ahead.
func (p *parser) accept(symbol string) bool {
	if p.kind != symbolToken || p.token() != symbol {
		return false
	}
	p.advance()
	return true
}

// fail makes an error at the byte offset.
func (p *parser) fail(offset int, format string, args ...any) error {
	column := utf8.RuneCountInString(p.text[:offset]) + 1
	return &SyntaxError{Text: p.text, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// expected makes an error about the token ahead.
func (p *parser) expected(what string) error {
	found := "the end"
	if p.kind != endToken {
		found = strconv.Quote(excerpt(p.token(), longestToken))
	}
	return p.fail(p.start, "expected %s, found %s", what, found)
}

func (p *parser) expression() (Kernel, error) {
	return p.chain("+", Sum, func() (Kernel, error) {
		return p.chain("*", Product, p.factor)
	})
}

// chain reads one or more parts with the operator between them.
func (p *parser) chain(operator string, combine func(...Kernel) Kernel, part func() (Kernel, error)) (Kernel, error) {
	var parts []Kernel
	for {
		k, err := part()
		if err != nil {
			return Kernel{}, err
		}
		parts = append(parts, k)
		if !p.accept(operator) {
			return combine(parts...), nil
		}
	}
}

func (p *parser) factor() (Kernel, error) {
	open := p.start
	if p.accept("(") {
		if p.depth++; p.depth > maxDepth {
			return Kernel{}, p.fail(open, "more than %d parentheses inside each other", maxDepth)
		}
		k, err := p.expression()
		if err != nil {
			return Kernel{}, err
		}
		p.depth--
		if !p.accept(")") {
			return Kernel{}, p.expected(`"+", "*" or ")"`)
		}
		return k, nil
	}
	if p.kind != nameToken {
		return Kernel{}, p.expected(`a kernel or "("`)
	}
	var names []string
	for _, f := range p.families {
		if strings.EqualFold(f.name, p.token()) {
			if p.leaves++; p.leaves > maxLeaves {
				return Kernel{}, p.fail(p.start, "more than %d kernels in one expression", maxLeaves)
			}
			p.advance()
			return p.leaf(f)
		}
		names = append(names, f.name)
	}
	return Kernel{}, p.fail(p.start, "no kernel is called %q; there are %s", excerpt(p.token(), longestToken), strings.Join(names, ", "))
}

// leaf reads the settings after the name of a kernel.
func (p *parser) leaf(f *family) (Kernel, error) {
	values := make([][]float64, len(f.groups))
	ard := false
	if p.accept("(") && !p.accept(")") {
		for {
			if err := p.setting(f, values, &ard); err != nil {
				return Kernel{}, err
			}
			if p.accept(")") {
				break
			}
			if !p.accept(",") {
				return Kernel{}, p.expected(`"," or ")"`)
			}
		}
	}
	for g, group := range f.groups {
		if values[g] == nil {
			values[g] = []float64{1}
		}
		if ard && group.perColumn && len(values[g]) == 1 {
			values[g] = slices.Repeat(values[g], p.dim)
		}
	}
	return newKernel(newLeaf(f, values...)), nil
}

// setting reads "ard" or one parameter into ard or values.
func (p *parser) setting(f *family, values [][]float64, ard *bool) error {
	at, name := p.start, strings.ToLower(p.token())
	if p.kind != nameToken {
		return p.expected("a parameter of " + f.name)
	}
	p.advance()
	var known []string
	ardKnown := false
	for g, group := range f.groups {
		if group.perColumn && name == "ard" {
			if p.dim < 1 {
				return p.fail(at, "ard needs an input column")
			}
			*ard = true
			return nil
		}
		if name == string(group.kind) {
			if values[g] != nil {
				return p.fail(at, "%s is given twice", name)
			}
			if !p.accept("=") {
				return p.expected(`"="`)
			}
			var err error
			values[g], err = p.value(group)
			return err
		}
		known = append(known, string(group.kind))
		ardKnown = ardKnown || group.perColumn
	}
	if ardKnown {
		known = append(known, "ard")
	}
	return p.fail(at, "%s has no parameter %q; it has %s", f.name, excerpt(name, longestToken), strings.Join(known, ", "))
}

// value reads a number or, for a parameter that can differ between columns, a
// list with one number for each.
func (p *parser) value(g group) ([]float64, error) {
	open := p.start
	if !p.accept("[") {
		v, err := p.number()
		return []float64{v}, err
	}
	if !g.perColumn {
		return nil, p.fail(open, "expected one number: %s is the same for all columns", g.kind)
	}
	var list []float64
	for {
		v, err := p.number()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if p.accept("]") {
			break
		}
		if !p.accept(",") {
			return nil, p.expected(`"," or "]"`)
		}
	}
	if len(list) != p.dim {
		return nil, p.fail(open, "%d numbers listed for %d input columns", len(list), p.dim)
	}
	return list, nil
}

func (p *parser) number() (float64, error) {
	if p.kind != numberToken {
		return 0, p.expected("a number")
	}
	// An overflow comes back as ±Inf, which is refused with the rest.
	v, _ := strconv.ParseFloat(p.token(), 64)
	if !validValue(v) {
		return 0, p.fail(p.start, "%s is not a number between 1e-100 and 1e100", excerpt(p.token(), longestToken))
	}
	p.advance()
	return v, nil
}

// Rounded is an expression for people to read: numbers with more digits have four.
func Rounded(expression string) string {
	return longNumber.ReplaceAllStringFunc(expression, func(digits string) string {
		x, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return digits
		}
		return strconv.FormatFloat(x, 'g', 4, 64)
	})
}

var longNumber = regexp.MustCompile(`\d+\.\d{3,}(e[-+]?\d+)?`)

package kernel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind says what a hyperparameter means, for code that sets bounds or
// starting values.
type Kind string

// The kinds of hyperparameter. Their values are the names in the language.
const (
	Variance    Kind = "variance"
	Lengthscale Kind = "lengthscale"
	Period      Kind = "period"
)

// MaxLog bounds the magnitude of a log parameter: values lie between 1e-100
// and 1e100, where no square or reciprocal overflows.
const MaxLog = 230.2585092994046 // log 1e100

// validValue reports whether v can be a parameter. The slack of a few units in
// the last place lets exp(±MaxLog) through.
func validValue(v float64) bool {
	return v >= 0.999999e-100 && v <= 1.000001e100
}

// group is a named parameter of a family.
type group struct {
	kind Kind
	// centre is where its prior has its median, of one column or, for −1, of all.
	centre func(s Scale, column int) float64
	// perColumn allows one value per input column (ARD) instead of one.
	perColumn bool
	// separate says that columns do not add up to one distance: each has its own.
	separate bool
}

// family is a kind of leaf. Names, printing, parsing and parameter passing are
// derived from it; what remains for a kernel to write is its function.
type family struct {
	name   string
	groups []group
	// build makes the function from one list of values per group.
	build func(values [][]float64, codes int) function
}

// families lists every leaf the language knows.
func families() []*family {
	return []*family{&rbf, &matern12, &matern32, &matern52, &additive, &linear, &periodic, &constant, &white}
}

// leaf is a family at given parameter values.
type leaf struct {
	function
	family *family
	values [][]float64
	codes  int
}

func newLeaf(f *family, values ...[]float64) leaf {
	for g, group := range f.groups {
		if len(values[g]) == 0 {
			panic(fmt.Sprintf("kernel: %s needs a %s", f.name, group.kind))
		}
		for _, v := range values[g] {
			if !validValue(v) {
				panic(fmt.Sprintf("kernel: %s %s %v is not between 1e-100 and 1e100", f.name, group.kind, v))
			}
		}
	}
	return leaf{function: f.build(values, 0), family: f, values: values}
}

func (l leaf) leaves(dst []leaf) []leaf { return append(dst, l) }

func (l leaf) with(logs []float64) (term, []float64) {
	values := make([][]float64, len(l.values))
	for g, old := range l.values {
		values[g] = make([]float64, len(old))
		for k := range old {
			values[g][k] = math.Exp(logs[k])
		}
		logs = logs[len(old):]
	}
	return newLeaf(l.family, values...).coded(l.codes), logs
}

func (l leaf) coded(codes int) term {
	l.function, l.codes = l.family.build(l.values, codes), codes
	return l
}

// numParams counts the parameters of the leaf.
func (l leaf) numParams() int {
	n := 0
	for _, v := range l.values {
		n += len(v)
	}
	return n
}

func (l leaf) write(b *strings.Builder) {
	b.WriteString(l.family.name)
	for g, group := range l.family.groups {
		b.WriteString([]string{"(", ", "}[min(g, 1)])
		b.WriteString(string(group.kind))
		b.WriteByte('=')
		writeValues(b, l.values[g])
	}
	b.WriteByte(')')
}

// writeValues writes one value bare and several as a list, with the digits
// that read back to the same bits.
func writeValues(b *strings.Builder, values []float64) {
	if len(values) > 1 {
		b.WriteByte('[')
		defer b.WriteByte(']')
	}
	for k, v := range values {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	}
}

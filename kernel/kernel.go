package kernel

import (
	"fmt"
	"math"
	"strings"
)

// Kernel is a covariance function at given hyperparameters. It is immutable
// and safe for concurrent use. Make one with [Parse], with the constructors of
// the leaves, and with [Sum] and [Product]; the zero Kernel is not usable.
type Kernel struct {
	term  term
	dim   int
	codes int // the last columns
}

// term is a node of a kernel expression.
type term interface {
	function
	// leaves appends the leaves below the node, from left to right.
	leaves(dst []leaf) []leaf
	// with returns the node at the leading log parameters, and the rest.
	with(logs []float64) (term, []float64)
	// numParams counts the parameters below the node.
	numParams() int
	// coded returns the node for inputs of which the last columns are codes.
	coded(codes int) term
	// write prints the node in the language.
	write(b *strings.Builder)
}

// newKernel wraps a term, finding how many columns it asks for.
func newKernel(t term) Kernel {
	k := Kernel{term: t}
	for _, l := range t.leaves(nil) {
		for _, v := range l.values {
			if len(v) == 1 {
				continue
			}
			if k.dim != 0 && k.dim != len(v) {
				panic(fmt.Sprintf("kernel: terms for %d and for %d input columns combined", k.dim, len(v)))
			}
			k.dim = len(v)
		}
	}
	return k
}

// Dim returns the number of input columns the kernel is made for, or 0 if any
// number will do because no term has parameters per column.
func (k Kernel) Dim() int { return k.dim }

// NumParams returns the number of hyperparameters.
func (k Kernel) NumParams() int { return k.term.numParams() }

// Params stores the logarithms of the hyperparameters in dst and returns it.
// A nil dst is allocated; any other must have length NumParams.
func (k Kernel) Params(dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, k.NumParams())
	}
	k.checkParams(dst)
	i := 0
	for _, l := range k.term.leaves(nil) {
		for _, values := range l.values {
			for _, v := range values {
				dst[i] = math.Log(v)
				i++
			}
		}
	}
	return dst
}

// With returns the kernel with its log parameters set to logs, in the order of
// [Kernel.Params]. It panics if one of them is beyond ±[MaxLog] or not a
// number: an optimiser has to keep within bounds.
func (k Kernel) With(logs []float64) Kernel {
	k.checkParams(logs)
	t, _ := k.term.with(logs)
	return Kernel{term: t, dim: k.dim, codes: k.codes}
}

func (k Kernel) checkParams(logs []float64) {
	if len(logs) != k.NumParams() {
		panic(fmt.Sprintf("kernel: %d parameters given, %d wanted", len(logs), k.NumParams()))
	}
}

// Param describes one hyperparameter.
type Param struct {
	// Term names the leaf: "rbf", or "rbf#2" for the second of several.
	Term string
	// Kind is the meaning of the parameter.
	Kind Kind
	// Column is the input column the parameter belongs to, from 0, or −1 if
	// all columns share it.
	Column int
	// Separate says of a length scale that columns do not add up to one distance: each has
	// its own.
	Separate bool
	// Value is the parameter itself, not its logarithm.
	Value float64
}

// String returns the name of the parameter, such as rbf.lengthscale[3].
func (p Param) String() string {
	if p.Column < 0 {
		return p.Term + "." + string(p.Kind)
	}
	return fmt.Sprintf("%s.%s[%d]", p.Term, p.Kind, p.Column)
}

// Describe returns the hyperparameters in the order of [Kernel.Params].
func (k Kernel) Describe() []Param {
	leaves := k.term.leaves(nil)
	count := make(map[string]int)
	for _, l := range leaves {
		count[l.family.name]++
	}
	seen := make(map[string]int)
	params := make([]Param, 0, k.NumParams())
	for _, l := range leaves {
		name := l.family.name
		if seen[name]++; count[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		for g, values := range l.values {
			group := l.family.groups[g]
			for column, v := range values {
				if column += k.firstColumn(l); len(values) == 1 {
					column = -1
				}
				params = append(params, Param{Term: name, Kind: group.kind, Column: column, Separate: group.separate, Value: v})
			}
		}
	}
	return params
}

// ParamNames returns the names of the hyperparameters, such as rbf.variance
// and rbf.lengthscale[3], in the order of [Kernel.Params].
func (k Kernel) ParamNames() []string {
	var names []string
	for _, p := range k.Describe() {
		names = append(names, p.String())
	}
	return names
}

// Cov returns the covariance of two different cases with inputs x and z.
func (k Kernel) Cov(x, z []float64) float64 {
	k.checkColumns(len(x))
	if len(x) != len(z) {
		panic(fmt.Sprintf("kernel: inputs of %d and %d columns", len(x), len(z)))
	}
	return k.term.cov(x, z)
}

// Variance returns the covariance of a case with itself. It is Cov(x, x) plus
// what white terms add.
func (k Kernel) Variance(x []float64) float64 {
	k.checkColumns(len(x))
	return k.term.variance(x)
}

func (k Kernel) checkColumns(d int) {
	if k.dim != 0 && k.dim != d {
		panic(fmt.Sprintf("kernel: inputs have %d columns, the kernel is made for %d", d, k.dim))
	}
}

// String prints the kernel in the language of [Parse], to full precision.
func (k Kernel) String() string {
	var b strings.Builder
	k.term.write(&b)
	return b.String()
}

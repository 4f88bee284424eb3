package lossep

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
)

// AutoEffects is the term of a kernel that stands for the effects that the evidence asks for.
const AutoEffects = "effects(auto)"

// What effects are learned beside where rows are few enough for mixtures of full processes. Alone they take no time to
// speak of, and tell whether there are steps and crossings that processes are too smooth for. Only then is it worth
// the time to learn them beside a process, too.
var besideEffects = []string{"constant", search.PerColumn}

// EffectTerms are the terms of a kernel that are effects.
type EffectTerms struct {
	texts    []string
	auto     bool
	terms    []effectTerm
	families []effects.Family // that they name, by the entries of encoded rows
}

// effectTerm is a term that names its columns.
type effectTerm struct {
	text    string
	columns []effectColumn
}

// effectColumn is a column of a term, and into how many bins its numbers are cut; 0 stands for
// as many as there are by default.
type effectColumn struct {
	name string
	bins int
}

// defaultBins is into how many bins numbers are cut where the kernel does not say.
const defaultBins = 64

// hasEffects tells whether a kernel has effects.
func hasEffects(kernel string) bool { return strings.Contains(kernel, "effects(") }

// SplitEffects takes the effects out of a kernel of rows encoded by a recipe. What is left of one that has
// nothing else is a constant; one without effects has no EffectTerms.
func SplitEffects(kernel string, r *recipe.Recipe) (smooth string, found *EffectTerms, err error) {
	if smooth, found, err = splitEffects(kernel); found != nil {
		err = found.bind(r)
	}
	return smooth, found, err
}

func splitEffects(kernel string) (smooth string, found *EffectTerms, err error) {
	if !hasEffects(kernel) {
		return kernel, nil, nil
	}
	found = new(EffectTerms)
	var rest []string
	for _, term := range topTerms(kernel) {
		inside, isEffects := strings.CutPrefix(term, "effects(")
		if !isEffects {
			if hasEffects(term) {
				return "", nil, inputf("kernel", "%q: effects are a term of a sum, such as matern32 + constant + effects(origin); they cannot be multiplied or nested", term)
			}
			rest = append(rest, term)
			continue
		}
		inside, closed := strings.CutSuffix(inside, ")")
		if !closed || strings.ContainsAny(inside, "()") {
			return "", nil, inputf("kernel", "%q is no term of effects; write effects(origin), effects(origin, hour/64) or %s", term, AutoEffects)
		}
		found.texts = append(found.texts, term)
		if strings.TrimSpace(inside) == "auto" {
			found.auto = true
			continue
		}
		columns, err := effectColumns(term, inside)
		if err != nil {
			return "", nil, err
		}
		found.terms = append(found.terms, effectTerm{term, columns})
	}
	if smooth = strings.Join(rest, " + "); smooth == "" {
		smooth = "constant"
	}
	return smooth, found, nil
}

// topTerms are the terms of a sum, those in parentheses aside.
func topTerms(kernel string) (terms []string) {
	depth, from := 0, 0
	for i, c := range kernel {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case '+':
			if depth == 0 {
				terms = append(terms, strings.TrimSpace(kernel[from:i]))
				from = i + 1
			}
		}
	}
	return append(terms, strings.TrimSpace(kernel[from:]))
}

// effectColumns reads what stands between the parentheses of effects.
func effectColumns(term, inside string) (columns []effectColumn, err error) {
	for _, text := range strings.Split(inside, ",") {
		c := effectColumn{name: strings.TrimSpace(text)}
		if at := strings.LastIndexByte(c.name, '/'); at >= 0 {
			if c.bins, err = strconv.Atoi(strings.TrimSpace(c.name[at+1:])); err != nil || c.bins < 2 || c.bins > effects.MostBins {
				return nil, inputf("kernel", "%q: invalid number of bins %q; give one from 2 to %d", term, c.name[at+1:], effects.MostBins)
			}
			c.name = strings.TrimSpace(c.name[:at])
		}
		if c.name == "" {
			return nil, inputf("kernel", "%q has no column", term)
		}
		columns = append(columns, c)
	}
	if len(columns) > effects.MostParts {
		return nil, inputf("kernel", "%q crosses %d columns, and at most %d can be crossed", term, len(columns), effects.MostParts)
	}
	return columns, nil
}

// Auto tells whether there are to be effects that the evidence asks for; nil has none.
func (t *EffectTerms) Auto() bool { return t != nil && t.auto }

// String is the terms in the language of kernels.
func (t *EffectTerms) String() string { return strings.Join(t.texts, " + ") }

// bind finds the families of the terms.
func (t *EffectTerms) bind(r *recipe.Recipe) error {
	parts := r.Parts()
	coding := r.Coding()
	for _, term := range t.terms {
		var f effects.Family
		for _, c := range term.columns {
			at := -1
			for _, p := range parts {
				if p.Column == c.name {
					at = p.At[0]
					if last := p.At[len(p.At)-1]; last >= coding.Numbers() {
						at = last // the code, and not what says that it is missing
					}
				}
			}
			bins := c.bins
			switch {
			case c.name == r.Score() && at >= 0:
				return inputf("kernel", "%q: %q is the score, which has a term of its own; leave it out of effects", term.text, c.name)
			case at < 0:
				return inputf("kernel", "%q: there is no feature %q", term.text, c.name)
			case slices.ContainsFunc(f, func(p effects.Part) bool { return p.Column == at }):
				return inputf("kernel", "%q has %q twice", term.text, c.name)
			case at >= coding.Numbers() && bins > 0:
				return inputf("kernel", "%q: %q is categorical, and only numbers are cut into bins", term.text, c.name)
			case at < coding.Numbers() && bins == 0:
				bins = defaultBins
			}
			f = append(f, effects.Part{Column: at, Bins: bins})
		}
		t.families = append(t.families, effects.NewFamily(f...))
	}
	return nil
}

// Alone are the columns that effects alone tell of: those with more categories than there may be
// points, which the smooth part could not tell apart, and of which it would take up a variance that
// the effects have.
func (t *EffectTerms) Alone(c *recipe.Coding, points int) (columns []int) {
	for code := range c.Codes() {
		k := c.Numbers() + code
		named := slices.ContainsFunc(t.families, func(f effects.Family) bool { return len(f) == 1 && f[0].Column == k })
		if (named || t.auto) && c.Size(code) > points {
			columns = append(columns, k)
		}
	}
	return columns
}

// EntryNames are what the entries of encoded rows are called in a family.
func EntryNames(r *recipe.Recipe) []string {
	names := make([]string, r.Dim())
	numbers := r.Coding().Numbers()
	for _, p := range r.Parts() {
		for k, at := range p.At {
			names[at] = p.Column
			if k > 0 && at < numbers || k == 0 && len(p.At) > 1 && p.At[len(p.At)-1] >= numbers {
				names[at] += " missing"
			}
		}
	}
	return names
}

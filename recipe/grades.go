package recipe

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/lossep/lossep/table"
)

// scales are words of grades, from the lowest. Those between slashes are the same grade in the words of other people.
var scales = sync.OnceValue(func() (all []map[string]int) {
	for _, line := range []string{
		"none / no / absent < minimal / trace < very low < low < medium / moderate / middle / mid / normal / average / intermediate < high < very high < extreme",
		"none / no / absent / normal / healthy < minimal / very mild / slight < mild / light < moderate / medium < severe / serious / heavy < very severe / critical / extreme < fatal / dead",
		"extra small / xs < small / s < medium / m < large / l < extra large / xl < xxl < xxxl",
		"very poor / very bad / terrible < poor / bad < fair / average / acceptable / satisfactory / ok / okay < good < very good < excellent / outstanding",
		"fair < good < very good < premium < ideal",
		"strongly disagree < disagree < somewhat disagree / slightly disagree < neutral / neither / neither agree nor disagree < somewhat agree / slightly agree < agree < strongly agree",
		"never < almost never < rarely / seldom < sometimes / occasionally < often / frequently / usually < very often / almost always < always",
		"very dissatisfied < dissatisfied < neutral / neither < satisfied < very satisfied",
		"very unlikely < unlikely < neutral / neither / possible < likely < very likely",
		"not at all < slightly / a little < moderately / somewhat < very / quite < extremely",
		"very negative < negative < neutral < positive < very positive",
		"beginner / novice < intermediate < advanced < expert",
		"primary < secondary < tertiary",
		"bronze < silver < gold < platinum < diamond",
		"very easy < easy < medium / moderate < hard / difficult < very hard / very difficult",
		"worse < same / unchanged / stable < better",
		"decrease / down < same / unchanged / stable < increase / up",
		"loss / lose / lost < draw / tie < win / won",
		"cold < cool < mild < warm < hot",
		"slow < medium / moderate < fast",
		"short < medium < long",
	} {
		places := make(map[string]int)
		for k, place := range strings.Split(line, " < ") {
			for _, word := range strings.Split(place, " / ") {
				places[word] = k
			}
		}
		all = append(all, places)
	}
	return all
})

// fewestGrades are those of which there is an order to speak of.
const fewestGrades = 3

// gradesOf are the outcomes from the lowest to the highest; nil if their words are not known to have an order.
func gradesOf(values []string) []string {
	for _, scale := range scales() {
		place, used := make(map[string]int), make(map[int]bool)
		for _, v := range values {
			if k, known := scale[strings.Join(words(v), " ")]; known && !used[k] {
				place[v], used[k] = k, true
			}
		}
		if len(values) >= fewestGrades && len(place) == len(values) {
			return slices.SortedFunc(slices.Values(values), func(a, b string) int { return cmp.Compare(place[a], place[b]) })
		}
	}
	return nil
}

// noteGrades says how outcomes whose words have an order can be fitted as grades. That is left to whoever knows the table: where a
// column makes the middle more or less likely, categories are predicted better (docs/research/numbers.md).
func (l *Learned) noteGrades(o *Options) {
	target := &l.Recipe.Target
	inOrder := gradesOf(target.Outcomes)
	if target.Ordered || o.Grading != AutoGrades || o.Positive != "" || inOrder == nil {
		return
	}
	l.Notes = append(l.Notes, table.Finding{
		Check: "grades", Severity: table.Note, Column: target.Column,
		Text: "the outcome is fitted as categories, and its words are those of grades, which may need fewer rows: compare both by an audit",
		Ways: []table.Way{way(table.WayOrdered, target.Column+"="+strings.Join(inOrder, ","), "as grades")},
	})
}

// words are those of a value, in lower case: letters and digits between other signs.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

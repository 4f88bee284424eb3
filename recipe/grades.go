package recipe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/lossep/lossep/table"
)

// Grades that nobody has declared. That outcomes have an order is taken from words that people give grades, and of a few whole
// numbers, which may as well be codes of categories, from a column that is named like a scale.

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

// scaleNames are words in the names of columns of grades that are numbers.
var scaleNames = []string{"rating", "ratings", "stars", "grade", "grades", "quality", "satisfaction", "severity", "stage", "level", "score", "likert"}

// fewestGrades are those of which there is an order to speak of, and mostNumbered as many as scales from 0 to 10 have.
const (
	fewestGrades = 3
	mostNumbered = 11
)

// gradesOf are the outcomes of a column from the lowest to the highest, and why they have that order; nil if they are not known to have one.
func gradesOf(column string, values []string) (inOrder []string, why string) {
	if len(values) < fewestGrades {
		return nil, ""
	}
	if place := closeTogether(values); place != nil {
		name := slices.IndexFunc(words(column), func(word string) bool { return slices.Contains(scaleNames, word) })
		if name < 0 {
			return nil, ""
		}
		return sortedBy(values, place), fmt.Sprintf("a few whole numbers in a column named like a scale (%s)", words(column)[name])
	}
	for _, scale := range scales() {
		place, used := make(map[string]float64), make(map[int]bool)
		for _, v := range values {
			if k, known := scale[strings.Join(words(v), " ")]; known && !used[k] {
				place[v], used[k] = float64(k), true
			}
		}
		if len(place) == len(values) {
			return sortedBy(values, place), "words that have this order"
		}
	}
	return nil, ""
}

// closeTogether are the values of a few whole numbers close together, nil of others.
func closeTogether(values []string) map[string]float64 {
	place := make(map[string]float64)
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		x, ok := table.Number(v)
		if !ok || x != math.Trunc(x) {
			return nil
		}
		place[v], low, high = x, min(low, x), max(high, x)
	}
	if !(high-low < mostNumbered) {
		return nil
	}
	return place
}

func sortedBy(values []string, place map[string]float64) []string {
	return slices.SortedFunc(slices.Values(values), func(a, b string) int { return cmp.Compare(place[a], place[b]) })
}

// words are those of a name or a value, in lower case: letters and digits between other signs, or from a capital letter after a
// small one on.
func words(text string) (all []string) {
	var word strings.Builder
	last := ' '
	flush := func() {
		if word.Len() > 0 {
			all = append(all, word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		inWord := unicode.IsLetter(r) || unicode.IsDigit(r)
		if unicode.IsUpper(r) && unicode.IsLower(last) || !inWord {
			flush()
		}
		if inWord {
			word.WriteRune(unicode.ToLower(r))
		}
		last = r
	}
	flush()
	return all
}

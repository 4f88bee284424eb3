package recipe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
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
		"too little / too few < about right / just right < too much / too many",
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

// gradesOf are the outcomes from the lowest to the highest; nil if they are neither words of a scale nor small whole
// numbers.
func gradesOf(values []string) []string {
	if len(values) < fewestGrades {
		return nil
	}
	if places := wholeNumbers(values); places != nil {
		return inPlaces(values, places)
	}
	for _, scale := range scales() {
		places, used := make(map[string]int), make(map[int]bool)
		for _, v := range values {
			if k, known := scale[strings.Join(words(v), " ")]; known && !used[k] {
				places[v], used[k] = k, true
			}
		}
		if len(places) == len(values) {
			return inPlaces(values, places)
		}
	}
	return nil
}

// wholeNumbers are the values as whole numbers, if they are small, and nil otherwise.
func wholeNumbers(values []string) map[string]int {
	places := make(map[string]int)
	for _, v := range values {
		k, err := strconv.Atoi(v)
		if err != nil || k <= -MostOutcomes || k >= MostOutcomes {
			return nil
		}
		places[v] = k
	}
	return places
}

func inPlaces(values []string, places map[string]int) []string {
	return slices.SortedFunc(slices.Values(values), func(a, b string) int { return cmp.Compare(places[a], places[b]) })
}

// MayBeGrades tells whether categories have an order that is known, which is that of the outcomes: whether they are
// better predicted as grades is to be found out.
func (t *Target) MayBeGrades() bool {
	return !t.Ordered && slices.Equal(t.Outcomes, gradesOf(t.Outcomes))
}

// AsGrades is the recipe with outcomes that MayBeGrades as grades.
func (r *Recipe) AsGrades() *Recipe {
	graded := *r
	graded.Target.Ordered = true
	return &graded
}

// words are those of a value, in lower case: letters and digits between other signs.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

package advise

import (
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Copies says that rows come again, by the numbers of recipe.Recipe.Copies; nil if there are none.
func Copies(numbers []int) []string {
	if numbers == nil {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s are copies of others in all features. They are left out together where predictions are judged. If a rare outcome was copied to count more, leave the copies out: costs do that",
		len(numbers)-slices.Max(numbers)-1, table.Plural(len(numbers), "row"))}
}

// Weights says what large weights do, two or more on average: a row counts as so many cases
// that are alike, and is one case to whatever leaves cases out. nil if they are not.
func Weights(r *recipe.Recipe, weights []float64) []string {
	name := r.NameOf(recipe.Weights)
	sum, whole := 0.0, true
	for _, w := range weights {
		sum += w
		whole = whole && w == math.Trunc(w)
	}
	if name == "" || sum < 2*float64(len(weights)) {
		return nil
	}
	note := fmt.Sprintf("the weights in %s are %.3g on average: a row counts as so many cases that are alike. If it is one case that speaks for others, as in a survey, divide the weights by their mean, or predictions are far too sure",
		table.Quote(name), sum/float64(len(weights)))
	if whole {
		note += fmt.Sprintf(". If it stands for several cases, make %s counts instead: as a weight it is left out as one where predictions are judged, with all of it, and costs are overestimated", table.Quote(name))
	}
	return []string{note}
}

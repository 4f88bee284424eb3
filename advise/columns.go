package advise

import (
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// sayf is a finding about the column.
func (c *Column) sayf(format string, args ...any) []found {
	return []found{{column: c.Name(), text: fmt.Sprintf("column %s ", table.Quote(c.Name())) + fmt.Sprintf(format, args...)}}
}

// mayBeCodes tells whether few different whole numbers may be codes.
func (c *Column) mayBeCodes() bool {
	n := len(c.Distinct)
	return c.column.Kind == recipe.Numeric && c.Whole && len(c.Words) == 0 && n > 2 && n <= table.FewDistinct && c.Numbers >= 5*n
}

// repeatedIdentifier asks about a column that is named like an identifier and has values that come
// again: hardly ever if the name is one that quantities have, too, such as number.
func repeatedIdentifier(c *Column) []found {
	what := ""
	switch {
	case c.column.Kind == recipe.Categorical && !c.asked:
		what = "categorical"
	case c.column.Kind == recipe.Numeric && c.Whole && !c.mayBeCodes():
		what = "numeric"
	}
	if what == "" || c.Present() < recipe.IdentifierRows || !recipe.NamedLikeKey(c.Name()) && !(recipe.NamedLikeIdentifier(c.Name()) && recipe.NearlyUnique(c.Scan)) {
		return nil
	}
	return c.sayf("is named like an identifier and has repeated values; it is used as a feature: %s. If its values are groups of rows, give it as groups, otherwise drop it", what)
}

// manyCategories notes a column of many categories, and asks whether those of few rows each are
// customers or the like, whose rows would be on both sides of a split. repeatedIdentifier has asked
// that of names such as customer.
func manyCategories(c *Column) []found {
	const many, few = 30, 10
	n := len(c.column.Categories)
	if c.column.Kind != recipe.Categorical || n <= many {
		return nil
	}
	groups := ""
	if c.Present() < few*n && c.look.Options.Groups == "" && !recipe.NamedLikeKey(c.Name()) {
		groups = ". If its values are groups of rows, such as those of a customer, give it as groups"
	}
	return c.sayf("has %d categories in %d rows; each becomes a feature%s", n, c.Present(), groups)
}

// letterCase asks about categories that differ in upper and lower case only.
func letterCase(c *Column) []found {
	if c.column.Kind != recipe.Categorical {
		return nil
	}
	first := make(map[string]string, len(c.column.Categories))
	for _, name := range c.column.Categories {
		lower := strings.ToLower(name)
		if other, seen := first[lower]; seen {
			return c.sayf("has categories that differ in upper and lower case only, such as %s and %s; they are treated as two", table.Quote(other), table.Quote(name))
		}
		first[lower] = name
	}
	return nil
}

// shortDate and wordDate are dates as people write them that are not read: the century of
// 5-Jan-24 is a guess.
var (
	shortDate = regexp.MustCompile(`^\d{1,2}[-/. ]?(\d{1,2}|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)[-/. ]?\d{2}$`)
	wordDate  = regexp.MustCompile(`^(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-. ]+\d{1,2},?[- ]+\d{2,4}$`)
)

// dateWords asks about words most of which look like dates in a form that is not read.
func dateWords(c *Column) []found {
	if k := c.column.Kind; c.asked || c.Numbers > 0 || k != recipe.Categorical && k != recipe.Dropped && k != recipe.Presence {
		return nil
	}
	cells, first := 0, ""
	for _, k := range c.Words {
		if word := c.Word(k); !table.IsDigits(word) && (shortDate.Match(word) || wordDate.Match(word)) {
			if cells == 0 {
				first = string(word)
			}
			cells += c.Counts[k]
		}
	}
	if 2*cells <= c.Texts {
		return nil
	}
	return c.sayf("has words such as %s, which are not read as dates; if they are, write the year first and in full, such as 2024-01-05", table.Quote(first))
}

// dateFeature asks whether a date is the time of the case: cases to come are later than all that was
// learned from, and random folds do not show what that does.
func dateFeature(c *Column) []found {
	if c.column.Kind != recipe.Date || c.column.Dates.Order == table.ClockTime {
		return nil
	}
	all := c.sayf("is a date and used as a feature; later dates are an extrapolation")
	all[0].ways = []table.Way{
		{Option: table.WayDrop, Value: c.Name(), Meaning: "if it says when the case arose"},
		{Option: table.WayTime, Value: c.Name(), Meaning: "in an audit"},
	}
	return all
}

// parts are the numbers of the column a part at a time, where they lie if they are written
// plainly; missing cells are between them then.
func (c *Column) parts() iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		if len(c.Words) > 0 || c.Markers.HasNumbers() {
			yield(recipe.Quantities(c.Scan, c.column))
			return
		}
		for _, part := range c.Scan.Table.Stretches(c.Scan.Column) {
			if !yield(part) {
				return
			}
		}
	}
}

// standIns asks about a number of nines, such as -9, -999 or 99, further from all others than these
// are from each other: it may stand for a missing cell. Several such cells are no accident, and
// ambiguous unless a scaling says that the column is a quantity. So may 0 stand for a missing cell, and
// -1 where others are not negative.
func standIns(c *Column) (all []found) {
	if c.column.Kind != recipe.Numeric && c.column.Kind != recipe.Outcome {
		return nil
	}
	for _, x := range []float64{c.Least, c.Most} {
		if (x == 0 || x == -1) && x == c.Least {
			all = append(all, c.nought(x)...)
		}
		if digits := table.Spelled(x); digits == "9" || strings.Trim(strings.TrimPrefix(digits, "-"), "9") != "" {
			continue
		}
		cells, least, most := 0, math.Inf(1), math.Inf(-1)
		apart := func() bool { return max(least-x, x-most) > most-least }
		for part := range c.parts() {
			for _, v := range part {
				if v == x {
					cells++
				} else if !table.IsText(v) {
					least, most = min(least, v), max(most, v)
				}
			}
			if least <= most && !apart() {
				break // nor will it be
			}
		}
		if least < most && apart() {
			all = append(all, c.standIn(cells, x, least, most, cells > 1 && !c.scaled())...)
		}
	}
	return all
}

// scaled tells whether an option names a scaling for the column.
func (c *Column) scaled() bool {
	for ref := range c.look.Options.Bends {
		if j, err := c.Scan.Table.Column(ref); err == nil && j == c.Scan.Column {
			return true
		}
	}
	return false
}

// standIn asks whether cells of x, apart from all others, are missing: by an error at the first of
// them if that is ambiguous.
func (c *Column) standIn(cells int, x, least, most float64, ambiguous bool) []found {
	what := fmt.Sprintf("%s of %s, apart from all others (%s to %s)", table.Plural(cells, "cell"), table.Spelled(x), table.Spelled(least), table.Spelled(most))
	all := c.sayf("has %s", what)
	marker := table.Way{Option: table.WayMarkers, Value: c.Name() + "=" + table.Spelled(x), Meaning: "if missing"}
	all[0].rows, all[0].ways = cells, []table.Way{marker}
	if !ambiguous {
		return all
	}
	t := c.Scan.Table
	at := &table.Error{File: t.Name(), Column: c.Scan.Column + 1, ColumnName: c.Name()}
	for i := range t.Len() {
		if t.At(i, c.Scan.Column) == x {
			at = t.CellPlace(i, c.Scan.Column)
			break
		}
	}
	marker.Meaning = "missing cells"
	at.Msg, at.Fix, at.Settle = what+": do they stand for missing cells?", "say what they are", []table.Way{marker}
	if c.column.Kind == recipe.Outcome {
		marker.Meaning, marker.With = "missing outcomes", table.WayLabelled
		at.Settle = append(at.Settle, table.Way{Option: table.WayLabelled})
	}
	at.Ways = []table.Way{marker, {Option: table.WayScaling, Value: c.Name() + "=" + string(recipe.AutoBend), Meaning: "values like the others"}}
	all[0].ambiguous = at
	return all
}

const (
	// noughtValues is how many different values others have at least where 0 may stand for a
	// missing cell, and noughtGap how much further it is from them than any two neighbours are
	// from each other.
	noughtValues, noughtGap = 10, 2
	// noughtRows is beyond how many rows that is not looked for.
	noughtRows = 100_000
)

// nought asks about the smallest value x if it comes more than once and lies further below the
// next, which is not negative, than twice the largest gap between others: a blood pressure of 0
// is none.
func (c *Column) nought(x float64) []found {
	if c.Scan.Table.Len() > noughtRows {
		return nil
	}
	values := slices.Sorted(slices.Values(recipe.Quantities(c.Scan, c.column)))
	cells, _ := slices.BinarySearch(values, math.Nextafter(x, math.Inf(1)))
	others := slices.Compact(values[cells:])
	if cells < 2 || len(others) < noughtValues {
		return nil
	}
	widest := 0.0
	for k, v := range others[1:] {
		widest = max(widest, v-others[k])
	}
	if others[0] < 0 || others[0]-x <= noughtGap*widest {
		return nil
	}
	return c.standIn(cells, x, others[0], others[len(others)-1], false)
}

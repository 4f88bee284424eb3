package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// From so many rows on, all-different cells are taken for identifiers; in
	// fewer rows they may differ by chance.
	identifierRows = 10
	// Share of different cells from which text is an identifier.
	identifierShare = 0.9
	// A column of at least so many different numbers, in which at most this
	// share of the cells is text, is taken for a numeric column with mistakes:
	// as categories it would be noise, so it is an error instead.
	mistakeNumbers = 20
	mistakeShare   = 0.05
	// A standard deviation below this fraction of the largest magnitude is
	// rounding error: 1e-14 is some fifty units in the last place.
	constantFraction = 1e-14
)

// scanned is what is found in a whole column.
type scanned struct {
	table    *Table
	column   int
	markers  []string
	values   []float64 // the finite numbers, sorted: sums do not depend on the order of rows
	missing  []int     // rows in which the cell is missing
	words    []int     // rows in which it is no number
	infinite []int     // rows in which it is infinite
	counting bool      // integers that go up by one from row to row
}

// scan makes one pass over column j. The number in each cell is read here and
// once more when the row is encoded: new rows and training rows then share one
// way from text to feature.
func scan(t *Table, j int, markers []string) *scanned {
	s := &scanned{table: t, column: j, markers: markers, counting: true}
	previous := math.NaN()
	for i, row := range t.rows {
		cell := clean(row[j])
		if isMissing(markers, cell) {
			s.missing = append(s.missing, i)
			s.counting = false
			continue
		}
		x, kind := parseNumber(cell)
		switch kind {
		case finite:
			s.values = append(s.values, x)
		case infinite:
			s.infinite = append(s.infinite, i)
		case notNumber:
			s.words = append(s.words, i)
		}
		if x != math.Trunc(x) || i > 0 && x != previous+1 {
			s.counting = false
		}
		previous = x
	}
	slices.Sort(s.values)
	return s
}

// present is the number of cells that are not missing.
func (s *scanned) present() int { return s.table.Len() - len(s.missing) }

// spellings counts how often each text occurs, missing cells aside.
func (s *scanned) spellings() map[string]int {
	count := make(map[string]int)
	for _, row := range s.table.rows {
		if cell := clean(row[s.column]); !isMissing(s.markers, cell) {
			count[cell]++
		}
	}
	return count
}

// learn decides what becomes of the column; declared says that the user wants
// it categorical.
func (s *scanned) learn(o *Options, declared bool) (Column, error) {
	name := s.table.columns[s.column]
	if s.present() == 0 {
		return dropped(name, "constant: no cell has a value"), nil
	}
	if len(s.words) == 0 && !declared {
		return s.learnNumeric(name, o)
	}
	count := s.spellings()
	if !declared {
		if len(count) == s.present() && len(count) > 1 && namedLikeIdentifier(name) {
			return dropped(name, identifierByName), nil
		}
		// Before the share of different cells is judged: numbers with a typo
		// among them differ too.
		if err := s.mistakes(); err != nil {
			return Column{}, err
		}
		if s.present() >= identifierRows && float64(len(count)) >= identifierShare*float64(s.present()) {
			return dropped(name, fmt.Sprintf("identifier-like: %d different texts in %d rows", len(count), s.present())), nil
		}
	}
	if len(count) == 1 {
		return s.learnConstant(name), nil
	}
	c := Column{Name: name, Kind: Categorical, Indicator: o.Impute && len(s.missing) > 0}
	c.Categories = slices.Sorted(maps.Keys(count))
	s.estimate(&c, o.Impute, !o.KeepScale)
	return c, nil
}

// learnNumeric does so for a column of numbers.
func (s *scanned) learnNumeric(name string, o *Options) (Column, error) {
	if len(s.infinite) > 0 {
		row := s.infinite[0]
		at := s.table.cell(row, s.column)
		at.Msg = fmt.Sprintf("%s is infinite or too large (%s in this column)",
			quote(s.table.rows[row][s.column]), plural(len(s.infinite), "such cell"))
		at.Fix = "replace it by a finite number, or leave the cell empty and choose --missing=impute"
		return Column{}, at
	}
	if s.numberedRows(name) {
		return dropped(name, "identifier-like: a running number"), nil
	}
	if len(s.values) > 1 && namedLikeIdentifier(name) && distinctIntegers(s.values) {
		return dropped(name, identifierByName), nil
	}
	if _, scale := meanScale(s.values); scale <= constantFraction*magnitude(s.values) {
		return s.learnConstant(name), nil
	}
	c := Column{Name: name, Kind: Numeric, Scale: 1, Indicator: o.Impute && len(s.missing) > 0}
	s.estimate(&c, o.Impute, !o.KeepScale)
	return c, nil
}

// learnConstant keeps of a column with one value only whether it is there,
// which may say something; whether missing cells are allowed is not decided
// here.
func (s *scanned) learnConstant(name string) Column {
	if len(s.missing) > 0 {
		return Column{Name: name, Kind: Presence, Indicator: true}
	}
	return dropped(name, "constant: every value is "+quote(clean(s.table.rows[0][s.column])))
}

// dropped is a column that makes no features.
func dropped(name, reason string) Column {
	return Column{Name: name, Kind: Dropped, Reason: reason}
}

// estimate fills in the statistics of a column whose kind is settled.
func (s *scanned) estimate(c *Column, impute, standardize bool) {
	switch {
	case c.Kind == Numeric:
		values := s.values
		if impute {
			c.Fill = median(values)
			// The model sees the filled column, so that is what is standardised.
			values = append(slices.Repeat([]float64{c.Fill}, len(s.missing)), values...)
			slices.Sort(values)
		}
		if standardize {
			c.Mean, c.Scale = meanScale(values)
			if c.Scale <= constantFraction*magnitude(values) {
				c.Scale = 1 // constant in these rows, if not in those the kind is from
			}
		}
	case c.Kind == Categorical && impute:
		c.FillCategory = s.commonest(c.Categories)
	}
}

// commonest is the most frequent of the categories, the first in their order
// among equals.
func (s *scanned) commonest(categories []string) string {
	count := s.spellings()
	best := categories[0]
	for _, category := range categories {
		if count[category] > count[best] {
			best = category
		}
	}
	return best
}

const identifierByName = "identifier-like: named so, and every value differs"

// numberedRows recognises row numbers in a column without a name of its own.
func (s *scanned) numberedRows(name string) bool {
	return s.counting && name == generatedName(s.column) && s.table.Len() >= identifierRows
}

// distinctIntegers reports whether sorted values are whole and all different.
func distinctIntegers(sorted []float64) bool {
	for i, x := range sorted {
		if x != math.Trunc(x) || i > 0 && x == sorted[i-1] {
			return false
		}
	}
	return true
}

// namedLikeIdentifier recognises id, row_id, PatientID, index and their like.
func namedLikeIdentifier(name string) bool {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	switch strings.ToLower(last) {
	case "id", "index", "idx", "rowid", "rowname", "rownames", "uuid", "guid":
		return true
	}
	// Camel case: PatientID, customerId; not "Madrid" or "PAID".
	for _, suffix := range []string{"ID", "Id"} {
		if stem, ok := strings.CutSuffix(last, suffix); ok && stem != "" {
			if r := []rune(stem); unicode.IsLower(r[len(r)-1]) {
				return true
			}
		}
	}
	return false
}

// mistakes finds a column with words that is numeric but for a few of its
// cells, or for its decimal commas.
func (s *scanned) mistakes() error {
	first := s.words[0]
	cell := clean(s.table.rows[first][s.column])
	at := s.table.cell(first, s.column)
	// Every word becomes a number when its comma becomes a point.
	commas := !slices.ContainsFunc(s.words, func(i int) bool {
		text := clean(s.table.rows[i][s.column])
		_, kind := parseNumber(strings.Replace(text, ",", ".", 1))
		return kind != finite
	})
	if commas {
		at.Msg = fmt.Sprintf("numbers with a comma, such as %s", quote(cell))
		at.Fix = "write a decimal point, and no separator of thousands; or declare the column categorical"
		return at
	}
	numbers := slices.Compact(slices.Clone(s.values))
	if len(numbers) >= mistakeNumbers && float64(len(s.words)) <= mistakeShare*float64(s.present()) {
		at.Msg = fmt.Sprintf("%s in a column of numbers (%d of %d cells are none)", quote(cell), len(s.words), s.present())
		at.Fix = "correct the cell, name it as a missing marker, or declare the column categorical"
		return at
	}
	return nil
}

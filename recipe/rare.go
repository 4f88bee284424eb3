package recipe

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lossep/lossep/table"
)

// Rare names outcomes of which little can be known; of two the rarer one. One that is spelled
// almost like another may be no outcome at all.
func (t *Target) Rare() (notes []string) {
	const few = 10
	notes = t.Misspelled()
	for y, n := range t.Rows {
		commoner := t.Binary() && (n > t.Rows[1-y] || n == t.Rows[1-y] && y == 0)
		if n < few && !commoner && meant(t.Outcomes, t.Rows, y) < 0 {
			notes = append(notes, fmt.Sprintf("only %s of class %s: estimates are unreliable", table.Plural(n, "row"), table.Quote(t.Outcomes[y])))
		}
	}
	return notes
}

// Misspelled names outcomes of more than two that may be another one.
func (t *Target) Misspelled() []string { return misspelled(t.Outcomes, t.Rows) }

// misspelled is Misspelled of outcomes that so many rows have. What has more values than there may
// be outcomes is none, and would take the square of their number.
func misspelled(outcomes []string, counts []int) (notes []string) {
	if len(outcomes) > MostOutcomes {
		return nil
	}
	for y, name := range outcomes {
		if z := meant(outcomes, counts, y); z >= 0 {
			notes = append(notes, fmt.Sprintf("outcome %s, which %s, is spelled almost like %s, which %s: if they are the same, correct these cells",
				table.Quote(name), have(counts[y]), table.Quote(outcomes[z]), have(counts[z])))
		}
	}
	return notes
}

func have(rows int) string {
	if rows == 1 {
		return "1 row has"
	}
	return fmt.Sprintf("%d rows have", rows)
}

// meant is the outcome that y may be a misspelling of, if there are more than two: it is ten
// times as frequent and spelled almost the same, or begins with the one letter that y is. −1 if
// there is none.
func meant(outcomes []string, counts []int, y int) int {
	if len(outcomes) < 3 {
		return -1
	}
	own := []rune(strings.ToLower(outcomes[y]))
	for z, other := range outcomes {
		name := []rune(strings.ToLower(other))
		initial := len(own) == 1 && len(name) > 1 && unicode.IsLetter(own[0]) && own[0] == name[0]
		if counts[z] >= 10*counts[y] && (initial || almost(own, name)) {
			return z
		}
	}
	return -1
}

// almost says whether two words are one slip apart: a letter too many, too few, another one, or
// two that changed places. Digits and signs tell grades apart, and are no slips, nor is anything
// in words of two letters.
func almost(a, b []rune) bool {
	if max(len(a), len(b)) < 3 {
		return false
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for _, r := range slices.Concat(a, b) {
		if unicode.IsDigit(r) || r == '+' || r == '-' {
			return false
		}
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a) <= 1 && len(b) <= 1
}

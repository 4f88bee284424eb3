package decision

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestName is the most letters of a name: it becomes the name of a column.
const longestName = 1000

// nameTrouble says what is wrong with the name of an outcome or an action by itself; nothing if
// it can be used.
func nameTrouble(name string) string {
	switch {
	case strings.TrimSpace(name) != name:
		return "begins or ends with white space"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has control characters in it, such as the end of a line"
	case utf8.RuneCountInString(name) > longestName:
		return fmt.Sprintf("has more than %d letters", longestName)
	}
	return ""
}

// alike are letters of Greek and Cyrillic, and the Latin letters they look like.
var alike = strings.NewReplacer(
	"А", "A", "В", "B", "Е", "E", "К", "K", "М", "M", "Н", "H", "О", "O", "Р", "P", "С", "C", "Т", "T", "Х", "X", "У", "Y", "І", "I", "Ј", "J", "Ѕ", "S",
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "х", "x", "у", "y", "і", "i", "ј", "j", "ѕ", "s",
	"Α", "A", "Β", "B", "Ε", "E", "Ζ", "Z", "Η", "H", "Ι", "I", "Κ", "K", "Μ", "M", "Ν", "N", "Ο", "O", "Ρ", "P", "Τ", "T", "Υ", "Y", "Χ", "X", "ο", "o", "ν", "v",
)

// looks is the same for names that look the same: whatever their letters are composed of, whether
// they are wide or narrow, with any white space, and with characters that have no width or without.
func looks(name string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	return alike.Replace(strings.Join(strings.Fields(visible), " "))
}

// CheckActions refuses actions that people cannot tell apart by their names, as ParseSpec does.
func (s *Spec) CheckActions() error {
	for a, name := range s.actions {
		for _, other := range s.actions[:a] {
			if looks(name) == looks(other) {
				return specFault("give them names that can be told apart", "the names %+q and %+q look the same", other, name)
			}
		}
	}
	return nil
}

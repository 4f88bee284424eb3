package command

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// plain is where everything goes that the command says: names of columns, categories and
// actions come from files that others wrote, and control characters among them would be
// obeyed by a terminal. They are written as escapes, in the manner of JSON, so that JSON
// stays what it was.
type plain struct {
	mu   sync.Mutex
	to   io.Writer
	rest []byte // the beginning of a character that is not there as a whole yet
	lost error  // what kept text from being written first
}

// Write writes text.
func (p *plain) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := append(p.rest, text...)
	end := len(all)
	for k := 1; k < utf8.UTFMax && k <= len(all); k++ {
		if utf8.RuneStart(all[len(all)-k]) {
			if !utf8.FullRune(all[len(all)-k:]) {
				end = len(all) - k
			}
			break
		}
	}
	escaped := escape(string(all[:end]))
	p.rest = append([]byte(nil), all[end:]...)
	if _, err := io.WriteString(p.to, escaped); err != nil {
		p.lost = cmp.Or(p.lost, err)
		return 0, err
	}
	return len(text), nil
}

// raw is what a plain writer writes to, for what is no text: rows for other programs, and
// the bar that shows progress.
func raw(w io.Writer) io.Writer {
	if p, ok := w.(*plain); ok {
		return p.to
	}
	return w
}

// escape replaces what is not to be seen, but for blanks and the ends of lines.
func escape(text string) string {
	if strings.IndexFunc(text, obeyed) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for k, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[k:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[k])
		case !obeyed(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// obeyed tells whether a terminal may do something else with a character than show it:
// control characters, and those that change the direction of what follows. Joiners of
// letters are part of words.
func obeyed(r rune) bool {
	switch r {
	case '\n', '\t', ' ', '\u200c', '\u200d':
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// line is a line of text whatever is in it: a name with the end of a line in it must not
// look like another line.
func line(text string) string {
	return strings.ReplaceAll(text, "\n", `\u000a`)
}

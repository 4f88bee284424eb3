package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// textWidth is that of the text, in characters.
const textWidth = 88

// WriteText writes the verdicts and what they rest on.
func (r *Audit) WriteText(w io.Writer) error {
	writeVerdicts(w, r.Verdicts)
	if err := r.costTable(r.Methods, r.methodLabel).WriteText(w); err != nil {
		return err
	}
	if r.several() {
		fmt.Fprintln(w)
		if err := r.countsTable(r.Methods[0]).WriteText(w); err != nil {
			return err
		}
	}
	if r.Uncertain != nil {
		fmt.Fprintf(w, "\n%s\n", wrapText(r.uncertainText(), textWidth))
	}
	if r.Limited != nil {
		fmt.Fprintf(w, "\n%s\n", wrapText(r.limitedText(), textWidth))
	}
	for _, note := range r.notes() {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}

func writeVerdicts(w io.Writer, all []Verdict) {
	for _, v := range all {
		fmt.Fprintf(w, "%s %s.\n%s\n\n", v.Question, sentence(v.Answer), wrapText(v.Finding, textWidth))
	}
}

// wrapText breaks a paragraph into lines of at most width characters. A percent sign stays with
// its number.
func wrapText(s string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(strings.ReplaceAll(s, " %", "\x00%")) {
		length := len([]rune(word))
		switch {
		case column == 0:
		case column+1+length > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(strings.ReplaceAll(word, "\x00", " "))
		column += length
	}
	return b.String()
}

// notes are what a reader should know besides: runs that did not converge.
func (r *Audit) notes() []string {
	notes := slices.Clone(r.Notes)
	folds := make(map[string]int)
	for _, f := range r.FoldModels {
		for i, note := range f.Notes {
			if !slices.Contains(f.Notes[:i], note) {
				folds[note]++
			}
		}
	}
	for _, f := range r.FoldModels {
		for _, note := range f.Notes {
			line := "all folds: " + note
			if folds[note] < len(r.FoldModels) {
				line = fmt.Sprintf("repeat %d, fold %d: %s", f.Repeat, f.Fold, note)
			}
			if !slices.Contains(notes, line) {
				notes = append(notes, line)
			}
		}
	}
	return notes
}

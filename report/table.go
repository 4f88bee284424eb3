package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Align says on which side of its column text stands.
type Align int

const (
	Left  Align = iota // for words
	Right              // for numbers
)

// Column is a column of a [Table].
type Column struct {
	Title string
	Align Align
}

// Cell is a cell of a [Table].
type Cell struct {
	Text string
	Best bool   // set in bold, or starred in text
	Mark string // of a footnote, such as "a"
}

// Row is a row of a [Table]. Its first cell names it.
type Row struct {
	Group string // heading; written where it differs from the row above's
	Cells []Cell
}

// Note is a footnote of a [Table].
type Note struct{ Mark, Text string } // without a mark it is about the whole

// Table is a table for a terminal ([Table.WriteText]) or a [Page].
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row
	Best    string // what it means that a cell is the best; empty if none is
	Notes   []Note
}

// newTable is a table whose first column has words and whose others have numbers.
func newTable(caption string, titles ...string) *Table {
	t := newNumberTable(caption, titles...)
	t.Columns[0].Align = Left
	return t
}

// newNumberTable is a table of numbers.
func newNumberTable(caption string, titles ...string) *Table {
	t := &Table{Caption: caption}
	t.addNumbers(titles...)
	return t
}

// addNumbers adds columns of numbers.
func (t *Table) addNumbers(titles ...string) {
	for _, title := range titles {
		t.Columns = append(t.Columns, Column{Title: title, Align: Right})
	}
}

// AddRow appends a row of plain cells.
func (t *Table) AddRow(cells ...string) {
	row := Row{Cells: make([]Cell, len(cells))}
	for i, c := range cells {
		row.Cells[i].Text = c
	}
	t.Rows = append(t.Rows, row)
}

// mustBeRegular panics unless every row has as many cells as there are columns.
func (t *Table) mustBeRegular() {
	for i, r := range t.Rows {
		mustMatch(fmt.Sprintf("table %q row %d", t.Caption, i+1), len(t.Columns), len(r.Cells))
	}
}

// WriteText writes the table in columns for a terminal, without line breaking.
func (t *Table) WriteText(w io.Writer) error {
	t.mustBeRegular()
	header := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		header[j] = clean(c.Title)
	}
	grid := [][]string{header}
	for _, r := range t.Rows {
		line := make([]string, len(r.Cells))
		for j, c := range r.Cells {
			line[j] = t.plain(c)
		}
		grid = append(grid, line)
	}
	widths := make([]int, len(t.Columns))
	for _, line := range grid {
		for j, s := range line {
			widths[j] = max(widths[j], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	if t.Caption != "" {
		fmt.Fprintf(&b, "%s\n\n", clean(t.Caption))
	}
	t.writeLine(&b, header, widths)
	total := 2 * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	b.WriteString(strings.Repeat("-", max(total, 0)) + "\n")
	group := ""
	for i, r := range t.Rows {
		if r.Group != group && r.Group != "" {
			b.WriteString(clean(r.Group) + "\n")
		}
		group = r.Group
		t.writeLine(&b, grid[i+1], widths)
	}
	if t.Best != "" {
		fmt.Fprintf(&b, "* %s\n", clean(t.Best))
	}
	for _, n := range t.Notes {
		if n.Mark != "" {
			fmt.Fprintf(&b, "[%s] ", clean(n.Mark))
		}
		b.WriteString(wrapText(clean(n.Text), textWidth) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain writes a cell as text. In a column of numbers the place of the star is
// kept free where there is none, so that the digits stay in line.
func (t *Table) plain(c Cell) string {
	s := clean(c.Text)
	if c.Mark != "" {
		s += "[" + clean(c.Mark) + "]"
	}
	switch {
	case c.Best:
		s += "*"
	case t.Best != "":
		s += " "
	}
	return s
}

func (t *Table) writeLine(b *strings.Builder, cells []string, widths []int) {
	var line strings.Builder
	for j, s := range cells {
		if j > 0 {
			line.WriteString("  ")
		}
		space := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(s))
		if t.Columns[j].Align == Right {
			line.WriteString(space + s)
		} else {
			line.WriteString(s + space)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// clean makes text from strangers (column names of a data file, say) safe to
// show on one line: white space becomes single blanks, and control characters,
// which could drive a terminal, and bytes that are not UTF-8 become "�".
func clean(s string) string {
	return disarm(strings.Join(strings.Fields(s), " "), "")
}

// disarm replaces control characters, other than those to keep, marks that
// reverse the direction of text, and bytes that are not UTF-8.
func disarm(s, keep string) string {
	return strings.Map(func(r rune) rune {
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(keep, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

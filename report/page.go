package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Page is a self-contained HTML document. Its methods, most of them those of
// [Body], append to it in order; [Page.Write] writes it. All text is plain and
// is escaped.
type Page struct {
	Body
	title, subtitle string
	sections        []heading
}

// NewPage starts a page. The subtitle may be empty.
func NewPage(title, subtitle string) *Page {
	return &Page{title: title, subtitle: subtitle}
}

// Section starts a section; the page lists its sections at the top.
func (p *Page) Section(title string) {
	h := heading{ID: fmt.Sprintf("s%d", len(p.sections)+1), Title: clean(title)}
	p.sections = append(p.sections, h)
	p.add("section", h)
}

// heading is a section's title with the anchor the list of sections links to.
type heading struct{ ID, Title string }

// Body is a sequence of blocks: a page's content, or that of a fold in it.
type Body struct {
	blocks []block
	err    error // the first figure that failed
}

// block is a piece of a page: which template draws it, and with what.
type block struct {
	Kind string
	Data any
}

func (b *Body) add(kind string, data any) { b.blocks = append(b.blocks, block{kind, data}) }

// Text adds a paragraph.
func (b *Body) Text(paragraph string) { b.add("text", prose(paragraph)) }

// prose is the text of a paragraph, in which a percent sign stays with its number.
func prose(text string) string { return strings.ReplaceAll(clean(text), " %", "\u00a0%") }

// unbroken keeps a sign and its number on one line.
func unbroken(text string) string {
	return strings.NewReplacer("< ", "<\u00a0", "> ", ">\u00a0", " %", "\u00a0%").Replace(text)
}

// Subsection adds a heading one level below a section's.
func (b *Body) Subsection(title string) { b.add("subsection", clean(title)) }

// List adds a list of points.
func (b *Body) List(points ...string) {
	cleaned := make([]string, len(points))
	for i, p := range points {
		cleaned[i] = clean(p)
	}
	b.add("list", cleaned)
}

// Code adds a block of code, such as the command that makes the page again.
// Line breaks and tabs are kept.
func (b *Body) Code(text string) {
	b.add("code", disarm(text, "\n\t"))
}

// PageBreak has what follows begin on a new sheet in print.
func (b *Body) PageBreak() { b.add("break", nil) }

// Outcome is the colour and symbol of a verdict.
type Outcome int

const (
	Neutral Outcome = iota // for information
	Holds                  // confirmed, good
	Partly                 // in part, take care
	Fails                  // refuted, bad
)

// class names the outcome in the style sheet.
func (o Outcome) class() string { return [...]string{"neutral", "holds", "partly", "fails"}[o] }

// symbol tells outcomes apart without colour.
func (o Outcome) symbol() string { return [...]string{"i", "✓", "~", "✗"}[o] }

// Verdict adds a box that states a claim, the outcome in words ("holds in
// part") and the finding behind it.
func (b *Body) Verdict(o Outcome, outcome, claim, finding string) {
	b.add("verdict", struct{ Class, Symbol, Outcome, Claim, Finding string }{
		o.class(), o.symbol(), clean(outcome), clean(claim), prose(finding),
	})
}

// Figure adds a figure with its caption and a description for those who cannot
// see it. A figure that cannot be drawn fails the page's Write.
func (b *Body) Figure(f Figure, caption, description string) {
	svg, err := inlineSVG(f, clean(description))
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("figure %q: %w", caption, err)
	}
	// The element is this package's own writing, with all text in it escaped.
	b.add("figure", struct {
		SVG     template.HTML
		Caption string
	}{template.HTML(svg), clean(caption)})
}

// Table adds a table. It is read at once: later changes to t do not show.
func (b *Body) Table(t *Table) {
	t.mustBeRegular()
	v := tableView{Caption: clean(t.Caption), Best: clean(t.Best)}
	for _, c := range t.Columns {
		v.Columns = append(v.Columns, Column{clean(c.Title), c.Align})
	}
	group := ""
	for _, r := range t.Rows {
		row := rowView{}
		if r.Group != group {
			row.Group = clean(r.Group)
		}
		group = r.Group
		for j, c := range r.Cells {
			cell := cellView{Cell: Cell{unbroken(clean(c.Text)), c.Best, clean(c.Mark)}, Number: t.Columns[j].Align == Right, Head: j == 0}
			// A number stands above its interval.
			if value, interval, ok := strings.Cut(cell.Text, " ("); ok && cell.Number && strings.HasSuffix(interval, ")") {
				cell.Text, cell.Interval = value, "("+interval
			}
			row.Cells = append(row.Cells, cell)
		}
		v.Rows = append(v.Rows, row)
	}
	for _, n := range t.Notes {
		v.Notes = append(v.Notes, Note{clean(n.Mark), clean(n.Text)})
	}
	b.add("table", v)
}

type tableView struct {
	Caption, Best string
	Columns       []Column
	Rows          []rowView
	Notes         []Note
}

type rowView struct {
	Group string
	Cells []cellView
}

type cellView struct {
	Cell
	Interval     string
	Number, Head bool
}

// Details adds a fold, closed at first, whose content fill adds.
func (b *Body) Details(summary string, fill func(*Body)) {
	var inner Body
	fill(&inner)
	if b.err == nil {
		b.err = inner.err
	}
	b.add("details", struct {
		Summary string
		Blocks  []block
	}{clean(summary), inner.blocks})
}

//go:embed page.css
var styleSheet string

//go:embed page.html.tmpl
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// Write writes the page, or reports the first figure that could not be drawn.
func (p *Page) Write(w io.Writer) error {
	if p.err != nil {
		return p.err
	}
	return pageTemplate.Execute(w, struct {
		Title, Subtitle string
		Style           template.CSS
		Sections        []heading
		Blocks          []block
	}{clean(p.title), clean(p.subtitle), template.CSS(styleSheet), p.sections, p.blocks})
}

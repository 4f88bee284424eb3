package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
)

func write(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements parses a page, which is written so that it is well-formed XML too,
// and returns its start tags in order.
func elements(t *testing.T, page string) []xml.StartElement {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var all []xml.StartElement
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			all = append(all, e.Copy())
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestPageIsSelfContained(t *testing.T) {
	page := write(t, samplePage())
	if outside := regexp.MustCompile(`(?i)https?:|@import|url\(|<script|<link|<img|<iframe|\son\w+=`).FindString(page); outside != "" {
		t.Errorf("the page has %q", outside)
	}
	for _, e := range elements(t, page) {
		if href := attribute(e, "href"); href != "" && !strings.HasPrefix(href, "#") {
			t.Errorf("link to %q", href)
		}
		if src := attribute(e, "src"); src != "" {
			t.Errorf("source %q", src)
		}
	}
}

func TestPageIsAccessible(t *testing.T) {
	count := map[string]int{}
	level, ids := 0, map[string]bool{}
	var links []string
	for _, e := range elements(t, write(t, samplePage())) {
		name := e.Name.Local
		count[name]++
		switch name {
		case "html":
			if attribute(e, "lang") != "en" {
				t.Error("the page does not say its language")
			}
		case "h1", "h2", "h3":
			next := int(name[1] - '0')
			if next > level+1 {
				t.Errorf("h%d follows h%d", next, level)
			}
			level = next
			if id := attribute(e, "id"); id != "" {
				if ids[id] {
					t.Errorf("id %q twice", id)
				}
				ids[id] = true
			}
		case "th":
			if attribute(e, "scope") == "" {
				t.Error("a table heading without scope")
			}
		case "svg":
			if attribute(e, "role") != "img" || attribute(e, "aria-label") == "" {
				t.Error("a figure without a description")
			}
		case "a":
			links = append(links, strings.TrimPrefix(attribute(e, "href"), "#"))
		}
	}
	for _, name := range []string{"h1", "main", "title"} {
		if count[name] != 1 {
			t.Errorf("%d of %s, want 1", count[name], name)
		}
	}
	if count["svg"] != 5 || count["table"] != 2 || count["details"] != 1 || count["figcaption"] != 6 {
		t.Errorf("parts are missing: %v", count)
	}
	for _, l := range links {
		if !ids[l] {
			t.Errorf("link to a section %q that is not there", l)
		}
	}
}

func TestHostileTextInPages(t *testing.T) {
	hostile := "</p><script>alert('x')</script>{{.}}\x00\x07\x1b[2J\xff\u202e&\"<!--"
	p := NewPage(hostile, hostile)
	for range 3 {
		p.Section(hostile)
	}
	p.Subsection(hostile)
	p.Text(hostile)
	p.List(hostile)
	p.Code(hostile)
	p.Verdict(Fails, hostile, hostile, hostile)
	p.Figure(sampleIntervals(), hostile, hostile)
	p.Details(hostile, func(b *Body) { b.Text(hostile) })
	p.Table(&Table{
		Caption: hostile, Best: hostile, Notes: []Note{{hostile, hostile}}, Columns: []Column{{hostile, Left}},
		Rows: []Row{{Group: hostile, Cells: []Cell{{hostile, true, hostile}}}},
	})
	page := write(t, p)
	if strings.Contains(page, "<script") || strings.ContainsAny(page, "\x00\x07\x1b\u202e") {
		t.Error("hostile text reached the page")
	}
	elements(t, page) // fails unless well-formed
}

func TestPageReportsAFigureThatFails(t *testing.T) {
	bad := Lines{Series: []Series{{Method: "ep", X: []float64{0}, Y: []float64{math.NaN()}}}}
	for name, add := range map[string]func(*Page){
		"on the page": func(p *Page) { p.Figure(bad, "Figure 9", "") },
		"in a fold":   func(p *Page) { p.Details("more", func(b *Body) { b.Figure(bad, "Figure 9", "") }) },
	} {
		p := NewPage("t", "")
		add(p)
		var b bytes.Buffer
		var data *DataError
		if err := p.Write(&b); !errors.As(err, &data) || !strings.Contains(err.Error(), "Figure 9") {
			t.Errorf("%s: error %v", name, err)
		}
		if b.Len() > 0 {
			t.Errorf("%s: half a page was written", name)
		}
	}
}

package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// What a person does, and what is on the screen afterwards.

// act does something and waits until the answers to it are on the screen. The page asks
// with the next frame after a change, and is busy until it has shown the last answer.
func (b *tab) act(does func()) {
	b.Helper()
	b.settle()
	before := evaluate[int](b, "Number(document.body.dataset.ready)")
	does()
	b.settle()
	b.until(fmt.Sprintf("Number(document.body.dataset.ready) > %d", before))
	b.settle()
}

func (b *tab) settle() {
	b.Helper()
	evaluate[bool](b, "new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))")
	b.until(`!document.querySelector('[aria-busy="true"]')`)
}

// box is where an element is on the screen.
type box struct{ X, Y, Width, Height float64 }

func (r box) center() (x, y float64) { return r.X + r.Width/2, r.Y + r.Height/2 }

// show brings an element into the middle of the window, and tells where that is.
func (b *tab) show(selector string) box {
	b.Helper()
	return evaluate[box](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center", behavior: "instant"});
		const {x: X, y: Y, width: Width, height: Height} = e.getBoundingClientRect();
		return {X, Y, Width, Height};
	})()`, selector))
}

// click clicks with the mouse on the middle of an element.
func (b *tab) click(selector string) {
	b.Helper()
	b.do(chromedp.MouseClickXY(b.show(selector).center()))
}

// drag takes hold of a place and moves it, in steps as a hand does.
func (b *tab) drag(x, y, toX, toY float64) {
	b.Helper()
	b.do(chromedp.DragAndDropXY(x, y, toX, toY, 5))
}

// write replaces what is in a field, as pasting does.
func (b *tab) write(selector, text string) {
	b.Helper()
	b.click(selector)
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.paste(text)
}

// paste puts text where the focus is.
func (b *tab) paste(text string) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
		b.Fatal(err)
	}
}

// choose picks an option of a list.
func (b *tab) choose(selector, value string) {
	b.Helper()
	evaluate[bool](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.value = %q;
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return e.value === %q || e.value === "";
	})()`, selector, value, value))
}

// cell is a cell of a table of results: its field, what it holds exactly, and what is
// to be read in it.
type cell struct{ Field, Value, Text string }

// row is a row of such a table.
type row struct {
	Data  map[string]string // its data attributes
	Class string
	Cells []cell
}

// field is the cells of a row that hold one thing: several for one that each action has.
func (r row) field(name string) (cells []cell) {
	for _, c := range r.Cells {
		if c.Field == name {
			cells = append(cells, c)
		}
	}
	return cells
}

// rows are the rows that a selector finds.
func (b *tab) rows(selector string) []row {
	b.Helper()
	var rows []row
	text := evaluate[string](b, fmt.Sprintf(`JSON.stringify([...document.querySelectorAll(%q)].map((tr) => ({
		Data: {...tr.dataset}, Class: tr.className,
		Cells: [...tr.querySelectorAll("[data-field]")].map((td) => ({Field: td.dataset.field, Value: td.dataset.value ?? "", Text: td.innerText.trim()})),
	})))`, selector))
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		b.Fatal(err)
	}
	return rows
}

// inner is the text of an element as it is to be read.
func (b *tab) inner(selector string) string {
	b.Helper()
	return evaluate[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// holds checks that the cells of a field hold numbers: exactly in their data, for the
// JSON form of a float64 keeps every bit, and as far as they go in their text.
func (r row) holds(name string, want ...float64) error {
	cells := r.field(name)
	if len(cells) != len(want) {
		return fmt.Errorf("%d cells of %s, want %d", len(cells), name, len(want))
	}
	for i, c := range cells {
		if got, err := strconv.ParseFloat(c.Value, 64); err != nil || got != want[i] {
			return fmt.Errorf("%s is %q, want %v", name, c.Value, want[i])
		}
		if err := reads(c.Text, want[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// says checks the exact words of a field.
func (r row) says(name string, want any) error {
	cells := r.field(name)
	if len(cells) != 1 || cells[0].Value != fmt.Sprint(want) {
		return fmt.Errorf("%s is %q, want %v", name, cells, want)
	}
	return nil
}

// written is a number as people read it: −1,234.5, 1.2×10⁻⁷, 45.1%.
var written = regexp.MustCompile(`^(−?)([\d,]+)(?:\.(\d+))?(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?(%?)`)

// reads checks that a text stands for a number: numbers have three significant digits or
// four decimals or more, percentages a decimal, or two digits where they are shares of what can be lost.
func reads(text string, want float64) error {
	switch {
	case text == "<0.1%" && want > 0 && want < 0.001, text == ">99.9%" && want > 0.999 && want < 1:
		return nil
	}
	m := written.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q is no number, want %v", text, want)
	}
	exponent := 0
	for _, digit := range strings.TrimPrefix(m[4], "⁻") {
		exponent = 10*exponent + slices.Index([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹"), digit)
	}
	if strings.HasPrefix(m[4], "⁻") {
		exponent = -exponent
	}
	if m[5] != "" {
		exponent -= 2
	}
	got, err := strconv.ParseFloat(strings.ReplaceAll(m[1], "−", "-")+strings.ReplaceAll(m[2], ",", "")+"."+m[3]+"e"+strconv.Itoa(exponent), 64)
	if err != nil {
		return err
	}
	tolerance := max(5.1e-3*math.Abs(want), 5.1e-5)
	if m[5] != "" {
		tolerance = max(5.1e-4, 0.051*want)
	}
	if math.Abs(got-want) > tolerance {
		return fmt.Errorf("%q is to be read, want %v", text, want)
	}
	return nil
}

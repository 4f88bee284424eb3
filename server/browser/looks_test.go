package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// views are the panels with something in them.
var views = []struct{ name, panel, link string }{
	{"reactor", "reactor", "lab#reactor"},
	{"line", "classifier", "lab#classifier"},
	{"plane", "classifier", "lab#classifier?points=-1,0.5,-1;1,-0.5,1;0.2,1.5,1&area=-3,3;-2,2&costs=0,1;0.3,0&kernel=rbf(variance=4,+lengthscale=1)"},
	{"model", "model", "#model?name=cancer&measure=worst_area&price=0.01&labels=1"},
	// The rows are income,amount,job and two cases.
	{"three actions", "model", "#model?name=loans&rows=aW5jb21lLGFtb3VudCxqb2IKMjAsNCxjbGVyawozMyw5LHNtaXRo"},
}

// The same view is to be seen in light and in dark, on a phone, and by ear.
func TestLooks(t *testing.T) {
	s := newSite(t)
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			b := blank(t)
			b.scheme("light")
			b.start(s.url + "/" + v.link)
			b.settle()
			file := strings.ReplaceAll(v.name, " ", "-")
			for _, scheme := range []string{"light", "dark"} {
				b.scheme(scheme)
				b.settle()
				b.readable(scheme)
				b.picture(scheme + "-" + file)
			}
			b.spoken(v.panel)
			b.scheme("light")
			b.fits(360)
			b.picture("narrow-" + file)
		})
	}
}

// scheme is what the person prefers.
func (b *tab) scheme(name string) {
	b.Helper()
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	}); err != nil {
		b.Fatal(err)
	}
}

// readable checks that whatever is to be read, in charts too, stands out from what is
// behind it: 4.5 to 1 (WCAG 2.2, 1.4.3).
func (b *tab) readable(scheme string) {
	b.Helper()
	looking := func(expression string) string { return "(() => {" + contrast + "return " + expression + "})()" }
	// A paper of medium grey would be neither light nor dark.
	if l := evaluate[float64](b, looking("luminance(paperOf(document.body))")); scheme == "dark" && l > 0.05 || scheme == "light" && l < 0.8 {
		b.Errorf("the luminance of the page in %s is %v", scheme, l)
	}
	if pale := evaluate[[]string](b, looking("pale()")); len(pale) > 0 {
		b.Errorf("hard to read in %s: %q", scheme, pale)
	}
}

// contrast finds text that is hard to read: by the relative luminance of its colour and
// of the nearest opaque colour behind it.
const contrast = `
	const rgba = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return {r, g, b, a}; };
	const luminance = ({r, g, b}) => [r, g, b].map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const paperOf = (e) => {
		for (; e; e = e.parentElement) {
			const c = rgba(getComputedStyle(e).backgroundColor);
			if (c.a === 1) return c;
		}
		return {r: 255, g: 255, b: 255};
	};
	const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const pale = () => [...document.querySelectorAll("body *")].flatMap((e) => {
		const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
		if (!own || !e.checkVisibility({opacityProperty: true, visibilityProperty: true}) || e.disabled || e.closest("option, noscript, title")) return [];
		const s = getComputedStyle(e), inChart = e instanceof SVGElement;
		const ink = inChart ? s.fill : s.color;
		if (ink === "none") return [];
		// Text in a chart has its own paper: a stroke around the letters, if there is one.
		const paper = inChart && s.paintOrder.startsWith("stroke") && s.stroke !== "none" ? rgba(s.stroke) : paperOf(e);
		const r = ratio(rgba(ink), paper);
		return r < 4.5 ? [r.toFixed(2) + " " + e.tagName + " " + e.textContent.trim().slice(0, 40)] : [];
	});
`

// fits checks that on a narrow screen nothing is wider than it, but for what scrolls by
// itself, and that fingers find what they want.
func (b *tab) fits(width int64) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.settle()
	if got := evaluate[int64](b, "document.documentElement.scrollWidth"); got > width {
		b.Errorf("on a screen of %d pixels the page is %d wide: %q", width, got, evaluate[[]string](b, fmt.Sprintf(`
			[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d && !e.closest(".scroll")).slice(0, 5).map((e) => e.outerHTML.slice(0, 80))`, width)))
	}
	if small := evaluate[[]string](b, `[...document.querySelectorAll("button, select, textarea, input:not([type=range], [type=checkbox], [type=radio], .unseen)")]
		.filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).map((e) => e.outerHTML.slice(0, 80))`); len(small) > 0 {
		b.Errorf("too small for a finger: %q", small)
	}
}

// spoken checks what a screen reader receives: every control and the panel have a
// name, tables say what they are, and what changes is spoken.
func (b *tab) spoken(panel string) {
	b.Helper()
	evaluate[bool](b, "[...document.querySelectorAll('details')].forEach((d) => d.open = true), true")
	tree, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.Fatal(err)
	}
	controls := []string{"button", "textbox", "slider", "checkbox", "radio", "combobox", "tab", "spinbutton", "link"}
	text := func(v *accessibility.Value) string { return strings.Trim(string(v.Value), `"`) }
	count := 0
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || !slices.Contains(controls, text(n.Role)) {
			continue
		}
		count++
		if n.Name == nil || text(n.Name) == "" {
			b.Errorf("a %s has no name (node %d)", text(n.Role), n.BackendDOMNodeID)
		}
	}
	if count < 10 {
		b.Errorf("only %d controls", count)
	}
	for _, what := range []string{
		"document.documentElement.lang", "document.title",
		fmt.Sprintf("document.querySelector('[data-panel=%s] [aria-live]')", panel),
		fmt.Sprintf("document.getElementById(document.querySelector('[data-panel=%s]').getAttribute('aria-labelledby')).getAttribute('aria-selected') !== 'false'", panel),
		fmt.Sprintf("document.querySelector('[data-panel=%s] [data-part=table] caption')", panel),
		fmt.Sprintf("[...document.querySelectorAll('[data-panel=%s] [data-part=table] th')].every((th) => th.scope)", panel),
	} {
		if !evaluate[bool](b, "!!("+what+")") {
			b.Errorf("not so: %s", what)
		}
	}
}

// A finger adds a measurement as a click does.
func TestTouch(t *testing.T) {
	s := newSite(t)
	b := blank(t)
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.start(s.url + "/lab#reactor")
	b.settle()
	before := reactorAsked(t, s)
	layer := b.show("[data-panel=reactor] .handles")
	b.act(func() { b.do(chromedp.TapXY(layer.X+0.75*layer.Width, layer.Y+90)) })
	now := reactorAsked(t, s)
	if len(now.Data) != len(before.Data)+1 {
		t.Errorf("measurements %v, before the tap %v", now.Data, before.Data)
	}
	checkReactor(b, now)
}

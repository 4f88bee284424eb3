package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Without a mouse.

// press presses keys.
func (b *tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// focusOn goes on with the Tab key until an element has the focus. A person would not
// press it more than a hundred times either. Where the focus is has to be visible.
func (b *tab) focusOn(selector string) {
	b.Helper()
	for range 100 {
		b.press(kb.Tab)
		if evaluate[bool](b, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			if !evaluate[bool](b, `(() => {
				const e = document.activeElement, s = getComputedStyle(e), ring = e.querySelector(".ring");
				const outlined = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none";
				return outlined || ring && getComputedStyle(ring).stroke !== "none" && getComputedStyle(ring).opacity !== "0";
			})()`) {
				b.Errorf("nothing shows that %s has the focus", selector)
			}
			return
		}
	}
	b.Fatalf("the Tab key does not come to %s", selector)
}

// The actions of each panel, with keys only.
func TestKeyboard(t *testing.T) {
	s := newSite(t)

	t.Run("reactor", func(t *testing.T) {
		b := open(t, s.url+"/lab#reactor")
		b.settle()
		before := reactorAsked(t, s)
		b.focusOn("[data-panel=reactor] [data-handle=threshold]")
		b.act(func() { b.press(kb.ArrowRight) })
		right := reactorAsked(t, s).Threshold
		b.act(func() { b.press(kb.ArrowLeft, chromedp.ModifierShift) })
		if left := reactorAsked(t, s).Threshold; right <= before.Threshold || left >= before.Threshold {
			t.Errorf("threshold %v, after → %v and after a large ← %v", before.Threshold, right, left)
		}
		b.focusOn("[data-panel=reactor] [data-handle='1']")
		b.act(func() { b.press(kb.ArrowUp) })
		if now := reactorAsked(t, s); now.Data[1] <= before.Data[1] {
			t.Errorf("measurement %v, after ↑ %v", before.Data[1], now.Data[1])
		}
		b.act(func() { b.press(kb.Delete) })
		if now := reactorAsked(t, s); len(now.Data) != len(before.Data)-1 || now.Data[1] != before.Data[2] {
			t.Errorf("measurements %v, after Delete %v", before.Data, now.Data)
		}
		if !evaluate[bool](b, "document.activeElement.matches('[data-panel=reactor] [data-handle]')") {
			t.Error("after Delete the focus is lost")
		}
		// A measurement is added by writing it.
		b.focusOn("#reactor-data")
		b.press(kb.End)
		b.act(func() { b.press(", 6") })
		if now := reactorAsked(t, s); now.Data[len(now.Data)-1] != 6 {
			t.Errorf("measurements %v, after writing 6", now.Data)
		}
		b.focusOn("[data-panel=reactor] [data-part=utility] input[data-action='1'][data-outcome='0'] ~ input[type=range]")
		b.act(func() { b.press(kb.ArrowLeft) })
		now := reactorAsked(t, s)
		if now.Utility[1][0] >= before.Utility[1][0] {
			t.Errorf("utility %v, after ← %v", before.Utility, now.Utility)
		}
		checkReactor(b, now)
	})

	t.Run("classifier", func(t *testing.T) {
		b := open(t, s.url+"/lab#reactor")
		b.focusOn("#tab-reactor")
		b.act(func() { b.press(kb.ArrowRight) })
		if !evaluate[bool](b, "document.activeElement.id === 'tab-classifier' && !document.querySelector('[data-panel=classifier]').hidden") {
			t.Fatal("→ does not come to the next tab")
		}
		before := classifierAsked(t, s)
		b.focusOn("[data-panel=classifier] [data-handle='0']")
		b.act(func() { b.press(kb.ArrowRight) })
		b.act(func() { b.press(kb.Enter) })
		now := classifierAsked(t, s)
		if now.X[0][0] <= before.X[0][0] || now.Labels[0] != 1-before.Labels[0] {
			t.Errorf("a point at %v of class %d, after → and Enter at %v of class %d", before.X[0], before.Labels[0], now.X[0], now.Labels[0])
		}
		b.focusOn("[data-panel=classifier] [data-part=costs] input[data-action='1'][data-outcome='0']")
		b.press("a", chromedp.ModifierCtrl)
		b.act(func() { b.press("0.2") })
		b.focusOn("[data-panel=classifier] details:has([data-part=points]) summary")
		b.press(kb.Enter)
		b.focusOn("[data-panel=classifier] [data-key='new-0']")
		b.press("3.5")
		b.act(func() { b.press(kb.Enter) })
		now = classifierAsked(t, s)
		if n := len(now.X); n != len(before.X)+1 || now.X[n-1][0] != 3.5 || now.Utility[1][0] != 1-0.2 {
			t.Errorf("after adding a point at 3.5 and a cost of 0.2: %+v", now)
		}
		b.press(kb.Tab, chromedp.ModifierShift)
		b.press(kb.Tab, chromedp.ModifierShift)
		checkClassifier(b, now)
	})

	t.Run("model", func(t *testing.T) {
		b := open(t, s.url+"/")
		b.settle()
		b.focusOn("#model-name")
		b.act(func() { b.press(kb.ArrowDown) })
		b.focusOn(rowsField)
		rows := "income,amount,job\n20,4,clerk\n33,9,smith\n"
		b.press("a", chromedp.ModifierCtrl)
		b.act(func() { b.paste(rows) })
		b.focusOn(fmt.Sprintf(costField, 1, 0) + " ~ input[type=range]")
		b.act(func() { b.press(strings.Repeat(kb.ArrowLeft, 3)) })
		spec := askedOf(t, s, "loans", "decide").spec(t, s.loans)
		checkDecisions(b, spec, decide(t, s.loans, rows, spec), decide(t, s.loans, rows, nil))
		before := askedOf(t, s, "loans", "curve")
		b.focusOn("[data-panel=model] [data-handle=now]")
		b.act(func() { b.press(kb.ArrowRight) })
		now := askedOf(t, s, "loans", "decide").spec(t, s.loans)
		table := func(text []string) string { return strings.Join(text, "\n") }
		if table(now.TableLines()) == table(before.spec(t, s.loans).TableLines()) {
			t.Errorf("→ on the line of the curve leaves the costs as they were:\n%s", table(now.TableLines()))
		}
	})
}

// An address that names no panel shows the first of the page, also where the name is
// one that every object of the language knows.
func TestAddressesThatNameNothing(t *testing.T) {
	for name, want := range map[string]string{
		"": "model", "#nothing": "model", "#constructor": "model", "#__proto__": "model", "#toString?data=1": "model", "#reactor": "model",
		"lab": "reactor", "lab#model": "reactor", "lab#classifier?__proto__=1&constructor=2": "classifier",
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, newSite(t).url+"/"+name)
			if shown := evaluate[string](b, `[...document.querySelectorAll("[data-panel]")].filter((p) => !p.hidden).map((p) => p.dataset.panel).join()`); shown != want {
				t.Errorf("the panel %q is shown", shown)
			}
		})
	}
}

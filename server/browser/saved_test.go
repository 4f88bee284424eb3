package browser

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// What can be taken away: files, and links.

// saved clicks a button that saves a file, and reads the file.
func (b *tab) saved(selector, name string) []byte {
	b.Helper()
	dir := b.TempDir()
	yes := true
	if _, err := chromedp.CallBrowser(b.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: &yes,
		BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
	}); err != nil {
		b.Fatal(err)
	}
	progress := chromedp.BrowserEvents(b.ctx, browser.DownloadProgress)
	b.click(selector)
	for e, err := range progress {
		if err != nil {
			b.Fatal(err)
		}
		if e.State == browser.DownloadProgressStateCompleted {
			break
		}
		if e.State == browser.DownloadProgressStateCanceled {
			b.Fatalf("%s was not saved", name)
		}
	}
	file, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		b.Fatal(err)
	}
	return file
}

// table reads a CSV file into columns.
func tableOf(t *testing.T, file []byte) map[string][]string {
	t.Helper()
	records, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(records) < 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	columns := make(map[string][]string)
	for k, name := range records[0] {
		for _, r := range records[1:] {
			columns[name] = append(columns[name], r[k])
		}
	}
	return columns
}

// equalNumbers compares cells with numbers, bit for bit.
func equalNumbers(cells []string, want []float64) bool {
	return slices.EqualFunc(cells, want, func(cell string, x float64) bool {
		got, err := strconv.ParseFloat(cell, 64)
		return err == nil && got == x
	})
}

// checkSVG checks that a picture is well-formed, needs nothing from elsewhere and says
// something.
func checkSVG(t *testing.T, file []byte, says ...string) {
	t.Helper()
	words := ""
	d := xml.NewDecoder(bytes.NewReader(file))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.CharData:
			words += string(e) + "\n"
		case xml.StartElement:
			for _, a := range e.Attr {
				name := a.Name.Local
				if (name == "href" || name == "src") && !strings.HasPrefix(a.Value, "data:") && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("the picture refers to %s", a.Value)
				}
			}
		}
	}
	for _, w := range says {
		if !strings.Contains(words, w) {
			t.Errorf("the picture does not say %q", w)
		}
	}
}

func TestSaved(t *testing.T) {
	s := newSite(t)
	t.Run("reactor", func(t *testing.T) {
		b := open(t, s.url+"/lab#reactor?data=-1,3,4.5&threshold=2.5&utility=1,0.1;0.7,1")
		b.settle()
		view := checkReactor(b, reactorAsked(t, s))
		methods := tableOf(t, b.saved("[data-panel=reactor] [data-part=save-table]", "reactor-methods.csv"))
		curves := tableOf(t, b.saved("[data-panel=reactor] [data-part=save-curves]", "reactor-densities.csv"))
		if !equalNumbers(curves["state"], view.Phi) {
			t.Error("the states of the curves are others")
		}
		for i, a := range view.Answers {
			if methods["method"][i] != a.Method || methods["action"][i] != []string{"leave on", "shut down"}[*a.Action] ||
				!equalNumbers([]string{methods["expected_worth_leave_on"][i], methods["expected_worth_shut_down"][i], methods["mean"][i], methods["variance"][i]},
					[]float64{a.ExpectedUtility[0], a.ExpectedUtility[1], a.Mean, a.Variance}) {
				t.Errorf("%s: the table has something else", a.Method)
			}
			if !equalNumbers(curves[a.Method], a.Density) {
				t.Errorf("%s: the density is another", a.Method)
			}
		}
		checkSVG(t, b.saved("[data-panel=reactor] [data-part=save-svg]", "reactor.svg"), "Loss-EP", "measurements -1, 3, 4.5", "threshold 2.5")
	})
	t.Run("classifier", func(t *testing.T) {
		b := open(t, s.url+"/lab#classifier?points=-1,0.5,-1;1,-0.5,1;0.2,1.5,1&area=-3,3;-2,2&costs=0,1;0.3,0&kernel=rbf(variance=4,+lengthscale=1)")
		b.settle()
		view := checkClassifier(b, classifierAsked(t, s))
		methods := tableOf(t, b.saved("[data-panel=classifier] [data-part=save-table]", "classifier-methods.csv"))
		places := tableOf(t, b.saved("[data-panel=classifier] [data-part=save-curves]", "classifier-probabilities.csv"))
		words := func(actions []int) (w []string) {
			for _, a := range actions {
				w = append(w, []string{"treat as negative", "treat as positive"}[a])
			}
			return w
		}
		if !equalNumbers(places["exact_probability"], view.Exact.Probability) || !slices.Equal(places["exact_action"], words(view.Exact.Action)) {
			t.Error("the exact answer is another")
		}
		for i, m := range view.Methods {
			if methods["method"][i+1] != m.Method || !equalNumbers([]string{methods["regret"][i+1], methods["regret_normalised"][i+1]}, []float64{m.Regret.Absolute, m.Regret.Normalised}) {
				t.Errorf("%s: the table has something else", m.Method)
			}
			if !equalNumbers(places[m.Method+"_probability"], m.Probability) || !slices.Equal(places[m.Method+"_action"], words(m.Action)) {
				t.Errorf("%s: probabilities or actions are others", m.Method)
			}
		}
		// The first coordinate runs fastest.
		if n := len(view.Axes[0]); !equalNumbers(places["x1"][:n], view.Axes[0]) || !equalNumbers(places["x2"][n:n+1], view.Axes[1][1:2]) {
			t.Error("the places are in another order")
		}
		checkSVG(t, b.saved("[data-panel=classifier] [data-part=save-svg]", "classifier.svg"), "Exact", "rbf(variance=4, lengthscale=1)")
	})
	t.Run("model", func(t *testing.T) {
		b := open(t, s.url+"/#model?name=cancer")
		b.settle()
		b.act(func() { b.write(rowsField, heldOut(30)) })
		b.act(func() { b.write(fmt.Sprintf(costField, 1, 0), "15") })
		spec := askedOf(t, s, "cancer", "decide").spec(t, s.cancer)
		now, own := decide(t, s.cancer, heldOut(30), spec), decide(t, s.cancer, heldOut(30), nil)
		saved := tableOf(t, b.saved("[data-panel=model] [data-part=save-table]", "cancer-decisions.csv"))
		for i, d := range now {
			e := d.Expected
			if saved["action"][i] != spec.Actions()[d.Action] || saved["flipped"][i] != strconv.FormatBool(d.Action != own[i].Action) ||
				!equalNumbers([]string{saved["probability"][i], saved["margin"][i], saved["cost_"+spec.Actions()[0]][i], saved["cost_"+spec.Actions()[1]][i]},
					[]float64{d.Probability(), d.Margin, e[0], e[1]}) {
				t.Errorf("row %d: the table has something else", i+1)
			}
		}
		curve := tableOf(t, b.saved("[data-panel=model] [data-part=save-curves]", "cancer-curve.csv"))
		asked := askedOf(t, s, "cancer", "curve")
		if len(curve["value"]) != asked.Steps || len(curve["always_"+spec.Actions()[1]]) != asked.Steps {
			t.Errorf("%d points of the curve, want %d", len(curve["value"]), asked.Steps)
		}
		checkSVG(t, b.saved("[data-panel=model] [data-part=save-svg]", "cancer-curve.svg"), "best decisions", "30 rows")
	})
}

// screen is everything that a panel shows: what is in its tables and its fields.
func (b *tab) screen(panel string) string {
	b.Helper()
	return evaluate[string](b, fmt.Sprintf(`(() => {
		const section = document.querySelector("[data-panel=%s]");
		const cells = [...section.querySelectorAll("[data-field]")].map((e) => [e.dataset.field, e.dataset.value, e.textContent]);
		const fields = [...section.querySelectorAll("input, select, textarea")].map((e) => [e.dataset.part ?? e.id, e.type === "checkbox" || e.type === "radio" ? e.checked : e.value]);
		return JSON.stringify([cells, fields, section.querySelector("[data-part=verdict]").textContent], null, 1);
	})()`, panel))
}

// A link shows somebody else the same.
func TestLinks(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		panel, link string
		change      func(b *tab)
	}{
		{"reactor", "lab#reactor", func(b *tab) {
			b.act(func() { b.write("#reactor-data", "1, 2.5, -3") })
			b.act(func() {
				b.show("[data-panel=reactor] .handles")
				h := b.handle("reactor", "threshold")
				b.drag(h.X, h.Y, h.X-80, h.Y)
			})
		}},
		{"classifier", "lab#classifier", func(b *tab) {
			b.act(func() { b.choose("#classifier-preset", "2") })
			b.act(func() { b.choose("#kernel-shape", "matern52") })
			b.act(func() {
				layer := b.show("[data-panel=classifier] .handles")
				b.do(chromedp.MouseClickXY(layer.X+0.6*layer.Width, layer.Y+120))
			})
		}},
		{"model", "#model?name=loans", func(b *tab) {
			b.act(func() { b.write(rowsField, "income,amount,job\n20,4,clerk\n33,9,smith\n10,1,pilot\n") })
			b.act(func() { b.write(fmt.Sprintf(costField, 1, 1), "0.9") })
			b.act(func() { b.click("[data-panel=model] [data-part=opinion]") })
		}},
	} {
		t.Run(c.panel, func(t *testing.T) {
			b := open(t, s.url+"/"+c.link)
			b.settle()
			start := b.screen(c.panel)
			c.change(b)
			want, address := b.screen(c.panel), evaluate[string](b, "location.href")
			if want == start {
				t.Fatal("nothing has changed; the test shows nothing")
			}
			other := open(t, address)
			other.settle()
			if got := other.screen(c.panel); got != want {
				t.Errorf("by the link %s the screen is\n%s\nwant\n%s", address, got, want)
			}
		})
	}
}

// The Back button returns to what was seen before.
func TestBack(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/lab#reactor")
	var screens []string
	for _, preset := range []string{"1", "2", "3"} {
		// Steps within a second are one.
		now := evaluate[float64](b, "performance.now()")
		b.until(fmt.Sprintf("performance.now() > %v", now+1000))
		b.act(func() { b.choose("#reactor-preset", preset) })
		screens = append(screens, b.screen("reactor"))
	}
	for _, want := range []string{screens[1], screens[0]} {
		b.act(func() { evaluate[bool](b, "history.back(), true") })
		if got := b.screen("reactor"); got != want {
			t.Fatalf("after Back the screen is\n%s\nwant\n%s", got, want)
		}
	}
}

package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lossep/lossep/lab"
)

const classifierPath = "/v1/explore/classifier"

// classifierAsked is the classifier that the page asked about last.
func classifierAsked(t *testing.T, s *site) lab.Classifier {
	t.Helper()
	var c lab.Classifier
	if err := json.Unmarshal(s.asking(t, classifierPath), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// checkClassifier compares the table with what the library says about the classifier
// that is on the screen.
func checkClassifier(b *tab, c lab.Classifier) *lab.ClassifierView {
	b.Helper()
	view, err := c.Solve(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	rows := b.rows("[data-panel=classifier] [data-part=table] tr[data-method]")
	if view.Exact == nil || len(rows) != 1+len(view.Methods) || rows[0].Data["method"] != "exact" {
		b.Fatalf("%d rows on the screen, the library has %d methods besides the exact %v", len(rows), len(view.Methods), view.ExactLeftOut)
	}
	if err := rows[0].holds("log_evidence", view.Exact.LogEvidence); err != nil {
		b.Error(err)
	}
	for i, m := range view.Methods {
		r := rows[1+i]
		errs := []error{
			r.holds("regret_normalised", m.Regret.Normalised), r.holds("regret", m.Regret.Absolute),
			r.holds("flips", float64(*m.Flips)), r.says("status", m.Converged),
		}
		errs = append(errs, checkEvidence(r, m))
		for _, err := range errs {
			if err != nil {
				b.Errorf("%s: %v", m.Method, err)
			}
		}
		if r.Data["method"] != m.Method {
			b.Errorf("row %d is %q, want %q", i, r.Data["method"], m.Method)
		}
	}
	return view
}

// checkEvidence sees that a log evidence is shown if it is of the points alone, and a lower
// bound as such.
func checkEvidence(r row, m lab.ClassifierAnswer) error {
	shown := r.field("log_evidence")[0].Text
	bound, isBound := strings.CutPrefix(shown, "≥ ")
	switch {
	case isBound != (m.Method == "vi"):
		return fmt.Errorf("log evidence %q", shown)
	case isBound:
		return reads(bound, *m.LogEvidence)
	case m.LogEvidence == nil || strings.HasPrefix(m.Method, "loss-"):
		if shown != "–" {
			return fmt.Errorf("log evidence %q, which is of something else", shown)
		}
		return nil
	}
	return r.holds("log_evidence", *m.LogEvidence)
}

func TestClassifier(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/lab#classifier")
	b.settle()
	checkClassifier(b, classifierAsked(t, s))
	b.picture("classifier-line")

	// A click at a share of the chart adds a point there; with two coordinates each is
	// checked against the scale that two points of known places give.
	add := func(t *testing.T, right, down float64, more ...chromedp.MouseOption) lab.Classifier {
		t.Helper()
		before := classifierAsked(t, s)
		layer := b.show("[data-panel=classifier] .handles")
		x, y := layer.X+right*layer.Width, layer.Y+down
		first, second := b.handle("classifier", "0"), b.handle("classifier", "1")
		b.act(func() { b.do(chromedp.MouseClickXY(x, y, more...)) })
		now := classifierAsked(t, s)
		n := len(before.X)
		if len(now.X) != n+1 || !slices.EqualFunc(now.X[:n], before.X, slices.Equal[[]float64]) {
			t.Fatalf("after a click the points are %v, before they were %v", now.X, before.X)
		}
		pixel := [2]float64{x, y}
		for k := range now.X[n] {
			a, z := [2]float64{first.X, first.Y}[k], [2]float64{second.X, second.Y}[k]
			want := before.X[0][k] + (pixel[k]-a)*(before.X[1][k]-before.X[0][k])/(z-a)
			// A click is rounded to a hundredth of the axis, or more finely.
			if got, step := now.X[n][k], (before.Grid.To[k]-before.Grid.From[k])/100; math.Abs(got-want) > step {
				t.Errorf("coordinate %d of a click at %v is %v", k, want, got)
			}
		}
		checkClassifier(b, now)
		return now
	}

	t.Run("points on the line", func(t *testing.T) {
		b.T = t
		if c := add(t, 0.7, 120); c.Labels[len(c.Labels)-1] != 1 {
			t.Errorf("labels %v", c.Labels)
		}
		if c := add(t, 0.3, 60, chromedp.ButtonModifiers(chromedp.ModifierShift)); c.Labels[len(c.Labels)-1] != 0 {
			t.Errorf("labels after a click with Shift %v", c.Labels)
		}
	})

	t.Run("costs and kernel", func(t *testing.T) {
		b.T = t
		b.act(func() {
			b.write("[data-panel=classifier] [data-part=costs] input[data-action='1'][data-outcome='0']", "0.08")
		})
		c := classifierAsked(t, s)
		// A cost is what it leaves of the dearest mistake.
		if want := [][]float64{{1, 0}, {1 - 0.08, 1}}; !slices.EqualFunc(c.Utility, want, slices.Equal[[]float64]) {
			t.Errorf("utility %v, want %v", c.Utility, want)
		}
		checkClassifier(b, c)
		b.act(func() { b.choose("#kernel-shape", "matern32") })
		c = classifierAsked(t, s)
		if !strings.HasPrefix(c.Kernel, "matern32(") {
			t.Errorf("kernel %q", c.Kernel)
		}
		checkClassifier(b, c)
	})

	t.Run("points in the plane", func(t *testing.T) {
		b.T = t
		b.act(func() { b.choose("#classifier-preset", "3") })
		if c := classifierAsked(t, s); len(c.X[0]) != 2 {
			t.Fatalf("points %v", c.X)
		}
		checkClassifier(b, classifierAsked(t, s))
		b.click("[data-panel=classifier] [name=adding][value='0']")
		if c := add(t, 0.55, 90); c.Labels[len(c.Labels)-1] != 0 {
			t.Errorf("labels %v", c.Labels)
		}
		b.picture("classifier-plane")
		before := classifierAsked(t, s)
		b.show("[data-panel=classifier] .handles")
		h := b.handle("classifier", "2")
		b.act(func() { b.drag(h.X, h.Y, h.X+60, h.Y-40) })
		now := classifierAsked(t, s)
		if now.X[2][0] <= before.X[2][0] || now.X[2][1] <= before.X[2][1] {
			t.Errorf("dragged right and up from %v to %v", before.X[2], now.X[2])
		}
		checkClassifier(b, now)
		b.choose("[data-panel=classifier] [data-part=surface]", "loss-ep")
		if label := evaluate[string](b, "document.querySelector('[data-panel=classifier] .pictures svg').getAttribute('aria-label')"); !strings.Contains(label, "Loss-EP") {
			t.Errorf("the surface is %q", label)
		}
	})

	t.Run("a point is removed", func(t *testing.T) {
		b.T = t
		before := classifierAsked(t, s)
		evaluate[bool](b, "[...document.querySelectorAll('[data-panel=classifier] details')].forEach((d) => d.open = true), true")
		b.act(func() { b.click(fmt.Sprintf("[data-panel=classifier] [data-key='remove-%d']", 1)) })
		now := classifierAsked(t, s)
		if want := slices.Delete(slices.Clone(before.X), 1, 2); !slices.EqualFunc(now.X, want, slices.Equal[[]float64]) {
			t.Errorf("points %v, want %v", now.X, want)
		}
		checkClassifier(b, now)
	})
	b.T = t
}

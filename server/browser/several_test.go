package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/lab"
)

// A model of three outcomes has a chance for each, a cost for each pair, and the triangle of
// its probabilities: every case lies in the region of its action, before and after a cost is
// moved.
func TestModelOfThreeOutcomes(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/#model?name=wards")
	b.settle()
	m, csv := s.wards, wardCases(24, 0.2)
	b.act(func() { b.write(rowsField, csv) })
	own := decide(t, m, csv, nil)
	checkDecisions(b, m.Utility(), own, own)
	checkTriangle(b, len(own), 4, 0)
	b.picture("model-three")

	b.act(func() { b.write(fmt.Sprintf(costField, 3, 1), "0.05") })
	spec := askedOf(t, s, "wards", "decide").spec(t, m)
	flips := checkDecisions(b, spec, decide(t, m, csv, spec), own)
	if flips == 0 {
		t.Error("nothing is flipped; the test shows nothing")
	}
	checkTriangle(b, len(own), 4, flips)
	b.picture("model-three-flipped")

	// Two outcomes have no triangle.
	b = open(t, s.url+"/#model?name=loans")
	b.settle()
	b.act(func() { b.write(rowsField, loanCases) })
	if !evaluate[bool](b, "document.querySelector('[data-panel=model] [data-part=simplex]').hidden") {
		t.Error("a model of two outcomes has a triangle of three")
	}
}

// checkTriangle looks at the picture itself: so many cases and regions, each case within
// the region of its action.
func checkTriangle(b *tab, cases, most, flips int) {
	b.Helper()
	const found = `(() => {
		const chart = document.querySelector("[data-panel=model] [data-part=simplex-chart] svg");
		const marks = [...chart.querySelectorAll("[data-row]")];
		const place = (mark) => { const box = mark.getBBox(); return new DOMPoint(box.x + box.width / 2, box.y + box.height / 2); };
		const inside = (mark) => { const region = chart.querySelector("[data-region='" + mark.dataset.action + "']"); return region && (region.isPointInFill(place(mark)) || region.isPointInStroke(place(mark))); };
		const regions = [...chart.querySelectorAll("[data-region]")];
		return {cases: marks.length, inside: marks.filter(inside).length, flipped: marks.filter((mark) => mark.dataset.flipped === "true").length, regions: regions.length, area: regions.reduce((sum, region) => sum + Number(region.dataset.area), 0)};
	})()`
	got := evaluate[struct {
		Cases, Inside, Flipped, Regions int
		Area                            float64
	}](b, found)
	if got.Cases != cases || got.Inside != cases || got.Flipped != flips || got.Regions < 2 || got.Regions > most || !(got.Area > 0.999 && got.Area < 1.001) {
		b.Errorf("the triangle shows %+v, want %d cases, all in the regions of their actions, %d of them flipped", got, cases, flips)
	}
}

// The classifier with three classes: what is asked, the methods that answer, the colours of
// the surface, and a mark that Enter changes in turn.
func TestClassifierOfThree(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/lab#classifier?points=-2,0,0;-1.5,0.5,0;2,0,1;1.5,0.5,1;0,2.5,2;0.3,2,2&area=-4,4;-3,3&costs=0,1,4;1,0,4;1,1,0&kernel=rbf(variance=8,lengthscale=1.4)")
	b.settle()
	check := func() lab.Classifier {
		t.Helper()
		asked := classifierAsked(t, s)
		view, err := asked.Solve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows := b.rows("[data-panel=classifier] [data-part=table] tr[data-method]")
		if view.Exact == nil || len(rows) != 1+len(view.Methods) || rows[0].Data["method"] != "exact" {
			t.Fatalf("%d rows on the screen, the library has %d methods besides the exact %v", len(rows), len(view.Methods), view.ExactLeftOut)
		}
		if err := rows[0].holds("log_evidence", view.Exact.LogEvidence); err != nil {
			t.Error(err)
		}
		rows = rows[1:]
		for i, m := range view.Methods {
			for _, err := range []error{rows[i].says("status", m.Converged), checkEvidence(rows[i], m), rows[i].holds("regret", m.Regret.Absolute)} {
				if err != nil || rows[i].Data["method"] != m.Method {
					t.Errorf("row %d, %s: %v", i, m.Method, err)
				}
			}
		}
		return asked
	}
	asked := check()
	if len(asked.Utility) != 3 || !slices.Equal(asked.Utility[0], []float64{4, 3, 0}) || !slices.Equal(asked.Labels, []int{0, 0, 1, 1, 2, 2}) {
		t.Errorf("asked %v and %v", asked.Labels, asked.Utility)
	}
	// Where the points of a class are its colour prevails: blue, orange, green.
	for k, channel := range []int{2, 0, 1} {
		colour := evaluate[[]int](b, fmt.Sprintf(`(() => {
			const {left, top, width, height} = document.querySelector("[data-panel=classifier] [data-handle='%d'] .mark").getBoundingClientRect();
			const cell = document.elementsFromPoint(left + width / 2, top + height / 2).find((e) => e.tagName === "rect" && e.closest(".pictures"));
			return getComputedStyle(cell).fill.match(/\d+/g).map(Number);
		})()`, 2*k))
		if len(colour) != 3 || colour[channel] != slices.Max(colour) {
			t.Errorf("class %d lies on the colour %v", k, colour)
		}
	}
	b.picture("classifier-three")
	b.act(func() {
		evaluate[bool](b, `(document.querySelector("[data-panel=classifier] [data-handle='4']").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true})), true)`)
	})
	if after := check(); !slices.Equal(after.Labels, []int{0, 0, 1, 1, 0, 2}) {
		t.Errorf("after Enter on the fifth point the labels are %v", after.Labels)
	}
	lead := func() string {
		return evaluate[string](b, "document.querySelector('[data-panel=classifier] [data-part=lead]').textContent")
	}
	if text := lead(); !strings.Contains(text, "three classes") || strings.Contains(text, "positive") {
		t.Error(text)
	}
	// Two classes come back with costs and words of their own.
	b.act(func() { b.click("[data-panel=classifier] [name=dimension][value='1']") })
	if n := evaluate[int](b, "document.querySelectorAll('[data-panel=classifier] .entries input[data-action]').length"); n != 4 {
		t.Errorf("%d entries of costs for two classes", n)
	}
	if text := lead(); !strings.Contains(text, "the positive class") {
		t.Error(text)
	}
}

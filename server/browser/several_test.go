package browser

import (
	"fmt"
	"testing"
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

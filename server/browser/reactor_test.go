package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lossep/lossep/lab"
)

const reactorPath = "/v1/explore/reactor"

// reactorAsked is the reactor that the page asked about last.
func reactorAsked(t *testing.T, s *site) lab.ReactorRequest {
	t.Helper()
	var r lab.ReactorRequest
	if err := json.Unmarshal(s.asking(t, reactorPath), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// checkReactor compares everything in the table with what the library says about the
// reactor that is on the screen.
func checkReactor(b *tab, r lab.ReactorRequest) *lab.ReactorView {
	b.Helper()
	view, err := r.Solve(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	rows := b.rows("[data-panel=reactor] [data-part=table] tr[data-method]")
	if len(rows) != len(view.Answers) || len(rows) == 0 {
		b.Fatalf("%d methods on the screen, the library has %d", len(rows), len(view.Answers))
	}
	for i, a := range view.Answers {
		r := rows[i]
		var turns []float64
		for _, part := range a.Ranges[min(1, len(a.Ranges)):] {
			turns = append(turns, part.From)
		}
		for _, err := range []error{
			r.says("action", *a.Action), r.says("agrees", *a.Agrees), r.holds("expected", a.ExpectedUtility...),
			r.holds("probability_above", a.ProbabilityAbove), r.holds("mean", a.Mean), r.holds("sd", math.Sqrt(a.Variance)),
			r.says("turns", text(turns...)), r.says("status", a.Converged),
		} {
			if err != nil {
				b.Errorf("%s: %v", a.Method, err)
			}
		}
		if r.Data["method"] != a.Method {
			b.Errorf("row %d is %q, want %q", i, r.Data["method"], a.Method)
		}
		if action := r.field("action")[0].Text; action != []string{"leave on", "shut down"}[*a.Action] {
			b.Errorf("%s: action %q is to be read, want action %d", a.Method, action, *a.Action)
		}
	}
	return view
}

// handle is something that can be taken hold of in a chart, with its value.
type handle struct {
	X, Y float64 // its middle
	Now  float64
}

func (b *tab) handle(panel, id string) handle {
	b.Helper()
	return evaluate[handle](b, fmt.Sprintf(`(() => {
		const e = document.querySelector('[data-panel=%s] [data-handle="%s"]');
		const {x, y} = e.querySelector(".mark, .knob").getBoundingClientRect(), r = e.querySelector(".mark, .knob").getBoundingClientRect();
		return {X: x + r.width / 2, Y: y + r.height / 2, Now: Number(e.getAttribute("aria-valuenow"))};
	})()`, panel, id))
}

func TestReactor(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/lab#reactor")
	b.settle()
	first := reactorAsked(t, s)
	before := checkReactor(b, first)
	if len(before.Answers) != 5 || before.Answers[0].Method != "exact" {
		t.Errorf("the first view has %d answers", len(before.Answers))
	}
	b.picture("reactor")

	t.Run("click adds a measurement", func(t *testing.T) {
		b.T = t
		layer := b.show("[data-panel=reactor] .handles")
		one, line := b.handle("reactor", "0"), b.handle("reactor", "threshold")
		x, y := layer.X+0.8*layer.Width, layer.Y+80
		b.act(func() { b.do(chromedp.MouseClickXY(x, y)) })
		now := reactorAsked(t, s)
		if !slices.Equal(now.Data[:len(now.Data)-1], first.Data) {
			t.Fatalf("after a click the measurements are %v, before they were %v", now.Data, first.Data)
		}
		// Two handles give the scale. Clicks are rounded to a tenth, which is a few pixels.
		want := one.Now + (x-one.X)*(line.Now-one.Now)/(line.X-one.X)
		if got := now.Data[len(now.Data)-1]; math.Abs(got-want) > 0.1 {
			t.Errorf("a click at %v added %v", want, got)
		}
		checkReactor(b, now)
	})

	t.Run("dragging the threshold flips a method", func(t *testing.T) {
		b.T = t
		b.act(func() { b.choose("#reactor-preset", "0") })
		view := checkReactor(b, reactorAsked(t, s))
		// To where EP and the exact posterior have both changed their minds.
		line, one := b.handle("reactor", "threshold"), b.handle("reactor", "3")
		target := (view.Answers[0].Ranges[1].From + view.Domain[1]) / 2
		x := line.X + (target-line.Now)*(one.X-line.X)/(one.Now-line.Now)
		b.act(func() { b.drag(line.X, line.Y, x, line.Y+20) })
		now := reactorAsked(t, s)
		if math.Abs(now.Threshold-target) > 0.15 {
			t.Errorf("the threshold was dragged to %v, and is %v", target, now.Threshold)
		}
		after := checkReactor(b, now)
		live := b.inner("[data-panel=reactor] [data-part=live]")
		flips := 0
		for i, a := range after.Answers {
			if *a.Action != *view.Answers[i].Action {
				flips++
			}
		}
		if flips == 0 || *after.Answers[0].Action == *view.Answers[0].Action || !strings.Contains(live, "leaves the reactor on") {
			t.Errorf("%d methods flipped; the page says %q", flips, live)
		}
		b.picture("reactor-flipped")
	})

	t.Run("changing what an action is worth", func(t *testing.T) {
		b.T = t
		entry := "[data-panel=reactor] [data-part=utility] input[data-action='1'][data-outcome='0']"
		b.act(func() { b.write(entry, "0.25") })
		now := reactorAsked(t, s)
		if now.Utility[1][0] != 0.25 {
			t.Errorf("utility %v", now.Utility)
		}
		checkReactor(b, now)
		b.act(func() {
			b.click(entry + " ~ input[type=range]")
			b.do(chromedp.KeyEvent(kb.End))
		})
		if end := reactorAsked(t, s); end.Utility[1][0] <= 0.25 {
			t.Errorf("the slider at its end means %v", end.Utility)
		}
		checkReactor(b, reactorAsked(t, s))
	})

	t.Run("no measurements", func(t *testing.T) {
		b.T = t
		b.act(func() { b.click("[data-panel=reactor] [data-part=clear]") })
		if rows := b.rows("[data-panel=reactor] [data-part=table] tr[data-method]"); len(rows) != 0 {
			t.Errorf("%d rows for no measurements", len(rows))
		}
	})
	b.T = t
}

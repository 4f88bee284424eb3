package browser

import (
	"fmt"
	"strings"
	"testing"
)

// What the panels say in words where the usual words would be false. One tab goes from
// one to the next, so that what was said before has to go.
func TestVerdicts(t *testing.T) {
	s := newSite(t)
	const points = "classifier?points=-1,-1;1,1&area=-3,3"
	b := open(t, s.url+"/lab#"+points)
	b.refused()
	for _, c := range []struct {
		name, view string
		says       map[string]string // by part; nothing stands for nothing
	}{
		{"the usual way", points + "&costs=0,1;1,0", map[string]string{"verdict": "at least 50.0% probable", "chart": "act above 50.0%"}},
		{"costs the other way round", points + "&costs=1,0;0,1", map[string]string{"verdict": "at most 50.0% probable", "chart": "act below 50.0%"}},
		{"costs all the same", points + "&costs=2,2;2,2", map[string]string{"verdict": "All four cost the same: there is nothing to decide."}},
		{"a kernel nobody knows", points + "&kernel=nonsense", map[string]string{"verdict": "", "error": "nonsense"}},
		{"in the plane", "classifier?points=-1,0,-1;1,0,1&area=-3,3;-3,3&costs=1,0;0,1", map[string]string{"verdict": "at most 50.0%", "lines": "begins to act (below 50.0%)"}},
		{"less junk", "reactor?data=1,2&threshold=2&clutter_weight=0.2", map[string]string{"junk": "20.0% of the measurements are junk", "verdict": "Right is to"}},
		{"worth nothing", "reactor?data=1,2&threshold=2&utility=0,0;0,0", map[string]string{"verdict": "", "error": "utility"}},
		{"worth the same", "reactor?data=1,2&threshold=2&utility=1,1;1,1", map[string]string{"verdict": "", "error": "all actions have the same entries", "junk": "half of the measurements are junk"}},
		{"danger below", "reactor?data=1,2&threshold=2&utility=0,1;1,0", map[string]string{"verdict": "leaving it on pays from 50.0% on"}},
		{
			"turns that are close together", "reactor?data=4.3,-3.7,3.8&threshold=9&utility=1,0.01;0.9244716446327346,1",
			map[string]string{"table": "10.01, 10.46, 10.97 (looked at every 0.8; known to 0.006;"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			b.act(func() { evaluate[bool](b, fmt.Sprintf("location.hash = %q, true", "#"+c.view)) })
			panel, _, _ := strings.Cut(c.view, "?")
			for part, want := range c.says {
				// What is drawn has text, too, of which innerText knows nothing.
				got := evaluate[string](b, fmt.Sprintf("document.querySelector('[data-panel=%s] [data-part=%s]').textContent", panel, part))
				if !strings.Contains(got, want) || want == "" && got != "" {
					t.Errorf("the %s says %q, want %q", part, got, want)
				}
			}
			b.picture("verdict-" + strings.ReplaceAll(c.name, " ", "-"))
		})
	}
}

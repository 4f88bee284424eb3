package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
)

// Every family gets a figure that is a document of its own, whatever columns and categories are called; of
// hundreds the most important ones are drawn, and the rest are counted.
func TestEffectsOf(t *testing.T) {
	t.Parallel()
	hostile := "<script>alert(1)</script> & \"it's\""
	axis := lossep.EffectAxis{Column: hostile, Labels: []string{"missing", hostile, "b"}}
	number := lossep.EffectAxis{Column: "hour", Labels: []string{"missing", "below 3", "from 3"}, Cuts: []float64{3}}
	cells := []lossep.EffectCell{{At: []int{1}, Mean: 0.4, SD: 0.1}, {At: []int{2}, Mean: -0.2, SD: 0.3}}
	pairs := []lossep.EffectCell{{At: []int{1, 1}, Mean: 0.4, SD: 0.1}, {At: []int{2, 2}, Mean: -0.2, SD: 0.3}}
	all := []lossep.EffectFamily{
		{Term: "effects(" + hostile + ")", Axes: []lossep.EffectAxis{axis}, Cells: cells, Share: 0.5},
		{Term: "effects(hour/2)", Axes: []lossep.EffectAxis{number}, Cells: cells, Share: 0.3},
		{Term: "effects(hour/2, " + hostile + ")", Axes: []lossep.EffectAxis{number, axis}, Cells: pairs, Share: 0.1},
	}
	for i := range 497 {
		all = append(all, lossep.EffectFamily{Term: fmt.Sprintf("effects(x%d/2)", i), Axes: []lossep.EffectAxis{number}, Cells: cells})
	}
	found, err := EffectsOf(all, &recipe.Target{Column: "late", Outcomes: []string{"no", "yes"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Families) != mostEffects || found.More != 500-mostEffects || !strings.Contains(found.Text, "towards yes") {
		t.Errorf("%d families and %d more: %s", len(found.Families), found.More, found.Text)
	}
	for _, f := range found.Families {
		d := xml.NewDecoder(strings.NewReader(f.SVG))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Term, err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
				t.Errorf("%s: a category became an element", f.Term)
			}
		}
	}
	none, err := EffectsOf(nil, &recipe.Target{Column: "sold", Number: true})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(none); err != nil || !strings.Contains(string(text), `"effects":[]`) || !strings.Contains(none.Text, "no effects") {
		t.Errorf("%s: %v", text, err)
	}
}

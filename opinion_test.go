package lossep

import (
	"math"
	"testing"

	"github.com/lossep/lossep/decision"
)

// A method that has no number for a row has no opinion on it, which is no dissent, and
// nobody is asked whether its number could be corrected.
func TestNoOpinionIsNoDissent(t *testing.T) {
	costs := decision.Stakes{Table: decision.Table{{0, 5}, {1, 0}}, Costs: true}
	nothing := []float64{math.NaN(), math.NaN()}
	for action := range costs.Table {
		d := Decision{Choice: decision.Choice{Action: action}, Stakes: costs}
		d.hear(EP, nothing)
		if len(d.Dissent) != 0 {
			t.Errorf("action %d: %v", action, d.Dissent)
		}
		if rows := closeCalls([]Decision{d}, [][]float64{nothing}, 1); len(rows) != 0 {
			t.Errorf("action %d: the corrections of no number are asked for", action)
		}
		d.hear(EP, []float64{float64(action), float64(1 - action)})
		if got, ok := d.Dissent[EP]; !ok || got != 1-action {
			t.Errorf("action %d: %v", action, d.Dissent)
		}
	}
}

package pass_test

import (
	"encoding/json"
	"testing"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/pass"
)

// Options arrive at another machine as they are; a rule that is not known there is refused.
func TestOptionsAsJSON(t *testing.T) {
	for _, rule := range []infer.Rule{infer.Propagation{Power: 0.5}, infer.Variational{}, infer.Curvature{}} {
		want := pass.Options{Rule: rule, Damping: 0.25, Sweeps: 3}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got pass.Options
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Rule": "guess"}`), new(pass.Options)); err == nil {
		t.Error("an unknown rule is taken")
	}
}

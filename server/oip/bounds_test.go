package oip

import (
	"strings"
	"testing"
)

// As many inputs are read as there can be.
func TestInputsThatCanBe(t *testing.T) {
	inputs := func(n int) []byte { return []byte(`{"inputs":[` + strings.Repeat(`{},`, n-1) + `{}]}`) }
	if q, _, err := Read("", inputs(131), 131); err != nil || len(q.Inputs) != 131 {
		t.Errorf("%v", err)
	}
	if _, _, err := Read("", inputs(132), 131); err == nil {
		t.Error("one more is accepted")
	}
}

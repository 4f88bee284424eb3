package pass

import (
	"encoding/json"
	"fmt"

	"github.com/lossep/lossep/infer"
)

// Options of a pass. The zero value is expectation propagation without damping.
type Options struct {
	// Rule makes the sites; nil stands for infer.Propagation.
	Rule infer.Rule
	// Damping is δ in site ← (1−δ)·site + δ·update. Zero stands for 1, no damping.
	Damping float64
	// Sweeps is how often Over goes over the rows of a shard before others see what it
	// changed; zero stands for once. Where a pass is slow to begin, more of them make passes
	// fewer; the fixed point is the same.
	Sweeps int
}

func (o Options) damping() float64 {
	if o.Damping == 0 {
		return 1
	}
	return o.Damping
}

func (o Options) rule() infer.Rule {
	if o.Rule == nil {
		return infer.Propagation{}
	}
	return o.Rule
}

// written is the form in which options go to another machine.
type written struct {
	Rule           string
	Power, Damping float64
	Sweeps         int
}

// MarshalJSON implements json.Marshaler.
func (o Options) MarshalJSON() ([]byte, error) {
	w := written{Damping: o.Damping, Sweeps: o.Sweeps}
	switch r := o.rule().(type) {
	case infer.Propagation:
		w.Rule, w.Power = "propagation", r.Power
	case infer.Variational:
		w.Rule = "variational"
	case infer.Curvature:
		w.Rule = "curvature"
	default:
		return nil, fmt.Errorf("pass: a rule %T has no name", r)
	}
	return json.Marshal(w)
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Options) UnmarshalJSON(text []byte) error {
	var w written
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	rules := map[string]infer.Rule{
		"propagation": infer.Propagation{Power: w.Power}, "variational": infer.Variational{}, "curvature": infer.Curvature{},
	}
	rule, ok := rules[w.Rule]
	if !ok {
		return fmt.Errorf("pass: there is no rule %q", w.Rule)
	}
	*o = Options{rule, w.Damping, w.Sweeps}
	return nil
}

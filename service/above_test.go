package service

import "testing"

// A half-life of nothing would forget everything, and is no way to say that nothing is to be forgotten.
func TestHalfLifeIsAboveZero(t *testing.T) {
	for text, ok := range map[string]bool{"0": false, "-3": false, "0.0": false, "6": true} {
		u := NewUpdate()
		for _, o := range u.Options {
			if o.Name == "half-life" {
				if err := o.Value.Set(text); (err == nil) != ok {
					t.Errorf("--half-life %s: %v", text, err)
				}
			}
		}
	}
}

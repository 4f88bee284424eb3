package report

import (
	"strings"
	"testing"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/numbers"
)

// Predictions are trusted where the intervals, the quantile that decides and the costs are as expected.
func TestTrustInPredictions(t *testing.T) {
	measure := func(value, off float64) audit.Measure {
		return audit.Measure{Value: value, Low: value - off, High: value + off}
	}
	for _, c := range []struct {
		name                      string
		coverage, upTo, surprise  float64
		answer, tells, tellsNever string
	}{
		{"all as expected", 0.9, 0.75, 0, "yes", "75.0 % of the outcomes to be no larger than the action; 75.0 % are", "too"},
		{"actions too large", 0.9, 0.8, 0, "in part", "actions are too large", "predictions are too"},
		{"actions far too small", 0.9, 0.55, 0, "no", "actions are too small", "predictions are too"},
		{"intervals", 0.85, 0.75, 0, "in part", "predictions are too narrow", "actions are too"},
		{"costs", 0.9, 0.75, 0.2, "in part", "", "too"},
		{"far higher costs", 0.9, 0.75, 0.3, "no", "", "too"},
	} {
		r := &NumberAudit{Audit: &numbers.Audit{Methods: []numbers.Audited{{Name: "model", Cost: 1 + c.surprise}}}}
		r.Scores = numbers.Scores{
			Coverage: []numbers.Covered{{Level: 0.9, Compared: numbers.Compared{Expected: 0.9, Share: measure(c.coverage, 0.03)}}}, Expected: 1, Surprise: measure(c.surprise, 0.1),
			UpToAction: &numbers.Compared{Expected: 0.75, Share: measure(c.upTo, 0.03)},
		}
		v := r.aboutPredictions()
		if v.Answer != c.answer || !strings.Contains(v.Finding, c.tells) || strings.Contains(v.Finding, c.tellsNever) {
			t.Errorf("%s: %s: %s", c.name, v.Answer, v.Finding)
		}
	}
	r := &NumberAudit{Audit: &numbers.Audit{Leaks: []string{"late"}}}
	if v := leakage(r.Leaks); v.Answer != "check late" || v.Tone != audit.Bad {
		t.Errorf("%+v", v)
	}
}

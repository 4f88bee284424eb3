package decision_test

import (
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
)

// TestTerm: at one point that may exceed a threshold the utility is a step, whose
// expectation is that of the utility itself.
func TestTerm(t *testing.T) {
	u, err := decision.NewUtility(decision.Exceeds(2.2), 1, nil, decision.Table{{1, 0.01}, {0, 0.8}})
	if err != nil {
		t.Fatal(err)
	}
	m, v, d1, d2 := []float64{1.3}, []float64{2}, []float64{0}, []float64{0}
	for action, want := range []factor.Step{{T: 2.2, Below: 1, Above: 0.01}, {T: 2.2, Below: 0, Above: 0.8}} {
		term, raised, ok := u.Term([]int{action}, 0)
		if !ok || raised != 0 || term != factor.Factor(want) {
			t.Errorf("action %d is %+v raised by %v", action, term, raised)
		}
		l, g, _ := term.LogMean(m[0], v[0])
		if log := u.LogMean([]int{action}, m, v, d1, d2); !close(log, l) || !close(d1[0], g) {
			t.Errorf("action %d: log-mean %v with slope %v, as a term %v and %v", action, log, d1[0], l, g)
		}
	}
	// Only what touches zero is raised.
	for action, want := range []float64{0, 0.08} {
		if _, raised, _ := u.Term([]int{action}, 0.1); !close(raised, want) {
			t.Errorf("action %d raised by %v, want %v", action, raised, want)
		}
	}
	term, _, _ := u.Term([]int{1}, 0.1)
	if step := term.(factor.Step); !close(step.Below, 0.08) || !close(step.Above, 0.88) {
		t.Errorf("raised to %+v", step)
	}
}

func TestNoTerm(t *testing.T) {
	table := decision.Table{{1, 0}, {0, 1}}
	for name, o := range map[string]struct {
		decision.Outcome
		points int
	}{"two points": {decision.Exceeds(0), 2}, "a smooth outcome": {decision.Probit(), 1}} {
		u, err := decision.NewUtility(o.Outcome, o.points, nil, table)
		if err != nil {
			t.Fatal(err)
		}
		if term, _, ok := u.Term(make([]int, o.points), 0); ok {
			t.Errorf("%s: %v", name, term)
		}
	}
}

func close(a, b float64) bool { return a-b < 1e-14 && b-a < 1e-14 }

package infer_test

import (
	"context"
	"math"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/problems"
)

// Sweeps over many sites at once see where they settle: they come to the same fixed point as
// visits one by one, in a few sweeps. Without looking ahead it took 18 or 19.
func TestSweepsSettleSoon(t *testing.T) {
	for seed := range uint64(3) {
		p, labels := problems.Process(t, 130, seed)
		m, err := p.Classify(labels)
		if err != nil {
			t.Fatal(err)
		}
		calibrated := *m
		if calibrated.Utility, err = decision.NewUtility(decision.Probit(), 130, nil, decision.Table{{1, 0}, {0.7, 1}}); err != nil {
			t.Fatal(err)
		}
		calibrated.Points = m.Views
		for name, model := range map[string]*infer.Model{"EP": m, "Loss-EP": &calibrated} {
			want, err := infer.EP{Tolerance: 1e-11}.Fit(context.Background(), model)
			if err != nil || !want.Status.Converged {
				t.Fatalf("%v, %+v", err, want.Status)
			}
			got, err := infer.EP{Schedule: infer.Parallel, Tolerance: 1e-11}.Fit(context.Background(), model)
			if err != nil || !got.Status.Converged {
				t.Fatalf("%v, %+v", err, got.Status)
			}
			if model.Utility == nil && got.Status.Sweeps > 8 {
				t.Errorf("%s: %d sweeps", name, got.Status.Sweeps)
			}
			// The sites have settled to 1e-11 of their marginals.
			if d := math.Abs(got.LogEvidence - want.LogEvidence); !(d < 1e-8) {
				t.Errorf("%s: the evidence is off by %v", name, d)
			}
			for i, s := range got.Sites.Terms {
				w := want.Sites.Terms[i]
				if !(math.Abs(s.Nu-w.Nu) < 1e-7*(1+math.Abs(w.Nu)) && math.Abs(s.Tau-w.Tau) < 1e-7*(1+math.Abs(w.Tau))) {
					t.Fatalf("%s: site %d is %v, one by one %v", name, i, s, w)
				}
			}
		}
	}
}

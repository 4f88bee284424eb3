package lab

import (
	"context"
	"math"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/infer"
)

// Movement is by how much Loss-EP moves q, in standard deviations, and the share of
// decisions that are others, for a utility and a number of points.
type Movement struct {
	U10           float64
	Points        int
	Moved, Others float64
}

// The utility is a mean over all points, so that no single one pulls much at q: from ten
// points on, which stand for p(x) as well as a thousand, Loss-EP moves the mean of q by a
// hundredth of a standard deviation, and hardly a decision is another. The table and the
// figures are in docs/research/methods.md.
func TestHowFarTheUtilityMovesQ(t *testing.T) {
	MeasureMovements(t, []float64{0, 0.5, 0.95}, []int{1, 10, 100, 1000})
}

// MeasureMovements is for the figures, which a test of another package draws.
func MeasureMovements(t *testing.T, asymmetries []float64, numbers []int) (all []Movement) {
	const sets = 10
	ctx := context.Background()
	s := NewSimulation(1, sets, 1000)
	at := s.places()
	var problems []*paperProblem
	var plain []*infer.Result
	for i := range sets {
		p, err := s.problem(i)
		if err != nil {
			t.Fatal(err)
		}
		r, err := infer.EP{}.Fit(ctx, p.model)
		if err != nil || !r.Status.Converged {
			t.Fatal(err, r.Status)
		}
		problems, plain = append(problems, p), append(plain, &r.Result)
	}
	everywhere := gather(at.x, at.of[0])
	for _, u10 := range asymmetries {
		threshold, _, _ := decision.Stakes{Table: UtilityTable(u10)}.Threshold()
		last := math.Inf(1)
		for _, points := range numbers {
			moved, flipped, settled := 0.0, 0, 0
			for i, p := range problems {
				var x []float64
				for j := range points {
					x = append(x, -reach+2*reach*(float64(j)+0.5)/float64(points))
				}
				if points == 1 {
					x[0] = 1 // and not the middle, where a symmetric problem has a tie
				}
				m := *p.model
				m.Points = p.process.At(column(x))
				var err error
				if m.Utility, err = newPaperUtility(u10, m.Points); err != nil {
					t.Fatal(err)
				}
				r, err := infer.EP{}.Fit(ctx, &m)
				if err != nil || !r.Status.Converged {
					continue // it is of what settles that the table speaks
				}
				settled++
				views := p.process.At(column(everywhere))
				var mean, variance, probability [2][]float64
				for k, q := range []infer.Posterior{infer.Gaussian{Gaussian: plain[i].Q}, infer.Gaussian{Gaussian: r.Q}} {
					mean[k], variance[k], probability[k] = make([]float64, len(everywhere)), make([]float64, len(everywhere)), make([]float64, len(everywhere))
					q.Moments(views, mean[k], variance[k])
					q.Expect(views, factor.Probit{Y: 1}, probability[k], make([]float64, len(everywhere)))
				}
				most := 0.0
				for j := range everywhere {
					most = max(most, math.Abs(mean[1][j]-mean[0][j])/math.Sqrt(variance[0][j]))
					if (probability[0][j] > threshold) != (probability[1][j] > threshold) {
						flipped++
					}
				}
				moved += most
			}
			moved /= float64(settled)
			share := float64(flipped) / float64(settled*len(everywhere))
			t.Logf("u10 = %.2f, %4d points: the mean of q moves by up to %.4f standard deviations, %.3f %% of decisions are others (%d of %d data sets)", u10, points, moved, 100*share, settled, sets)
			if settled < sets/2 {
				t.Errorf("Loss-EP settled on %d of %d data sets", settled, sets)
			}
			if points >= 10 && !(moved < 0.03 && share < 0.01) {
				t.Errorf("u10 = %v: %d points move q by %v, and %v of the decisions are others", u10, points, moved, share)
			}
			if points == 1000 && math.Abs(moved-last) > 0.1*last {
				t.Errorf("u10 = %v: 1000 points move q by %v, 100 by %v", u10, moved, last)
			}
			last = moved
			all = append(all, Movement{u10, points, moved, share})
		}
	}
	return all
}

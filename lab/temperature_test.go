package lab

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/normal"
)

var temperatures = flag.Int("temperatures", 0, "compare ways to calibrate on so many data sets; 20 are those of docs/research/methods.md")

// tempered is a utility between none and more than all of itself: U + s with a shift s that
// is in proportion to its mean, s = E[U](1/β − 1). A shift does not move the derivatives of the
// mean, so that both logarithmic ones are β times as large, and the tilted moments stay exact.
// For β = 0 it is constant and q is that of EP, for β = 1 it is U; beyond, it is as if all of the
// worst outcomes were worth less than nothing.
type tempered struct {
	*paperUtility
	beta float64
}

func (u tempered) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	l := u.paperUtility.LogMean(actions, m, v, d1, d2)
	for j := range d1 {
		d1[j] *= u.beta
		d2[j] *= u.beta
	}
	return l
}

// way is a way to calibrate that is compared with others.
type way struct {
	name   string
	answer func(ctx context.Context, p *paperProblem, own []float64, at places) (answer, int)
}

// temper has Loss-EP at a temperature decide the points of each of some groups of neighbours,
// with a utility over them alone. It counts the runs that did not converge, whose points are
// decided as by EP.
func temper(beta float64, groups int) way {
	name := fmt.Sprintf("β = %g", beta)
	if groups > 1 {
		name = fmt.Sprintf("%d sites", groups)
	}
	return way{name, func(ctx context.Context, p *paperProblem, own []float64, at places) (answer, int) {
		a, failed := make(answer, len(Utilities())), 0
		for u, u10 := range Utilities() {
			for s := range Shifts() {
				value := slices.Clone(own)
				of := at.of[s]
				for g := range groups {
					some := of[g*len(of)/groups : (g+1)*len(of)/groups]
					m := *p.model
					m.Points = p.process.At(column(gather(at.x, some)))
					utility, err := newPaperUtility(u10, m.Points)
					if err != nil {
						panic(err)
					}
					m.Utility = tempered{utility, beta}
					r, err := infer.EP{}.Fit(ctx, &m)
					if err != nil || !r.Status.Converged {
						failed++
						continue
					}
					probability, err := probitProbabilities(ctx, &r.Result, m.Points)
					if err != nil {
						panic(err)
					}
					for k, i := range some {
						value[i] = probability[k]
					}
				}
				a[u] = append(a[u], value)
			}
		}
		return a, failed
	}}
}

// shared is the evidence method with one question for the points of each of some groups of
// neighbours: what is the mean probability of the positive outcome among them? The probabilities
// of EP are moved by as much for all of them, on the scale of the latent value.
func shared(groups int) way {
	return way{fmt.Sprintf("%d questions", groups), func(ctx context.Context, p *paperProblem, own []float64, at places) (answer, int) {
		order, value, failed := make([]int, len(at.x)), slices.Clone(own), 0
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(at.x[i], at.x[j]) })
		for g := range groups {
			some := order[g*len(order)/groups : (g+1)*len(order)/groups]
			m := *p.model
			m.Points = p.process.At(column(gather(at.x, some)))
			var logs [2]float64
			ok := true
			for y, table := range []decision.Table{{{1, 0}, {1, 0}}, {{0, 1}, {0, 1}}} {
				var err error
				if m.Utility, err = decision.NewUtility(decision.Probit(), len(some), nil, table); err != nil {
					panic(err)
				}
				r, err := infer.EP{}.Fit(ctx, &m)
				if ok = ok && err == nil && r.Status.Converged; ok {
					logs[y] = r.LogEvidence
				}
			}
			if !ok {
				failed++
				continue
			}
			mean := 1 / (1 + math.Exp(logs[0]-logs[1]))
			low, high := -20.0, 20.0
			for range 60 {
				middle, sum := (low+high)/2, 0.0
				for _, i := range some {
					sum += normal.CDF(normal.Quantile(own[i]) + middle)
				}
				if sum/float64(len(some)) < mean {
					low = middle
				} else {
					high = middle
				}
			}
			for _, i := range some {
				value[i] = normal.CDF(normal.Quantile(own[i]) + low)
			}
		}
		return everywhere(value), failed
	}}
}

// TestTemperatureEnds: at β = 0 decisions are those of EP, at β = 1 those of Loss-EP.
func TestTemperatureEnds(t *testing.T) {
	ctx := context.Background()
	s := NewSimulation(1, 1, 40)
	at := s.places()
	p, ep, own := plainly(ctx, t, s, 0, at)
	loss, _ := methods.Named("loss-ep")
	calibrated, notes, err := p.calibrated(ctx, loss, ep, own, at, p.process.At(column(at.x)))
	if err != nil || notes != nil {
		t.Fatal(err, notes)
	}
	for beta, want := range []answer{everywhere(own), calibrated} {
		got, failed := temper(float64(beta), 1).answer(ctx, p, own, at)
		if failed > 0 {
			t.Errorf("β = %d: %d runs did not settle", beta, failed)
		}
		for u := range Utilities() {
			for k, of := range at.of {
				for _, i := range of {
					// Runs settle to 1e-8, from other sites.
					if math.Abs(got[u][k][i]-want[u][k][i]) > 1e-6 {
						t.Fatalf("β = %d: P = %v, want %v", beta, got[u][k][i], want[u][k][i])
					}
				}
			}
		}
	}
}

// plainly is a problem with what EP says of it.
func plainly(ctx context.Context, t *testing.T, s Simulation, index int, at places) (*paperProblem, *infer.Result, []float64) {
	t.Helper()
	p, err := s.problem(index)
	if err != nil {
		t.Fatal(err)
	}
	ep, err := infer.EP{}.Fit(ctx, p.model)
	if err != nil {
		t.Fatal(err)
	}
	own, err := probitProbabilities(ctx, &ep.Result, p.process.At(column(at.x)))
	if err != nil {
		t.Fatal(err)
	}
	return p, &ep.Result, own
}

// TestTemperatures measures other ways to calibrate expectation propagation: temperatures, one
// site for each of several groups of points in place of one for all, and the evidence method
// with one question for a group. The table is in docs/research/methods.md.
func TestTemperatures(t *testing.T) {
	sets := *temperatures
	if sets == 0 {
		t.Skip("two minutes of processor time; ask for it by -temperatures 20")
	}
	ctx := context.Background()
	s := NewSimulation(1, sets, 1000)
	at := s.places()
	ways := []way{temper(0, 1), temper(0.25, 1), temper(0.5, 1), temper(1, 1), temper(2, 1), temper(4, 1), temper(1, 5), temper(1, 20), shared(20), shared(100), shared(400)}
	trials, failures := make([]*Trial, sets), make([]int, len(ways))
	for i := range sets {
		p, _, own := plainly(ctx, t, s, i, at)
		var answers []answer
		for w := range ways {
			a, failed := ways[w].answer(ctx, p, own, at)
			answers, failures[w] = append(answers, a), failures[w]+failed
		}
		exact, err := p.truth(ctx, at, answers, s.Truth)
		if err != nil {
			t.Fatal(err)
		}
		trials[i] = &Trial{Index: i}
		trials[i].judge(at, answers, exact)
	}
	for w := range ways {
		line := fmt.Sprintf("%-13s", ways[w].name)
		better := 0
		for u := range Utilities() {
			all := 0.0
			for k := range Shifts() {
				mean, plain := 0.0, 0.0
				for _, trial := range trials {
					mean += trial.Regret[u][k][w] / float64(sets)
					plain += trial.Regret[u][k][0] / float64(sets)
				}
				if all += mean / float64(len(Shifts())); mean < plain {
					better++
				}
			}
			line += fmt.Sprintf("  %.1e", all)
		}
		t.Logf("%s  better than EP in %2d of 15 cells, %d runs not settled", line, better, failures[w])
	}
}

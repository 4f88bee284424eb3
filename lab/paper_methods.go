package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/lanes"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/methods"
)

// PaperMethods are the names of what is compared, in the order of every result: the
// paper's four, and the three that decide from fitted sites beyond their Gaussian.
func PaperMethods() []string {
	return []string{"vi", "loss-vi", "ep", "loss-ep", "evidence", "corrected", "paired"}
}

// answer is one method's probability of y = +1 at every place, for every utility and
// shift. Methods that know of no utility have one slice for all.
type answer [][][]float64 // [utility][shift][place]

// answer asks every method. The notes say which runs did not converge.
func (p *paperProblem) answer(ctx context.Context, at places) (answers []answer, notes []string, err error) {
	views := p.process.At(column(at.x))
	results, plain := make(map[string]*infer.Result), make(map[string][]float64)
	for _, name := range PaperMethods() {
		d, _ := methods.Named(name)
		if d.Calibrated {
			a, more, err := p.calibrated(ctx, d, results[d.Of], plain[d.Of], at, views)
			if err != nil {
				return nil, nil, err
			}
			answers, notes = append(answers, a), append(notes, more...)
			continue
		}
		r := results[d.Of]
		if d.Refines() {
			r = d.Refine(p.model, r)
		} else {
			if r, err = d.Fit(ctx, p.model, methods.Options{}); err != nil {
				return nil, nil, err
			}
			results[name] = r
			notes = note(notes, r.Status, name)
		}
		if plain[name], err = probitProbabilities(ctx, r, views); err != nil {
			return nil, nil, err
		}
		answers = append(answers, everywhere(plain[name]))
	}
	return answers, notes, nil
}

// calibrated asks a method that depends on the utility. Where it finds no proper
// approximation it decides as its plain sibling does, and a note says so.
func (p *paperProblem) calibrated(ctx context.Context, d methods.Method, of *infer.Result, plain []float64, at places, views *gauss.Views) (answer, []string, error) {
	// Loss-EP starts from empty sites, Loss-VI from the optimum of VI.
	o := methods.Options{Draws: 256, Seed: p.seed}
	points := make([]*gauss.Views, len(Shifts()))
	for s, shift := range Shifts() {
		x := gather(at.x, at.of[s])
		if d.Bound {
			o.Start = &of.Sites
			x = midpoints(shift, min(len(x), drawnPoints))
		}
		points[s] = p.process.At(column(x))
	}
	type run struct{ utility, shift int }
	var runs []run
	a := make(answer, len(Utilities()))
	for u := range a {
		a[u] = make([][]float64, len(Shifts()))
		for s := range a[u] {
			runs = append(runs, run{u, s})
		}
	}
	statuses, errs := make([]infer.Status, len(runs)), make([]error, len(runs))
	tasks.For(len(runs), func(i int) {
		r := runs[i]
		a[r.utility][r.shift], statuses[i], errs[i] = p.calibratedTo(ctx, d, Utilities()[r.utility], points[r.shift], plain, views, o)
	})
	var notes []string
	for i, r := range runs {
		notes = note(notes, statuses[i], fmt.Sprintf("%s at u10 = %v and shift %v", d.Name, Utilities()[r.utility], Shifts()[r.shift]))
	}
	return a, notes, cmp.Or(ctx.Err(), errors.Join(errs...))
}

// calibratedTo asks a method that depends on the utility for one of them and one p(x).
func (p *paperProblem) calibratedTo(ctx context.Context, d methods.Method, u10 float64, points *gauss.Views, plain []float64, views *gauss.Views, o methods.Options) ([]float64, infer.Status, error) {
	m := *p.model
	m.Points = points
	var err error
	if m.Utility, err = newPaperUtility(u10, points); err != nil {
		return nil, infer.Status{}, err
	}
	r, err := d.Fit(ctx, &m, o)
	if err != nil {
		return plain, infer.Status{Reason: err.Error()}, nil
	}
	value, err := probitProbabilities(ctx, r, views)
	return value, r.Status, err
}

// drawnPoints is the most points that stand for p(x) where the utility is averaged by draws.
// With a quarter of 1000 points the largest error of a probability is 5.7e-4 on average, and
// with all of them 5.1e-4; both are the error of 256 draws.
const drawnPoints = 256

// note adds a run that did not converge.
func note(notes []string, s infer.Status, run string) []string {
	if s.Converged {
		return notes
	}
	return append(notes, run+": "+s.String())
}

// probitProbabilities are P(y = +1) at the views.
func probitProbabilities(ctx context.Context, r *infer.Result, views *gauss.Views) ([]float64, error) {
	value, stderr := make([]float64, views.Len()), make([]float64, views.Len())
	if slow, ok := r.Posterior.(infer.Interruptible); ok {
		return value, slow.ExpectContext(ctx, views, factor.NewProbit(1), value, stderr)
	}
	decision.Probit().Probabilities(r, views, value, stderr)
	return value, nil
}

// everywhere is the answer of a method that knows of no utility.
func everywhere(p []float64) answer {
	a := make(answer, len(Utilities()))
	for u := range a {
		for range Shifts() {
			a[u] = append(a[u], p)
		}
	}
	return a
}

// utility is the paper's utility on points that share a table, with a LogMean for
// this case alone: probit outcomes and uniform weights. Loss-VI asks it at every
// draw and point, several thousand million times in all, which by the general way
// would take more time than everything else together.
type paperUtility struct {
	*decision.Utility
	base, delta [2]float64 // u[a][0] and Δ = u[a][1] − u[a][0]
	// scale is 1/√(1+v) for v the residual variance of each point, around which
	// Loss-VI has its draws.
	residual, scale []float64
}

func newPaperUtility(u10 float64, points *gauss.Views) (*paperUtility, error) {
	n := points.Len()
	t := UtilityTable(u10)
	general, err := decision.NewUtility(decision.Probit(), n, nil, t)
	if err != nil {
		return nil, err
	}
	u := &paperUtility{Utility: general, residual: make([]float64, n), scale: make([]float64, n)}
	for a, row := range t {
		u.base[a], u.delta[a] = row[0], row[1]-row[0]
	}
	for j := range n {
		u.residual[j] = points.Residual(j)
		u.scale[j] = 1 / math.Sqrt(1+u.residual[j])
	}
	return u, nil
}

// LogMean implements factor.Utility: Z = Σ_j (u[a_j][0] + Δ_j Φ(z_j))/n with
// z_j = m_j/s_j and s_j² = 1 + v_j, whose derivatives are Δ_j N(z_j)/s_j and
// −Δ_j N(z_j) z_j/s_j².
func (u *paperUtility) LogMean(actions []int, m, v, d1, d2 []float64) float64 {
	n := len(actions)
	m, v, d1, d2 = m[:n], v[:n], d1[:n], d2[:n]
	scales := u.scale[:n]
	if !slices.Equal(v, u.residual) {
		scales = make([]float64, n)
		for j, x := range v {
			scales[j] = 1 / math.Sqrt(1+x)
		}
	}
	for j, x := range m {
		d2[j] = x * scales[j]
	}
	normals(d2, d1)
	sum := 0.0
	for j, a := range actions {
		delta, scale := u.delta[a&1], scales[j]
		sum += u.base[a&1] + delta*d2[j]
		d := delta * scale * d1[j]
		d1[j], d2[j] = d, -d*scale*scale*m[j]
	}
	// Where nearly every action meets its worst outcome the sum has lost its digits.
	if sum < 1e-4*float64(n) {
		return u.Utility.LogMean(actions, m, v, d1, d2)
	}
	inverse := 1 / sum
	floats.Scale(inverse, d1)
	floats.Scale(inverse, d2)
	return math.Log(sum / float64(n))
}

// normals is lanes.Normals of any number of values.
func normals(z, density []float64) {
	whole := len(z) / lanes.Octet * lanes.Octet
	lanes.Normals(z[:whole], density[:whole])
	if whole < len(z) {
		var rest, densities [lanes.Octet]float64
		copy(rest[:], z[whole:])
		lanes.Normals(rest[:], densities[:])
		copy(z[whole:], rest[:])
		copy(density[whole:], densities[:])
	}
}

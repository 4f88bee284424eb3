package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
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

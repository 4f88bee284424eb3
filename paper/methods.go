package paper

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Methods are the names of what is compared, in the order of every result: the
// paper's four, and the three that decide from fitted sites beyond their Gaussian.
func Methods() []string {
	return []string{"vi", "loss-vi", "ep", "loss-ep", "evidence", "corrected", "paired"}
}

// answer is one method's probability of y = +1 at every place, for every utility and
// shift. Methods that know of no utility have one slice for all.
type answer [][][]float64 // [utility][shift][place]

// answer asks every method. The notes say which runs did not converge.
func (p *problem) answer(ctx context.Context, at places) (answers []answer, notes []string, err error) {
	views := p.process.At(column(at.x))
	ep, err := infer.EP{}.Fit(ctx, p.model)
	if err != nil {
		return nil, nil, err
	}
	vi, err := infer.VI{}.Fit(ctx, p.model)
	if err != nil {
		return nil, nil, err
	}
	note := func(status infer.Status, name string, a ...any) {
		if !status.Converged {
			notes = append(notes, fmt.Sprintf(name, a...)+": "+status.String())
		}
	}
	note(ep.Status, "ep")
	note(vi.Status, "vi")
	epAnswer, viAnswer := probabilities(infer.Gaussian{Gaussian: ep.Q}, views), probabilities(vi.Posterior(), views)
	lossEP, lossVI := make(answer, len(Utilities())), make(answer, len(Utilities()))
	for u, u10 := range Utilities() {
		for s, shift := range Shifts() {
			m := *p.model
			m.Points = p.process.At(column(gather(at.x, at.of[s])))
			if m.Utility, err = newUtility(u10, m.Points); err != nil {
				return nil, nil, err
			}
			name := "%s at u10 = %v and shift %v"
			q, status, err := p.lossEP(ctx, &m)
			if err != nil {
				return nil, nil, err
			}
			note(status, name, "loss-ep", u10, shift)
			if q == nil {
				lossEP[u] = append(lossEP[u], epAnswer)
			} else {
				lossEP[u] = append(lossEP[u], probabilities(infer.Gaussian{Gaussian: q}, views))
			}
			v, err := p.lossVI(ctx, &m, vi)
			if err != nil {
				return nil, nil, err
			}
			note(v.Status, name, "loss-vi", u10, shift)
			lossVI[u] = append(lossVI[u], probabilities(v.Posterior(), views))
		}
	}
	return []answer{
		everywhere(viAnswer), lossVI, everywhere(epAnswer), lossEP,
		everywhere(probabilities(infer.NewEvidence(p.model, ep), views)),
		everywhere(probabilities(infer.NewCorrected(p.model, ep, infer.Factorised), views)),
		everywhere(probabilities(infer.NewCorrected(p.model, ep, infer.Paired), views)),
	}, notes, ctx.Err()
}

// lossEP is the q of Loss-EP, or nil with a status that says why where no proper one
// was found; the method then decides as EP does.
func (p *problem) lossEP(ctx context.Context, m *infer.Model) (*gauss.Gaussian, infer.Status, error) {
	r, err := infer.EP{}.Fit(ctx, m)
	if ctx.Err() != nil {
		return nil, infer.Status{}, ctx.Err()
	}
	if err != nil {
		return nil, infer.Status{Reason: err.Error()}, nil
	}
	return r.Q, r.Status, nil
}

// lossVI runs Loss-VI from the optimum of VI. A tolerance of 1e-5 standard
// deviations lies far below the error of the draws that Loss-VI itself rests on.
func (p *problem) lossVI(ctx context.Context, m *infer.Model, vi *infer.VIResult) (*infer.LossVIResult, error) {
	return infer.LossVI{VI: infer.VI{Tolerance: 1e-5, Start: &vi.Sites}, Draws: 256, Seed: p.seed}.Fit(ctx, m)
}

// probabilities are P(y = +1) at the views.
func probabilities(p infer.Posterior, views *gauss.Views) []float64 {
	value, stderr := make([]float64, views.Len()), make([]float64, views.Len())
	decision.Probit().Probabilities(p, views, value, stderr)
	return value
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

package lossep

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// besideErrors is by how many standard errors effects have to predict rows better that are left out than a mixture; see
// docs/research/effects.md.
const besideErrors = 2

// orEffects is what is learned with effects, if the evidence takes any and they predict rows that are left out better than
// a mixture, and otherwise that.
func (p *Problem) orEffects(ctx context.Context, mixed *Learned, left *search.LeftOut) (*Learned, error) {
	if left == nil || !p.Recipe.Target.Binary() || p.opt.Inducing != AutoInducing {
		return mixed, nil
	}
	some := p
	if left.Rows != nil {
		some = p.some(left.Rows)
	}
	var best *Learned
	tried, at := mixed.candidates, 0
	for _, text := range besideEffects {
		l, logs, err := some.learnEffects(ctx, text, left)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || l == nil {
			break
		}
		gain, chance := left.Gain(logs)
		c := l.triedEffects(text, left.Mean(logs))
		if better := gain > besideErrors*chance; better && (best == nil || c.LogPredictive > tried[at].LogPredictive) {
			best, at = l, len(tried)
		}
		if tried = append(tried, c); best == nil {
			break
		}
	}
	mixed.candidates = tried
	if best == nil {
		return mixed, nil
	}
	if some != p {
		var err error
		if best, err = p.withEffectsBeside(best.Kernel(), false).induce(ctx); err != nil {
			return nil, err
		}
	}
	best.candidates = tried
	for k := range tried {
		tried[k].Weight = 0
	}
	tried[at].Weight = 1
	return best, nil
}

// HasEffects tells whether there are effects beside the process.
func (l *Learned) HasEffects() bool {
	f, ok := l.process.(induced)
	return ok && f.effects != nil
}

// withEffectsBeside is the problem with effects that the evidence asks for beside a process, whose kernel is searched for
// from there unless it is fixed.
func (p *Problem) withEffectsBeside(k kernel.Kernel, fixed bool) *Problem {
	q := *p
	q.Kernel, q.start, q.effects = k, true, &EffectTerms{texts: []string{AutoEffects}, auto: true}
	q.opt.Kernel, q.opt.effects, q.opt.Fixed = AutoEffects, true, fixed
	q.opt.Checkpoints, q.opt.Elsewhere = nil, nil
	return &q
}

// learnEffects learns effects, and predicts rows without them: in each fold families are chosen anew. It is nil where
// there are none.
func (p *Problem) learnEffects(ctx context.Context, beside string, left *search.LeftOut) (l *Learned, logs []float64, err error) {
	p.tell("comparing: effects beside "+beside, 0, 0)
	k, err := kernel.ParseColumns(beside, columns(p.coding))
	if err != nil {
		return nil, nil, err
	}
	whole := p.withEffectsBeside(k, false)
	whole.start = false
	if l, err = whole.induce(ctx); err != nil || !l.HasEffects() {
		return nil, nil, err
	}
	for _, fold := range left.Folds {
		part, err := p.some(fold.Train).withEffectsBeside(l.Kernel(), true).induce(ctx)
		if err != nil {
			return nil, nil, err
		}
		f, test := part.process.(induced), p.some(fold.Test)
		for i, all := range p.link().inducing(f.Process, f.Result.Q, nil).Probabilities(test.X) {
			logs = append(logs, posterior.Log(all[test.Labels[i]]))
		}
	}
	return l, logs, nil
}

// triedEffects is what there is to say about effects as a candidate.
func (l *Learned) triedEffects(beside string, logPredictive float64) Candidate {
	f := l.process.(induced)
	return Candidate{
		Name:   fmt.Sprintf("effects of %s beside %s", table.Plural(f.Process.Effects().Groups(), "group"), beside),
		Kernel: l.problem.withEffects(f.Process.Kernel().String()), LogPredictive: logPredictive, LogEvidence: f.LogEvidence, Search: l.search,
	}
}

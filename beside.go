package lossep

import (
	"context"
	"fmt"

	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// besideErrors is by how many standard errors effects have to predict rows better that are left out than a mixture; see
// docs/research/effects.md.
const besideErrors = 2

// learnMixed is a mixture of candidates, or what is learned with effects, of which the first are tried beside the
// candidates.
func (p *Problem) learnMixed(ctx context.Context) (l *Learned, err error) {
	beside := new(besideTrials)
	if p.Recipe.Target.Binary() && p.opt.Inducing == AutoInducing {
		rows, folds := p.searched().Divided()
		if beside.folds, beside.some = folds, p; rows != nil {
			beside.some = p.some(rows)
		}
	}
	var left *search.LeftOut
	tasks.For(2, func(i int) {
		if i == 0 {
			l, left, err = p.learnAuto(ctx)
		} else if beside.folds != nil {
			beside.first = beside.learn(ctx, besideEffects[0])
		}
	})
	if err != nil || left == nil || beside.folds == nil {
		return l, err
	}
	return p.orEffects(ctx, l, left, beside)
}

// besideTrials are of effects beside a process, learned from rows that are divided into folds.
type besideTrials struct {
	some  *Problem
	folds []compare.Split // nil if they are not tried
	first besideTrial
}

// besideTrial is what was learned, nil if there are no effects, and what it predicts of rows left out.
type besideTrial struct {
	l    *Learned
	logs []float64
	err  error
}

// learn tries effects beside a kernel.
func (b *besideTrials) learn(ctx context.Context, text string) (t besideTrial) {
	t.l, t.logs, t.err = b.some.learnEffects(ctx, text, b.folds)
	return t
}

// orEffects is what is learned with effects, if the evidence takes any and they predict rows that are left out better than
// a mixture, and otherwise that.
func (p *Problem) orEffects(ctx context.Context, mixed *Learned, left *search.LeftOut, beside *besideTrials) (*Learned, error) {
	some := beside.some
	var best *Learned
	tried, at := mixed.candidates, 0
	for k, text := range besideEffects {
		trial := beside.first
		if k > 0 {
			trial = beside.learn(ctx, text)
		}
		l, logs, err := trial.l, trial.logs, trial.err
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
func (p *Problem) learnEffects(ctx context.Context, beside string, folds []compare.Split) (l *Learned, logs []float64, err error) {
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
	parts := make([]*[]float64, len(folds))
	err = tasks.Fill(ctx, parts, tasks.Workers(), func(ctx context.Context, i int) (*[]float64, error) {
		part, err := p.some(folds[i].Train).withEffectsBeside(l.Kernel(), true).induce(ctx)
		if err != nil {
			return nil, err
		}
		f, test := part.process.(induced), p.some(folds[i].Test)
		var logs []float64
		for k, all := range p.link().inducing(f.Process, f.Result.Q, nil).Probabilities(test.X) {
			logs = append(logs, posterior.Log(all[test.Labels[k]]))
		}
		return &logs, nil
	}, func(*[]float64) error { return nil })
	if err != nil {
		return nil, nil, err
	}
	for _, part := range parts {
		logs = append(logs, *part...)
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

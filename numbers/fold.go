package numbers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Fold is what models that were fitted without some cases decide about them. It is plain data that survives JSON bit for bit.
type Fold struct {
	Index   int          `json:"index"`
	Rows    []int        `json:"rows"`  // that are decided, from 0
	Model   AuditedModel `json:"model"` // that decides them
	Cases   []scoredCase `json:"cases"`
	Ways    []way        `json:"ways"` // of choosing actions, the model first
	Ratios  []ratio      `json:"ratios,omitempty"`
	Weights []float64    `json:"weights,omitempty"`
	Notes   []string     `json:"notes,omitempty"` // of methods that have not converged
	// File is the model, kept where decisions of all folds share a capacity, which are made in the end.
	File []byte `json:"file,omitempty"`
}

// Fold is the fold with this index, for those who compute them elsewhere.
func (a *Auditing) Fold(ctx context.Context, index int) (*Fold, error) {
	if index < 0 || index >= a.Len() {
		panic(fmt.Sprintf("numbers: fold %d of %d", index, a.Len()))
	}
	return a.fold(ctx, index)
}

// fold decides cases by a model of others, and by what it is compared with.
func (a *Auditing) fold(ctx context.Context, index int) (*Fold, error) {
	s := a.splits[index]
	p, m, err := a.fit(ctx, s)
	if err != nil {
		return nil, err
	}
	f, test := &Fold{Index: index, Rows: s.Test}, a.subject.Subset(s.Test)
	x, all, stakes, err := a.predicted(m, test)
	if err != nil {
		return nil, err
	}
	y, err := p.Recipe.Numbers(test)
	if err != nil {
		return nil, err
	}
	if err := a.count(f, test); err != nil {
		return nil, err
	}
	f.Model = AuditedModel{m.summary.Rows, m.shape.Transform.String() + ", with " + m.noise(), m.recipe.NameEntries(m.Kernel()), m.summary.LogEvidence, m.Warnings()}
	if err := f.decide(ctx, p, test, stakes, all, y); err != nil {
		return nil, err
	}
	if err := f.baselines(p, stakes, all, test, y); err != nil {
		return nil, err
	}
	if err := a.others(ctx, f, p, m, x, test, stakes, y); err != nil {
		return nil, err
	}
	for _, name := range a.opt.Predictions {
		actions, err := test.Floats(name, p.Recipe.Missing...)
		if err != nil {
			return nil, err
		}
		if err := f.compare(name, stakes, y, func(i int) float64 { return actions[i] }); err != nil {
			return nil, err
		}
	}
	f.otherRatios(p, stakes, all, y)
	if a.limits != nil {
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			return nil, err
		}
		f.File = file.Bytes()
	}
	return f, nil
}

// fit is a model of what a split learns from.
func (a *Auditing) fit(ctx context.Context, s compare.Split) (p *Problem, m *Model, err error) {
	p = a.whole
	if a.opt.Test == nil {
		train, o := a.table.Subset(s.Train), a.options
		if o.Recipe, err = a.whole.Recipe.Refit(train); err != nil {
			return nil, nil, err
		}
		if p, err = Prepare(train, o, a.whole.Costs); err != nil {
			return nil, nil, err
		}
	}
	m, err = p.Fit(ctx)
	return p, m, err
}

// decide scores the actions that the model chooses, and its predictions beside those of constant quantiles.
func (f *Fold) decide(ctx context.Context, p *Problem, test *table.Table, stakes []decision.Stake, all []Distribution, y []float64) error {
	var constants [len(scoredLevels)]float64
	unconditional := newSample(p.Values, p.Weights)
	for k, level := range scoredLevels {
		constants[k] = unconditional.Quantile(level)
	}
	for i, d := range all {
		s := stakes[i%len(stakes)]
		s.Stop = ctx.Err
		c := s.Choose(d)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.Costs.CheckChoice(c); err != nil {
			return Located(test.Place(i), err)
		}
		f.Cases = append(f.Cases, newCase(test.Line(i), c, d, y[i], &constants))
	}
	if err := f.compare("model", stakes, y, func(i int) float64 { return f.Cases[i].Action }); err != nil {
		return err
	}
	for i, c := range f.Ways[0].Costs {
		f.Cases[i].Cost = c
	}
	return nil
}

// predicted are the features of cases, what a model predicts of them, and what is at stake.
func (a *Auditing) predicted(m *Model, test *table.Table) (x *mat.Dense, all []Distribution, stakes []decision.Stake, err error) {
	if x, _, err = m.Recipe().Apply(test); err != nil {
		return nil, nil, nil, err
	}
	all, err = m.Predict(x)
	if far, ok := err.(*lossep.FarError); ok {
		err = far.In(test.Place(far.Row))
	}
	if err == nil {
		all, err = a.whole.allMeasured(all, test)
	}
	if err == nil {
		stakes, err = StakesOf(a.whole.Costs, test, a.whole.Recipe.Missing...)
	}
	return x, all, stakes, err
}

// others decides by the other methods.
func (a *Auditing) others(ctx context.Context, f *Fold, p *Problem, m *Model, x *mat.Dense, test *table.Table, stakes []decision.Stake, y []float64) error {
	for _, method := range a.opt.Methods {
		if method == m.Method() {
			continue
		}
		other, err := m.by(ctx, p, method)
		if open := new(infer.UnsupportedError); method == Exact && errors.As(err, &open) {
			f.Notes = append(f.Notes, fmt.Sprintf("%s: there is no closed form with %s; drawn by %s in its place", method, m.noise(), NUTS))
			other, err = m.by(ctx, p, NUTS)
		}
		if err != nil {
			return err
		}
		all, err := other.Predict(x)
		if err == nil {
			all, err = p.allMeasured(all, test)
		}
		if err != nil {
			return err
		}
		if s := other.summary; !s.Converged {
			f.Notes = append(f.Notes, fmt.Sprintf("%s: %s", method, s.Status))
		}
		d, _ := methods.Named(string(method))
		if err := f.compare(d.Label, stakes, y, func(i int) float64 { return stakes[i%len(stakes)].Best(all[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// count keeps how much the cases of a table count.
func (a *Auditing) count(f *Fold, test *table.Table) (err error) {
	if name := a.whole.Recipe.NameOf(recipe.Weights); name != "" {
		f.Weights, err = test.Weights(name, a.whole.Recipe.Missing...)
	}
	return err
}

// The ways to choose actions that models are compared with.
const (
	BestConstant    = "best constant action"
	PredictedMedian = "predicted median"
	LinearQuantile  = "linear quantile regression"
)

// baselines are one action for all, the median of what is predicted, which heeds no costs, and a
// line through the quantile that is the action.
func (f *Fold) baselines(p *Problem, stakes []decision.Stake, all []Distribution, test *table.Table, y []float64) error {
	constant := p.constant(1)
	if err := f.compare(BestConstant, stakes, y, func(int) float64 { return constant }); err != nil {
		return err
	}
	actions := p.Costs.Actions()
	if actions.Choices != nil {
		return nil
	}
	if err := f.compare(PredictedMedian, stakes, y, func(i int) float64 { return actions.Nearest(all[i].Quantile(0.5)) }); err != nil {
		return err
	}
	if loss, ok := p.stakes[0].Loss.(decision.Pinball); ok && len(p.stakes) == 1 {
		line := linearQuantile(design(p.coding, p.X), p.Values, p.Weights, loss.Under/(loss.Under+loss.Over))
		x, _, err := p.Recipe.Apply(test)
		if err != nil {
			return err
		}
		z := design(p.coding, x)
		return f.compare(LinearQuantile, stakes, y, func(i int) float64 { return actions.Nearest(mat.Dot(z.RowView(i), line)) })
	}
	return nil
}

// constant is the one action that would have cost least in all training rows, if every unit too little
// had cost so many times as much.
func (p *Problem) constant(times float64) float64 {
	if len(p.stakes) == 1 {
		return scaled(p.stakes[0], times).Choose(newSample(p.Values, p.Weights)).Action
	}
	stakes := make([]decision.Stake, len(p.stakes))
	for i, s := range p.stakes {
		stakes[i] = scaled(s, times)
	}
	total := decision.Formula{Of: func(action, _ float64) (sum float64) {
		for i, y := range p.Values {
			c := stakes[i%len(stakes)].Cost(action, y)
			if p.Weights != nil {
				c *= p.Weights[i]
			}
			sum += c
		}
		return sum
	}}
	return decision.Stake{Loss: total, Actions: *p.Costs.Actions()}.Best(newSample([]float64{slices.Min(p.Values), slices.Max(p.Values)}, nil))
}

// scaled is a stake in which every unit too little costs so many times as much.
func scaled(s decision.Stake, times float64) decision.Stake {
	if c, ok := s.Loss.(decision.Pinball); ok {
		s.Loss = decision.Pinball{Under: times * c.Under, Over: c.Over}
	}
	return s
}

// compare adds what the actions of somebody cost.
func (f *Fold) compare(name string, stakes []decision.Stake, y []float64, action func(i int) float64) error {
	w := way{Name: name}
	for i, v := range y {
		act := action(i)
		c := stakes[i%len(stakes)].Cost(act, v)
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return inputf("cost", "action %v under outcome %v costs %v (%s); give costs that are numbers under every outcome", act, v, c, name)
		}
		w.Actions, w.Costs = append(w.Actions, act), append(w.Costs, c)
	}
	f.Ways = append(f.Ways, w)
	return nil
}

// multiples are how many times as much every unit too little costs at other ratios.
var multiples = []float64{0.125, 0.25, 0.5, 1, 2, 4, 8}

// ratio is what cases cost if a unit too little costs so many times as much.
type ratio struct {
	Times    float64   `json:"times"`
	Adapted  []float64 `json:"adapted"`
	Kept     []float64 `json:"kept"`
	Constant []float64 `json:"constant"`
}

// otherRatios are costs of cases at other ratios of under to over: of actions that are chosen for them,
// of those that were chosen, and of the best constant action.
func (f *Fold) otherRatios(p *Problem, stakes []decision.Stake, all []Distribution, y []float64) {
	if _, ok := stakes[0].Loss.(decision.Pinball); !ok {
		return
	}
	for _, times := range multiples {
		r, constant := ratio{Times: times}, p.constant(times)
		for i, d := range all {
			s := scaled(stakes[i%len(stakes)], times)
			r.Adapted = append(r.Adapted, s.Cost(s.Best(d), y[i]))
			r.Kept = append(r.Kept, s.Cost(f.Ways[0].Actions[i], y[i]))
			r.Constant = append(r.Constant, s.Cost(constant, y[i]))
		}
		f.Ratios = append(f.Ratios, r)
	}
}

// given is under:over where it is the same in all cases, else 0.
func (a *Auditing) given() float64 {
	if c, ok := a.whole.stakes[0].Loss.(decision.Pinball); ok && len(a.whole.Costs.Columns()) == 0 {
		return c.Under / c.Over
	}
	return 0
}

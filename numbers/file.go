package numbers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
)

// header is what a file holds beside tensors.
type header struct {
	Recipe  *recipe.Recipe        `json:"recipe"`
	Costs   *decision.NumberCosts `json:"costs"`
	Kernel  string                `json:"kernel"`
	Shape   Shape                 `json:"shape"`
	Noise   []float64             `json:"noise"` // logarithms of its hyperparameters
	Tails   []Part                `json:"tails,omitempty"`
	Summary Summary               `json:"summary"`
	// Kept says that a model with inducing points has its training rows, and CostColumns are those of them that
	// costs are made of.
	Kept        bool     `json:"kept,omitempty"`
	CostColumns []string `json:"cost_columns,omitempty"`
	// Examples are some training rows as they were read.
	Examples *lossep.Examples `json:"examples,omitempty"`
}

// Save writes the model to a file, all or nothing.
func (m *Model) Save(path string) error { return modelfile.WriteFile(path, m.content()) }

// Write writes the model file to w.
func (m *Model) Write(w io.Writer) error { return modelfile.Write(w, m.content()) }

func (m *Model) content() *modelfile.Content {
	c := &modelfile.Content{
		Numbers: true, EP: m.posterior.State(), // with effects on the noise behind those on the latent value
		Header: header{m.recipe, m.costs, m.Kernel(), m.shape, m.family.Logs(), m.uneven.tails, m.summary, m.x != nil && m.summary.Inducing > 0, m.kept.Names, m.examples},
	}
	if len(m.others) > 0 {
		var weights []float64
		for _, c := range m.summary.Candidates {
			if c.Weight > 0 {
				weights = append(weights, c.Weight)
			}
		}
		c.EP = posterior.State{Parts: make([]posterior.State, len(weights))} // in the order of the candidates
		for k, place := range heaviestFirst(weights) {
			c.EP.Parts[place] = m.parts()[k].posterior.State()
		}
	}
	c.EP.Effects = append(slices.Clone(c.EP.Effects), m.uneven.spread...)
	if m.x != nil {
		c.Rows = &modelfile.Rows{Inputs: m.x, Values: m.values, Weights: m.weights, Costs: m.kept.Values}
	}
	return c
}

// Load reads a model from a file in at most so many bytes of memory. What is no complete model is a
// *modelfile.Error.
func Load(path string, bytes int64) (m *Model, err error) {
	err = modelfile.ReadFile(path, bytes, func(r *modelfile.Reader) error {
		m, err = fromFile(r, bytes)
		return err
	})
	return m, err
}

// Read reads a model file to its end; see Load.
func Read(r io.Reader, bytes int64) (m *Model, err error) {
	err = modelfile.Read(r, bytes, func(r *modelfile.Reader) error {
		m, err = fromFile(r, bytes)
		return err
	})
	return m, err
}

// Is tells whether a file is a model of numbers. Others, and what is no model at all, are none.
func Is(path string, bytes int64) (is bool) {
	err := modelfile.ReadFile(path, bytes, func(r *modelfile.Reader) error {
		is = r.Numbers()
		return nil
	})
	return err == nil && is
}

// fromFile makes the model and checks everything on the way.
func fromFile(r *modelfile.Reader, bytes int64) (*Model, error) {
	if !r.Numbers() {
		return nil, errors.New("its outcome is one of several categories, and this is for numbers")
	}
	var h header
	if err := r.Header(&h); err != nil {
		return nil, err
	}
	family := h.Shape.family()
	switch {
	case h.Recipe == nil || h.Costs == nil || !h.Recipe.Target.Number:
		return nil, errors.New("its description lacks the recipe of a number, or the costs")
	case family == nil || len(h.Noise) != len(family.Priors()):
		return nil, fmt.Errorf("its noise %q with %d hyperparameters is unknown", h.Shape.Noise, len(h.Noise))
	case h.Summary.Rows != h.Recipe.Rows || h.Summary.Inducing < 0 || h.Summary.Inducing == 0 && h.Summary.Effects != nil:
		return nil, errors.New("its recipe and its summary contradict each other")
	}
	if err := checkMethod(h.Summary.Method); err != nil {
		return nil, err
	}
	if err := errors.Join(checkLogs(h.Noise), h.Shape.Transform.check(), h.Summary.LeaveOneOut.check(), checkTails(h.Tails), h.Examples.Check(h.Recipe), modelfile.CheckEffects(h.Summary.Effects, h.Recipe.Dim()), modelfile.CheckEffects(h.Summary.Noise, h.Recipe.Dim())); err != nil {
		return nil, err
	}
	m := &Model{recipe: h.Recipe, coding: h.Recipe.Coding(), costs: h.Costs, shape: h.Shape, part: part{weight: 1, family: family.With(h.Noise)}, uneven: uneven{tails: h.Tails}, summary: h.Summary, examples: h.Examples}
	rows := h.Recipe.Rows
	views := rows
	if n := h.Summary.Inducing; n > 0 {
		views = n
	}
	need := posterior.FullBytes(views, m.coding.Len(), views) + modelfile.EffectsBytes(h.Summary.Effects, 1, views) + modelfile.EffectsBytes(h.Summary.Noise, 1, views)
	if h.Summary.Inducing == 0 || h.Kept {
		need += 3 * posterior.RowBytes(rows, m.coding.Len()+len(h.CostColumns), 1)
	}
	mixed, err := h.parts(family)
	if err != nil {
		return nil, err
	}
	need *= float64(max(1, len(mixed)))
	if need > float64(bytes) {
		return nil, fmt.Errorf("it takes about %.2g GB of memory, more than %.2g GB; allow more if it is to be read", need/1e9, float64(bytes)/1e9)
	}
	if err := m.read(r, &h, mixed); err != nil {
		return nil, err
	}
	if err := r.Done("ep"); err != nil {
		return nil, err
	}
	for _, p := range m.parts() {
		for _, d := range m.predict(gp.RowsOf(p.posterior.Inputs(), p.posterior.Extremes())) {
			if !d.IsFinite() {
				return nil, errors.New("its numbers make no posterior: its predictions are not finite numbers")
			}
		}
	}
	return m, nil
}

// parts are those of a mixture, without their posteriors, and none of a model of one kernel.
func (h *header) parts(family Family) (all []mixedPart, err error) {
	sum := 0.0
	for _, c := range h.Summary.Candidates {
		switch {
		case !(c.Weight >= 0 && c.Weight <= 1):
			return nil, fmt.Errorf("a kernel that was tried has the weight %v", c.Weight)
		case len(c.Tuned) != len(family.Priors()) && c.Weight > 0:
			return nil, fmt.Errorf("a kernel that was tried has %d hyperparameters of the noise", len(c.Tuned))
		}
		if err := checkLogs(c.Tuned); err != nil {
			return nil, err
		}
		if sum += c.Weight; c.Weight > 0 {
			all = append(all, mixedPart{part{weight: c.Weight, family: family.With(c.Tuned)}, c.Kernel})
		}
	}
	if len(all) < 2 || h.Summary.Inducing > 0 {
		return nil, nil
	}
	if !(math.Abs(sum-1) < 1e-9) {
		return nil, fmt.Errorf("the weights of its kernels add up to %v", sum)
	}
	return all, nil
}

// mixedPart is a part with its kernel.
type mixedPart struct {
	part
	kernel string
}

// check refuses what no rows that are left out give.
func (l *LeaveOneOut) check() error {
	if l == nil {
		return nil
	}
	for _, share := range []float64{l.Coverage, l.Dominant} {
		if !(share >= 0 && share <= 1+1e-9) { // sums of shares may round up
			return fmt.Errorf("a share of the rows that were left out is %v", share)
		}
	}
	return modelfile.CheckSummary([]float64{l.Cost, l.Constant, l.Expected, l.Rows}, nil)
}

// checkLogs refuses logarithms of hyperparameters of the noise that no fit finds.
func checkLogs(logs []float64) error {
	for _, l := range logs {
		if !(math.Abs(l) <= 40) {
			return fmt.Errorf("its noise has the logarithm %v", l)
		}
	}
	return nil
}

// read reads the posterior, or those of a mixture.
func (m *Model) read(r *modelfile.Reader, h *header, mixed []mixedPart) error {
	k, err := parseKernel(h.Kernel, m.coding)
	if err != nil {
		return err
	}
	if n := m.summary.Inducing; n > 0 {
		z, err := r.Points(n, m.coding)
		if err != nil {
			return err
		}
		process, err := gp.NewInducing(k, z)
		if err != nil {
			return err
		}
		q, err := r.Functions(false, 1, n)
		if err != nil {
			return err
		}
		set, err := m.effects(r, n)
		if err != nil {
			return err
		}
		var sites []gauss.Scalar
		if h.Kept {
			if err := m.rows(r, h.CostColumns); err != nil {
				return err
			}
			if sites, err = r.NumberSites(modelfile.Whole, m.recipe.Rows, m.family.Largest(), m.weights); err != nil {
				return err
			}
		}
		m.posterior = posterior.NewInducing(process.With(set), posterior.Latent{}, q[0], sites)
		return nil
	}
	if _, err := m.effects(r, m.recipe.Rows); err != nil {
		return err
	}
	if err := m.rows(r, h.CostColumns); err != nil {
		return err
	}
	if mixed == nil {
		return m.part.read(r, modelfile.Whole, k, m)
	}
	var weights []float64
	for i := range mixed {
		p := &mixed[i]
		if k, err = parseKernel(p.kernel, m.coding); err != nil {
			return err
		}
		if err := p.part.read(r, i, k, m); err != nil {
			return err
		}
		weights = append(weights, p.weight)
	}
	order := heaviestFirst(weights)
	m.part = mixed[order[0]].part
	for _, place := range order[1:] {
		m.others = append(m.others, mixed[place].part)
	}
	return nil
}

// read reads the posterior of the full process that has a number in the file.
func (p *part) read(r *modelfile.Reader, number int, k kernel.Kernel, m *Model) error {
	largest := p.family.Largest() * math.Exp(-leastExcess) // of rows whose noise is smallest
	sites, err := r.NumberSites(number, m.recipe.Rows, largest, m.weights)
	if err != nil {
		return err
	}
	process, err := gp.New(k, m.x)
	if err != nil {
		return err
	}
	calibration, err := r.Calibration(number, m.recipe.Rows)
	if err != nil {
		return err
	}
	p.posterior, err = posterior.NewFull(context.Background(), process, posterior.Latent{}, sites, calibration)
	return err
}

// effects reads those on the latent value, which so many points see, and those on the noise, which the model keeps.
func (m *Model) effects(r *modelfile.Reader, points int) (effects.Set, error) {
	on := len(m.summary.Effects)
	set, err := r.Effects(append(slices.Clone(m.summary.Effects), m.summary.Noise...), 1, points)
	if err != nil || len(set) == 0 {
		return nil, err
	}
	if m.uneven.spread = set[on:]; on == 0 {
		return nil, nil // as a model has it that was not read
	}
	return set[:on], nil
}

// rows reads the training rows.
func (m *Model) rows(r *modelfile.Reader, costs []string) error {
	faded := m.summary.Updates != nil && m.summary.Updates.Faded
	rows, err := r.NumberRows(m.coding, m.recipe.Rows, m.recipe.Weighted() || faded, len(costs))
	if err == nil {
		m.x, m.values, m.weights, m.kept = rows.Inputs, rows.Values, rows.Weights, lossep.CostColumns{Names: costs, Values: rows.Costs}
	}
	return err
}

// endOf is an error that is not the end of a file.
func endOf(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

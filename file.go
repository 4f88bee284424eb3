package lossep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
)

// Save writes the model to a file, all or nothing: on failure what was at the path
// stays as it was.
func (m *Model) Save(path string) error { return modelfile.WriteFile(path, m.content()) }

// Write writes the model file to w.
func (m *Model) Write(w io.Writer) error { return modelfile.Write(w, m.content()) }

// content is what the file of the model holds.
func (m *Model) content() *modelfile.Content {
	c := &modelfile.Content{
		EP:     m.by(EP).State(),
		Header: header{m.recipe, m.utility, m.Kernel().String(), m.likelihood, m.method, m.summary, m.provenance, m.examples, m.costs.Names},
	}
	if m.method != EP {
		c.Own = m.opinions[0].State()
	}
	if m.x != nil {
		c.Rows = &modelfile.Rows{Inputs: m.x, Weights: m.weights, Labels: m.labels, Costs: m.costs.Values}
	}
	return c
}

// Load reads a model from a regular file, in at most DefaultMaxMemory. It never fits
// anything; what is not a complete and consistent model file, of numbers that a fit could
// have found, is a *FileError.
func Load(path string) (*Model, error) { return LoadWithin(path, DefaultMaxMemory) }

// LoadWithin is Load in at most so many bytes of memory.
func LoadWithin(path string, bytes int64) (m *Model, err error) {
	err = modelfile.ReadFile(path, bytes, func(r *modelfile.Reader) (err error) {
		m, err = fromFile(r, bytes)
		return err
	})
	return m, err
}

// Read reads a model file from r, to its end; see Load.
func Read(r io.Reader) (*Model, error) { return ReadWithin(r, DefaultMaxMemory) }

// ReadWithin is Read in at most so many bytes of memory.
func ReadWithin(r io.Reader, bytes int64) (m *Model, err error) {
	err = modelfile.Read(r, bytes, func(r *modelfile.Reader) (err error) {
		m, err = fromFile(r, bytes)
		return err
	})
	return m, err
}

// header is what a file holds beside tensors.
type header struct {
	Recipe     *recipe.Recipe `json:"recipe"`
	Utility    *decision.Spec `json:"utility"`
	Kernel     string         `json:"kernel"`
	Likelihood Likelihood     `json:"likelihood"`
	Method     Method         `json:"method"`
	Summary    Summary        `json:"summary"`
	Provenance Provenance     `json:"provenance"`
	Examples   *Examples      `json:"examples,omitempty"`
	Costs      []string       `json:"costs,omitempty"` // columns that costs were made of and that make no features
}

// opened is a file that is being read.
type opened struct {
	*modelfile.Reader
	*Model
	header
	link  link
	bytes int64 // that reading it may take
}

// fromFile makes the model and checks everything on the way.
func fromFile(r *modelfile.Reader, bytes int64) (*Model, error) {
	f := &opened{Reader: r, bytes: bytes}
	h := &f.header
	if r.Numbers() {
		return nil, modelfile.ErrNumbers
	}
	if err := r.Header(h); err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, err
	}
	f.Model = &Model{
		recipe: h.Recipe, coding: h.Recipe.Coding(), utility: h.Utility, likelihood: h.Likelihood, method: h.Method,
		summary: h.Summary, provenance: h.Provenance, examples: h.Examples,
	}
	f.link = linkOf(h.Recipe, h.Likelihood)
	k, err := kernel.ParseColumns(h.Kernel, columns(f.coding))
	read := f.full
	need := loadBytes(h.Recipe.Rows*f.link.views(), f.coding.Len()+len(h.Costs))
	switch s := h.Summary.Inducing; {
	case s != nil:
		read = f.inducing
		need = s.loadBytes(h.Recipe.Rows, f.coding.Len()+len(h.Costs), f.link.functions()) + modelfile.EffectsBytes(h.Summary.Effects, f.link.functions(), s.Points)
	case h.Summary.mixes():
		read = f.mixture
		need = mixtureBytes(h.Recipe, h.Summary.parts(), h.Recipe.Rows, f.coding.Len()+len(h.Costs))
	}
	if need > float64(bytes) {
		return nil, f.tooLarge(need)
	}
	if err != nil {
		return nil, err
	}
	if f.opinions, err = read(k); err != nil {
		return nil, err
	}
	if err := r.Done(string(f.method)); err != nil {
		return nil, err
	}
	if err := f.checkPredictions(); err != nil {
		return nil, noPosterior(err)
	}
	return f.Model, nil
}

func noPosterior(err error) error { return fmt.Errorf("its numbers make no posterior: %w", err) }

func (f *opened) tooLarge(need float64) error {
	return fmt.Errorf("it has %d training rows, and a model of them takes about %.2g GB of memory, more than %.2g GB; allow more if it is to be read", f.recipe.Rows, need/1e9, float64(f.bytes)/1e9)
}

// rows reads the training rows.
func (f *opened) rows() error {
	faded := f.summary.Updates != nil && f.summary.Updates.Faded
	rows, err := f.Rows(f.coding, f.recipe.Target.Rows, f.recipe.Weighted() || faded, len(f.Costs))
	if err == nil {
		f.x, f.weights, f.labels, f.costs = rows.Inputs, rows.Weights, rows.Labels, CostColumns{f.Costs, rows.Costs}
	}
	return err
}

// inducing reads posteriors on what is seen from inducing points.
func (f *opened) inducing(k kernel.Kernel) ([]opinion, error) {
	points, functions := f.summary.Inducing.Points, f.link.functions()
	z, err := f.Points(points, f.coding)
	if err != nil {
		return nil, err
	}
	process, err := gp.NewInducing(k, z)
	if err != nil {
		return nil, err
	}
	set, err := f.Effects(f.summary.Effects, functions, points)
	if err != nil {
		return nil, err
	}
	process = process.With(set)
	ep, err := f.Functions(false, functions, points)
	if err != nil {
		return nil, err
	}
	own, by := ep, process
	if f.method != EP {
		if own, err = f.Functions(true, functions, points); err != nil {
			return nil, err
		}
		if set, err = f.Own(set); err != nil {
			return nil, err
		}
		by = process.With(set)
	}
	state := posterior.State{Functions: ep}
	if KeepsRows(f.recipe.Rows, f.coding.Len(), functions) {
		if err := f.rows(); err != nil {
			return nil, err
		}
		if state.Sites, err = f.Sites(modelfile.Whole, false, f.recipe.Rows*functions, f.weights); err != nil {
			return nil, err
		}
	}
	return inducedOpinions(f.link, process, f.method, state, by, own), nil
}

// full reads posteriors of the full process.
func (f *opened) full(k kernel.Kernel) ([]opinion, error) {
	if err := f.rows(); err != nil {
		return nil, err
	}
	return f.part(modelfile.Whole, k)
}

// part reads posteriors of the full process of one part of a mixture.
func (f *opened) part(number int, k kernel.Kernel) ([]opinion, error) {
	n := f.recipe.Rows * f.link.views()
	ep, err := f.Sites(number, false, n, f.weights)
	if err != nil {
		return nil, err
	}
	own := posterior.State{Sites: ep}
	if f.method != EP && f.method != Corrected {
		if own.Sites, err = f.Sites(number, true, n, f.weights); err != nil {
			return nil, err
		}
	}
	if f.method == LossVI { // which has none where there was nothing to calibrate
		if own.Calibration, err = f.Calibration(number, n); err != nil {
			return nil, err
		}
	}
	cases := gp.CasesOf(f.link.terms(f.labels, f.weights))
	process, err := cases.Process(k, f.x, new(gp.Scratch))
	if err != nil {
		return nil, noPosterior(err)
	}
	l := &full{process: process, model: cases.Model(process)}
	if l.second, err = l.expectationPropagation(context.Background(), f.link, ep); err != nil {
		return nil, noPosterior(err)
	}
	all, err := l.opinions(context.Background(), f.link, f.method, own)
	if err != nil {
		return nil, noPosterior(err)
	}
	return all, nil
}

// mixture reads the parts of a mixture.
func (f *opened) mixture(kernel.Kernel) ([]opinion, error) {
	if err := f.rows(); err != nil {
		return nil, err
	}
	var weights []float64
	var parts [][]opinion
	sofar := 0.0
	for _, c := range f.summary.Candidates {
		if c.Weight == 0 {
			continue
		}
		if need := nextBytes(sofar, f.recipe, f.coding.Len()); need > float64(f.bytes) {
			return nil, f.tooLarge(need)
		}
		k, err := kernel.ParseColumns(c.Kernel, columns(f.coding))
		if err != nil {
			return nil, err
		}
		f.link = linkOf(f.recipe, f.likelihood.tuned(c.Tuned))
		part, err := f.part(len(parts), k)
		if err != nil {
			return nil, err
		}
		weights, parts = append(weights, c.Weight), append(parts, part)
		sofar += bytesOf(part)
	}
	return mixed(weights, parts), nil
}

// check refuses a header that contradicts itself, and what no fit could have found.
func (h *header) check() error {
	if h.Recipe == nil || h.Utility == nil {
		return errors.New("its description lacks the recipe or the utility")
	}
	if target := h.Recipe.Target.Outcomes; !slices.Equal(h.Utility.Outcomes(), target) {
		return fmt.Errorf("its utility has the outcomes %q, its target %q", h.Utility.Outcomes(), target)
	}
	if several(h.Recipe) && (!slices.Contains(severalMethods, h.Method) || h.Likelihood.Name == "logit" || h.Likelihood.Name == "robust" && h.Summary.Inducing == nil) {
		return fmt.Errorf("its method %s with likelihood %s is not for %d outcomes", h.Method, h.Likelihood, len(h.Recipe.Target.Outcomes))
	}
	if grades := h.Likelihood.Name == ordered; grades != h.Recipe.Target.Ordered || grades && len(h.Likelihood.Cuts) != len(h.Recipe.Target.Outcomes)-1 {
		return fmt.Errorf("its likelihood %s is not for the outcome of its recipe", h.Likelihood)
	}
	for _, c := range h.Summary.Candidates {
		if len(c.Tuned) > 0 && len(c.Tuned) != len(h.Likelihood.Cuts)-1 || h.Likelihood.tuned(c.Tuned).check() != nil {
			return fmt.Errorf("its candidate %q does not fit likelihood %s", c.Name, h.Likelihood)
		}
	}
	if h.Recipe.Rows != h.Provenance.Rows || h.Recipe.NumFeatures() != h.Provenance.Features {
		return fmt.Errorf("its recipe makes %d×%d numbers, its provenance says %d×%d",
			h.Recipe.Rows, h.Recipe.NumFeatures(), h.Provenance.Rows, h.Provenance.Features)
	}
	if err := h.Method.check(); err != nil {
		return err
	}
	if err := h.Likelihood.check(); err != nil {
		return err
	}
	if err := h.Examples.Check(h.Recipe); err != nil {
		return err
	}
	return h.checkSummary()
}

// checkSummary refuses what no fit could have found.
func (h *header) checkSummary() error {
	s := &h.Summary
	texts := append([]string{h.Provenance.Version, s.Status.Text}, s.Status.Notes...)
	switch {
	case s.Status.Sweeps < 0 || !(s.Status.Residual >= 0):
		return fmt.Errorf("its status has %d sweeps and a residual of %v", s.Status.Sweeps, s.Status.Residual)
	case s.Updates != nil && (s.Updates.Added < 0 || s.Updates.Forgotten < 0):
		return fmt.Errorf("it was updated with %d rows, and %d were taken away", s.Updates.Added, s.Updates.Forgotten)
	case !(s.Jitter >= 0):
		return fmt.Errorf("it says that %v was added to the kernel's diagonal", s.Jitter)
	}
	numbers := []float64{s.Jitter, s.Zero, s.LogEvidence}
	if o := s.Objective; o != nil {
		texts = append(texts, o.Name)
		numbers = append(numbers, o.Value)
	}
	if loo := s.LeaveOneOut; loo != nil {
		if actions := len(h.Utility.Actions()); loo.ConstantAction < 0 || loo.ConstantAction >= actions {
			return fmt.Errorf("its best constant action has the number %d, and there are %d actions", loo.ConstantAction, actions)
		}
		numbers = append(numbers, loo.LogPredictive, loo.Value, loo.Constant, loo.Error)
		if loo.Method != "" {
			if err := loo.Method.check(); err != nil {
				return fmt.Errorf("leave-one-out: %w", err)
			}
		}
	}
	if err := s.checkCandidates(); err != nil {
		return err
	}
	if err := s.checkSharpness(); err != nil {
		return err
	}
	if s.Effects != nil && s.Inducing == nil {
		return errors.New("it has effects, which are for inducing points")
	}
	if err := modelfile.CheckEffects(s.Effects, h.Recipe.Dim()); err != nil {
		return err
	}
	for _, c := range s.Candidates {
		texts = append(texts, c.Name)
		numbers = append(numbers, c.LogPredictive, c.LogEvidence)
		if c.Search != nil {
			texts = append(append(texts, c.Search.Stop), c.Search.AtBound...)
		}
	}
	if s.Inducing != nil {
		if !h.Method.byPasses() {
			return fmt.Errorf("its method is %s, which is not to be had from inducing points", h.Method)
		}
		if err := s.Inducing.check(h.Recipe.Rows); err != nil {
			return err
		}
	}
	if search := s.Search; search != nil {
		if search.Rows < 0 {
			return fmt.Errorf("its kernel was found with %d rows", search.Rows)
		}
		if search.Evaluations < 0 {
			return fmt.Errorf("its kernel was found in %d evaluations", search.Evaluations)
		}
		texts = append(append(texts, search.Stop), search.AtBound...)
		numbers = append(numbers, search.LogPrior)
	}
	return modelfile.CheckSummary(numbers, texts)
}

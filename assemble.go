package lossep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
)

// assemble makes the posteriors. The process may be nil, as it is after loading, and so
// may the second opinions.
func (m *Model) assemble(ctx context.Context, process *gp.Process, second []opinion) error {
	if process == nil {
		var err error
		if process, err = m.newProcess(); err != nil {
			return err
		}
	}
	m.process, m.full = process, process
	if second == nil {
		var err error
		if second, err = m.expectationPropagation(ctx); err != nil {
			return fmt.Errorf("the sites of EP: %w", err)
		}
	}
	switch m.method {
	case EP:
		m.opinions = second
	case Corrected:
		m.opinions = []opinion{second[1], second[0]}
	default:
		q, err := m.gaussian(m.sites, m.calibration)
		if err != nil {
			return fmt.Errorf("the sites of %s: %w", m.method, err)
		}
		own := m.newOpinion(ctx, m.method, q, m.sites, m.calibration)
		m.opinions = append([]opinion{own}, second...)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.checkPredictions()
}

// expectationPropagation is the opinions of EP and of its corrections.
func (m *Model) expectationPropagation(ctx context.Context) ([]opinion, error) {
	q, err := m.gaussian(m.ep, nil)
	if err != nil {
		return nil, err
	}
	own := m.newOpinion(ctx, EP, q, m.ep, nil)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if several(m.recipe) {
		return []opinion{own}, nil
	}
	terms := m.terms()
	corrected := Corrected.row(len(m.labels)).Refine(terms, &infer.Result{Q: q, Sites: infer.Sites{Terms: m.ep}})
	full, sites := m.full, m.ep
	joint := sync.OnceValue(func() *gp.Joint {
		j, _ := full.Joint(sites)
		return j
	})
	return []opinion{own, {method: Corrected, q: q, posterior: corrected.Posterior, joint: joint}}, nil
}

// second is the opinions of EP and of its corrections, in this order.
func (m *Model) second() []opinion {
	switch m.method {
	case EP:
		return m.opinions
	case Corrected:
		return []opinion{m.opinions[1], m.opinions[0]}
	}
	return m.opinions[1:]
}

// gaussian is the prior times the sites: h = Aᵀν and Λ = I + AᵀTA, plus what
// calibration adds.
func (m *Model) gaussian(sites []gauss.Scalar, calibration *gauss.Natural) (*gauss.Gaussian, error) {
	n := gauss.NewNatural(m.full.Views().Dim())
	n.SetStandard()
	n.TimesScalars(m.full.Views(), sites, new(gauss.Workspace))
	if calibration != nil {
		n.Times(calibration, 1)
	}
	q := gauss.NewGaussian(n.Dim())
	return q, q.Exchange(n)
}

// terms are the views and the terms of the training rows.
func (m *Model) terms() *infer.Model {
	if several(m.recipe) {
		return m.full.Model()
	}
	return &infer.Model{Views: m.full.Views(), Terms: m.likelihood.terms(m.labels), Counts: m.weights}
}

// newProcess is the process of the model's kernel at its rows, as its outcomes see it.
func (m *Model) newProcess() (*gp.Process, error) {
	if several(m.recipe) {
		return gp.NewOutcomes(m.kernel, m.x, outcomes(m.recipe, m.labels, m.weights))
	}
	return gp.New(m.kernel, m.x)
}

// assembleInduced makes the opinions of a model with inducing points.
func (m *Model) assembleInduced() error {
	s := m.inducing
	m.process = s.process
	opinionOf := func(method Method, q gauss.Gaussians) opinion {
		if several(m.recipe) {
			o := opinion{method: method, apart: q}
			if p, ok := s.process.Predictors(q); ok {
				o.apartPredictors = p
			}
			return o
		}
		o := opinion{method: method, q: q[0], posterior: infer.Gaussian{Gaussian: q[0]}}
		if p, ok := s.process.Predictor(q[0]); ok {
			o.predictor = p
		}
		return o
	}
	m.opinions = []opinion{opinionOf(m.method, s.own)}
	if m.method != EP {
		m.opinions = append(m.opinions, opinionOf(EP, s.ep))
	}
	return m.checkPredictions()
}

// checkPredictions asks every opinion about some training rows: those with the largest
// sites and a few others. A posterior that can be factored and no more, of a kernel or
// sites beyond what float64 can hold, gives numbers that are none.
func (m *Model) checkPredictions() error {
	n, _ := m.known().Dims()
	rows := []int{0, n / 3, n / 2, n - 1}
	for _, size := range []func(gauss.Scalar) float64{
		func(s gauss.Scalar) float64 { return math.Abs(s.Tau) },
		func(s gauss.Scalar) float64 { return math.Abs(s.Nu) },
	} {
		for _, sites := range [][]gauss.Scalar{m.ep, m.sites} {
			if m.inducing != nil {
				break // the sites are those of other inputs
			}
			largest := 0
			for i, s := range sites {
				if size(s) > size(sites[largest]) {
					largest = i
				}
			}
			rows = append(rows, largest/viewsOf(m.recipe))
		}
	}
	slices.Sort(rows)
	x := rowsOf(m.known(), slices.Compact(rows))
	for k := range m.opinions {
		if k > 0 && m.weights != nil && m.opinions[k].method == Corrected {
			continue // which takes seconds a row, and is seldom asked
		}
		for _, p := range m.opinions[k].predict(m, x) {
			if !p.isFinite() {
				return fmt.Errorf("the opinion of %s: %w", m.opinions[k].method, errNoPredictions)
			}
		}
	}
	return nil
}

// errNoPredictions says that a posterior exists and is of no use.
var errNoPredictions = errors.New("its predictions are no finite numbers; bring the kernel's parameters nearer to the scale of the data")

// mixed is the model of a mixture of models with the same rows and method.
func mixed(weights []float64, parts []*Model, tried []Candidate, sharpness float64) *Model {
	m := *parts[heaviest(weights)]
	m.mixture = &mixture{weights, parts}
	m.ep, m.sites, m.calibration, m.process, m.full = nil, nil, nil, nil, nil
	m.summary.Candidates, m.summary.Sharpness = tried, sharpness
	m.summary.LeaveOneOut = nil
	for _, part := range parts {
		s := part.summary
		m.summary.Jitter = max(m.summary.Jitter, s.Jitter)
		if !s.Status.Converged && m.summary.Status.Converged {
			m.summary.Status = s.Status
		}
	}
	m.opinions = make([]opinion, len(parts[0].opinions))
	for i := range m.opinions {
		m.opinions[i].method = parts[0].opinions[i].method
		for k, part := range parts {
			m.opinions[i].parts = append(m.opinions[i].parts, mixedPart{weights[k], part, &part.opinions[i]})
		}
	}
	return &m
}

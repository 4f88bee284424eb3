package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/service"
)

var errForgotten = errors.New("there is no such model")

// shelf holds models that have been fitted or read. Those that nobody uses are forgotten, the
// one used least recently first, where they take more than room or their memory is needed.
type shelf struct {
	mu     sync.Mutex
	room   float64
	budget *budget.Budget // of which their memory is part
	models map[uint64]*kept
	last   uint64 // handle given
	clock  uint64
}

// held is a model of any kind of outcome.
type held interface {
	Bytes() float64
	Write(w io.Writer) error
	Recipe() *recipe.Recipe
	Describe() []string
	EffectFamilies() []lossep.EffectFamily
}

type kept struct {
	model held
	share *budget.Share
	used  uint64 // when, by the clock
	users int    // requests that use it now
	gone  bool   // it is no longer on the shelf
}

func newShelf(bytes int64, b *budget.Budget) *shelf {
	return &shelf{room: float64(bytes), budget: b, models: make(map[uint64]*kept)}
}

// put keeps a model, whose memory is part of what the work that made it took, and gives its
// handle.
func (s *shelf) put(m held, work *budget.Share) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.clock++
	k := &kept{model: m, share: work.Split(atMost(m.Bytes())), used: s.clock, users: 1}
	s.models[s.last] = k
	for s.bytes() > s.room && s.spareOne() {
		continue
	}
	k.users = 0
	return s.last
}

// bytes is what all models on the shelf take.
func (s *shelf) bytes() (sum float64) {
	for _, k := range s.models {
		sum += float64(k.share.Taken())
	}
	return sum
}

// spare forgets the model that was not used for the longest time, and tells whether there was
// one that nobody uses.
func (s *shelf) spare() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spareOne()
}

func (s *shelf) spareOne() bool {
	oldest := uint64(0)
	for handle, k := range s.models {
		if k.users == 0 && (oldest == 0 || k.used < s.models[oldest].used) {
			oldest = handle
		}
	}
	return s.drop(oldest)
}

// drop takes a model off the shelf; its memory is free once nobody uses it.
func (s *shelf) drop(handle uint64) bool {
	k := s.models[handle]
	if k == nil {
		return false
	}
	delete(s.models, handle)
	if k.gone = true; k.users == 0 {
		k.share.Release()
	}
	return true
}

// use is a model that stays until done is called.
func (s *shelf) use(handle uint64) (m held, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.models[handle]
	if k == nil {
		return nil, nil, fmt.Errorf("%w: %d", errForgotten, handle)
	}
	s.clock++
	k.used = s.clock
	k.users++
	return k.model, func() { s.done(k) }, nil
}

func (s *shelf) done(k *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch k.users--; {
	case k.users > 0:
	case k.gone:
		k.share.Release()
	default:
		s.budget.Wake() // it could be spared now
	}
}

func (s *shelf) forget(handles []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range handles {
		s.drop(h)
	}
}

// Described is what a program receives of a model.
type Described struct {
	describedRows
	Outcomes  []string          `json:"outcomes"` // in the order of probabilities
	Positive  string            `json:"positive"`
	Unsettled bool              `json:"unsettled"` // Positive is for an order alone
	Actions   []string          `json:"actions"`
	Costs     bool              `json:"costs"`
	Utility   *decision.Spec    `json:"utility"`
	Method    lossep.Method     `json:"method"`
	Kernel    string            `json:"kernel"`
	Summary   lossep.Summary    `json:"summary"`
	Origin    lossep.Provenance `json:"provenance"`
	CostsOf   []string          `json:"cost_columns"` // that the costs of a case are made of
	Threshold *float64          `json:"threshold"`
}

// describedRows is what is reported of a model of any kind of outcome.
type describedRows struct {
	Model   uint64          `json:"model"` // its handle
	Kind    service.Outcome `json:"kind"`
	Target  string          `json:"target"`  // its column
	Columns []string        `json:"columns"` // that make features
	Table   []string        `json:"table"`   // all columns of the training table but the target and weights, in its order
	Lines   []string        `json:"lines"`   // the model in words
	Notes   []string        `json:"notes"`   // on the table it was fitted to
	Dropped []dropped       `json:"dropped"`
}

// dropped is a column that makes no features, and why.
type dropped struct {
	Column string `json:"column"`
	Reason string `json:"reason"`
}

// keepRows puts a model on the shelf, with part of the memory of the work that made it, and says what
// it was fitted to.
func (s *session) keepRows(m held, kind service.Outcome, notes []string, work *budget.Share) describedRows {
	learned := m.Recipe()
	d := describedRows{Model: s.models.put(m, work), Kind: kind, Target: learned.Target.Column, Lines: m.Describe(), Notes: notes}
	for _, part := range learned.Parts() {
		d.Columns = append(d.Columns, part.Column)
	}
	for _, c := range learned.Columns {
		if c.Kind != recipe.Outcome && c.Kind != recipe.Weights {
			d.Table = append(d.Table, c.Name)
		}
		if c.Reason != "" {
			d.Dropped = append(d.Dropped, dropped{c.Name, c.Reason})
		}
	}
	return d
}

// keep puts a model of categories on the shelf and describes it.
func (s *session) keep(m *lossep.Model, notes []string, work *budget.Share) *Described {
	learned, spec := m.Recipe(), m.Utility()
	d := &Described{
		describedRows: s.keepRows(m, service.Categories, notes, work), Outcomes: spec.Outcomes(), Positive: learned.Target.Positive(), Unsettled: learned.Target.Unsettled, Actions: spec.Actions(), Costs: spec.Costs(),
		Method: m.Method(), Kernel: m.Kernel().String(), Summary: m.Summary(), Origin: m.Provenance(), Utility: spec, CostsOf: spec.Columns(),
	}
	if rule, _, ok := spec.Rule(); ok {
		if p, _, ok := rule.Threshold(); ok {
			d.Threshold = &p
		}
	}
	return d
}

// load takes in a model file.
func (j *job) load(ctx context.Context) (any, []Tensor, error) {
	if len(j.frame.Tensors) != 1 || j.frame.Tensors[0].Type != Bytes {
		return nil, nil, &malformed{"the tensor is to be the bytes of a model file"}
	}
	// What it takes is known when it has been read, and is at most this.
	work, err := j.wait(ctx, "the model", float64(j.MaxMemory/2))
	if err != nil {
		return nil, nil, err
	}
	defer work.Release()
	m, err := lossep.ReadWithin(bytes.NewReader(j.frame.Tensors[0].data), j.MaxMemory/2)
	if errors.Is(err, modelfile.ErrNumbers) {
		n, err := numbers.Read(bytes.NewReader(j.frame.Tensors[0].data), j.MaxMemory/2)
		if err != nil {
			return nil, nil, err
		}
		return j.keepNumbers(n, nil, work), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return j.keep(m, nil, work), nil, nil
}

// keepWithFile is keep of a new model, and its file.
func (s *session) keepWithFile(m *lossep.Model, notes []string, work *budget.Share) (*Described, []Tensor, error) {
	model, err := file(m)
	if err != nil {
		return nil, nil, err
	}
	return s.keep(m, notes, work), []Tensor{model}, nil
}

// file is a model as a tensor.
func file(m held) (Tensor, error) {
	var b bytes.Buffer
	err := m.Write(&b)
	return Raw("model", b.Bytes()), err
}

// effects draws the effects of a model.
func (j *job) effects(context.Context) (any, []Tensor, error) {
	m := held(j.model)
	if j.number != nil {
		m = j.number
	}
	found, err := report.EffectsOf(m.EffectFamilies(), &m.Recipe().Target)
	return found, nil, err
}

package worker

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

var errForgotten = errors.New("there is no such model")

// shelf holds models up to an amount of memory, and at least one.
type shelf struct {
	mu     sync.Mutex
	room   float64
	models map[uint64]*kept
	last   uint64 // handle given
	clock  uint64
}

type kept struct {
	model *lossep.Model
	bytes float64
	used  uint64 // when, by the clock
}

func newShelf(bytes int64) *shelf {
	return &shelf{room: float64(bytes), models: make(map[uint64]*kept)}
}

// put keeps a model and gives its handle. Others may have to go, the one that was not used
// for the longest time first.
func (s *shelf) put(m *lossep.Model) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.clock++
	s.models[s.last] = &kept{m, m.Bytes(), s.clock}
	for len(s.models) > 1 {
		total, oldest := 0.0, s.last
		for handle, k := range s.models {
			total += k.bytes
			if k.used < s.models[oldest].used {
				oldest = handle
			}
		}
		if total <= s.room {
			break
		}
		delete(s.models, oldest)
	}
	return s.last
}

func (s *shelf) get(handle uint64) (*lossep.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.models[handle]
	if k == nil {
		return nil, fmt.Errorf("%w: %d", errForgotten, handle)
	}
	s.clock++
	k.used = s.clock
	return k.model, nil
}

func (s *shelf) forget(handles []uint64) {
	if len(handles) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range handles {
		delete(s.models, h)
	}
}

// Described is what a program is told of a model.
type Described struct {
	Model     uint64            `json:"model"`    // its handle
	Outcomes  []string          `json:"outcomes"` // in the order of probabilities
	Positive  string            `json:"positive"`
	Unsettled bool              `json:"unsettled"` // Positive is for an order alone
	Actions   []string          `json:"actions"`
	Costs     bool              `json:"costs"`
	Columns   []string          `json:"columns"` // that make features
	Table     []string          `json:"table"`   // all columns of the training table but the target and weights, in its order
	Utility   *decision.Spec    `json:"utility"`
	Method    lossep.Method     `json:"method"`
	Kernel    string            `json:"kernel"`
	Summary   lossep.Summary    `json:"summary"`
	Origin    lossep.Provenance `json:"provenance"`
	Lines     []string          `json:"lines"` // the model in words
	Notes     []string          `json:"notes"` // on the table it was fitted to
	Dropped   []dropped         `json:"dropped"`
	CostsOf   []string          `json:"cost_columns"` // that the costs of a case are made of
	Threshold *float64          `json:"threshold"`
}

// dropped is a column that makes no features, and why.
type dropped struct {
	Column string `json:"column"`
	Reason string `json:"reason"`
}

// keep puts a model on the shelf and describes it.
func (s *session) keep(m *lossep.Model, notes []string) *Described {
	recipe, spec := m.Recipe(), m.Utility()
	d := &Described{
		Model: s.models.put(m), Outcomes: spec.Outcomes(), Positive: recipe.Target.Positive, Unsettled: recipe.Target.Unsettled, Actions: spec.Actions(), Costs: spec.Costs(),
		Method: m.Method(), Kernel: m.Kernel().String(), Summary: m.Summary(), Origin: m.Provenance(),
		Lines: m.Describe(), Notes: notes, Utility: spec, CostsOf: spec.Columns(),
	}
	for _, part := range recipe.Parts() {
		d.Columns = append(d.Columns, part.Column)
	}
	for _, c := range recipe.Columns {
		if c.Kind != data.Outcome && c.Kind != data.Weights {
			d.Table = append(d.Table, c.Name)
		}
		if c.Reason != "" {
			d.Dropped = append(d.Dropped, dropped{c.Name, c.Reason})
		}
	}
	if rule, _, ok := spec.Rule(); ok {
		if p, _, ok := rule.Threshold(); ok {
			d.Threshold = &p
		}
	}
	return d
}

// load takes in a model file.
func (s *session) load(f *Frame) (any, []Tensor, error) {
	if len(f.Tensors) != 1 || f.Tensors[0].Type != Bytes {
		return nil, nil, &malformed{"the tensor is to be the bytes of a model file"}
	}
	m, err := lossep.ReadWithin(bytes.NewReader(f.Tensors[0].data), s.MaxMemory/2)
	if err != nil {
		return nil, nil, err
	}
	return s.keep(m, nil), nil, nil
}

// file is a model as a tensor.
func file(m *lossep.Model) (Tensor, error) {
	var b bytes.Buffer
	err := m.Write(&b)
	return Raw("model", b.Bytes()), err
}

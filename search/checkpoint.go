package search

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/kernel"
)

// Checkpoint is where a search has come to: the start with so many rows, and the inducing
// points chosen for it.
type Checkpoint struct {
	Level  int         `json:"level"`
	Rows   int         `json:"rows,omitempty"` // that the search has been through: those of the level before
	Logs   []float64   `json:"log_parameters"`
	Points [][]float64 `json:"points"`
	Share  float64     `json:"share"`
	Lost   float64     `json:"lost"`
	Fewer  bool        `json:"fewer,omitempty"` // points than there are to be at the end
	Steps  [][]float64 `json:"steps,omitempty"`
	Falls  [][]float64 `json:"falls,omitempty"`
	// What the search ended on, if it has ended; see Induced.
	SearchRows  int  `json:"search_rows,omitempty"`
	Evaluations int  `json:"evaluations,omitempty"`
	Stop        Stop `json:"stop,omitempty"`
	// Beside are effects that the search stands beside, nil if these are to be found when it has ended.
	Beside *KeptEffects `json:"beside,omitempty"`
}

// KeptEffects are effects that were found beside a process, and its kernel.
type KeptEffects struct {
	Logs     []float64           `json:"log_parameters"`
	Tuned    []float64           `json:"tuned,omitempty"` // of terms that have hyperparameters
	Families []effects.Learnt    `json:"families"`
	Dropped  []effects.Candidate `json:"dropped,omitempty"`
	Passes   int                 `json:"passes,omitempty"` // over rows that are not in memory, see Placed
}

// SearchPlan tells apart the plans of searches, the samples that they go by and the prior: a
// checkpoint is of one of them.
func SearchPlan() string {
	return fmt.Sprint(fewestRows, stepUp, SearchRows, kernel.VarianceSpread, kernel.LengthscaleSpread, kernel.PeriodSpread)
}

func (s *induction) checkpoint() Checkpoint {
	c := s.at
	if c.Level > 0 {
		c.Rows = s.levels[c.Level-1]
	}
	c.Steps, c.Falls = s.memory.steps, s.memory.falls
	return c
}

// Fits tells whether a checkpoint can be of a search for this kernel on these rows with terms like these.
func (c *Checkpoint) Fits(k kernel.Kernel, x *mat.Dense, terms gp.Terms) bool {
	n, d := x.Dims()
	tuned := len(newTuning(terms).priors())
	if c.Level < 0 || c.Rows < min(c.Level, 1) || c.Rows > n || c.Evaluations < 0 || c.SearchRows < 0 || len(c.Logs) != k.NumParams()+tuned || len(c.Points) == 0 || len(c.Steps) != len(c.Falls) {
		return false
	}
	for _, list := range [][][]float64{c.Steps, c.Falls} {
		for _, v := range list {
			if len(v) != len(c.Logs) || !finite.All(v...) {
				return false
			}
		}
	}
	for _, p := range c.Points {
		if len(p) != d || !finite.All(p...) {
			return false
		}
	}
	logs := c.Logs
	if c.Beside != nil {
		if len(c.Beside.Logs) != k.NumParams() || len(c.Beside.Tuned) != tuned || len(c.Beside.Families) == 0 {
			return false
		}
		logs = slices.Concat(logs, c.Beside.Logs, c.Beside.Tuned)
	}
	for _, v := range logs {
		if !(math.Abs(v) <= kernel.MaxLog) {
			return false
		}
	}
	return true
}

// BesideEffects is the process of a search that had ended when effects were found, which AddEffects goes on from. It is
// nil if the checkpoint is from before that.
func (c *Checkpoint) BesideEffects(k kernel.Kernel, memory int64) (*Induced, error) {
	if c == nil || c.Beside == nil {
		return nil, nil
	}
	z := mat.NewDense(len(c.Points), len(c.Points[0]), slices.Concat(c.Points...))
	p, err := gp.NewInducing(k.With(c.Beside.Logs), z)
	return &Induced{Process: p, Tuned: c.Beside.Tuned, buffer: &gp.ViewBuffer{Bytes: memory}, draft: true}, err
}

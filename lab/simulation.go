package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/finite"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/normal"
)

// Simulation is the experiment of the paper's table.
type Simulation struct {
	Seed     uint64 `json:"seed"`
	DataSets int    `json:"datasets"`
	// Points is the number of points that stand for p(x) under each shift.
	Points int `json:"points"`
	// Truth is about how many weighted points of the exact posterior are behind the truth
	// where a decision hangs on it.
	Truth int `json:"truth_points"`
}

// NewSimulation is a simulation of the given size. Its truth grows with the points: a smaller run
// is a preview, whose coarser regrets do not need as exact a one.
func NewSimulation(seed uint64, dataSets, points int) Simulation {
	const each, least = 64, 8_000
	return Simulation{Seed: seed, DataSets: dataSets, Points: points, Truth: max(least, each*min(points, fullPoints))}
}

// The paper's sizes.
const (
	fullDataSets = 20
	fullPoints   = 1000
)

// PaperSimulation is the simulation at the paper's sizes.
func PaperSimulation() Simulation { return NewSimulation(1, fullDataSets, fullPoints) }

// Inputs and half-width of where they lie: 15, uniform on [−10, 10].
const (
	inputs = 15
	reach  = 10.0
)

// paperKernel is the paper's kernel, log σ = 1.5 and log ℓ = 1.
func paperKernel() kernel.Kernel { return kernel.RBF(math.Exp(3), math.E) }

// Utilities are the values of u10 in u = [[1, 0], [u10, 1]]. The paper states only
// the first and the last.
func Utilities() []float64 { return []float64{0, 0.25, 0.5, 0.75, 0.95} }

// Shifts is by how much the interval [−10, 10], from which the training inputs come,
// is moved to become the one where decisions are made. The paper has three shifts
// and states none; these move it not at all, by a quarter and by half of its width.
func Shifts() []float64 { return []float64{0, 5, 10} }

// UtilityTable is the paper's utility with the given u10.
func UtilityTable(u10 float64) decision.Table { return decision.Table{{1, 0}, {u10, 1}} }

// DataSet is a sample from the prior.
type DataSet struct {
	Inputs []float64 `json:"inputs"`
	Labels []int     `json:"labels"`
}

// paperProblem is a data set with the model it makes.
type paperProblem struct {
	DataSet
	process *gp.Process
	model   *infer.Model
	seed    uint64 // of what is drawn to solve it
}

// problem draws the index-th data set.
func (s Simulation) problem(index int) (*paperProblem, error) {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(index)))
	p := &paperProblem{DataSet: DataSet{Inputs: make([]float64, inputs), Labels: make([]int, inputs)}}
	for i := range p.Inputs {
		p.Inputs[i] = reach * (2*rng.Float64() - 1)
	}
	var err error
	if p.process, err = gp.New(paperKernel(), column(p.Inputs)); err != nil {
		return nil, err
	}
	v, f := make([]float64, inputs), make([]float64, inputs)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	p.process.Views().At(f, v)
	for i := range p.Labels {
		if rng.Float64() < normal.CDF(f[i]) {
			p.Labels[i] = 1
		}
	}
	p.seed = rng.Uint64()
	p.model, err = p.process.Classify(p.Labels)
	return p, err
}

// column is a matrix of one column.
func column(x []float64) *mat.Dense { return mat.NewDense(len(x), 1, slices.Clone(x)) }

// places are the points of all shifts. Shifted grids share many of their points, so
// each is listed once.
type places struct {
	x  []float64
	of [][]int // for each shift, the indices of its points in x
}

// places lays out the points: for each shift the midpoints of equal cells, which
// stand for the uniform p(x) more evenly than draws do.
func (s Simulation) places() places {
	var p places
	known := map[float64]int{}
	for _, shift := range Shifts() {
		of := make([]int, s.Points)
		for j, x := range midpoints(shift, s.Points) {
			x = math.Round(x*1e9) / 1e9 // the same number from every shift
			i, ok := known[x]
			if !ok {
				i = len(p.x)
				known[x] = i
				p.x = append(p.x, x)
			}
			of[j] = i
		}
		p.of = append(p.of, of)
	}
	return p
}

// midpoints are those of n equal cells of the interval where decisions are made.
func midpoints(shift float64, n int) []float64 {
	x := make([]float64, n)
	for j := range x {
		x[j] = -reach + shift + 2*reach*(float64(j)+0.5)/float64(n)
	}
	return x
}

// Trial is what came of one data set.
type Trial struct {
	Index int `json:"index"`
	DataSet
	// Regret is the normalised regret [utility][shift][method] in the order of
	// Utilities, Shifts and Methods. Noise is the standard error that the truth
	// leaves in it, and Bias how much regret it may hide on average.
	Regret [][][]float64 `json:"regret"`
	Noise  [][][]float64 `json:"noise"`
	Bias   [][][]float64 `json:"bias"`
	// Notes say where a method did not end as it should.
	Notes []string `json:"notes,omitempty"`
}

// Fits reports whether a data set read from elsewhere can be one of this simulation:
// its number is in range and every regret is there and finite.
func (s Simulation) Fits(t *Trial) bool {
	if t.Index < 0 || t.Index >= s.DataSets {
		return false
	}
	for _, table := range [][][][]float64{t.Regret, t.Noise, t.Bias} {
		if len(table) != len(Utilities()) {
			return false
		}
		for _, shifts := range table {
			if len(shifts) != len(Shifts()) {
				return false
			}
			for _, methods := range shifts {
				if len(methods) != len(PaperMethods()) || !finite.All(methods...) {
					return false
				}
			}
		}
	}
	return true
}

// Run computes the data sets that are not among those known, on all cores, and
// returns all of them in order. After each it calls finished, never twice at once; an
// error of that ends the run.
// When the context ends, or a data set fails, it returns the error and leaves what
// is finished to the caller.
func (s Simulation) Run(ctx context.Context, known []*Trial, finished func(*Trial) error) ([]*Trial, error) {
	trials := make([]*Trial, s.DataSets)
	for _, t := range known {
		if s.Fits(t) {
			trials[t.Index] = t
		}
	}
	return trials, tasks.Fill(ctx, trials, tasks.Workers(), func(ctx context.Context, i int) (*Trial, error) {
		t, err := s.Trial(ctx, i)
		if err != nil {
			err = fmt.Errorf("data set %d: %w", i, err)
		}
		return t, err
	}, finished)
}

// Trial computes one data set.
func (s Simulation) Trial(ctx context.Context, index int) (*Trial, error) {
	p, err := s.problem(index)
	if err != nil {
		return nil, err
	}
	at := s.places()
	answers, notes, err := p.answer(ctx, at)
	if err != nil {
		return nil, err
	}
	truth, err := p.truth(ctx, at, answers, s.Truth)
	if err != nil {
		return nil, err
	}
	t := &Trial{Index: index, DataSet: p.DataSet, Notes: notes}
	t.judge(at, answers, truth)
	return t, nil
}

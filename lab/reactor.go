package lab

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/infer"
)

// Reactor is the decision of the paper in one dimension: the state φ of a reactor is measured
// through clutter, and it has to be shut down or left on. Measurements are y_i = φ + noise, or
// clutter with a known probability; the prior of φ is Gaussian. The utility depends on the
// action and on whether φ exceeds a threshold. The posterior has many modes, and the action that
// follows from an approximation is easily the wrong one.
//
// Its fields are the data, every constant of the model, and what actions are worth.
type Reactor struct {
	Data            []float64
	PriorMean       float64
	PriorVariance   float64
	ClutterWeight   float64 // probability that a measurement is clutter
	ClutterVariance float64
	NoiseVariance   float64 // of a measurement that is not clutter
	// Utility has one row for each action and one column for φ below and above the
	// threshold. Nil when there is nothing to decide.
	Utility   decision.Table
	Threshold float64
}

// Default is the clutter problem of Minka (2001) as Infer.NET tests it: prior
// variance 100, clutter half of the time with variance 10, unit noise.
func NewReactor(data ...float64) Reactor {
	return Reactor{Data: data, PriorVariance: 100, ClutterWeight: 0.5, ClutterVariance: 10, NoiseVariance: 1}
}

// Check reports the first thing that is wrong with the problem.
func (p Reactor) Check() error {
	if len(p.Data) == 0 {
		return &InputError{"data", "there are no measurements; give at least one"}
	}
	for i, y := range p.Data {
		if !inRange(y) {
			return &InputError{"data", fmt.Sprintf("measurement %d is %v; measurements are finite numbers up to %g", i+1, y, largestNumber)}
		}
	}
	if !inRange(p.PriorMean) {
		return &InputError{"prior mean", fmt.Sprintf("%v is not a finite number up to %g", p.PriorMean, largestNumber)}
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"prior variance", p.PriorVariance}, {"clutter variance", p.ClutterVariance}, {"noise variance", p.NoiseVariance}} {
		if !(v.value >= 1/largestNumber) || !inRange(v.value) {
			return &InputError{v.name, fmt.Sprintf("%v is not a variance; it must be above 0, between %g and %g", v.value, 1/largestNumber, largestNumber)}
		}
	}
	if !(p.ClutterWeight >= 0 && p.ClutterWeight < 1) {
		return &InputError{"clutter weight", fmt.Sprintf("%v is not a probability below 1", p.ClutterWeight)}
	}
	if p.Utility == nil {
		return nil
	}
	if !inRange(p.Threshold) {
		return &InputError{"threshold", fmt.Sprintf("%v is not a finite number up to %g", p.Threshold, largestNumber)}
	}
	return p.Utility.Check(2)
}

// largestNumber bounds what numbers may be: their squares have to stay far from overflow.
const largestNumber = 1e100

// inRange is false for a NaN too.
func inRange(x float64) bool { return math.Abs(x) <= largestNumber }

// Model is the problem as a model of one dimension: φ = PriorMean + √PriorVariance·v.
func (p Reactor) Model() (*infer.Model, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m := &infer.Model{Views: p.views(len(p.Data))}
	for _, y := range p.Data {
		m.Terms = append(m.Terms, factor.Clutter{Y: y, Weight: p.ClutterWeight, Variance: p.ClutterVariance, Noise: p.NoiseVariance})
	}
	return m, nil
}

// views are n views of φ itself.
func (p Reactor) views(n int) *gauss.Views {
	a, b := mat.NewDense(n, 1, nil), make([]float64, n)
	for i := range n {
		a.Set(i, 0, math.Sqrt(p.PriorVariance))
		b[i] = p.PriorMean
	}
	return gauss.NewViews(a, b, nil)
}

// utility is the one-point utility of the decision.
func (p Reactor) utility() (*decision.Utility, error) {
	return decision.NewUtility(decision.Exceeds(p.Threshold), 1, nil, p.Utility)
}

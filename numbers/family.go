package numbers

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/recipe"
)

// Family is how a transformed outcome depends on the latent value.
type Family interface {
	// Name is what files and options call it.
	Name() string
	// Priors are those of the logarithms of its hyperparameters, Logs, and With is the family with these.
	Priors() []kernel.Prior
	With(logs []float64) Family
	Logs() []float64
	// Term is the factor of an outcome, and Largest the largest precision that a site of one has.
	Term(y float64) factor.Factor
	Largest() float64
	// Predict is the distribution of an outcome where the latent value is N(mean, variance).
	Predict(mean, variance float64, t *Transform) Distribution
	String() string
}

// families are those of a transformation, the simplest first. Noise with long tails is for outcomes as
// they are alone: undone logarithms of it have no mean.
func families(t *Transform) []Family {
	switch {
	case t.Name == "count":
		return []Family{poisson{t.Mean}, negativeBinomial{t.Mean, 10}}
	case t.plain():
		return []Family{normalNoise{1}, studentNoise{1, 5}}
	}
	return []Family{normalNoise{1}}
}

// family is that of a name and a transformation, nil if there is none.
func (s *Shape) family() Family {
	if s.Noise == knownName && s.Transform.plain() {
		return knownNoise{}
	}
	for _, f := range families(&s.Transform) {
		if f.Name() == s.Noise {
			return f
		}
	}
	return nil
}

// Terms implements lossep.Outcomes.
func (s *Shape) Terms(_ *recipe.Recipe, outcomes, weights []float64) gp.Terms {
	return &terms{y: s.Transform.all(outcomes), weights: weights, family: s.family()}
}

// ReadTraining reads what a fit tells those who pass over its rows elsewhere, whatever their outcomes are.
func ReadTraining(text []byte) (*lossep.Training, error) {
	var is struct {
		Recipe struct{ Target recipe.Target } `json:"recipe"`
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, err
	}
	t := &lossep.Training{Outcomes: new(lossep.Likelihood)}
	if is.Recipe.Target.Number {
		t.Outcomes = new(Shape)
	}
	return t, json.Unmarshal(text, t)
}

// normalNoise is noise of a variance, in units of the scale of the outcomes.
type normalNoise struct{ variance float64 }

func (normalNoise) Name() string { return "normal" }

// Noise is a tenth of the variance by its prior, which is weak, and between 1e-7 and 1e6 of it.
func (normalNoise) Priors() []kernel.Prior     { return []kernel.Prior{noisePrior} }
func (normalNoise) With(logs []float64) Family { return normalNoise{math.Exp(logs[0])} }
func (n normalNoise) Term(y float64) factor.Factor {
	return factor.Gaussian{Y: y, Variance: n.variance}
}
func (n normalNoise) Largest() float64 { return 1 / n.variance }

func (n normalNoise) Logs() []float64 { return []float64{math.Log(n.variance)} }

func (n normalNoise) Predict(mean, variance float64, t *Transform) Distribution {
	return newNormals([]Part{{1, mean, math.Sqrt(variance + n.variance)}}, t, 0)
}

func (n normalNoise) String() string {
	return fmt.Sprintf("normal noise of standard deviation %.4g", math.Sqrt(n.variance))
}

var noisePrior = kernel.Prior{Mean: math.Log(0.1), SD: 2.5}

// studentNoise has long tails: Student's t with a scale and degrees of freedom above leastDF, so
// that there is a mean.
type studentNoise struct{ scale, df float64 }

const leastDF = 1.5

func (studentNoise) Name() string { return "student" }

func (studentNoise) Priors() []kernel.Prior {
	return []kernel.Prior{noisePrior, {Mean: math.Log(4), SD: 0.8}}
}

func (studentNoise) With(logs []float64) Family {
	return studentNoise{math.Exp(logs[0] / 2), leastDF + math.Exp(logs[1])}
}

func (s studentNoise) Logs() []float64 {
	return []float64{2 * math.Log(s.scale), math.Log(s.df - leastDF)}
}

func (s studentNoise) Term(y float64) factor.Factor {
	return factor.StudentT{Y: y, Scale: s.scale, DF: s.df}
}

// Largest is the curvature at the middle; in the tails it is of the other sign, and smaller.
func (s studentNoise) Largest() float64 { return (s.df + 1) / (s.df * s.scale * s.scale) }

func (s studentNoise) Predict(mean, variance float64, t *Transform) Distribution {
	var parts []Part
	variances, weights := factor.StudentT{Scale: s.scale, DF: s.df}.Mixture()
	for k, v := range variances {
		if weights[k] > leastWeight {
			parts = append(parts, Part{weights[k], mean, math.Sqrt(variance + v)})
		}
	}
	return newNormals(parts, t, s.df)
}

// leastWeight is that of normals that are left out of a mixture: far less than decisions are exact to.
const leastWeight = 1e-10

func (s studentNoise) String() string {
	return fmt.Sprintf("Student's t noise of scale %.4g with %.3g degrees of freedom", s.scale, s.df)
}

// terms are those of transformed outcomes.
type terms struct {
	y       []float64
	weights []float64 // nil if each counts once
	family  Family
	logs    []float64 // that the family was tuned to last
	known   []float64 // variances of noise that is known, nil if it is the family's
}

func (t *terms) Len() int                    { return len(t.y) }
func (t *terms) Hyperpriors() []kernel.Prior { return t.family.Priors() }
func (t *terms) Tuned() []float64            { return t.logs }
func (t *terms) Fork() gp.TunedTerms         { c := *t; return &c }
func (t *terms) Tune(logs []float64) {
	t.logs, t.family = slices.Clone(logs), t.family.With(logs)
}

// Term is the factor of a row.
func (t *terms) Term(i int) factor.Factor {
	if t.known != nil {
		return factor.Gaussian{Y: t.y[i], Variance: t.known[i]}
	}
	return t.family.Term(t.y[i])
}

// Count implements pass.Counter.
func (t *terms) Count(i int) float64 {
	if t.weights == nil {
		return 1
	}
	return t.weights[i]
}

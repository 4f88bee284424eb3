package numbers

import (
	"math"
	"testing"
)

// Whatever a case turned out to be, what is predicted of it has finite scores: no probability where the model
// holds it to be impossible, or as far out as no number says.
func TestScoresOutsideTheSupport(t *testing.T) {
	seen := []float64{1, 2, 3, 5, 8, 13}
	all := make(map[string]Distribution)
	for _, name := range []string{"none", "log", "root", "yeo-johnson"} {
		of := &Transform{Name: name}
		if name == "yeo-johnson" {
			of.Unit, of.Power = 2, 0.5
		}
		of.standardise(seen)
		for _, f := range families(of) {
			all[name+" "+f.Name()] = f.Predict(0.2, 0.5, of)
		}
	}
	all["poisson"] = poisson{1}.Predict(0.2, 0.5, nil)
	all["negative binomial"] = negativeBinomial{1, 3}.Predict(0.2, 0.5, nil)
	for name, d := range all {
		for _, y := range []float64{0, -1, -1.5, 2.5, 1e200, -1e200} {
			for what, x := range map[string]float64{"log density": d.LogDensity(y), "cdf": d.CDF(y), "pit": d.PIT(y), "crps": d.CRPS(y)} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%s: the %s at %v is %v", name, what, y, x)
				}
			}
		}
	}
	for _, name := range []string{"log normal", "root normal", "poisson", "negative binomial"} {
		if d := all[name]; d.CDF(-1) != 0 || d.LogDensity(-1) != -math.MaxFloat64 || d.LogDensity(-1.5) != -math.MaxFloat64 {
			t.Errorf("%s: amounts below zero have probability %v, log density %v", name, d.CDF(-1), d.LogDensity(-1))
		}
	}
}

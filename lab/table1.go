package lab

import (
	"math"
	"slices"

	"github.com/lossep/lossep/compare"
)

// Score is one method's regret in one cell of the table.
type Score struct {
	Method string  `json:"method"`
	Mean   float64 `json:"mean"`
	StdErr float64 `json:"stderr"` // over data sets
	// TruthError is the error that the truth leaves in Mean.
	TruthError float64 `json:"truth_error"`
	// BelowResolution says that TruthError is more than a tenth of Mean.
	BelowResolution bool `json:"below_resolution"`
	// Best says that no method has a lower mean, and that not all have the same.
	Best bool `json:"best"`
	// Regrets are those of the data sets, which the trials have too.
	Regrets []float64 `json:"-"`
}

// PairTest is a signed-rank test of two methods on the same data sets.
type PairTest struct {
	A string `json:"a"`
	B string `json:"b"`
	// Shift is the Hodges–Lehmann estimate of regret A less regret B: positive
	// where B is ahead.
	Shift float64 `json:"shift"`
	P     float64 `json:"p"`
	// Adjusted is P after Holm's correction over the Family.
	Adjusted float64 `json:"adjusted"`
	Family   string  `json:"family"`
	N        int     `json:"n"` // data sets on which the two differ
}

// Cell is a utility under a shift.
type Cell struct {
	U10    float64    `json:"u10"`
	Shift  float64    `json:"shift"`
	Scores []Score    `json:"scores"` // in the order of Methods
	Tests  []PairTest `json:"tests"`
}

// Score is that of a method.
func (c *Cell) Score(method string) Score { return c.Scores[slices.Index(PaperMethods(), method)] }

// Table1 is the paper's Table 1.
type Table1 struct {
	DataSets int    `json:"datasets"`
	Cells    []Cell `json:"cells"` // by utility, then by shift
}

// Families of tests. Holm's correction is made within each.
const (
	// Calibration is the paper's own question, in every cell and for both methods:
	// does a method calibrated to the utility decide as well as its plain sibling?
	Calibration = "calibration"
	// Correction asks whether decisions beyond the Gaussian do better than Loss-EP.
	Correction = "correction"
)

// pairs are what is compared.
var pairs = []struct{ family, a, b string }{
	{Calibration, "ep", "loss-ep"},
	{Calibration, "vi", "loss-vi"},
	{Correction, "loss-ep", "evidence"},
	{Correction, "loss-ep", "corrected"},
	{Correction, "loss-ep", "paired"},
}

// SignificanceLevel is the one at which a difference counts as significant.
const SignificanceLevel = 0.05

// NewTable1 sums up trials.
func NewTable1(trials []*Trial) *Table1 {
	t := &Table1{DataSets: len(trials)}
	for u, u10 := range Utilities() {
		for s, shift := range Shifts() {
			c := Cell{U10: u10, Shift: shift}
			lowest, highest := math.Inf(1), 0.0
			for m, name := range PaperMethods() {
				score := newScore(name, trials, u, s, m)
				lowest, highest = min(lowest, score.Mean), max(highest, score.Mean)
				c.Scores = append(c.Scores, score)
			}
			for m := range c.Scores {
				c.Scores[m].Best = c.Scores[m].Mean == lowest && lowest < highest
			}
			for _, p := range pairs {
				c.Tests = append(c.Tests, newPairTest(p.family, c.Score(p.a), c.Score(p.b)))
			}
			t.Cells = append(t.Cells, c)
		}
	}
	t.adjust()
	return t
}

// newScore averages over the data sets. The noise of the truth is independent
// between data sets; what it hides adds up.
func newScore(name string, trials []*Trial, u, s, m int) Score {
	score := Score{Method: name}
	noise, bias := 0.0, 0.0
	n := float64(len(trials))
	for _, t := range trials {
		score.Regrets = append(score.Regrets, t.Regret[u][s][m])
		score.Mean += t.Regret[u][s][m] / n
		noise += t.Noise[u][s][m] * t.Noise[u][s][m]
		bias += t.Bias[u][s][m]
	}
	if e, err := compare.Mean(score.Regrets, nil, 0.95); err == nil { // a single data set has no spread
		score.Mean, score.StdErr = e.Mean, e.StdErr
	}
	score.TruthError = math.Sqrt(noise)/n + bias/n
	score.BelowResolution = score.TruthError > 0.1*score.Mean
	return score
}

func newPairTest(family string, a, b Score) PairTest {
	diff := make([]float64, len(a.Regrets))
	for i := range diff {
		diff[i] = a.Regrets[i] - b.Regrets[i]
	}
	t := compare.SignedRank(diff)
	return PairTest{A: a.Method, B: b.Method, Family: family, Shift: t.Shift, P: t.P, N: t.N}
}

// adjust makes Holm's correction within each family.
func (t *Table1) adjust() {
	for _, family := range []string{Calibration, Correction} {
		var p []float64
		t.each(family, func(c *PairTest) { p = append(p, c.P) })
		adjusted := compare.Holm(p)
		k := 0
		t.each(family, func(c *PairTest) {
			c.Adjusted = adjusted[k]
			k++
		})
	}
}

// each visits the tests of a family.
func (t *Table1) each(family string, visit func(*PairTest)) {
	for i := range t.Cells {
		for j := range t.Cells[i].Tests {
			if c := &t.Cells[i].Tests[j]; c.Family == family {
				visit(c)
			}
		}
	}
}

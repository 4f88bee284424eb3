package recipe

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/normal"
	"github.com/lossep/lossep/table"
)

// Bend is the curve that a numeric column is bent by before it is standardised.
type Bend string

// The bends. All of them are increasing and can be undone; beyond the training values
// they go on in a straight line, so that a value far out stays far out.
const (
	AutoBend   Bend = "auto" // chosen by the values
	Straight   Bend = "none"
	Common     Bend = "common"      // none, and one scale for all such columns: they have one unit
	Log        Bend = "log"         // log(x + unit): amounts, from zero on
	YeoJohnson Bend = "yeo-johnson" // a power of either sign, chosen by likelihood
	LogOdds    Bend = "log-odds"    // log((x + unit)/(1 − x + unit)): probabilities
	Rank       Bend = "rank"        // normal scores: the quantile of the normal distribution at the value's rank
)

// Bends lists them.
func Bends() []Bend { return []Bend{AutoBend, Straight, Common, Log, LogOdds, YeoJohnson, Rank} }

// Scaling is the bend of a column with what was estimated for it.
type Scaling struct {
	Bend   Bend      `json:"bend"`
	Unit   float64   `json:"unit,omitempty"`   // log, log-odds: what is added; yeo-johnson: what is divided by; rank: the slope beyond the ends is its inverse
	Power  float64   `json:"power,omitempty"`  // yeo-johnson: λ
	Low    float64   `json:"low"`              // the smallest training value
	High   float64   `json:"high"`             // the largest
	Values []float64 `json:"values,omitempty"` // rank: some of the training values, increasing
	Scores []float64 `json:"scores,omitempty"` // rank: their normal scores
}

// maxKnots is how many values of a column its normal scores are kept at, evenly by rank:
// between them they are interpolated, which on a smooth distribution is right to about
// 1/200 of a standard deviation in the middle. In the tails, where ranks are few, more are
// kept so that scores step by no more than maxStep.
const (
	maxKnots = 256
	maxStep  = 0.1
)

// fewestCommon is how many columns it takes to have a unit in common by themselves.
const fewestCommon = 4

// AllCommon is the recipe, to be fitted again, with one scale for all numeric columns whose transformation is
// chosen by their values, none of which is then transformed; nil where they are fewer than four.
func (r *Recipe) AllCommon() *Recipe {
	all := *r
	all.Columns = slices.Clone(r.Columns)
	number := 0
	for i := range all.Columns {
		if c := &all.Columns[i]; c.Auto {
			c.Auto, c.Scaling, c.Common = false, nil, true
			number++
		}
	}
	if number < fewestCommon {
		return nil
	}
	return &all
}

// shareScale gives columns in one unit the root mean square of their standard deviations as their scale:
// together they vary as much as if each were standardised.
func (r *Recipe) shareScale() {
	var scales []float64
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Common && apart(c.Low, c.High) { // the others are constant in these rows
			scales = append(scales, c.Scale)
		}
	}
	if len(scales) == 0 {
		return
	}
	scale := floats.Norm(scales, 2) / math.Sqrt(float64(len(scales)))
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Common {
			c.Scale = scale
		}
	}
}

// newScaling estimates a bend from values in increasing order, nil if there is nothing
// to bend.
func newScaling(bend Bend, sorted []float64) *Scaling {
	n := len(sorted)
	s := &Scaling{Bend: bend, Low: sorted[0] + 0, High: sorted[n-1] + 0}
	deviation := 0.0
	if bend == YeoJohnson || bend == Rank {
		_, deviation = meanScale(sorted)
	}
	switch bend {
	case Log:
		// Half the smallest amount keeps zeros apart from it as far as its double is.
		k, _ := slices.BinarySearch(sorted, math.SmallestNonzeroFloat64)
		if s.Low < 0 || k == n {
			return nil
		}
		if s.Low == 0 {
			s.Unit = sorted[k] / 2
			// A speck among amounts must not stretch the zeros away from the rest.
			s.Unit = max(s.Unit, sorted[k+(n-k)/2]/1000)
		}
	case LogOdds:
		if s.Low < 0 || s.High > 1 {
			return nil
		}
		if s.Low == 0 || s.High == 1 { // as for zeros of a logarithm
			s.Unit = 0.5
			for _, x := range sorted {
				if near := min(x, 1-x); near > 0 {
					s.Unit = min(s.Unit, near/2)
				}
			}
			s.Unit = max(s.Unit, leastOdds)
		}
	case YeoJohnson:
		if s.Unit = deviation; !(deviation > 0) || math.IsInf(deviation, 0) {
			return nil
		}
		s.Power = bestPower(sorted, deviation)
	case Rank:
		if s.Unit = deviation; !(deviation > 0) || math.IsInf(deviation, 0) {
			return nil
		}
		s.setScores(sorted)
		if len(s.Values) < 2 {
			return nil
		}
	default:
		return nil
	}
	if a, b := s.apply(s.Low), s.apply(s.High); !(b > a) || math.IsInf(b-a, 0) {
		return nil
	}
	return s
}

// leastOdds keeps certainties among probabilities from being stretched away from the rest.
const leastOdds = 1e-6

// setScores keeps values with the normal scores of their middle ranks.
func (s *Scaling) setScores(sorted []float64) {
	n := len(sorted)
	step := float64(n) / (maxKnots - 1)
	next := 0.0 // the rank from which a value is kept
	last := math.Inf(-1)
	for i := 0; i < n; {
		end := i + 1
		for end < n && sorted[end] == sorted[i] {
			end++
		}
		score := normal.Quantile((float64(i) + float64(end)) / 2 / float64(n))
		if float64(end) > next || score >= last+maxStep || end == n {
			s.Values, s.Scores, last = append(s.Values, sorted[i]+0), append(s.Scores, score), score
			next = max(next+step, float64(end))
			if n <= maxKnots {
				next = 0
			}
		}
		i = end
	}
}

// apply bends a value.
func (s *Scaling) apply(x float64) float64 {
	if s == nil {
		return x
	}
	switch {
	case s.Bend == probit:
		return normal.Quantile(x)
	case s.Bend == Rank:
		return along(x, s.Values, s.Scores, 1/s.Unit)
	case x < s.Low:
		return s.curve(s.Low) + (x-s.Low)*s.slope(s.Low)
	case x > s.High:
		return s.curve(s.High) + (x-s.High)*s.slope(s.High)
	}
	return s.curve(x)
}

// bend applies it to all of some values. There may be millions of them, and few columns.
func (s *Scaling) bend(to, values []float64) {
	const some = 4096 // values of a task
	tasks.For((len(values)+some-1)/some, func(task int) {
		for i := task * some; i < min((task+1)*some, len(values)); i++ {
			to[i] = s.apply(values[i])
		}
	})
}

// invert undoes apply.
func (s *Scaling) invert(z float64) float64 {
	if s == nil {
		return z
	}
	switch s.Bend {
	case probit:
		return normal.CDF(z)
	case Rank:
		return along(z, s.Scores, s.Values, s.Unit)
	}
	if low := s.curve(s.Low); z < low {
		return s.Low + (z-low)/s.slope(s.Low)
	}
	if high := s.curve(s.High); z > high {
		return s.High + (z-high)/s.slope(s.High)
	}
	switch s.Bend {
	case Log:
		return math.Exp(z) - s.Unit
	case LogOdds: // the odds may be too large to be written
		return (1+2*s.Unit)/(1+math.Exp(-z)) - s.Unit
	}
	return s.Unit * yeoJohnsonInverse(z, s.Power)
}

func (s *Scaling) curve(x float64) float64 {
	switch s.Bend {
	case Log:
		return math.Log(x + s.Unit)
	case LogOdds:
		return math.Log(x+s.Unit) - math.Log(1-x+s.Unit)
	}
	return yeoJohnson(x/s.Unit, s.Power)
}

// slope is the derivative of the curve. Beyond the largest value a straight line of
// that slope would flatten what is far out, so it is never less than that from end to
// end.
func (s *Scaling) slope(x float64) float64 {
	d := 1 / (x + s.Unit)
	switch s.Bend {
	case LogOdds:
		d += 1 / (1 - x + s.Unit)
	case YeoJohnson:
		d = yeoJohnsonSlope(x/s.Unit, s.Power) / s.Unit
	}
	return max(d, (s.curve(s.High)-s.curve(s.Low))/(s.High-s.Low))
}

// along goes from one increasing list to the other by straight lines, and beyond their
// ends by the slope.
func along(x float64, from, to []float64, slope float64) float64 {
	n := len(from)
	k, found := slices.BinarySearch(from, x)
	switch {
	case found:
		return to[k]
	case k == 0:
		return to[0] + (x-from[0])*slope
	case k == n:
		return to[n-1] + (x-from[n-1])*slope
	}
	t := (x - from[k-1]) / (from[k] - from[k-1])
	return to[k-1] + t*(to[k]-to[k-1])
}

// yeoJohnson is the transformation of Yeo and Johnson (2000).
func yeoJohnson(x, power float64) float64 {
	switch {
	case x < 0:
		return -yeoJohnson(-x, 2-power)
	case math.Abs(power) < 1e-9:
		return math.Log1p(x)
	}
	return math.Expm1(power*math.Log1p(x)) / power
}

func yeoJohnsonInverse(z, power float64) float64 {
	switch {
	case z < 0:
		return -yeoJohnsonInverse(-z, 2-power)
	case math.Abs(power) < 1e-9:
		return math.Expm1(z)
	}
	return math.Expm1(math.Log1p(power*z) / power)
}

func yeoJohnsonSlope(x, power float64) float64 {
	if x < 0 {
		return math.Pow(1-x, 1-power)
	}
	return math.Pow(1+x, power-1)
}

// bestPower maximises the likelihood of a normal distribution by golden sections, on
// at most a thousand of the values.
func bestPower(sorted []float64, unit float64) float64 {
	values := thinned(sorted, 1000)
	bent := make([]float64, len(values))
	likelihood := func(power float64) float64 {
		jacobian := 0.0
		for i, x := range values {
			x /= unit
			bent[i] = yeoJohnson(x, power)
			jacobian += math.Copysign(math.Log1p(math.Abs(x)), x)
		}
		_, deviation := meanScale(bent)
		return (power-1)*jacobian - float64(len(values))*math.Log(deviation)
	}
	const golden = 0.6180339887498949
	low, high := -3.0, 5.0
	a, b := high-golden*(high-low), low+golden*(high-low)
	fa, fb := likelihood(a), likelihood(b)
	for high-low > 1e-4 { // far finer than the data can tell
		if fa > fb {
			high, b, fb = b, a, fa
			a = high - golden*(high-low)
			fa = likelihood(a)
		} else {
			low, a, fa = a, b, fb
			b = low + golden*(high-low)
			fb = likelihood(b)
		}
	}
	return (low + high) / 2
}

// thinned are at most so many of the values, evenly by rank, the ends among them.
func thinned(sorted []float64, most int) []float64 {
	n := len(sorted)
	if n <= most {
		return sorted
	}
	values := make([]float64, most)
	for k := range values {
		values[k] = sorted[k*(n-1)/(most-1)]
	}
	return values
}

// problem says what is wrong with a scaling that was read from a file.
func (s *Scaling) problem() string {
	bad := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	if bad(s.Low) || bad(s.High) || bad(s.Unit) || bad(s.Power) || s.Low > s.High || s.Unit < 0 {
		return fmt.Sprintf("scaling from %v to %v by %v", s.Low, s.High, s.Unit)
	}
	if s.Bend != Rank && (s.Values != nil || s.Scores != nil) {
		return "scores for a scaling without ranks"
	}
	switch s.Bend {
	case probit:
		return "" // see badScore
	case Log:
		if s.Low+s.Unit <= 0 {
			return "a logarithm of what is not positive"
		}
	case LogOdds:
		if s.Low+s.Unit <= 0 || 1-s.High+s.Unit <= 0 {
			return "log odds of what is no probability"
		}
	case YeoJohnson:
		if s.Unit == 0 || math.Abs(s.Power-1) > 5 {
			return fmt.Sprintf("a power of %v in units of %v", s.Power, s.Unit)
		}
	case Rank:
		if len(s.Values) < 2 || len(s.Values) > 2*maxKnots || len(s.Scores) != len(s.Values) || s.Unit == 0 {
			return fmt.Sprintf("%d values and %d scores", len(s.Values), len(s.Scores))
		}
		for k := range s.Values {
			if bad(s.Values[k]) || bad(s.Scores[k]) || k > 0 && (s.Values[k] <= s.Values[k-1] || s.Scores[k] <= s.Scores[k-1]) {
				return "scores that do not increase"
			}
		}
		return ""
	default:
		return "unknown scaling " + table.Quote(string(s.Bend))
	}
	if a, b := s.curve(s.Low), s.curve(s.High); bad(a) || bad(b) || b <= a {
		return fmt.Sprintf("a scaling that does not increase from %v to %v", s.Low, s.High)
	}
	return ""
}

// Center is the value of a numeric column that becomes 0 when it is standardised: its
// mean, or that of its bend brought back.
func (c *Column) Center() float64 { return c.Scaling.invert(c.Mean) }

// Transformation says what becomes of a number of the column before or as it is standardised, if that
// is not left to the column alone.
func (c *Column) Transformation() string {
	switch {
	case c.Common:
		return "in one unit with other columns"
	case c.Scaling != nil:
		return c.Scaling.String()
	}
	return ""
}

// String says it in words.
func (s *Scaling) String() string {
	switch s.Bend {
	case Log:
		if s.Unit == 0 {
			return "log"
		}
		return fmt.Sprintf("log(x + %.3g)", s.Unit)
	case LogOdds:
		return "log odds"
	case probit:
		return "probit"
	case YeoJohnson:
		return fmt.Sprintf("Yeo–Johnson, power %.2f", s.Power)
	}
	return "normal scores"
}

package audit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/methods"
)

// Stated turns a cost into what was asked about: itself, or the utility where utilities
// were given.
func (r *Result) Stated(m Measure) Measure {
	if r.Costs {
		return m
	}
	return Measure{0 - m.Value, 0 - m.High, 0 - m.Low}
}

// Noun is what that is called.
func (r *Result) Noun() string {
	if r.Costs {
		return "cost"
	}
	return "utility"
}

// verb says that decisions have it: they cost so much, or bring so much.
func (r *Result) verb() string {
	if r.Costs {
		return "cost"
	}
	return "bring"
}

// stated writes a cost, or the utility that it is, and its interval.
func (r *Result) stated(v, low, high float64) (value, interval string) {
	m := r.Stated(Measure{v, low, high})
	return like(m.Value, m.Low, m.High), between(m.Low, m.High)
}

// differs writes by how much a difference makes decisions cost more or less, or bring more
// or less, and its interval in the same direction.
func (r *Result) differs(c Comparison) (value, interval string) {
	m := r.Stated(Measure{c.Difference, c.Low, c.High})
	switch {
	case c.Difference == 0:
		return "the same", between(m.Low, m.High)
	case m.Value > 0:
		return like(m.Value, m.Low, m.High) + " more", between(m.Low, m.High)
	}
	return like(-m.Value, m.Low, m.High) + " less", between(-m.High, -m.Low)
}

// called are the outcomes as people read them: "malignant", but "churned = 1".
func called(t *data.Target) []string {
	names := t.Outcomes()
	if t.Condition {
		return []string{"other", t.Outcome()}
	}
	for y, name := range names {
		_, err := strconv.ParseFloat(name, 64)
		if err == nil || slices.Contains([]string{"yes", "no", "true", "false", "y", "n", "t", "f"}, strings.ToLower(name)) {
			names[y] = t.Column + " = " + name
		}
	}
	return names
}

// Label is what people call a way to decide.
func Label(name string) string {
	if d, ok := methods.Named(name); ok {
		return d.Label
	}
	for r, label := range recalibrationLabels {
		if column, ok := strings.CutSuffix(name, recalibrated("", r)); ok {
			return column + " (" + label + ")"
		}
	}
	return name
}

// places is the number of decimals that an interval of some width deserves: rounding moves
// its ends by at most a sixth of half the width.
func places(width float64) int {
	if !(width > 0) || math.IsInf(width, 0) {
		return 2
	}
	return min(max(0, -int(math.Floor(math.Log10(width/2/2.95)))), 12)
}

// like writes a value to as many decimals as the interval beside it deserves.
func like(v, low, high float64) string { return decimals(v, places(high-low)) }

func decimals(v float64, n int) string {
	s := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-") // not −0.0
	}
	return s
}

// between writes an interval.
func between(low, high float64) string {
	return fmt.Sprintf("%s to %s", like(low, low, high), like(high, low, high))
}

// number writes a value to three significant digits.
func number(v float64) string {
	switch size := math.Abs(v); {
	case size == 0:
		return "0"
	case size < 1e-3:
		return fmt.Sprintf("%.1e", v)
	case size < 1000:
		return fmt.Sprintf("%#.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// chance writes a probability of a test.
func chance(p float64) string {
	switch {
	case p < 0.001:
		return "p < 0.001"
	case p < 0.0995:
		return fmt.Sprintf("p = %.3f", p)
	}
	return fmt.Sprintf("p = %.2f", p)
}

// rounded writes a number of cases to two digits, for it is a guess.
func rounded(n int) string {
	scale := math.Pow(10, math.Floor(math.Log10(float64(n)))-1)
	return strconv.Itoa(int(math.Ceil(float64(n)/scale) * scale))
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// list joins names: "a", "a and b", "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

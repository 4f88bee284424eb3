package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lossep/lossep/audit"
)

// The helpers below write numbers for readers, the same everywhere. Machines
// get their numbers from encoding/json and encoding/csv.

// Number writes v to three significant digits: 0.512, 1.24e-05, 27.4; whole
// numbers below a million keep all their digits.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return fixed(v, 0)
	}
	return digits(v, 3)
}

// scientific reports whether a magnitude reads better with an exponent.
func scientific(v float64) bool {
	a := math.Abs(v)
	return a != 0 && (a < smallest || a >= 1e6)
}

// smallest is the magnitude below which numbers have an exponent.
const smallest = 1e-3

// digits writes v to n significant digits, trailing zeros included.
func digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return minus(strconv.FormatFloat(v, 'g', -1, 64))
	}
	if scientific(v) {
		return minus(strconv.FormatFloat(v, 'e', n-1, 64))
	}
	return fixed(v, max(0, n-1-exponent(v, n)))
}

// exponent is the power of ten of the first of n significant digits of v, after
// rounding (9.99 to two digits is 10: exponent 1).
func exponent(v float64, n int) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', n-1, 64), "e")
	e, err := strconv.Atoi(power)
	if err != nil {
		panic("report: no exponent: " + err.Error()) // callers rule out NaN and infinities
	}
	return e
}

// PlusMinus writes a value with its standard error: the error to one
// significant digit, or two when the first is a 1, and the value to the same
// place, as in 0.512 ± 0.014 and 1.2e-05 ± 3e-06.
func PlusMinus(value, stderr float64) string {
	if !(stderr > 0) || math.IsInf(stderr, 0) || math.IsNaN(value) || math.IsInf(value, 0) {
		return Number(value)
	}
	keep := 1
	if strconv.FormatFloat(stderr, 'e', 1, 64)[0] == '1' {
		keep = 2
	}
	place := exponent(stderr, keep) - keep + 1 // of the error's last digit
	if scientific(math.Max(math.Abs(value), stderr)) {
		left := "0"
		if value != 0 {
			left = strconv.FormatFloat(value, 'e', max(0, exponent(value, 1)-place), 64)
		}
		return minus(left + " ± " + strconv.FormatFloat(stderr, 'e', keep-1, 64))
	}
	decimals := max(0, -place)
	return fixed(value, decimals) + " ± " + fixed(stderr, decimals)
}

// scale is the place to which the numbers of a column, or of a sentence, are written: the
// same for all of them.
type scale struct {
	decimals    int     // below 0, how many digits before the point are zeros
	significant bool    // three significant digits of each number instead
	factor      float64 // of what is written: 100 for percentages
	unit        string
}

// scaleOf is the scale that shows every interval to the place that it deserves, but the
// widest to no more than two decimals beyond. Intervals without a width have no say.
func scaleOf(all ...audit.Measure) scale {
	least, most, largest := math.MaxInt, -1, 0.0
	for _, m := range all {
		if width := m.High - m.Low; width > 0 && !math.IsInf(width, 0) {
			least, most = min(least, places(width)), max(most, places(width))
			largest = max(largest, math.Abs(m.Low), math.Abs(m.High))
		}
	}
	return scale{decimals: min(most, least+2), significant: most < 0 || largest < smallest, factor: 1}
}

// totalScale is that of sums of many cases, rounded to the place that the narrowest interval
// deserves, beyond the point or before it.
func totalScale(all ...audit.Measure) scale {
	s := scaleOf(all...)
	place := math.MaxInt
	for _, m := range all {
		if width := m.High - m.Low; width > 0 && !math.IsInf(width, 0) {
			place = min(place, lastPlace(width))
		}
	}
	if place > 0 && place < math.MaxInt {
		s.decimals = -place
	}
	return s
}

// percentScale is that of shares, written as percentages with at least one decimal.
func percentScale(all ...audit.Measure) scale {
	shares := make([]audit.Measure, len(all))
	for i, m := range all {
		shares[i] = audit.Measure{Value: 100 * m.Value, Low: 100 * m.Low, High: 100 * m.High}
	}
	s := scaleOf(shares...)
	return scale{decimals: max(1, s.decimals), factor: 100, unit: " %"}
}

func (s scale) digits(v float64) string {
	if s.significant {
		return Number(s.factor * v)
	}
	if s.decimals < 0 {
		unit := math.Pow(10, float64(-s.decimals))
		v = math.Round(s.factor*v/unit) * unit / s.factor
	}
	return grouped(fixed(s.factor*v, max(0, s.decimals)))
}

// small writes a value that is not negative, and says of one that is zero as written only how
// small it is.
func (s scale) small(v float64) string {
	if text := s.digits(v); v == 0 || strings.Trim(text, "0.") != "" {
		return text
	}
	return "< " + s.digits(math.Pow(10, -float64(s.decimals)))
}

// in is the scale of amounts of a currency, which may be empty.
func (s scale) in(currency string) scale {
	if currency != "" {
		s.unit = " " + currency
	}
	return s
}

// number writes a value.
func (s scale) number(v float64) string { return s.digits(v) + s.unit }

// interval writes both ends to the same place: 0.48 to 0.54.
func (s scale) interval(low, high float64) string { return s.digits(low) + " to " + s.number(high) }

// measure writes a number with its interval, and a dash where there is none.
func (s scale) measure(m *audit.Measure) string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%s (%s)", s.number(m.Value), s.interval(m.Low, m.High))
}

// signed is measure with a plus before what is above zero as written.
func (s scale) signed(m *audit.Measure) string {
	if m == nil {
		return s.measure(nil)
	}
	return Signed(s.digits(m.Value)) + s.unit + " (" + s.interval(m.Low, m.High) + ")"
}

// Range writes an interval, both ends to the same place: 0.48 to 0.54. Rounding
// moves an end by at most a sixth of half the width.
func Range(low, high float64) string {
	return scaleOf(audit.Measure{Low: low, High: high}).interval(low, high)
}

// Within writes a value to the place at which Range writes the interval around it.
func Within(value, low, high float64) string {
	return scaleOf(audit.Measure{Low: low, High: high}).number(value)
}

// places is the number of decimals that an interval of some width deserves: its half is
// shown to one significant digit, or to two where they are below 30.
func places(width float64) int { return max(0, -lastPlace(width)) }

// lastPlace is the power of ten of the last digit that an interval deserves.
func lastPlace(width float64) int {
	place := exponent(width/2, 2)
	if strconv.FormatFloat(width/2, 'e', 1, 64)[0] < '3' {
		place--
	}
	return place
}

// fixed writes v to a number of decimals, without a sign if it is zero as written.
func fixed(v float64, decimals int) string {
	text := minus(strconv.FormatFloat(v, 'f', decimals, 64))
	if strings.Trim(text, "−0.") == "" {
		return strings.TrimPrefix(text, "−")
	}
	return text
}

// Signed gives a number that was written its plus, unless it is zero as written.
func Signed(text string) string {
	if strings.HasPrefix(text, "−") || strings.Trim(text, "0. %") == "" {
		return text
	}
	return "+" + text
}

// PValue writes a p-value: < 0.001, three decimals below 0.1, then two.
func PValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "n/a"
	case p < 0.001:
		return "< 0.001"
	case p < 0.0995:
		return strconv.FormatFloat(p, 'f', 3, 64)
	default:
		return strconv.FormatFloat(p, 'f', 2, 64)
	}
}

// Percent writes a share: 0.1234 is 12.3 %.
func Percent(share float64) string {
	return fixed(100*share, 1) + " %"
}

// Count writes a whole number with its thousands apart: 11,183.
func Count(n int) string { return grouped(minus(strconv.Itoa(n))) }

// grouped sets the thousands of a number apart that was written without an exponent.
func grouped(text string) string {
	sign, digits := "", text
	if strings.HasPrefix(text, "−") {
		sign, digits = "−", strings.TrimPrefix(text, "−")
	}
	whole, rest, point := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		rest = "." + rest
	}
	return sign + whole + rest
}

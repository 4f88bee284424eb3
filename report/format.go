package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The helpers below write numbers for readers, the same everywhere. Machines
// get their numbers from encoding/json and encoding/csv.

// Number writes v to three significant digits: 0.512, 1.24e-05, 27.4; whole
// numbers below a million keep all their digits.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v+0, 'f', 0, 64) // +0 turns −0 into 0
	}
	return digits(v, 3)
}

// scientific reports whether a magnitude reads better with an exponent.
func scientific(v float64) bool {
	a := math.Abs(v)
	return a != 0 && (a < 1e-3 || a >= 1e6)
}

// digits writes v to n significant digits, trailing zeros included.
func digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	if scientific(v) {
		return strconv.FormatFloat(v, 'e', n-1, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, n-1-exponent(v, n)), 64)
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
		return left + " ± " + strconv.FormatFloat(stderr, 'e', keep-1, 64)
	}
	decimals := max(0, -place)
	return strconv.FormatFloat(value, 'f', decimals, 64) + " ± " + strconv.FormatFloat(stderr, 'f', decimals, 64)
}

// Range writes an interval, both ends to the same place: 0.48 to 0.54. Rounding
// moves an end by at most a sixth of half the width.
func Range(low, high float64) string {
	width := high - low
	if !(width > 0) || math.IsInf(width, 0) || scientific(math.Max(math.Abs(low), math.Abs(high))) {
		return Number(low) + " to " + Number(high)
	}
	decimals := places(width)
	return fixed(low, decimals) + " to " + fixed(high, decimals)
}

// places is the number of decimals that an interval of some width deserves: its half is
// shown to one significant digit, or to two where they are below 30.
func places(width float64) int {
	text := strconv.FormatFloat(width/2, 'e', 1, 64)
	place := exponent(width/2, 2)
	if text[0] < '3' {
		place--
	}
	return max(0, -place)
}

// fixed writes v to a number of decimals, without a sign if it is zero as written.
func fixed(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// Within writes a value to the place at which Range writes the interval around it.
func Within(value, low, high float64) string {
	text := Range(low, high)
	if width := high - low; !(width > 0) || strings.ContainsRune(text, 'e') {
		return Number(value)
	}
	low0, _, _ := strings.Cut(text, " ")
	_, decimals, _ := strings.Cut(low0, ".")
	return fixed(value, len(decimals))
}

// Signed gives a number that was written its plus, unless it is zero as written.
func Signed(text string) string {
	if strings.HasPrefix(text, "-") || strings.Trim(text, "0.") == "" {
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
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}

// Count writes a whole number with its thousands apart: 11,183.
func Count(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = fmt.Sprintf("%s,%s", s[:i], s[i:])
	}
	return s
}

package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// places is the number of decimals that show a width to two significant digits.
func places(width float64) int {
	if !(width > 0) || math.IsInf(width, 0) {
		return 2
	}
	return min(max(0, 1-int(math.Floor(math.Log10(width)))), 12)
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

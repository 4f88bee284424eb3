package report

import (
	"fmt"
	"math"
)

// DataError reports numbers that cannot be drawn. Lengths that do not match are
// a mistake of the program instead, and panic.
type DataError struct {
	Figure string // kind of figure, such as "lines"
	Part   string // the series, row or panel at fault; may be empty
	Reason string // what is wrong and what to do about it
}

func (e *DataError) Error() string {
	if e.Part == "" {
		return fmt.Sprintf("report: %s: %s", e.Figure, e.Reason)
	}
	return fmt.Sprintf("report: %s: %q: %s", e.Figure, e.Part, e.Reason)
}

// checkFinite returns a DataError for the first value that is NaN, infinite or
// so large that a range of such values is.
func checkFinite(figure, part string, values ...[]float64) error {
	for _, v := range values {
		for i, x := range v {
			if !(math.Abs(x) < 1e300) {
				return &DataError{figure, part, fmt.Sprintf("value %v at index %d cannot be drawn; leave it out", x, i)}
			}
		}
	}
	return nil
}

// mustMatch panics unless all lengths are equal.
func mustMatch(what string, lengths ...int) {
	for _, n := range lengths[1:] {
		if n != lengths[0] {
			panic(fmt.Sprintf("report: %s: lengths %v differ", what, lengths))
		}
	}
}

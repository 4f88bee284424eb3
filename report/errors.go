package report

import "fmt"

// DataError reports numbers that cannot be drawn. Lengths that do not match are
// a mistake of the program instead, and panic.
type DataError struct {
	Axis   string // its label
	Reason string // what is wrong and what to do about it
}

func (e *DataError) Error() string { return fmt.Sprintf("report: axis %q: %s", e.Axis, e.Reason) }

// mustMatch panics unless all lengths are equal.
func mustMatch(what string, lengths ...int) {
	for _, n := range lengths[1:] {
		if n != lengths[0] {
			panic(fmt.Sprintf("report: %s: lengths %v differ", what, lengths))
		}
	}
}

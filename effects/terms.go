package effects

import "github.com/lossep/lossep/factor"

// Terms are the terms of rows. They are Single or Coupled.
type Terms interface {
	Len() int
}

// Single are terms on the value of one function each.
type Single interface {
	Terms
	// Term is that of row i. It is called by several goroutines at a time.
	Term(i int) factor.Factor
}

// Coupled are terms on the values of several functions each, of which only differences count; see
// factor.Differences.
type Coupled interface {
	Terms
	Functions() int
	Joint(i int) factor.Multi
}

// freedom is (C − 1)/C of C functions, or 1 of one. See the package.
func freedom(functions int) float64 {
	if functions == 1 {
		return 1
	}
	return float64(functions-1) / float64(functions)
}

// Counter are Terms that do not all count once.
type Counter interface {
	Count(i int) float64
}

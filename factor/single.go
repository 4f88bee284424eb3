package factor

// Single is a Utility that may be one more Factor: when it is on one view only, and
// a function of the value there with its three answers in closed form.
type Single interface {
	Utility
	// Term is the utility of the given action as a factor. One that is zero
	// somewhere is raised everywhere by floor times its largest value, and raised
	// is by how much. It reports false where there is no such factor.
	Term(actions []int, floor float64) (t Factor, raised float64, ok bool)
}

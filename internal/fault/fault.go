// Package fault is where tests make the program fail.
//
// That a mistake in a kernel, a factor or a utility is an error of one request, and not
// the end of the process, shows only when there is one, in whatever goroutine happens to
// be there. Each of the three passes a place here, at the cost of one load.
package fault

import "sync/atomic"

// Place is where the program can be made to fail.
type Place string

// The places.
const (
	Kernel  Place = "kernel"
	Factor  Place = "factor"
	Utility Place = "utility"
)

var injected atomic.Pointer[func(Place)]

// At is passed by the goroutines that compute.
func At(p Place) {
	if f := injected.Load(); f != nil {
		(*f)(p)
	}
}

// Inject has f called, by many goroutines at once, wherever the program passes a place,
// until remove is called. It is for tests alone.
func Inject(f func(Place)) (remove func()) {
	injected.Store(&f)
	return func() { injected.Store(nil) }
}

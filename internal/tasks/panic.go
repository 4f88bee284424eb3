package tasks

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Panic is a panic on its way from where it happened to those who asked for the work.
type Panic struct {
	Cause any    // what was panicked with
	Stack []byte // of the goroutine that did
}

// NewPanic is the panic that a deferred function has just recovered. One that has come
// from another goroutine already keeps its stack.
func NewPanic(cause any) *Panic {
	if err, ok := cause.(error); ok {
		if p := (*Panic)(nil); errors.As(err, &p) {
			return p
		}
	}
	return &Panic{Cause: cause, Stack: debug.Stack()}
}

// Error names the cause; the stack is for those who mend it.
func (p *Panic) Error() string { return fmt.Sprint("internal fault: ", p.Cause) }

// Unwrap is the cause, if that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Cause.(error)
	return err
}

// Try calls f. A panic is a *Panic among its errors.
func Try(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = NewPanic(cause)
		}
	}()
	return f()
}

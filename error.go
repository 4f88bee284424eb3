package lossep

import (
	"errors"
	"fmt"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/table"
)

// InputError says that what was asked for cannot be done, and what to ask for
// instead. Faults of the rows themselves are *table.Error, of a utility
// *decision.SpecError, of a kernel *kernel.SyntaxError and of a model file
// *FileError.
type InputError struct {
	What string // the option or input meant
	Msg  string
	Err  error // underlying error, if there is one
}

func (e *InputError) Error() string { return e.What + ": " + e.Msg }

// Unwrap gives the underlying error.
func (e *InputError) Unwrap() error { return e.Err }

func inputf(what, format string, args ...any) error {
	return &InputError{What: what, Msg: fmt.Sprintf(format, args...)}
}

// FileError says why a model file is refused.
type FileError = modelfile.Error

// AtCase gives an error about what is at stake in a case its line in the file. Other
// errors stay what they are.
func AtCase(place func(i int) *table.Error, err error) error {
	var one *decision.CaseError
	if !errors.As(err, &one) {
		return err
	}
	if located := new(table.Error); errors.As(err, &located) {
		return located
	}
	at := place(one.Case)
	at.Msg, at.Err = err.Error(), err
	return at
}

// AtCaseOf is AtCase of the rows of a table, and says in how many of them the same is missing.
func AtCaseOf(t *table.Table, s *decision.Spec, values func(i int, column string) (float64, error), err error) error {
	err = AtCase(t.Place, err)
	if located := new(table.Error); errors.As(err, &located) && errors.Is(err, expr.ErrMissing) {
		if n := s.Missing(t.Len(), values); n > 1 {
			located.Msg = fmt.Sprintf("%s (so in %d of %d rows)", located.Msg, n, t.Len())
		}
		return located
	}
	return err
}

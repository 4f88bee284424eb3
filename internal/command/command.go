// Package command is the command lossep: flags in, files out. Other programs that are the
// same command but for where rows are gone over are made of it, too.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/tasks"
)

// Main runs the command with the arguments of the process, and ends it.
func Main() { MainAt(nil) }

// MainAt is Main with rows gone over elsewhere; nil stands for this process.
func MainAt(place *Place) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancelBySignal(ctx, cancel)
	os.Exit(RunAt(ctx, place, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// cancelBySignal has the first signal end a context. A second one ends the process, and does
// not wait for what the first one began.
func cancelBySignal(ctx context.Context, cancel context.CancelCauseFunc) {
	for _, number := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		waiting, stop := signal.NotifyContext(ctx, number)
		context.AfterFunc(waiting, func() {
			stop()
			cancel(interruption{number})
		})
	}
}

// interruption is a signal as the cause of work that was not finished.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string        { return "interrupted by a signal: " + i.signal.String() }
func (i interruption) Is(target error) bool { return target == context.Canceled }

// interruptedCode is the exit code of work that was interrupted: 128 and the number of the
// signal, as shells have it of processes that a signal ends; 130 where it was no signal.
func interruptedCode(ctx context.Context) int {
	var i interruption
	if errors.As(context.Cause(ctx), &i) {
		return 128 + int(i.signal)
	}
	return 128 + int(syscall.SIGINT)
}

// run is the command with everything it touches passed in. It returns the exit
// code: 0 when all is well, 2 for input that cannot be used, 1 for a failure, 130 or 143 for
// work that SIGINT or SIGTERM interrupted.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	return RunAt(ctx, nil, args, in, out, errs)
}

// RunAt is the command at a place; nil stands for this process.
func RunAt(ctx context.Context, place *Place, args []string, in io.Reader, out, errs io.Writer) int {
	said, answered := &plain{to: errs}, &plain{to: out}
	c := newRoot(place)
	ctx = context.WithValue(ctx, placeKey{}, place)
	if place != nil {
		place.args = args
	}
	args, all := helpAll(args)
	c.SetUsageFunc(func(c *cobra.Command) error { return usage(c, all) })
	c.SetArgs(args)
	c.SetIn(in)
	c.SetOut(answered)
	c.SetErr(said)
	executed := c
	err := tasks.Try(func() (err error) {
		executed, err = c.ExecuteContextC(ctx)
		return err
	})
	if err == nil && answered.lost != nil { // help is written without a look at what comes of it
		err = fmt.Errorf("standard output: %w", answered.lost)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		fmt.Fprintln(said, "lossep: interrupted")
		return interruptedCode(ctx)
	}
	return reportError(err, executed.Flags(), said)
}

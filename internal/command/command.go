// Package command is the command lossep: flags in, files out. Other programs that are the
// same command but for where rows are gone over are made of it, too.
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/lossep/lossep/internal/tasks"
)

// Main runs the command with the arguments of the process, and ends it.
func Main() { MainAt(nil) }

// MainAt is Main with rows gone over elsewhere; nil stands for this process.
func MainAt(place *Place) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal does not wait for what the first one began
	os.Exit(RunAt(ctx, place, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command with everything it touches passed in. It returns the exit
// code: 0 when all is well, 2 for input that cannot be used, 1 for a failure.
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
	return report(nameFlag(err, executed.Flags()), said)
}

package command

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/worker"
)

// newWorker is the verb by which the Python package has its work done. It is not for
// people: see package worker for what it reads and writes.
func newWorker() *cobra.Command {
	c := &cobra.Command{
		Use:    "worker",
		Short:  "Serve the Python package over standard input and output",
		Long:   "Serve the Python package over standard input and output, in the frames of package worker. Ends when its input does.",
		Hidden: true,
		Args:   noArguments,
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		// An interrupt is for the program that was interrupted, which says what to cancel.
		signal.Ignore(os.Interrupt)
		done := make(chan struct{})
		defer close(done)
		go endWithParent(c.Context(), done)
		return worker.Serve(c.Context(), c.InOrStdin(), raw(c.OutOrStdout()), worker.Config{
			MaxMemory: maxMemory(c),
			Origin:    report.Origin{MadeBy: auditSignature, Versions: versions()},
		})
	}
	return c
}

// endWithParent ends the process once the one that started it is gone, or when it is asked to
// terminate while it waits for input. The end of the input says at once that nobody is there,
// unless a further process has a copy of the other end of the pipe.
func endWithParent(ctx context.Context, done <-chan struct{}) {
	parent := os.Getppid()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			os.Exit(1)
		case <-time.After(time.Second):
			if os.Getppid() != parent {
				os.Exit(1)
			}
		}
	}
}

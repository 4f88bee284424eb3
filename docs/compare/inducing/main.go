// Command inducing measures what inducing points cost and what they leave out, and draws the
// figures of docs/research/inducing.md.
//
//	go run -C docs/compare ./inducing growth
//	go run -C docs/compare ./inducing error "mammography.csv:last:'1'" credit.csv:SeriousDlqin2yrs:1 flights.csv:late:1
//	go run -C docs/compare ./inducing boundary
//
// Times are seconds of processor time, so that they mean the same on a busy machine.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/lossep/lossep/report"
)

// folder is where the figures belong, seen from docs/compare.
const folder = "../research"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("say what to measure: growth, error or boundary")
	}
	switch args[0] {
	case "growth":
		return growth(ctx)
	case "error":
		return differences(ctx, args[1:])
	case "boundary":
		return boundary(ctx)
	}
	return fmt.Errorf("%q is none of growth, error and boundary", args[0])
}

// draw writes a figure into the folder.
func draw(name string, figure report.Figure) error {
	f, err := os.Create(folder + "/" + name)
	if err != nil {
		return err
	}
	if err := report.WriteSVG(f, figure); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

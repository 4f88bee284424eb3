// Command load drives a running lossep server on this machine and says how it held out.
//
//	lossep serve credit.lossep &
//	go run ./internal/load --model credit --csv credit.csv --connections 64 --duration 30s
//
// It is a process of its own, asks as many requests at a time as there are
// connections, and refuses any address that is not a loopback one. The rows asked
// about are those of a CSV file, cut to the columns the model wants. Every answer to
// the same request has to have the same bytes: the server computes what it answers
// from the model alone. The exit code is 1 if there was any error.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/lossep/lossep/internal/load/drive"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the flags.
type options struct {
	url, model, csv, endpoint, utility, token, format string

	connections, rows int
	duration          time.Duration
	untilClosed       bool
}

func parse(args []string, errs io.Writer) (*options, error) {
	var o options
	f := flag.NewFlagSet("load", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.url, "url", "http://127.0.0.1:8080", "the server; a loopback address")
	f.StringVar(&o.model, "model", "", "the name of the model to ask")
	f.StringVar(&o.csv, "csv", "", "the file with the rows to ask about")
	f.StringVar(&o.endpoint, "endpoint", "decide", "decide or predict")
	f.StringVar(&o.utility, "utility", "", "other costs to decide by, such as fn=5,fp=1")
	f.StringVar(&o.token, "token", "", "the bearer token, if the server wants one")
	f.StringVar(&o.format, "format", "text", "output for people (text) or for programs (json)")
	f.IntVar(&o.connections, "connections", 64, "requests under way at a time, each on a connection of its own")
	f.IntVar(&o.rows, "rows", 1, "rows in each request")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "how long to ask")
	f.BoolVar(&o.untilClosed, "until-closed", false, "the server is going to be stopped: count as dropped only what it had accepted")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.model == "" || o.csv == "":
		return nil, fmt.Errorf("give --model and --csv")
	case o.endpoint != "decide" && o.endpoint != "predict":
		return nil, fmt.Errorf("--endpoint %s: choose decide or predict", o.endpoint)
	case o.format != "text" && o.format != "json":
		return nil, fmt.Errorf("--format %s: choose text or json", o.format)
	case o.connections < 1 || o.rows < 1 || o.duration <= 0:
		return nil, fmt.Errorf("--connections, --rows and --duration have to be positive")
	}
	return &o, nil
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if err != nil {
		fmt.Fprintf(errs, "load: %v\n", err)
		return 2
	}
	r, err := measure(ctx, o)
	if err != nil {
		fmt.Fprintf(errs, "load: %v\n", err)
		return 1
	}
	if o.format == "json" {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		err = r.writeText(out)
	}
	if err != nil || r.Errors.Dropped+r.Errors.Wrong > 0 || r.Requests == 0 {
		return 1
	}
	return 0
}

// measure asks the model for its columns, makes the requests and runs them.
func measure(ctx context.Context, o *options) (*report, error) {
	address, err := drive.Address(o.url)
	if err != nil {
		return nil, err
	}
	s := &server{address: address, token: o.token}
	columns, err := s.columns(ctx, o.model)
	if err != nil {
		return nil, err
	}
	bodies, err := readBodies(o, columns)
	if err != nil {
		return nil, err
	}
	requests := make([][]byte, len(bodies))
	for i, b := range bodies {
		requests[i] = drive.Request(address, modelPath(o.model)+"/"+o.endpoint, o.token, b)
	}
	memory := s.watchMemory(ctx)
	result, err := drive.Run(ctx, drive.Options{
		Requests: requests, Address: address, Connections: o.connections, Duration: o.duration,
		UntilClosed: o.untilClosed, Check: newAnswers(len(requests), o.rows, o.endpoint).check,
	})
	samples := memory()
	if err != nil {
		return nil, err
	}
	return newReport(o, result, samples), nil
}

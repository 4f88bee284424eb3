// Command lossep-beam is lossep for tables that outgrow a machine: rows are gone over by
// Apache Beam.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"

	"github.com/lossep/lossep/beam/cluster"
	"github.com/lossep/lossep/internal/command"
)

var provision = flag.String("provision_endpoint", "", "Where an engine tells a worker what to do (required of a worker that it starts itself).")

func main() {
	// Engines start workers from this very program, and tell them so: Beam's launcher by
	// --worker, and an engine that has this program for a launcher by where to ask.
	var worker, own bool
	for _, arg := range os.Args[1:] {
		worker = worker || arg == "--worker=true" || arg == "--worker"
		own = own || strings.HasPrefix(arg, "--provision_endpoint=")
	}
	if worker || own {
		flag.Parse()
		if own && !worker {
			if err := becomeWorker(); err != nil {
				fmt.Fprintf(os.Stderr, "lossep-beam: no worker: %v\n", err)
				os.Exit(1)
			}
		}
		beam.Init() // does not return
	}
	command.MainAt(cluster.NewPlace())
}

// becomeWorker asks an engine what a worker has to know. Beam's own launcher does the same,
// and before it goes on it brings a copy of the program from the driver, for every worker of
// every pass; here the program is at hand.
func becomeWorker() error {
	ctx := grpcx.WriteWorkerID(context.Background(), flag.Lookup("id").Value.String())
	info, err := tools.ProvisionInfo(ctx, *provision)
	if err != nil {
		return err
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	return errors.Join(
		flag.Set("worker", "true"),
		flag.Set("options", options),
		flag.Set("logging_endpoint", info.GetLoggingEndpoint().GetUrl()),
		flag.Set("control_endpoint", info.GetControlEndpoint().GetUrl()),
		os.Setenv("STATUS_ENDPOINT", info.GetStatusEndpoint().GetUrl()),
		os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " ")))
}

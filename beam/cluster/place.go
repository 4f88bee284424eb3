package cluster

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // for folders of this machine
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/command"
)

// flags say where rows are gone over.
type flags struct {
	runner, folder string
	verbose        bool
}

const programName = "lossep-beam"

// NewPlace is the place of the command lossep-beam.
func NewPlace() *command.Place {
	f := new(flags)
	return &command.Place{
		Name: programName, Short: "lossep for tables that outgrow a machine, by Apache Beam", Long: long,
		Prepare: f.prepare, Open: Open, Room: newRoom, Passes: f.passes, Decide: f.decide, Folds: f.folds,
	}
}

const long = `Rows are gone over by an engine of Apache Beam: --runner prism, the default, is this
process; universal, with --endpoint, is any engine that is reached by a job server, such
as Flink or Spark; dataflow is Google's. The table is a folder of Parquet files, which all
workers can read under the same name, as they can read and write the folder that
--work names. The model has the same bits as that of lossep.`

// engineFlags are those of Beam that are passed on.
var engineFlags = []string{
	"endpoint", "environment_type", "environment_config", "parallelism", "job_name", "worker_binary", "experiments",
	"project", "region", "staging_location", "temp_location", "worker_machine_type", "num_workers", "max_num_workers", "service_account_email",
}

// prepare adds flags to a verb.
func (f *flags) prepare(c *cobra.Command) func() error {
	to := c.Flags()
	to.StringVar(&f.runner, "runner", "prism", "the engine: prism, universal, flink, spark or dataflow")
	to.StringVar(&f.folder, "work", "", "the folder that driver and workers share, for what they tell each other (default the model's name and .passes)")
	to.BoolVar(&f.verbose, "verbose", false, "show what the engine says, and how long each pass takes")
	for _, name := range engineFlags {
		if known := flag.Lookup(name); known != nil {
			to.AddGoFlag(known)
		}
	}
	return func() error {
		begin()
		useThisProgram()
		if !f.verbose {
			quiet()
		}
		return nil
	}
}

// begin is what Beam wants to have happened before pipelines are made.
var begin = sync.OnceFunc(func() {
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil) // what was given is set already
	}
	beam.Init()
})

// useThisProgram has engines start workers from the file of this program, where nothing else
// is said and they are machines of the same kind: Beam would compile one from sources, which
// need not be at hand. Nothing is sent to machines that have the program, and start it.
func useThisProgram() {
	if *jobopts.WorkerBinary != "" {
		return
	}
	var process struct{ Command string }
	_ = json.Unmarshal([]byte(*jobopts.EnvironmentConfig), &process) // or it is of another kind
	if filepath.Base(process.Command) == programName {
		*jobopts.WorkerBinary = os.DevNull
	} else if self, err := os.Executable(); err == nil && runtime.GOOS == "linux" {
		*jobopts.WorkerBinary = self
	}
}

// quiet leaves out what engines say of their progress.
func quiet() {
	log.SetLogger(silent{})
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1})))
}

// silent is a log of nothing. What goes wrong comes back as an error.
type silent struct{}

func (silent) Log(context.Context, log.Severity, int, string) {}

// passes are those of a fit.
func (f *flags) passes(ctx context.Context, fit command.Fit) (command.Passes, error) {
	o := Options{Folder: fit.Output + ".passes", Runner: f.runner}
	switch {
	case f.folder != "": // which may hold other things
		o.Folder = store{f.folder}.path("lossep.passes")
	case fit.Output == "":
		return nil, command.Usagef("--work: the name is empty; give -o, or the folder that driver and workers share")
	}
	if f.verbose {
		o.Passed = func(p Passed) {
			fmt.Fprintf(os.Stderr, "%s took %.2f s; sums of %d bytes\n", p.Name, p.Took.Seconds(), p.Bytes)
		}
	}
	if *jobopts.Async {
		return nil, command.Usagef("--async: a pass begins with what the one before it ends with; leave it out")
	}
	return NewDriver(ctx, fit, o)
}

// Command lossep-beam is lossep for tables that outgrow a machine: rows are gone over by
// Apache Beam.
package main

import (
	"flag"
	"os"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"github.com/lossep/lossep/beam/cluster"
	"github.com/lossep/lossep/internal/command"
)

func main() {
	// Engines start workers from this very program, and tell them so.
	if slices.Contains(os.Args[1:], "--worker=true") || slices.Contains(os.Args[1:], "--worker") {
		flag.Parse()
		beam.Init() // does not return
	}
	command.MainAt(cluster.NewPlace())
}

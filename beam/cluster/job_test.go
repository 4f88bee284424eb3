package cluster

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/lossep/lossep/internal/command"
)

// Workers of another version than the driver's are reported, with both versions and the machine.
func TestSameProgram(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		driver, worker string
		same           bool
	}{{"v1.0.0", "v1.0.0", true}, {"v1.0.0", "v1.1.0", false}, {"", "v1.0.0", true}, {"v1.0.0", "", true}} {
		err := sameProgram(c.driver, c.worker)
		if (err == nil) != c.same {
			t.Errorf("%q and %q: %v", c.driver, c.worker, err)
		}
		if err != nil && (!strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), c.worker)) {
			t.Error(err)
		}
	}
}

// Those that decide rows or compute folds look at the version, too, before anything else.
func TestSameProgramEverywhere(t *testing.T) {
	defer func(before func() string) { programVersion = before }(programVersion)
	programVersion = func() string { return "v2.0.0" }
	folder := t.TempDir()
	for name, err := range map[string]error{
		"decide": (&decideFn{Folder: folder, Job: "{}", Program: "v1.0.0"}).begin(t.Context()),
		"audit":  (&foldFn{Folder: folder, Program: "v1.0.0"}).ProcessElement(t.Context(), "{}"),
	} {
		if err == nil || !strings.Contains(err.Error(), "the driver is v1.0.0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A worker has the memory that was given, or else what is usual on its own machine.
func TestMemoryHere(t *testing.T) {
	if own := memoryHere(0); own != command.UsualMemory() || memoryHere(own+1) != own+1 {
		t.Errorf("%d bytes of %d", own, command.UsualMemory())
	}
}

// The program is sent to workers that Beam's launcher starts, and to no others.
func TestWhatIsSentToWorkers(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("workers are machines with Linux: Beam compiles a program for them")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]string{
		"":                        self,
		`{"command":"/opt/boot"}`: self,
		`{"command":"` + filepath.Join("/opt", programName) + `"}`: os.DevNull,
		"some/image:1": self,
	} {
		*jobopts.EnvironmentConfig, *jobopts.WorkerBinary = config, ""
		useThisProgram()
		if got := *jobopts.WorkerBinary; got != want {
			t.Errorf("%s: %s", config, got)
		}
		*jobopts.WorkerBinary = "/given"
		useThisProgram()
		if got := *jobopts.WorkerBinary; got != "/given" {
			t.Errorf("%s: %s, and another was given", config, got)
		}
	}
	*jobopts.EnvironmentConfig, *jobopts.WorkerBinary = "", ""
}

// Files of stores have one name, however their folder is written.
func TestNamesInStores(t *testing.T) {
	for folder, want := range map[string]string{
		"s3://rows/table":  "s3://rows/table/00.parquet",
		"s3://rows/table/": "s3://rows/table/00.parquet",
		"table/":           "table/00.parquet",
	} {
		if got := (store{folder}).path("00.parquet"); got != want {
			t.Errorf("%s: %s", folder, got)
		}
	}
}

package cluster

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// Workers of another version than the driver's are told, with both versions and the machine.
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

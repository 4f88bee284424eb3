package cluster_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	endpoint    = flag.String("flink", "", "the endpoint of a job server of Flink, such as 127.0.0.1:8399; see flink/run.sh")
	environment = flag.String("flink.environment", "LOOPBACK", "where workers are: LOOPBACK, or PROCESS with -flink.command")
	launcher    = flag.String("flink.command", "", "the program that engines start as a worker: lossep-beam, or Beam's own launcher with -flink.worker")
	worker      = flag.String("flink.worker", "", "the program that Beam's launcher starts, which is lossep-beam")
	workers     = flag.String("flink.workers", "1,2,4", "the numbers of workers to try")
)

// flink are the flags of a Flink cluster.
func flink(t *testing.T, parallel int) []string {
	t.Helper()
	if *endpoint == "" {
		t.Skip("no Flink: run 'make flink', which starts one")
	}
	args := []string{"--runner", "universal", "--endpoint", *endpoint, "--environment_type", *environment, "--parallelism", strconv.Itoa(parallel)}
	if *launcher != "" {
		args = append(args, "--environment_config", `{"command":"`+*launcher+`"}`, "--worker_binary", *worker)
	}
	return args
}

// The model and the decisions of Flink are those of one process to the bit, with any number
// of workers.
func TestFlinkIsOneProcess(t *testing.T) {
	flink(t, 1)
	folder := tableOf(t, 9_000, 5_400, 12_000)
	one, rows := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "one.parquet")
	more := []string{"--shard-rows", "6600", "--sweeps", "2", "--fixed", "--kernel", "matern32 + constant"}
	code, said := lossep(t, fitArgs(folder, one, more...)...)
	must(t, code, said)
	code, here := lossep(t, "decide", one, folder, "-o", rows)
	must(t, code, here)
	for _, number := range strings.Split(*workers, ",") {
		workers, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		beam, decided := filepath.Join(t.TempDir(), "beam.lossep"), filepath.Join(t.TempDir(), "decided")
		code, said = lossepBeam(t, append(fitArgs(folder, beam, more...), flink(t, workers)...)...)
		must(t, code, said)
		if !bytes.Equal(content(t, one), content(t, beam)) {
			t.Errorf("another model with %d workers", workers)
		}
		t.Logf("a fit with %d workers takes %v", workers, time.Since(start).Round(time.Second))
		code, there := lossepBeam(t, append([]string{"decide", one, folder, "-o", decided}, flink(t, workers)...)...)
		must(t, code, there)
		parts, _ := filepath.Glob(filepath.Join(decided, "*"))
		if here != there || !slices.Equal(rowsOf(t, rows), rowsOf(t, parts...)) {
			t.Errorf("other decisions with %d workers:\n%s", workers, strings.TrimSpace(there))
		}
	}
	// A search goes over all rows, too; that for one number takes seventeen jobs.
	start := time.Now()
	folder = tableOf(t, 16_500, 9_900)
	one = filepath.Join(t.TempDir(), "one.lossep")
	beam := filepath.Join(t.TempDir(), "beam.lossep")
	more = []string{"--shard-rows", "12100", "--kernel", "linear"}
	code, said = lossep(t, fitArgs(folder, one, more...)...)
	must(t, code, said)
	code, said = lossepBeam(t, append(fitArgs(folder, beam, more...), flink(t, 2)...)...)
	must(t, code, said)
	if !bytes.Equal(content(t, one), content(t, beam)) {
		t.Error("another model where the kernel is searched for")
	}
	t.Logf("a fit with a search for the kernel takes %v", time.Since(start).Round(time.Second))
}

var home = flag.String("flink.home", "", "the folder of a cluster with two task managers; see flink/run.sh")

// A task manager that is killed in the middle of a pass is made up for by the other, and the
// fit ends with the same bits.
func TestFlinkLosesATaskManager(t *testing.T) {
	args := flink(t, 2)
	if *home == "" {
		t.Skip("no cluster: run 'make flink-faults', which starts one")
	}
	number := func() int {
		text, _ := os.ReadFile(filepath.Join(*home, "taskmanager-2.pid"))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid
	}
	before := number()
	if before == 0 {
		t.Fatal("no task manager")
	}
	folder := tableOf(t, 9_000, 5_400, 12_000)
	one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
	more := []string{"--shard-rows", "6600", "--sweeps", "2", "--fixed", "--kernel", "matern32 + constant"}
	code, said := lossep(t, fitArgs(folder, one, more...)...)
	must(t, code, said)
	// The pass after the second has begun when its job is written.
	go func() {
		for {
			if jobs, _ := filepath.Glob(filepath.Join(beam+".passes", "000003-*", "job")); len(jobs) > 0 {
				time.Sleep(time.Second)
				if p, err := os.FindProcess(before); err == nil {
					_ = p.Kill()
				}
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	code, said = lossepBeam(t, append(fitArgs(folder, beam, more...), args...)...)
	must(t, code, said)
	if !bytes.Equal(content(t, one), content(t, beam)) {
		t.Error("another model")
	}
	if number() == before {
		t.Error("the task manager was not killed")
	}
}

// A driver that dies between passes on Flink is followed by another, with the same bits.
func TestFlinkLosesItsDriver(t *testing.T) {
	args := flink(t, 2)
	folder := tableOf(t, 16_500, 9_900)
	one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
	more := []string{"--shard-rows", "11000", "--fixed", "--kernel", "matern32 + constant"}
	code, said := lossep(t, fitArgs(folder, one, more...)...)
	must(t, code, said)
	args = append(fitArgs(folder, beam, append(more, args...)...), "--work", filepath.Join(t.TempDir(), "work"))
	if _, left := interrupted(t, 3, args); len(left) < 2 {
		t.Fatalf("after 3 passes there are %v", left)
	}
	code, said = lossepBeam(t, args...)
	must(t, code, said)
	if !bytes.Equal(content(t, one), content(t, beam)) {
		t.Error("another model")
	}
}

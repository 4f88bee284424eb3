package record

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LOSSEP_RECORD_VICTIM"); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

// victim records decisions and outcomes until it is killed, and says what is acknowledged.
func victim(dir string) {
	r, err := Open(Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		r.Add(r.batch(fmt.Sprintf("%d-%d", os.Getpid(), i), `{"rows":[{"a":1.5}]}`))
		id := fmt.Sprintf("%d-%d-0", os.Getpid(), i)
		if err := r.Outcomes("m", "y", []Outcome{{id, "yes"}}); err != nil {
			panic(err)
		}
		fmt.Println(id)
	}
}

// testSchema is of the batches of tests.
var testSchema = Schema{
	Model: "m", Digest: "d", Actions: []string{"wait", "act"}, Outcomes: []string{"no", "yes"},
	Columns: []string{"a", "kind", "late", "case", "name", "née", "café"},
}

// batch is the decisions of a request.
func (r *Recorder) batch(request, body string) *Batch {
	var rows struct{ Rows []any }
	if err := json.Unmarshal([]byte(body), &rows); err != nil {
		panic(err)
	}
	b := &Batch{Schema: r.Schema(testSchema), Request: request, Time: time.Now(), Body: []byte(body)}
	for range rows.Rows {
		b.Actions, b.Values = append(b.Actions, 1), append(b.Values, 0.25, 0.75)
	}
	return b
}

// Every outcome that a process acknowledged before it was killed is there, and every decision but those of
// the last interval; the next process makes a table of them.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	acknowledged, decided := make(map[string]bool), make(map[string]bool)
	for k := range 6 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "LOSSEP_RECORD_VICTIM="+dir)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("nothing was recorded")
		}
		acknowledged[lines.Text()] = true
		after := time.Duration(rng.IntN(200)) * time.Millisecond
		if k == 5 {
			after += 5 * Interval / 2
		}
		begun := time.Now()
		time.AfterFunc(after, func() { _ = c.Process.Kill() })
		for lines.Scan() {
			acknowledged[lines.Text()] = true
			if time.Since(begun) < after-2*Interval { // the disk may take as long again where others keep it busy
				decided[lines.Text()] = true
			}
		}
		_ = c.Wait()
	}
	r, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Outcomes("m", "y", []Outcome{{"last", "no"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "m", outcomesFile))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var o map[string]string
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		delete(acknowledged, o["_id"])
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged outcomes are lost", len(acknowledged))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "m", "_journal-*")); len(left) > 0 {
		t.Errorf("journals %q are left", left)
	}
	if len(decided) == 0 {
		t.Fatal("no decision is older than the last interval")
	}
	there := read(t, filepath.Join(dir, "m"))
	for i := range there.Len() {
		delete(decided, there.Row(i)[0])
	}
	if len(decided) > 0 {
		t.Errorf("%d decisions of more than the last interval are lost", len(decided))
	}
}

// Parquet files are made of all decisions, too, while there are always requests to wait for.
func TestFilesWhileAnswering(t *testing.T) {
	r := &Recorder{config: Config{Dir: t.TempDir()}, journals: make(map[string]*journal), full: make(chan string, 1)}
	r.Answering(1)
	for range 20 {
		if err := r.append(benched(r)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.rotate("m", r.journals["m"]); err != nil {
		t.Fatal(err)
	}
	if err := r.compact(<-r.full); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(r.config.Dir, "m")).Len(); got != 2000 {
		t.Errorf("%d rows", got)
	}
}

// read is the table of a folder.
func read(t *testing.T, dir string) *table.Table {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+parquet.Extension))
	if err != nil || len(paths) == 0 {
		t.Fatalf("files %q, %v", paths, err)
	}
	var files []parquet.File
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, parquet.File{Name: path, Content: f, Size: info.Size()})
	}
	source, err := parquet.Open(dir, files, 1<<28)
	if err != nil {
		t.Fatal(err)
	}
	read, err := table.ReadSource(context.Background(), source, table.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// What is decided is in the table, under the id that the row has or that of the request, with the columns of
// the model but those that are personal. Names that look the same are of the same column.
func TestDecisions(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(Config{Dir: dir, Without: []string{"name", "née"}, Block: true})
	if err != nil {
		t.Fatal(err)
	}
	one := r.batch("r1", `{"rows":[{"a":1.5,"kind":"x","name":"Ann","ne\u0301e":"May","late":true,"other":7},
		{"a":null,"case":"c7","kind":3,"cafe\u0301":2}]}`)
	if one.IDs, err = r.IDs(one.Body, "case"); err != nil {
		t.Fatal(err)
	}
	r.Add(one)
	if ids, err := r.IDs(one.Body, "name"); ids != nil || err != nil {
		t.Errorf("a column that is not recorded gives the ids %q, %v", ids, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got := read(t, filepath.Join(dir, "m"))
	if columns := strings.Join(got.Columns(), " "); columns != "_id _time _digest _action _probability_no _probability_yes a café case kind late" {
		t.Errorf("columns %s", columns)
	}
	first, second := strings.Join(got.Row(0), "|"), strings.Join(got.Row(1), "|")
	if !strings.HasPrefix(first, "r1-0|") || !strings.HasSuffix(first, "|d|act|0.25|0.75|1.5|||x|true") || !strings.HasPrefix(second, "c7|") {
		t.Errorf("rows %q, %q", first, second)
	}
	if r.Dropped() != 0 {
		t.Errorf("%d dropped", r.Dropped())
	}
	r.Add(r.batch("late", `{"rows":[{"a":1}]}`))
	if r.Dropped() != 1 {
		t.Error("a decision after the end is not counted")
	}
}

// A folder is one recorder's alone, until it is closed.
func TestLocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders cannot be locked")
	}
	dir := t.TempDir()
	for range 2 {
		r, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another run is writing to this folder") {
			t.Errorf("a second recorder: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Decisions whose journal somebody removed are counted and told of, at the next interval and at the end, and later
// ones are recorded. Outcomes go to a new file.
func TestRemoved(t *testing.T) {
	dir := t.TempDir()
	failed := make(chan error, 4)
	r, err := Open(Config{Dir: dir, Failed: func(err error) { failed <- err }})
	if err != nil {
		t.Fatal(err)
	}
	remove := func() {
		r.Add(r.batch("r", `{"rows":[{"a":1},{"a":2}]}`))
		for r.bytes.Load() > 0 { // until it is in the journal
			time.Sleep(time.Millisecond)
		}
		if err := r.Outcomes("m", "y", []Outcome{{"r-0", "yes"}}); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "m")); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	if err := <-failed; !strings.Contains(err.Error(), "2 decisions") || r.Dropped() != 2 {
		t.Errorf("%v, %d dropped", err, r.Dropped())
	}
	remove()
	if err := r.Outcomes("m", "y", []Outcome{{"r-1", "no"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "m", outcomesFile)); err != nil || strings.Count(string(text), "\n") != 1 {
		t.Errorf("outcomes %q, %v", text, err)
	}
	if err := <-failed; !strings.Contains(err.Error(), "2 decisions") || r.Dropped() != 4 {
		t.Errorf("%v, %d dropped", err, r.Dropped())
	}
}

// A full queue drops, and counts.
func TestFull(t *testing.T) {
	r := &Recorder{queue: make(chan *Batch, 1)}
	for range 3 {
		r.Add(r.batch("r", `{"rows":[{"a":1},{"a":2}]}`))
	}
	if r.Dropped() != 4 {
		t.Errorf("%d decisions dropped", r.Dropped())
	}
}

// Files and outcomes that are older than they are to be kept are gone.
func TestKeep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of [1]") // which is a pattern elsewhere
	r, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	r.Add(r.batch("r", `{"rows":[{"a":1}]}`))
	if err := r.Outcomes("m", "y", []Outcome{{"new", "yes"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := r.files("decisions-*")
	long := time.Now().Add(-48 * time.Hour)
	if len(files) != 1 || os.Chtimes(files[0], long, long) != nil {
		t.Fatalf("files %q", files)
	}
	path := filepath.Join(dir, "m", outcomesFile)
	text, _ := os.ReadFile(path)
	old := `{"_id":"old","_time":"` + long.UTC().Format(layout) + `","y":"no"}` + "\n"
	if err := os.WriteFile(path, append([]byte(old), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	begun := filepath.Join(dir, "m", "_tmp-123") // by a process that was killed
	if err := os.WriteFile(begun, []byte("PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err = Open(Config{Dir: dir, Keep: 24 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(begun); !os.IsNotExist(err) {
		t.Errorf("what was begun is left: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	left, _ := r.files("decisions-*")
	if now, _ := os.ReadFile(path); string(now) != string(text) || len(left) != 0 {
		t.Errorf("outcomes %q, files %q", now, left)
	}
}

// After outcomes that could not be written, the next stand on lines of their own.
func TestOutcomesAfterAFailure(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	post := func(id string) error { return r.Outcomes("m", "y", []Outcome{{id, "yes"}}) }
	if err := post("first"); err != nil {
		t.Fatal(err)
	}
	f := r.outcomes["m"]
	if _, err := f.WriteString(`{"_id":"sec`); err != nil { // as far as the disk had room
		t.Fatal(err)
	}
	f.Close()
	if post("second") == nil {
		t.Fatal("it is written to a file that is closed")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "m", outcomesFile)); err != nil || !strings.HasSuffix(string(text), "}\n") {
		t.Errorf("whoever reads the file meanwhile finds %q, %v", text, err)
	}
	if err := post("third"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "m", outcomesFile))
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); err != nil || len(lines) != 2 || !json.Valid([]byte(lines[0])) || !strings.Contains(lines[1], `"third"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// What has no end, in the place of a journal or of outcomes, is an error and is not waited for.
func TestEndless(t *testing.T) {
	for _, name := range []string{"_journal-1.bin", outcomesFile} {
		dir := t.TempDir()
		path := filepath.Join(dir, "m", name)
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.Symlink(os.DevNull, path)); err != nil {
			t.Skip(err)
		}
		r, err := Open(Config{Dir: dir})
		if err == nil {
			err = r.Outcomes("m", "outcome", []Outcome{{"a", "yes"}})
			_ = r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "a device and not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

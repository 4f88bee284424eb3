package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/table/parquet"
)

// Rows are found as a reader of JSON finds them, whatever is between, before and within them.
func FuzzRows(f *testing.F) {
	for _, body := range []string{
		`{"rows":[{"a":1.5,"b":"x"},{}]}`,
		" {\"utility\" : {\"rows\":[{\"a\":\"]}\"}]} , \"rows\"\t:\n[ { \"a\" : -1e+3 ,\"b\" : [1,{\"c\":\"}\"},\"]\"] } , {\"b\":null,\"a\":\"\\\\\"} ] , \"x\" : true }",
		`{"\u0072ows":[{"a\"b":"\"","c":"\\\"","d\u00e9":{"a":[]}}]}`,
		`{"rows":[]}`, `{"rows":[{"":""}],"top":5}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var whole map[string]json.RawMessage
		want := []map[string]json.RawMessage{}
		if !jsontext.Value(body).IsValid() || json.Unmarshal([]byte(body), &whole) != nil || json.Unmarshal(whole["rows"], &want) != nil ||
			slices.ContainsFunc(want, func(row map[string]json.RawMessage) bool { return row == nil }) {
			t.Skip("no body that is answered")
		}
		got, row := []map[string]json.RawMessage{}, map[string]json.RawMessage{}
		rowsOf([]byte(body), func(name, value []byte) { row[string(name)] = value },
			func() { got, row = append(got, row), map[string]json.RawMessage{} })
		if len(want) > 0 && !reflect.DeepEqual(got, want) || len(got) != len(want) {
			t.Errorf("%s: %s, not %s", body, got, want)
		}
	})
}

// A journal whose end is torn is read as far as it is whole; what is damaged before the end is passed over, and counted.
func TestTorn(t *testing.T) {
	r := &Recorder{config: Config{Dir: t.TempDir()}, journals: make(map[string]*journal)}
	var sizes []int64
	schema := r.Schema(testSchema) // of all requests, as a server has it
	for k, request := range []string{"r1", "r2", "r3", "r4"} {
		b := r.batch(request, `{"rows":[{"a":1},{"a":2}]}`)
		b.Schema = schema
		if err := r.append(b); err != nil {
			t.Fatal(err)
		}
		if err := r.journals["m"].to.Flush(); err != nil {
			t.Fatal(err)
		}
		if k == 2 { // a second later
			if err := r.sync("m", r.journals["m"]); err != nil {
				t.Fatal(err)
			}
		}
		info, err := r.journals["m"].file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	path := r.journals["m"].file.Name()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int64) []byte {
		text := slices.Clone(whole)
		text[at] ^= 1
		return text
	}
	zeros := make([]byte, 4096)
	for name, c := range map[string]struct {
		text          []byte
		rows, damaged int
	}{
		"whole": {whole, 8, 0}, "torn in a frame": {whole[:sizes[2]-1], 4, 0}, "torn in a head": {whole[:sizes[1]+3], 4, 0}, "empty": {nil, 0, 0},
		"zeros in place of the end": {slices.Concat(whole[:sizes[0]], zeros), 2, 0},
		"a last frame torn":         {flipped(sizes[3] - 1), 6, 0},
		"a frame damaged":           {flipped(sizes[1] - 1), 6, 1},
		"a length damaged":          {flipped(sizes[0]), 6, 1},
		"a length far too large":    {flipped(sizes[0] + 3), 6, 1},
		"a checksum damaged":        {flipped(sizes[0] + 4), 6, 1},
		"a mark damaged":            {flipped(sizes[0] + frameHead), 6, 1},
		"zeros within":              {slices.Concat(whole[:sizes[0]], zeros, whole[sizes[1]:]), 6, 1},
		"bytes after the end":       {slices.Concat(whole, zeros, []byte("something else")), 8, 1},
		// Three requests are lost, until the schema is there again.
		"a schema damaged":     {flipped(frameHead + 20), 2, 4},
		"the mark of a schema": {flipped(frameHead), 2, 4},
	} {
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := survey(path, func() {}); err != nil || found.rows != c.rows || found.damaged != c.damaged {
			t.Errorf("%s: %d rows and not %d, damaged in %d places and not %d, %v", name, found.rows, c.rows, found.damaged, c.damaged, err)
		}
	}
	// Cut anywhere, there are the decisions of the frames that are whole, and no error.
	for cut := range len(whole) {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for _, size := range sizes {
			if int64(cut) >= size {
				rows += 2
			}
		}
		if found, err := survey(path, func() {}); err != nil || found.rows != rows || found.damaged != 0 {
			t.Fatalf("cut at %d of %d: %d rows and not %d, damaged in %d places, %v", cut, len(whole), found.rows, rows, found.damaged, err)
		}
	}
	if err := os.WriteFile(path, sealed(append(make([]byte, frameHead), "rubbish"...)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := survey(path, func() {}); err == nil {
		t.Error("a file of somebody else is read")
	}
}

// After a write that failed, as to a disk that was full, decisions are recorded again; those that are lost are counted.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	r := &Recorder{config: Config{Dir: dir}, journals: make(map[string]*journal), full: make(chan string, 2)}
	add := func(request string) error { return r.append(r.batch(request, `{"rows":[{"a":1},{"a":2}]}`)) }
	if err := add("r1"); err != nil {
		t.Fatal(err)
	}
	if err := r.sync("m", r.journals["m"]); err != nil {
		t.Fatal(err)
	}
	if err := add("r2"); err != nil {
		t.Fatal(err)
	}
	if err := r.journals["m"].to.Flush(); err != nil { // on its way to the disk: this is in the table, and is not lost
		t.Fatal(err)
	}
	if err := add("r3"); err != nil {
		t.Fatal(err)
	}
	_ = r.journals["m"].file.Close() // so that it fails
	if err := r.sync("m", r.journals["m"]); err == nil || r.Dropped() != 2 {
		t.Errorf("%v, %d dropped", err, r.Dropped())
	}
	if err := add("r4"); err != nil {
		t.Fatal(err)
	}
	if err := r.rotate("m", r.journals["m"]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.compact(<-r.full); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "m", "*"+parquet.Extension))
	if got := read(t, filepath.Join(dir, "m")); len(files) != 2 || got.Len() != 6 {
		t.Errorf("%d rows in %q", got.Len(), files)
	}
}

// A journal that is damaged is reported, counted and kept, beside the table of what could be read.
func TestDamagedJournalIsKept(t *testing.T) {
	dir := t.TempDir()
	r := &Recorder{config: Config{Dir: dir}, journals: make(map[string]*journal)}
	for _, request := range []string{"r1", "r2", "r3"} {
		if err := r.append(r.batch(request, `{"rows":[{"a":1},{"a":2}]}`)); err != nil {
			t.Fatal(err)
		}
	}
	j := r.journals["m"]
	if err := errors.Join(j.to.Flush(), j.file.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(j.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(j.file.Name(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	open := func(keep time.Duration) *Recorder {
		again, err := Open(Config{Dir: dir, Keep: keep, Failed: func(err error) { told = append(told, err.Error()) }})
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		return again
	}
	if again := open(0); again.Dropped() == 0 || len(told) != 1 || !strings.Contains(told[0], j.file.Name()) {
		t.Errorf("%d dropped, told %q", again.Dropped(), told)
	}
	kept, _ := filepath.Glob(filepath.Join(dir, "m", "_damaged-*"))
	if len(kept) != 1 {
		t.Fatalf("kept are %q", kept)
	}
	if same, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(same, text) {
		t.Errorf("what is kept is not what there was: %v", err)
	}
	if got := read(t, filepath.Join(dir, "m")); got.Len() < 2 {
		t.Errorf("%d rows", got.Len())
	}
	open(time.Nanosecond)
	if _, err := os.Stat(kept[0]); !errors.Is(err, os.ErrNotExist) || len(told) != 1 {
		t.Errorf("after its time: %v, told %q", err, told)
	}
}

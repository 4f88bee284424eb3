package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

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

// A journal whose end is torn is read as far as it is whole, and no further.
func TestTorn(t *testing.T) {
	r := &Recorder{config: Config{Dir: t.TempDir()}, journals: make(map[string]*journal)}
	var sizes []int64
	for _, request := range []string{"r1", "r2", "r3"} {
		if err := r.append(r.batch(request, `{"rows":[{"a":1},{"a":2}]}`)); err != nil {
			t.Fatal(err)
		}
		if err := r.journals["m"].to.Flush(); err != nil {
			t.Fatal(err)
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
	flipped := append([]byte(nil), whole...)
	flipped[sizes[1]-1] ^= 1
	for _, c := range []struct {
		text []byte
		rows int
	}{{whole, 6}, {whole[:sizes[2]-1], 4}, {whole[:sizes[1]+3], 4}, {flipped, 2}, {append(whole[:sizes[0]:sizes[0]], make([]byte, 4096)...), 2}, {nil, 0}} {
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if found, err := survey(path); err != nil || found.rows != c.rows {
			t.Errorf("%d bytes: %d rows and not %d, %v", len(c.text), found.rows, c.rows, err)
		}
	}
	if err := os.WriteFile(path, sealed(append(make([]byte, frameHead), "rubbish"...)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := survey(path); err == nil {
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
	_ = r.journals["m"].file.Close() // so that it fails
	if err := r.sync("m", r.journals["m"]); err == nil || r.Dropped() != 2 {
		t.Errorf("%v, %d dropped", err, r.Dropped())
	}
	if err := add("r3"); err != nil {
		t.Fatal(err)
	}
	if err := r.rotate("m", r.journals["m"]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := compact(<-r.full); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "m", "*"+parquet.Extension))
	if got := read(t, filepath.Join(dir, "m")); len(files) != 2 || got.Len() != 4 {
		t.Errorf("%d rows in %q", got.Len(), files)
	}
}

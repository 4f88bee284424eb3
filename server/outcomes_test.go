package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/record"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// recording has a server record in a folder.
func recording(t *testing.T, dir string, without ...string) func(*Config) {
	t.Helper()
	r, err := record.Open(record.Config{Dir: dir, Block: true, Without: without, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(c *Config) { c.Record = r }
}

func oneModel(c *Config) { c.Models = c.Models[:1] }

// Where there is one model outcomes need not name it; where there are several they have to.
func TestOutcomesOfTheOnlyModel(t *testing.T) {
	const body = `{"outcomes":[{"id":"a","outcome":"bad"}]}`
	dir := t.TempDir()
	if got := answer[OutcomesResponse](t, newServer(t, recording(t, dir), oneModel), "/v1/outcomes", body); got.Recorded != 1 {
		t.Errorf("recorded %d", got.Recorded)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "loans", "_outcomes.jsonl")); err != nil || !strings.Contains(string(text), `"_id":"a"`) {
		t.Errorf("%s, %v", text, err)
	}
	if w := ask(newServer(t, recording(t, t.TempDir())), http.MethodPost, "/v1/outcomes", body); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "2 models") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Decisions and outcomes are in files of the model when the answer, or the recorder, says so.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	s := newServer(t, recording(t, dir))
	w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(3), ""))
	if w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	id := w.Header().Get("X-Request-Id") + "-2"
	got := answer[OutcomesResponse](t, s, "/v1/models/loans/outcomes", `{"outcomes":[{"id":"`+id+`","outcome":"bad"},{"id":"x","outcome":"good"}]}`)
	text, err := os.ReadFile(filepath.Join(dir, "loans", "_outcomes.jsonl"))
	if err != nil || got.Recorded != 2 || strings.Count(string(text), "\n") != 2 || !strings.Contains(string(text), `"_id":"`+id+`"`) {
		t.Errorf("recorded %d: %s, %v", got.Recorded, text, err)
	}
	for body, want := range map[string]int{
		`{"outcomes":[{"id":"a","outcome":"perhaps"}]}`: http.StatusUnprocessableEntity,
		`{"outcomes":[{"outcome":"bad"}]}`:              http.StatusUnprocessableEntity,
		`{"outcomes":[]}`:                               http.StatusUnprocessableEntity,
		`{"outcomes":[{"id":"a"`:                        http.StatusBadRequest,
	} {
		if w := ask(s, http.MethodPost, "/v1/models/loans/outcomes", body); w.Code != want {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if err := s.config.Record.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "loans", "decisions-*.parquet")); len(files) != 1 {
		t.Errorf("files %q", files)
	}
	if !strings.Contains(ask(s, http.MethodGet, "/metrics", "").Body.String(), "lossep_record_dropped_total 0") {
		t.Error("the metrics do not count what was dropped")
	}
	if w := ask(newServer(t), http.MethodPost, "/v1/models/loans/outcomes", `{"outcomes":[{"id":"a","outcome":"bad"}]}`); w.Code != http.StatusConflict {
		t.Errorf("a server that records nothing: %d %s", w.Code, w.Body)
	}
}

// What people try is not recorded.
func TestTrialsAreNotRecorded(t *testing.T) {
	dir := t.TempDir()
	s := newServer(t, recording(t, dir))
	if w := ask(s, http.MethodPost, "/v1/models/loans/decide", rowsBody(t, someRows(5), ""), "X-Lossep-Trial: 1"); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if err := s.config.Record.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(files) > 0 {
		t.Errorf("files %q", files)
	}
}

// Outcomes that cannot be written, as to a full disk, are refused and logged: it is no fault of the server.
func TestOutcomesCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "loans"), nil, 0o600); err != nil { // where its folder would be
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := newServer(t, recording(t, dir), func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	w := ask(s, http.MethodPost, "/v1/models/loans/outcomes", `{"outcomes":[{"id":"a","outcome":"bad"}]}`)
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), dir) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "outcomes were not recorded") || strings.Contains(log.String(), "panic") {
		t.Error(log.String())
	}
}

// named is a model of loans whose rows have names.
func named(t *testing.T) *lossep.Model {
	t.Helper()
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(string(loansCSV(60))), "\n") {
		if i == 0 {
			b.WriteString("case," + line + "\n")
		} else {
			fmt.Fprintf(&b, "c%d,%s\n", i, line)
		}
	}
	return fitted(t, []byte(b.String()), "fn=0.01*amount,fp=1", lossep.EP, func(o *lossep.Options) { o.Data.ID = "case" })
}

// recorded are the decisions that a server has recorded of one row, as a table whose first line names the columns.
func recorded(t *testing.T, row string, without ...string) (request, columns, cells string) {
	t.Helper()
	return recordedOf(t, "/v1/models/named/decide", `{"rows":[`+row+`]}`, without...)
}

// recordedOf is recorded by any request.
func recordedOf(t *testing.T, path, body string, without ...string) (request, columns, cells string) {
	t.Helper()
	dir := t.TempDir()
	s := newServer(t, recording(t, dir, without...), func(c *Config) { c.Models = []Source{source(t, "named", named(t))} })
	w := ask(s, http.MethodPost, path, body)
	if w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if err := s.config.Record.Close(); err != nil {
		t.Fatal(err)
	}
	rows := recordedIn(t, dir, "named")
	return w.Header().Get("X-Request-Id"), strings.Join(rows[0][6:], " "), strings.Join(rows[1], "|")
}

// recordedIn are the decisions in the folder of a recorder that is closed, the columns first.
func recordedIn(t *testing.T, dir, model string) [][]string {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, model, "decisions-*.parquet"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	source, err := parquet.Open(dir, []parquet.File{{Name: files[0], Content: bytes.NewReader(text), Size: int64(len(text))}}, 1<<28)
	if err != nil {
		t.Fatal(err)
	}
	read, err := table.ReadSource(t.Context(), source, table.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := [][]string{read.Columns()}
	for i := range read.Len() {
		all = append(all, read.Row(i))
	}
	return all
}

// Columns of the model are recorded, and no others: not those that it dropped, does not know, or has for its target.
// A column of ids that is not to be recorded is not in the id either.
func TestRecordColumns(t *testing.T) {
	const row = `{"case":"c17","age":30,"income":20,"job":"smith","owner":"True","branch":"main","amount":500,"class":"bad","phone":"555"}`
	if _, columns, cells := recorded(t, row); columns != "age amount case income job owner" || !strings.HasPrefix(cells, "c17|") {
		t.Errorf("columns %s, cells %s", columns, cells)
	}
	request, columns, cells := recorded(t, row, "case", "amount")
	if columns != "age income job owner" || !strings.HasPrefix(cells, request+"-0|") || strings.Contains(cells, "c17") {
		t.Errorf("columns %s, cells %s", columns, cells)
	}
	c := Config{Models: []Source{source(t, "named", named(t))}}
	recording(t, t.TempDir(), "job", "branch", "class", "nmae")(&c)
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), `no model has the column "nmae"`) {
		t.Errorf("a column that no model has is not to be recorded: %v", err)
	}
}

// Ids that the files cannot hold are refused before anything is decided or recorded; without recording nobody reads them.
func TestRecordIDs(t *testing.T) {
	models := func(c *Config) { c.Models = []Source{source(t, "named", named(t))} }
	s, silent := newServer(t, recording(t, t.TempDir()), models), newServer(t, models)
	for id, good := range map[string]bool{
		`"c 1 ü"`: true, `17`: true, `1.5e3`: true, `null`: true, `""`: true, `"` + strings.Repeat("x", 1000) + `"`: true,
		`"a\u0000b"`: false, `"a\nb"`: false, `"a\u0085b"`: false, `{"a":1}`: false, `[1]`: false, `true`: false, `"` + strings.Repeat("ü", 501) + `"`: false,
	} {
		want := http.StatusUnprocessableEntity
		if good {
			want = http.StatusOK
		}
		body := `{"rows":[{"case":` + id + `,"age":30,"income":20,"job":"smith","owner":"True","amount":500}]}`
		if w := ask(s, http.MethodPost, "/v1/models/named/decide", body); w.Code != want {
			t.Errorf("decide %s: %d %s", id, w.Code, w.Body)
		}
		if w := ask(silent, http.MethodPost, "/v1/models/named/decide", body); w.Code != http.StatusOK {
			t.Errorf("decide %s without recording: %d %s", id, w.Code, w.Body)
		}
		if id[0] != '"' || id == `""` {
			continue // outcomes have texts
		}
		if w := ask(s, http.MethodPost, "/v1/models/named/outcomes", `{"outcomes":[{"id":`+id+`,"outcome":"bad"}]}`); w.Code != want {
			t.Errorf("outcome of %s: %d %s", id, w.Code, w.Body)
		}
	}
}

// What the Open Inference Protocol asks is recorded as what /v1 asks, and its ids have to be such that can be.
func TestRecordInference(t *testing.T) {
	after := func(cells string) string { // the time, which may differ
		id, rest, _ := strings.Cut(cells, "|")
		_, rest, _ = strings.Cut(rest, "|")
		return id + "|" + rest
	}
	const tensors = `{"name":"age","shape":[1],"datatype":"INT64","data":[30]},{"name":"income","shape":[1,1],"datatype":"FP64","data":[[20.5]]},
		{"name":"job","shape":[1],"datatype":"BYTES","data":["smith \"x\""]},{"name":"owner","shape":[1],"datatype":"BOOL","data":[true]},
		{"name":"amount","shape":[1],"datatype":"FP32","data":[500]}`
	_, columns, cells := recorded(t, `{"case":"c17","age":30,"income":20.5,"job":"smith \"x\"","owner":true,"amount":500}`)
	_, inferred, got := recordedOf(t, "/v2/models/named/infer", `{"inputs":[{"name":"case","shape":[1],"datatype":"BYTES","data":["c17"]},`+tensors+`]}`)
	if inferred != columns || after(got) != after(cells) {
		t.Errorf("columns %s, not %s; cells %s, not %s", inferred, columns, got, cells)
	}
	request, _, got := recordedOf(t, "/v2/models/named/infer", `{"id":"own","inputs":[`+tensors+`]}`, "job")
	if !strings.HasPrefix(got, request+"-0|") || strings.Contains(got, "smith") {
		t.Errorf("cells %s of the request %s", got, request)
	}
	s := newServer(t, recording(t, t.TempDir()), func(c *Config) { c.Models = []Source{source(t, "named", named(t))} })
	w := ask(s, http.MethodPost, "/v2/models/named/infer", `{"inputs":[{"name":"case","shape":[1],"datatype":"BYTES","data":["a\nb"]},`+tensors+`]}`)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "no id that can be recorded") {
		t.Errorf("an id with a line break: %d %s", w.Code, w.Body)
	}
}

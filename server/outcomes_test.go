package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lossep/lossep/internal/record"
)

// recording has a server record in a folder.
func recording(t *testing.T, dir string) func(*Config) {
	t.Helper()
	r, err := record.Open(record.Config{Dir: dir, Block: true, Failed: func(err error) { t.Error(err) }})
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

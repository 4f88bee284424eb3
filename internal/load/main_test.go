package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// table has a header, a number, a word, an empty cell and the outcome.
const table = "age,job,left,class\n31,clerk,0.5,good\n44,\"judge, retired\",,bad\n28,clerk,2,good\n"

// fake is a server that knows one model and answers what decide says.
func fake(t *testing.T, decide http.HandlerFunc) (url, csv string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models/credit", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"columns":[{"name":"age","kind":"numeric"},{"name":"left","kind":"numeric"},{"name":"job","kind":"categorical"}]}`)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 4.194304e+07\n")
	})
	mux.HandleFunc("POST /v1/models/credit/decide", decide)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	csv = filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(csv, []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	return s.URL, csv
}

// load runs the program for a moment.
func load(t *testing.T, url, csv string, more ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"--url", url, "--model", "credit", "--csv", csv, "--connections", "2", "--duration", "30ms"}, more...)
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// decideAll answers a decision for each row, and notes the bodies.
func decideAll(t *testing.T, bodies chan<- string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var q struct {
			Rows []json.RawMessage `json:"rows"`
		}
		if err == nil {
			err = json.Unmarshal(body, &q)
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case bodies <- string(body):
		default:
		}
		fmt.Fprintf(w, `{"decisions":[%s]}`, strings.TrimSuffix(strings.Repeat("{},", len(q.Rows)), ","))
	}
}

func TestAsksWhatTheModelWants(t *testing.T) {
	bodies := make(chan string, 1000)
	url, csv := fake(t, decideAll(t, bodies))
	code, out, errs := load(t, url, csv, "--rows", "2", "--utility", "fn=5,fp=1", "--format", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Requests == 0 || r.RowsPerSec < 1.99*r.PerSecond || r.Milliseconds.P50 > r.Milliseconds.Max || r.Milliseconds.P50 <= 0 {
		t.Errorf("report %s", out)
	}
	if len(r.Memory) == 0 || r.Memory[0] != 40<<20 {
		t.Errorf("memory %v", r.Memory)
	}
	one, two, three := `{"age":31,"left":0.5,"job":"clerk"}`, `{"age":44,"left":null,"job":"judge, retired"}`, `{"age":28,"left":2,"job":"clerk"}`
	want := map[string]bool{
		`{"rows":[` + one + "," + two + `],"utility":"fn=5,fp=1"}`:   true,
		`{"rows":[` + three + "," + one + `],"utility":"fn=5,fp=1"}`: true,
	}
	close(bodies)
	seen := map[string]bool{}
	for b := range bodies {
		if !want[b] {
			t.Fatalf("asked %s", b)
		}
		seen[b] = true
	}
	if len(seen) != len(want) {
		t.Errorf("asked only %v", seen)
	}
}

func TestReportsInWords(t *testing.T) {
	url, csv := fake(t, decideAll(t, make(chan string)))
	code, out, _ := load(t, url, csv)
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"decide, 2 connections, 1 rows", "p99 ", "0 dropped, 0 wrong", "40.0 MB at most"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestErrorsFail(t *testing.T) {
	var asked atomic.Int64
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		message string
	}{
		{"status", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }, "status 418: no"},
		{"not JSON", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") }, "not JSON"},
		{"no decisions", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }, "no decisions"},
		{"too few", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"decisions":[]}`) }, "0 decisions for 1 rows"},
		{"changing", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"decisions":[%d]}`, asked.Add(1))
		}, "not the same as before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, csv := fake(t, c.handler)
			if code, out, _ := load(t, url, csv); code != 1 || !strings.Contains(out, c.message) {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	url, csv := fake(t, decideAll(t, make(chan string)))
	for _, c := range []struct {
		name    string
		args    []string
		code    int
		message string
	}{
		{"another machine", []string{"--url", "http://192.0.2.1:8080"}, 1, "not a loopback address"},
		{"no such model", []string{"--model", "x"}, 1, "404"},
		{"no such file", []string{"--csv", csv + "x"}, 1, "no such file"},
		{"endpoint", []string{"--endpoint", "guess"}, 2, "decide or predict"},
		{"format", []string{"--format", "xml"}, 2, "text or json"},
		{"rows", []string{"--rows", "0"}, 2, "positive"},
		{"argument", []string{"now"}, 2, "unknown argument"},
		{"model", []string{"--model", ""}, 2, "give --model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, out, errs := load(t, url, csv, c.args...); code != c.code || out != "" || !strings.Contains(errs, c.message) {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
		})
	}
}

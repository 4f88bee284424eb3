package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lossep/lossep/example"
)

const greeting = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// told gives the command lines, and has the code of each error by the id of what was asked, 0 where it was answered.
func told(t *testing.T, in io.Reader, files ...string) map[string]int {
	t.Helper()
	var out, said bytes.Buffer
	if code := run(context.Background(), append([]string{"mcp"}, files...), in, &out, &said); code != 0 {
		t.Errorf("it ends with %d: %s", code, &said)
	}
	answers := make(map[string]int)
	for d := json.NewDecoder(&out); ; {
		var one struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  struct{ Code int }
		}
		if err := d.Decode(&one); err == io.EOF {
			return answers
		} else if err != nil {
			t.Fatal(err)
		}
		answers[string(one.ID)] = one.Error.Code
	}
}

func heldOut(t *testing.T) (table string) {
	t.Helper()
	table = filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(table, example.HeldOutCSV(), 0o600); err != nil {
		t.Fatal(err)
	}
	return table
}

// All that was asked before the input ended is answered.
func TestAnsweredAtTheEnd(t *testing.T) {
	audit := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"audit","arguments":{"table":"new.csv","target":"diagnosis","positive":"malignant","cost":"fn=5,fp=1","fixed":true,"kernel":"rbf(variance=4, lengthscale=6)","folds":2,"methods":["ep"],"references":0}}}`
	got := told(t, strings.NewReader(greeting+audit+"\n"+strings.Replace(audit, "7", `"last"`, 1)), heldOut(t))
	for _, id := range []string{`"hello"`, "7", `"last"`} {
		if code, is := got[id]; !is || code != 0 {
			t.Errorf("%s: %v", id, got)
		}
	}
}

// A line that is no message is answered with an error, and the next one as if it had not been.
func TestLinesThatAreNoMessages(t *testing.T) {
	table := heldOut(t)
	for _, c := range []struct {
		line, id string
		code     int
	}{
		{`{bad`, "null", -32700},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "null", -32700},
		{strings.Repeat("[", 200_000), "null", -32700},
		{strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), "null", -32700},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, "null", -32700},
		{`null`, "null", -32600},
		{`[]`, "null", -32600},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "null", -32600},
		{`"x"`, "null", -32600},
		{`17`, "null", -32600},
		{`{}`, "null", -32600},
		{`{"jsonrpc":"1.0","id":3,"method":"ping"}`, "3", -32600},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":4,"method":5}`, "4", -32600},
		{`{"jsonrpc":"2.0","id":5,"method":"` + strings.Repeat("x", mostAsked) + `"}`, "null", -32600},
		{`{"jsonrpc":"2.0","id":6,"method":"nothing"}`, "6", -32601},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[1]}`, "6", -32602},
	} {
		got := told(t, strings.NewReader(greeting+c.line+"\r\n\n"+`{"jsonrpc":"2.0","id":"after","method":"ping"}`+"\n"), table)
		after, is := got[`"after"`]
		if code := got[c.id]; code != c.code || !is || after != 0 {
			t.Errorf("%.100s: %v", c.line, got)
		}
	}
}

// What is cancelled ends: a call that waits for another at once, and one that is under way, which would take minutes.
func TestCancelled(t *testing.T) {
	table := heldOut(t)
	in, to := io.Pipe()
	from, out := io.Pipe()
	done := make(chan int)
	go func() { done <- run(context.Background(), []string{"mcp", table}, in, out, io.Discard) }()
	send := func(lines ...string) {
		t.Helper()
		if _, err := io.WriteString(to, strings.Join(lines, "\n")+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	answers := json.NewDecoder(from)
	audit := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"audit","arguments":{"table":"new.csv","target":"diagnosis","positive":"malignant","cost":"fn=5,fp=1","repeats":50}}}`
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for i, lines := range [][]string{
		{strings.TrimSpace(greeting)},
		{audit, strings.Replace(audit, `"id":1`, `"id":2`, 1), `{"jsonrpc":"2.0","id":3,"method":"ping"}`}, // begun in this order
		{strings.Replace(cancel, "1}", "2}", 1)},
		{cancel},
	} {
		send(lines...)
		var answer struct {
			ID     any
			Result struct{ Content []struct{ Text string } }
		}
		if err := answers.Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if want := []any{"hello", 3., 2., 1.}[i]; answer.ID != want {
			t.Fatalf("%v is answered, not %v: %+v", answer.ID, want, answer)
		}
		if c := answer.Result.Content; i > 1 && (len(c) != 1 || c[0].Text != "failure: interrupted") {
			t.Errorf("%+v", answer)
		}
	}
	to.Close()
	if code := <-done; code != 0 {
		t.Errorf("it ends with %d", code)
	}
}

// A line that never ends takes no more memory than a request may have, and an output that fails ends the command.
func TestEndlessLines(t *testing.T) {
	table := heldOut(t)
	endless := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), io.LimitReader(letters{}, 64<<20))
	if got := told(t, endless, table); got["null"] != -32600 {
		t.Errorf("%v", got)
	}
	in, hold := io.Pipe()
	go func() { _, _ = io.WriteString(hold, greeting) }() // and nothing more, without an end
	if code := run(context.Background(), []string{"mcp", table}, in, broken{}, io.Discard); code != 1 {
		t.Errorf("it ends with %d", code)
	}
	hold.Close()
	for _, c := range [][]string{{"mcp"}, {"mcp", table + ".none"}, {"mcp", table, table}} {
		if code := run(context.Background(), c, strings.NewReader(""), io.Discard, io.Discard); code != 2 {
			t.Errorf("%q ends with %d", c, code)
		}
	}
}

// broken cannot be written to.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the pipe is broken") }

// letters is an endless text.
type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

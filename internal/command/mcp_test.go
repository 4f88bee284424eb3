package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/internal/fault"
)

// asked starts the command with files and connects a client of the same protocol to it over pipes. The function
// asks a tool, and gives the text of its answer and whether that is an error.
func asked(t *testing.T, files ...string) (session *mcp.ClientSession, ask func(tool, arguments string) (string, bool)) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	done := make(chan int)
	go func() {
		code := run(context.Background(), append([]string{"mcp"}, files...), toServer, fromServer, io.Discard)
		fromServer.Close()
		done <- code
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		fromClient.Close()
		if code := <-done; code != 0 {
			t.Errorf("the server ends with %d", code)
		}
	})
	return session, func(tool, arguments string) (string, bool) {
		t.Helper()
		r, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil {
			return err.Error(), true
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
}

// TestToolsForLanguageModels: answers are those of the commands, and nothing but the files that were given
// is read or written.
func TestToolsForLanguageModels(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(in("new.csv"), example.HeldOutCSV(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("secret.csv"), example.HeldOutCSV(), 0o600); err != nil {
		t.Fatal(err)
	}
	fit := []string{"fit", in("new.csv"), "--target", "diagnosis", "--positive", "malignant", "--fixed", "--kernel", "rbf(variance=4, lengthscale=6)", "--cost", "fn=5,fp=1", "-o", in("model.lossep")}
	if code := run(context.Background(), fit, nil, io.Discard, io.Discard); code != 0 {
		t.Fatal("no model")
	}
	before, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	session, ask := asked(t, in("model.lossep"), in("new.csv"))
	list, err := session.ListTools(context.Background(), nil)
	if err != nil || len(list.Tools) != 5 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for _, c := range []struct{ tool, arguments, says string }{
		{"decide", `{"model":"model.lossep","table":"new.csv","top":3}`, `"action":"positive"`},
		{"decide", `{"model":"model.lossep","table":"new.csv","top":3,"cost":"fn=50,fp=1","capacity":{"positive":10}}`, "positive: 10 of 10 used; one more is worth"},
		{"explain", `{"model":"model.lossep","table":"new.csv","top":1}`, `"why":[{`},
		{"value", `{"model":"model.lossep","table":"new.csv","top":2}`, `"worth_outcome":`},
		{"monitor", `{"model":"model.lossep","table":"new.csv","window":"50"}`, `"evidence_outcomes":`},
		{"monitor", `{"model":"model.lossep","table":"new.csv","window":40,"reference":"new.csv"}`, `"effective_reference":`},
		{"audit", `{"table":"new.csv","target":"diagnosis","positive":"malignant","cost":"fn=5,fp=1","fixed":true,"kernel":"rbf(variance=4, lengthscale=6)","folds":2,"methods":["ep"],"references":0}`, "Do"},
	} {
		if text, wrong := ask(c.tool, c.arguments); wrong || !strings.Contains(text, c.says) || len(text) > mostAnswered {
			t.Errorf("%s %s: %.2000s", c.tool, c.arguments, text)
		}
	}
	for _, c := range []struct{ tool, arguments, says string }{
		{"fit", `{}`, "unknown tool"},
		{"decide", `{}`, `model: "" is not among the files that may be read: model.lossep`},
		{"decide", `[1]`, ""},
		{"decide", `{"model":"model.lossep","table":"secret.csv"}`, `table: "secret.csv" is not among the files`},
		{"decide", `{"model":"model.lossep","table":"` + in("secret.csv") + `"}`, "is not among the files"},
		{"decide", `{"model":"model.lossep","table":"../new.csv"}`, "is not among the files"},
		{"decide", `{"model":["model.lossep"],"table":"new.csv"}`, "is not among the files"},
		{"decide", `{"model":"model.lossep","table":"new.csv","output":"` + in("out.csv") + `"}`, "output: unknown argument"},
		{"decide", `{"model":"model.lossep","table":"new.csv","utility":"/etc/passwd"}`, "utility: unknown argument"},
		{"decide", `{"model":"model.lossep","table":"new.csv","cost_matrix":"/etc/passwd"}`, "cost_matrix: \"/etc/passwd\" is not among the files"},
		{"decide", `{"model":"model.lossep","table":"new.csv","cost":"fn=many"}`, "invalid request: costs"},
		{"decide", `{"model":"model.lossep","table":"new.csv","cost":{"fn":{"deep":1}}}`, "takes a text, a number, true or false"},
		{"decide", `{"model":"model.lossep","table":"new.csv","baseline":"--output=x"}`, "unknown action"},
		{"decide", `{"model":"model.lossep","table":"new.csv","top":100000}`, "ask for fewer rows by top"},
		{"decide", `{"model":"model.lossep","table":"new.csv","cost":"` + strings.Repeat("x", 300_000) + `"}`, "invalid request"},
		{"decide", `{"model":"model.lossep","table":"new.csv","probability":"p"}`, "probability: unknown argument"},
		{"monitor", `{"model":"model.lossep","table":"new.csv","outcomes":"secret.csv"}`, `outcomes: "secret.csv" is not among the files`},
		{"monitor", `{"model":"model.lossep","table":"new.csv","metrics":"x"}`, "metrics: unknown argument"},
		{"value", `{"model":"model.lossep","table":"model.lossep"}`, "is not among the files"},
		{"audit", `{"table":"new.csv","target":"nothing"}`, "invalid request"},
		{"audit", `{"table":"new.csv","target":"diagnosis","out":"` + in("audit") + `"}`, "out: unknown argument"},
	} {
		if text, wrong := ask(c.tool, c.arguments); !wrong || !strings.Contains(text, c.says) {
			t.Errorf("%s %.200s: %.500s", c.tool, c.arguments, text)
		}
	}
	after, err := os.ReadDir(folder)
	if err != nil || len(after) != len(before) {
		t.Errorf("files before %v, after %v, %v", before, after, err)
	}
	remove := fault.Inject(func(fault.Place) { panic("this is broken") })
	text, wrong := ask("decide", `{"model":"model.lossep","table":"new.csv","top":1}`)
	if remove(); !wrong || !strings.HasSuffix(text, "internal fault: this is broken") {
		t.Errorf("a fault: %s", text)
	}
	if text, wrong := ask("decide", `{"model":"model.lossep","table":"new.csv","top":1}`); wrong {
		t.Errorf("after all of that: %s", text)
	}
}

// TestToolsReadOnly: of all options of the tools only these name files, which are read.
func TestToolsReadOnly(t *testing.T) {
	for _, of := range new(tools).list() {
		for _, o := range of.options {
			if o.Type() == "FILE" && !slices.Contains(unasked, o.Name) && !slices.Contains([]string{"utility", "cost-matrix", "outcomes", "reference"}, o.Name) {
				t.Errorf("%s can be asked with the file of %s; say here that it is read only, or in unasked that it is not for requests", of.name, o.Name)
			}
		}
	}
}

// TestToolsForNumbers: models whose outcome is a number are answered without the options that are for categories.
func TestToolsForNumbers(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	rows := "price,sold\n"
	for i := range 40 {
		rows += fmt.Sprintf("%d,%g\n", i%9, 50-3*float64(i%9)+float64(i*i%7)/2)
	}
	if err := os.WriteFile(in("demand.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if code := run(context.Background(), []string{"fit", in("demand.csv"), "--target", "sold", "--cost", "under=15,over=5", "-o", in("m.lossep")}, nil, io.Discard, &said); code != 0 {
		t.Fatal(said.String())
	}
	_, ask := asked(t, in("m.lossep"), in("demand.csv"))
	for _, c := range []struct {
		tool, arguments, says string
		wrong                 bool
	}{
		{"decide", `{"model":"m.lossep","table":"demand.csv"}`, `"cost_higher":`, false},
		{"decide", `{"model":"m.lossep","table":"demand.csv","cost":"under=1,over=9"}`, "(costs under=1,over=9)", false},
		{"decide", `{"model":"m.lossep","table":"demand.csv","top":3}`, "decided 40 rows", false},
		{"explain", `{"model":"m.lossep","table":"demand.csv"}`, "explain: it is for models whose outcomes are categories, and that of m.lossep is a number; ask decide", true},
		{"audit", `{"table":"demand.csv","target":"sold","cost":"under=15,over=5","folds":2}`, "40 past cases of sold", false},
		{"audit", `{"table":"demand.csv","target":"sold","cost":"under=15,over=5","by":"price"}`, "invalid request: by: it is for outcomes that are categories", true},
		{"value", `{"model":"m.lossep","table":"demand.csv","ask":["price"],"top":5}`, `"worth_outcome":`, false},
		{"value", `{"model":"m.lossep","table":"demand.csv","labels":true}`, `"worth_label":`, false},
		{"monitor", `{"model":"m.lossep","table":"demand.csv","window":20}`, `"known_outcomes": 20`, false},
	} {
		if text, wrong := ask(c.tool, c.arguments); wrong != c.wrong || !strings.Contains(text, c.says) {
			t.Errorf("%s %s: %.500s", c.tool, c.arguments, text)
		}
	}
}

// TestToolsReadRegularFiles: a link in a folder to a file that was not given is refused, also one that is made later, and
// so is a device, which has no end.
func TestToolsReadRegularFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	for name, text := range map[string]string{"new.csv": "price,sold\n1,2\n", "outside.parquet": "PAR1"} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(in("past"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, ask := asked(t, in("past"), in("new.csv"))
	if err := os.Symlink(in("outside.parquet"), in("past", "b.parquet")); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err) // where links take a privilege
		}
		t.Fatal(err)
	}
	link := in("past", "b.parquet") + ": it is no regular file"
	if text, wrong := ask("audit", `{"table":"past","target":"sold","outcome":"number"}`); !wrong || !strings.Contains(text, link) {
		t.Errorf("a link: %s", text)
	}
	for path, says := range map[string]string{in("past"): link, os.DevNull: "it is neither a regular file nor a folder"} {
		var said bytes.Buffer
		if code := run(context.Background(), []string{"mcp", in("new.csv"), path}, strings.NewReader(""), io.Discard, &said); code != 2 || !strings.Contains(said.String(), says) {
			t.Errorf("%s: %d, %s", path, code, &said)
		}
	}
	if err := errors.Join(os.Remove(in("new.csv")), os.Symlink(os.DevNull, in("new.csv"))); err != nil {
		t.Fatal(err)
	}
	if text, wrong := ask("audit", `{"table":"new.csv","target":"sold","outcome":"number"}`); !wrong || !strings.Contains(text, "it is neither a regular file nor a folder") {
		t.Errorf("a device: %s", text)
	}
}

// What a command says is kept from its end, where the error is, however much there is before it.
func TestTailKeepsTheError(t *testing.T) {
	var said tail
	for range 1000 {
		fmt.Fprintln(&said, "a note that is as long as notes on columns are wont to be")
	}
	fmt.Fprintln(&said, "lossep: the error")
	if !strings.HasSuffix(string(said), "be\nlossep: the error\n") || len(said) > mostAnswered {
		t.Errorf("%d bytes, which end with %q", len(said), said[len(said)-40:])
	}
}

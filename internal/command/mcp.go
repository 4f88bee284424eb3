package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/service"
)

func newMCP() *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp FILE…",
		Short: "Answer a language model's requests about given files (Model Context Protocol)",
		Long: `Serve the Model Context Protocol over standard input and output, with the tools audit, decide, explain,
value and monitor. The tools read only the files given here: models (.lossep), costs (.yaml, .yml),
tables, and folders of them, each known by the last part of its path. Links, pipes and devices in a folder are
not followed, and nothing is written. The arguments of the tools are the options of the commands.`,
		Example: `  lossep mcp model.lossep costs.yaml new.csv past.csv
  lossep mcp model.lossep decisions/model decisions/model/_outcomes.jsonl`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s: no files given; give the models, costs and tables that may be read", c.Name())
			}
			return nil
		},
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		t, err := newTools(args, maxMemory(c), c.ErrOrStderr())
		if err != nil {
			return err
		}
		err = t.server().Run(c.Context(), &messages{in: c.InOrStdin(), out: raw(c.OutOrStdout())})
		if errors.Is(err, io.EOF) {
			return nil // nobody asks any more
		}
		return err
	}
	return c
}

const (
	mostAsked    = 1 << 20  // bytes of a request
	mostAnswered = 32 << 10 // bytes of an answer: it is read by a language model
)

// tools are the commands over some files.
type tools struct {
	models, costs, tables map[string]string // paths by name
	memory                int64
	log                   io.Writer
	one                   chan struct{} // command at a time: each may take the memory there is
}

func newTools(files []string, memory int64, log io.Writer) (*tools, error) {
	t := &tools{models: make(map[string]string), costs: make(map[string]string), tables: make(map[string]string), memory: memory, log: log, one: make(chan struct{}, 1)}
	for _, path := range files {
		if err := readable(path); err != nil {
			return nil, err
		}
		to := t.tables
		switch filepath.Ext(path) {
		case ".lossep":
			to = t.models
		case ".yaml", ".yml":
			to = t.costs
		}
		name := filepath.Base(path)
		if other, twice := to[name]; twice {
			return nil, usagef("%s and %s have the same name; give one of them, or rename it", other, path)
		}
		to[name] = path
	}
	return t, nil
}

// tool is a command with the options that may be given.
type tool struct {
	name, command, about string
	files                []string // what it is about: a model, a table
	options              service.Options
	more                 []string // arguments that are always given
	defaults             map[string]string
}

// list are the tools.
func (t *tools) list() []tool {
	both, rows, few := []string{"model", "table"}, []string{"--format=jsonl"}, map[string]string{"top": "20"}
	return []tool{
		{"decide", "decide", "Choose the best action in the cases of a table: a JSON line for each, those with the largest saving (of numbers: cost) first, and a summary.", both, service.NewDecide().Options, rows, few},
		{"explain", "decide", "Say which columns move each decision most, by how much, and the smallest change of one column that would flip it.", both, service.NewDecide().Options, rows, map[string]string{"top": "5", "why": "3"}},
		{"value", "value", "Say what it would be worth to know more about cases before acting: their outcomes, columns that could be measured, or labels.", both, service.NewWorth().Options, rows, few},
		{"monitor", "monitor", "Compare what decisions on new cases cost, window by window, with what the model led to expect; alarms are in the answer.", both, service.NewMonitor().Options, []string{"--format=json"}, nil},
		{"audit", "audit", "Measure what decisions on past cases with known outcomes cost, with intervals, and whether the probabilities can be trusted.", []string{"table"}, append((&service.Costs{}).Options(), service.NewAudit().Options...), nil, nil},
	}
}

// unasked are options that are not for requests: they write files, or are about how output looks and how much is read.
var unasked = []string{"output", "format", "errors", "on-error", "keep", "max-bytes", "max-cells"}

// paths are the files that may be named for a part of a request.
func (t *tools) paths(name string) map[string]string {
	switch name {
	case "model":
		return t.models
	case "utility":
		return t.costs
	}
	return t.tables
}

// schema describes the arguments of a tool.
func (t *tools) schema(of tool) map[string]any {
	properties := make(map[string]any)
	for _, name := range of.files {
		properties[name] = map[string]any{"type": "string", "enum": slices.Sorted(maps.Keys(t.paths(name)))}
	}
	for _, o := range of.options {
		if slices.Contains(unasked, o.Name) || o.Name == "probability" && slices.Contains(of.files, "model") {
			continue
		}
		kind, elements := o.JSON()
		p := map[string]any{"type": kind, "description": service.Naming(service.Fields).In(o.Help)}
		switch {
		case o.Type() == "FILE":
			if p["enum"] = slices.Sorted(maps.Keys(t.paths(o.Name))); len(t.paths(o.Name)) == 0 {
				continue
			}
		case kind == "object":
			p["additionalProperties"] = map[string]any{"type": elements}
		case kind == "array":
			p["items"] = map[string]any{"type": elements}
		case kind == "string":
			p["type"] = []string{kind, "number"} // such as seeds and shares
		}
		properties[service.Fields(o.Name, "")] = p
	}
	return map[string]any{"type": "object", "properties": properties, "required": of.files, "additionalProperties": false}
}

func (t *tools) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "lossep", Version: lossep.Version}, nil)
	for _, one := range t.list() {
		if len(t.tables) == 0 || slices.Contains(one.files, "model") && len(t.models) == 0 {
			continue
		}
		schema := t.schema(one)
		s.AddTool(&mcp.Tool{Name: one.name, Description: one.about, InputSchema: schema, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				text, err := t.call(ctx, one, schema["properties"].(map[string]any), r.Params.Arguments)
				result := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
				if err != nil {
					kind := "failure"
					if usage := (*usageError)(nil); errors.As(err, &usage) {
						kind = "invalid request"
					}
					result.IsError, result.StructuredContent = true, map[string]any{"kind": kind, "message": err.Error()}
					result.Content = []mcp.Content{&mcp.TextContent{Text: kind + ": " + err.Error()}}
				}
				return result, nil
			})
	}
	return s
}

// call runs the command of a tool. Errors in what was asked are *usageError.
func (t *tools) call(ctx context.Context, of tool, known map[string]any, arguments json.RawMessage) (string, error) {
	select {
	case t.one <- struct{}{}:
		defer func() { <-t.one }()
	case <-ctx.Done():
		return "", errors.New("interrupted")
	}
	given, err := members(arguments)
	if err != nil {
		return "", err
	}
	model, _ := given["model"].(string)
	if of.defaults["why"] != "" && numbers.Is(t.models[model], t.memory) {
		return "", usagef("%s: it is for models whose outcomes are categories, and that of %s is a number; ask decide", of.name, model)
	}
	args, err := t.arguments(of, known, given)
	if err != nil {
		return "", err
	}
	if of.command == "audit" { // whose report is a folder
		folder, err := os.MkdirTemp("", "lossep-mcp-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(folder) // it is of no further use
		args = slices.Insert(args, 1, "--out="+filepath.Join(folder, "audit"))
	}
	out, said := &bounded{}, new(tail)
	code := run(ctx, args, strings.NewReader(""), out, said)
	notes := of.named(strings.TrimSpace(string(*said)))
	if begin := strings.LastIndex("\n"+notes, "\nlossep: "); begin >= 0 { // the error, after notes on the way to it
		notes = strings.TrimPrefix(notes[begin:], "lossep: ")
	}
	switch {
	case out.over:
		return "", usagef("the answer has more than %d bytes; ask for fewer rows by top, or for larger windows", mostAnswered)
	case code == 2:
		return "", usagef("%s", notes)
	case code != 0 && code != alarmCode:
		fmt.Fprintln(t.log, notes) // where a fault was, which is for those who mend it
		notes, _, _ = strings.Cut(notes, "\n")
		return "", errors.New(notes)
	}
	answer, _, _ := strings.Cut(out.text.String(), "\nreport  ") // the folder is gone
	return strings.TrimSpace(answer + "\n" + notes), nil
}

// writtenFlags are options as commands write them.
var writtenFlags = regexp.MustCompile(`--[a-z][a-z-]*[a-z]`)

// named writes the options in what a command says as they are asked for.
func (of tool) named(text string) string {
	return writtenFlags.ReplaceAllStringFunc(text, func(flag string) string {
		if name := strings.TrimPrefix(flag, "--"); of.options.Lookup(name) != nil {
			return service.Fields(name, "")
		}
		return flag
	})
}

// members are those of a request.
func members(raw json.RawMessage) (given map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) > 0 {
		if err := d.Decode(&given); err != nil {
			return nil, usagef("the arguments are no object: %w", err)
		}
	}
	return given, nil
}

// arguments are those of the command, from the members of a request.
func (t *tools) arguments(of tool, known, given map[string]any) ([]string, error) {
	args := append([]string{of.command, "--max-memory=" + strconv.FormatInt(t.memory, 10)}, of.more...)
	for _, name := range slices.Sorted(maps.Keys(of.defaults)) {
		if _, is := given[name]; !is {
			args = append(args, "--"+name+"="+of.defaults[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if known[name] == nil {
			return nil, usagef("%s: unknown argument; there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if slices.Contains(of.files, name) {
			continue
		}
		flag := strings.ReplaceAll(name, "_", "-")
		values, err := service.Texts(given[name])
		if err != nil {
			return nil, usagef("%s: %w", name, err)
		}
		for _, value := range values {
			if of.options.Lookup(flag).Type() == "FILE" {
				if value, err = fileOf(name, t.paths(flag), value); err != nil {
					return nil, err
				}
			}
			args = append(args, "--"+flag+"="+value)
		}
	}
	args = append(args, "--")
	for _, name := range of.files {
		value, _ := given[name].(string)
		path, err := fileOf(name, t.paths(name), value)
		if err != nil {
			return nil, err
		}
		args = append(args, path)
	}
	return args, nil
}

// fileOf is the path of a file that was given on the command line.
func fileOf(what string, paths map[string]string, name string) (string, error) {
	if path, ok := paths[name]; ok {
		return path, readable(path)
	}
	return "", usagef("%s: %q is not among the files that may be read: %s", what, name, strings.Join(slices.Sorted(maps.Keys(paths)), ", "))
}

// readable refuses what is no regular file, or a folder that has others: a pipe or a device may have no end, and a link in
// a folder, which others may write to, leads to files that were not given.
func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &usageError{err}
	case !info.IsDir() && !info.Mode().IsRegular():
		return usagef("%s: it is neither a regular file nor a folder; give one", path)
	case !info.IsDir():
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return &usageError{err}
	}
	for _, e := range entries {
		if !e.IsDir() && !e.Type().IsRegular() {
			return usagef("%s: it is no regular file, and nothing else is read in a folder; take it out", filepath.Join(path, e.Name()))
		}
	}
	return nil
}

// bounded keeps what is written as far as an answer may be long.
type bounded struct {
	text bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.text.Len()+len(p) > mostAnswered; !b.over {
		b.text.Write(p)
	}
	return len(p), nil
}

// tail keeps the end of what is written, as errors come last, as far as an answer may be long.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	all := append(*t, p...)
	*t = append(all[:0], all[max(0, len(all)-mostAnswered):]...)
	return len(p), nil
}

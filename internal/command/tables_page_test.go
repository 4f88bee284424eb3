package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// The examples of the page about reading are read: each file, with the flags beside it, is
// followed by what is said of its columns (read), by some of the lines about the table
// (said), or by the message (error).
func TestTheRulesOfReading(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```csv([^\n]*)\n(.*?)```\n\n((?:```(?:read|said|error)\n.*?```\n\n?)+)").FindAllStringSubmatch(string(page), -1)
	if n := strings.Count(string(page), "```csv"); len(examples) != n || n < 12 {
		t.Fatalf("%d examples of %d", len(examples), n)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	for _, e := range examples {
		if err := os.WriteFile(path, []byte(e[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := readExample(t, path, e[1])
		for _, answer := range regexp.MustCompile("(?s)```(read|said|error)\n(.*?)\n```").FindAllStringSubmatch(e[3], -1) {
			if (answer[1] == "error") != (err != nil) {
				t.Errorf("%s\nends with %v", e[2], err)
				continue
			}
			want, got := answer[2], ""
			switch answer[1] {
			case "error":
				got = blame(err, "").Error()
			case "read":
				got = strings.Join(p.Recipe.Describe()[len(p.Recipe.Summary())+len(p.Recipe.Target.Rare()):], "\n")
			case "said":
				all := "\n" + strings.Join(described(p), "\n") + "\n"
				if got = all; strings.Contains(all, "\n"+want+"\n") {
					got = want
				}
			}
			if got != want {
				t.Errorf("%s\ngives\n%s\nand not\n%s", e[2], got, want)
			}
		}
	}
}

// readExample reads a table as the command does, up to the fit.
func readExample(t *testing.T, path, typed string) (*lossep.Problem, error) {
	flags := pflag.NewFlagSet("example", pflag.ContinueOnError)
	request := service.NewFit()
	addOptions(flags, request.Options)
	var args []string
	for _, word := range regexp.MustCompile(`'([^']*)'|\S+`).FindAllString(typed, -1) {
		args = append(args, strings.Trim(word, "'"))
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := request.Complete(); err != nil {
		t.Fatal(err)
	}
	o, rows := lossep.Options{Data: request.Data}, &pastCases{Rows: &request.Rows}
	format := rows.Format
	format.Limits.Rows = request.Model.MaxRows
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := table.Read(t.Context(), f, filepath.Base(path), format)
	if err != nil {
		return nil, err
	}
	if data, err = rows.cases(data, table.DefaultCells); err != nil {
		return nil, err
	}
	decideCodes(&o, data)
	return lossep.PrepareSettled(t.Context(), data, o)
}

// An order that is none is refused before the table is read, by the option's name.
func TestOrdersThatAreNone(t *testing.T) {
	for _, c := range []struct{ orders, want string }{
		{"s=S,M,M,L", `--ordered: s=S,M,M,L: "M" comes twice`},
		{"s=2,3,2.0", `--ordered: s=2,3,2.0: "2" and "2.0" are the same number`},
		{"s=1,2,,3", "--ordered: s=1,2,,3: an empty category"},
		{"s=1,2 s=2,1", "--ordered: s=2,1: the column has the order 1,2 already"},
	} {
		args := []string{"fit", "absent.csv", "--cost", "fn=1,fp=1"}
		for order := range strings.FieldsSeq(c.orders) {
			args = append(args, "--ordered", order)
		}
		if code, text := try(args); code != 2 || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d, %s", c.orders, code, text)
		}
	}
}

package command

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/lossep/lossep/service"
)

var update = flag.Bool("update", false, "write the page of options")

// The page of options is made from the flags of all commands. What several commands have stands
// there once, under all of their names.
func TestPageOfOptions(t *testing.T) {
	const path = "../../docs/guide/options.md"
	type place struct {
		of    []string // commands
		group service.Group
		flag  *pflag.Flag
	}
	var rows []string // in the order of commands and of help
	places := make(map[string]*place)
	root := newRoot(nil)
	names := []string{"fit", "audit", "predict", "decide", "value"}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && !slices.Contains(names, c.Name()) {
			names = append(names, c.Name())
		}
	}
	for _, name := range names {
		c, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		c.InitDefaultHelpFlag()
		c.InheritedFlags() // merges them into those of the command
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			group := general
			if of := f.Annotations[groupOf]; of != nil {
				group = service.Group(of[0])
			}
			row := string(group) + optionRow(f)
			if places[row] == nil {
				rows, places[row] = append(rows, row), &place{group: group, flag: f}
			}
			places[row].of = append(places[row].of, name)
		})
	}
	sections, tables := []string{}, make(map[string]string)
	for _, group := range append(service.Groups(), general) {
		for _, row := range rows {
			p := places[row]
			if p.group != group {
				continue
			}
			title := "all commands"
			if len(p.of) < len(names) {
				title = strings.Join(p.of, ", ")
			}
			title = fmt.Sprintf("%s: %s", group, title)
			if tables[title] == "" {
				sections = append(sections, title)
				tables[title] = fmt.Sprintf("\n## %s\n\n| option | value | default | meaning |\n|---|---|---|---|\n", title)
			}
			tables[title] += optionRow(p.flag)
		}
	}
	page := "# Options\n\nEach is a flag of the commands named. Most are also a parameter of the Python estimator or a key of its `options`, or a\nfield of an HTTP request, with underscores for hyphens; those marked † are flags only (`cost` has forms of its own in Python and over HTTP). This page is generated\n(`go test ./internal/command -run PageOfOptions -update`).\n"
	for _, title := range sections {
		page += tables[title]
	}
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != page {
		t.Errorf("%s is not what the flags say (%v); go test ./internal/command -run PageOfOptions -update writes it", path, err)
	}
}

// optionRow is a flag as a row of a table.
func optionRow(f *pflag.Flag) string {
	value, shown, mark := f.Value.Type(), f.DefValue, ""
	if option, is := f.Value.(*service.Option); !is || option.CommandOf {
		mark = " †"
	}
	if value == "bool" {
		value = ""
	}
	if slices.Contains([]string{"0", "false", "[]"}, shown) {
		shown = ""
	}
	name := "`--" + f.Name + "`"
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	cells := []string{name + mark, value, shown, f.Usage}
	for k, cell := range cells {
		cells[k] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return fmt.Sprintf("| %s |\n", strings.Join(cells, " | "))
}

package service

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page of options")

// The page of options is made from their definitions.
func TestPageOfOptions(t *testing.T) {
	const path = "../docs/guide/options.md"
	var b strings.Builder
	b.WriteString("# Options\n\nEach is a flag of the command; most are a parameter of the Python estimator or a key of its `options`, or a field\nof a request over HTTP, with underscores for hyphens. Those marked † are about files, and are flags only. This page is made from the\ndefinitions (`go test ./service -update`).\n")
	audit, predict, decide, value := NewAudit().Options, NewPredict().Options, NewDecide().Options, NewWorth().Options
	shared := func(o *Option) bool {
		return slices.ContainsFunc(predict, sameRow(o)) && slices.ContainsFunc(decide, sameRow(o)) && slices.ContainsFunc(value, sameRow(o))
	}
	own := func(o Options) Options { return slices.DeleteFunc(slices.Clone(o), shared) }
	common := slices.DeleteFunc(slices.Clone(predict), func(o *Option) bool { return !shared(o) })
	for _, of := range []struct {
		title   string
		options Options
	}{{"fit and audit", audit}, {"fit", new(Fit).saving()}, {"predict, decide and value", common}, {"predict", own(predict)}, {"decide", own(decide)}, {"value", own(value)}, {"update", NewUpdate().Options}} {
		for _, group := range Groups() {
			writeOptions(&b, fmt.Sprintf("%s: %s", of.title, group), slices.DeleteFunc(slices.Clone(of.options), func(o *Option) bool { return o.Group != group }))
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(path); err != nil || string(page) != b.String() {
		t.Errorf("%s is not what the definitions say (%v); go test ./service -update writes it", path, err)
	}
}

// writeOptions writes a table of options, if there are any.
func writeOptions(b *strings.Builder, title string, options Options) {
	if len(options) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| option | value | default | meaning |\n|---|---|---|---|\n", title)
	for _, o := range options {
		b.WriteString(row(o))
	}
}

// row is an option as a row of a table.
func row(o *Option) string {
	mark, shown := "", o.Shown
	if o.CommandOf {
		mark = " †"
	}
	if shown == "" {
		shown = o.String()
	}
	cells := []string{"`--" + o.Name + "`" + mark, o.Type(), shown, Naming(Flags).In(o.Help)}
	for k, cell := range cells {
		cells[k] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return fmt.Sprintf("| %s |\n", strings.Join(cells, " | "))
}

// sameRow says whether an option has the row of another, and stands in the same group.
func sameRow(o *Option) func(*Option) bool {
	return func(other *Option) bool { return o.Group == other.Group && row(o) == row(other) }
}

// Every parameter of the Python estimator is an option, but for those that are about Python
// itself, and every option that is not for experts is a parameter.
func TestPythonHasTheOptions(t *testing.T) {
	source, err := os.ReadFile("../python/src/lossep/_classifier.py")
	if err != nil {
		t.Fatal(err)
	}
	signature := regexp.MustCompile(`(?s)def __init__\(\s*self,(.*?)\) -> None`).FindSubmatch(source)[1]
	own := []string{"cost", "pos_label", "actions", "options", "random_state", "progress", "missing_markers"} // the last is a list of what flags repeat
	elsewhere := []string{
		"target", "id", "skip-unlabelled", "counts", // y, the index, and rows as they are given
		"missing-marker", "seed", "positive", // missing_markers, random_state, pos_label
	}
	options := NewFit().Options
	named := []string{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\w+):`).FindAllSubmatch(signature, -1) {
		name := string(m[1])
		named = append(named, name)
		if o := options.Lookup(name); (o == nil || o.CommandOf) && !slices.Contains(own, name) {
			t.Errorf("the parameter %s is no option", name)
		}
	}
	if len(named) < 10 {
		t.Fatalf("parameters %q", named)
	}
	for _, o := range options {
		if o.CommandOf || o.Group == Advanced || slices.Contains(elsewhere, o.Name) {
			continue
		}
		if !slices.Contains(named, strings.ReplaceAll(o.Name, "-", "_")) {
			t.Errorf("the option %s is no parameter", o.Name)
		}
	}
}

package service

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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

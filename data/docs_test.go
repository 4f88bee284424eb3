package data

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The examples of the page about reading are read: each file is followed by what is said
// of it, the lines about its columns or the message.
func TestTheRulesOfReading(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```csv( impute)?\n(.*?)```\n\n```(read|error)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(examples) < 6 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, e := range examples {
		var got []string
		table, err := Read(context.Background(), strings.NewReader(e[2]), "table.csv", Format{})
		if err == nil {
			var l *Learned
			if l, err = Learn(table, Options{Impute: e[1] != ""}); err == nil {
				lines := l.Recipe.Describe()
				got = lines[len(l.Recipe.Summary()):]
			}
		}
		text := strings.Join(got, "\n")
		if err != nil {
			text = err.Error()
		}
		if want := strings.TrimSpace(e[4]); text != want || (err != nil) != (e[3] == "error") {
			t.Errorf("%s\ngives\n%s\nand not\n%s", e[2], text, want)
		}
	}
}

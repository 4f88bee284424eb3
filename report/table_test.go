package report

import (
	"strings"
	"testing"
)

func TestTextTableKeepsColumnsInLine(t *testing.T) {
	var b strings.Builder
	if err := sampleTable().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	// The best cells are all in the last column: their stars end equal lines.
	star := -1
	for _, line := range strings.Split(b.String(), "\n") {
		runes := []rune(line)
		if !strings.HasSuffix(line, "*") {
			continue
		}
		if star >= 0 && len(runes) != star {
			t.Errorf("line of %d runes, others have %d: %q", len(runes), star, line)
		}
		star = len(runes)
	}
	if star < 0 {
		t.Error("no best cell is marked")
	}
	if n := strings.Count(b.String(), "u₁₀ = 0.95\n"); n != 1 {
		t.Errorf("a group is named %d times", n)
	}
}

func TestTextTableIsSafeForTerminals(t *testing.T) {
	table := Table{Columns: []Column{{Title: "\x1b[31mred"}}}
	table.AddRow("two\nlines\x07 \xff")
	var b strings.Builder
	if err := table.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := "�[31mred\n------------\ntwo lines� �\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

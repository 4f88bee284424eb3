package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/xlsx"
)

var update = flag.Bool("update", false, "write what docs/first-hour.sh says into its page")

// The first hour runs from end to end on the program as it is built, and says what its page says.
func TestFirstHour(t *testing.T) {
	for _, tool := range []string{"sh", "awk", "curl"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
			t.Skip(err)
		}
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "lossep")
	run(t, exec.Command("go", "build", "-o", program, "."))
	script := exec.Command("sh", filepath.Join("..", "..", "docs", "first-hour.sh"), folder)
	script.Env = append(os.Environ(), "LOSSEP="+program)
	steps := strings.Split("\n"+run(t, script), "\n\n# ")[1:]

	page := filepath.Join("..", "..", "docs", "guide", "first-hour.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^## ([^\n]*)$(.*?)^```console\n(.*?)^```$")
	found := block.FindAllStringSubmatch(string(text), -1)
	if len(found) != len(steps) {
		t.Fatalf("%s has %d steps, the script %d", page, len(found), len(steps))
	}
	for i, step := range steps {
		title, said, _ := strings.Cut(step, "\n")
		said = strings.TrimRight(said, "\n") + "\n"
		if title != found[i][1] {
			t.Errorf("step %d is %q in the script, and %q on the page", i+1, title, found[i][1])
		}
		if *update {
			text = []byte(strings.Replace(string(text), found[i][0], "## "+title+found[i][2]+"```console\n"+settled(said)+"```", 1))
		} else if d := cmp.Diff(settled(found[i][3]), settled(said)); d != "" {
			t.Errorf("%s (-page +said; go test ./cmd/lossep -update writes it):\n%s", title, d)
		}
	}
	if *update {
		if err := os.WriteFile(page, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers, _, _ := strings.Cut(steps[0], "\n\nCost per case")
	checkBlock(t, filepath.Join("..", "..", "docs", "guide", "first-audit.md"), answers)
	readme := exec.Command(program, "audit", "--example", "--out", "out")
	readme.Dir = t.TempDir()
	checkBlock(t, filepath.Join("..", "..", "README.md"), run(t, readme))
	checkRefusals(t, filepath.Join(folder, "refusals.xlsx"))
	if report, err := os.ReadFile(filepath.Join(folder, "cancer", "index.html")); err != nil || !strings.Contains(string(report), "EUR") {
		t.Errorf("the page for a board: %v", err)
	}
}

// checkBlock compares what an audit said with the block of a page that shows it.
func checkBlock(t *testing.T, page, said string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const first = "What will these decisions cost?"
	_, said, _ = strings.Cut(said, first)
	said = strings.TrimRight(said, "\n")
	before, block, _ := strings.Cut(string(text), "```\n"+first)
	block, after, found := strings.Cut(block, "\n```\n")
	if !found {
		t.Fatalf("%s has no block that begins with %q", page, first)
	}
	if *update {
		err = os.WriteFile(page, []byte(before+"```\n"+first+said+"\n```\n"+after), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	} else if d := cmp.Diff(settled(block), settled(said)); d != "" {
		t.Errorf("%s (-page +said; go test ./cmd/lossep -update writes it):\n%s", page, d)
	}
}

// checkRefusals reads the spreadsheet: ten refusals, each with reasons.
func checkRefusals(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // nothing was written
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	book, err := xlsx.Open(path, file, info.Size(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := book.Table(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(sheet).ReadAll()
	if err != nil || len(rows) != 11 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		cells := make(map[string]string)
		for j, cell := range row {
			cells[rows[0][j]] = cell
		}
		if cells["action"] != "refuse" || !strings.HasPrefix(cells["id"], "C") || cells["why_1"] == "" || cells["why_3"] == "" {
			t.Errorf("%v is no refusal with reasons", cells)
		}
	}
}

// settled is a text without what differs from machine to machine: times, the version of a model, and
// the last digits of numbers.
func settled(text string) string {
	text = regexp.MustCompile(`(?m)^time .*$`).ReplaceAllString(text, "time        a few s")
	text = regexp.MustCompile(`"model_version":"[0-9a-f]+"`).ReplaceAllString(text, `"model_version":"0123456789ab"`)
	return regexp.MustCompile(`-?\d+\.\d{5,}`).ReplaceAllStringFunc(text, func(number string) string {
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return fmt.Sprintf("%.4g", x)
	})
}

func run(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, out)
	}
	return string(out)
}

package cluster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of the page about many machines do what it says, on a small table and in this
// process: flags that say which engine to take are looked up only.
func TestTheCommandsOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page), "\\\n", " ")
	commands := regexp.MustCompile(`(?m)beam/lossep-beam ((?:fit|decide|audit) [^\n]*?)'?$`).FindAllStringSubmatch(text, -1)
	if len(commands) < 4 {
		t.Fatalf("%d commands", len(commands))
	}
	folder := tableOf(t, 200, 100)
	t.Chdir(t.TempDir())
	for _, name := range []string{"table", "new"} {
		if err := os.CopyFS(name, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	}
	engine := regexp.MustCompile(`^--(runner|endpoint|environment_\w+|parallelism|worker_binary|project|region|staging_location|work)$`)
	for _, c := range commands {
		var args []string
		words := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(c[1], -1)
		_, help := lossepBeam(t, words[0], "--help")
		for i := 0; i < len(words); i++ {
			if strings.HasPrefix(words[i], "--") && !strings.Contains(help, words[i]+" ") {
				t.Errorf("%s: there is no %s", c[1], words[i])
			}
			if engine.MatchString(words[i]) {
				i++ // what follows is its value
				continue
			}
			args = append(args, strings.Trim(words[i], "'"))
		}
		if strings.Contains(c[1], "://") {
			continue
		}
		to := args[len(args)-1]
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		code, said := lossepBeam(t, args...)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s", c[1], code, said)
		}
		if _, err := os.Stat(to); err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

package notices

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the notices anew")

// component is something that others wrote.
type component struct {
	name, version, licence, text string
}

// linked lists the packages that are linked into the command, on any of the systems it is
// built for, but for those of this module.
func linked(t *testing.T) (modules map[string]*module) {
	t.Helper()
	modules = make(map[string]*module)
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.Command("go", "list", "-deps", "-json=Dir,Module", "github.com/lossep/lossep/cmd/lossep")
		c.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *module
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			if modules[p.Module.Path] == nil {
				modules[p.Module.Path] = p.Module
			}
			m := modules[p.Module.Path]
			m.packages = append(m.packages, p.Dir)
		}
	}
	return modules
}

type module struct {
	Path, Version, Dir string
	Main               bool
	packages           []string // the folders of those that are linked
}

// notice matches the files in which licences and notices stand.
var notice = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)

// texts are the notices of a module: those beside a package that is linked or above it,
// and those in a folder for them.
func (m *module) texts(t *testing.T) string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		folder := filepath.Dir(path)
		inFolder := regexp.MustCompile(`(?i)licen[cs]es`).MatchString(filepath.Base(folder)) && filepath.Dir(folder) == m.Dir
		above := slices.ContainsFunc(m.packages, func(p string) bool { return p == folder || strings.HasPrefix(p, folder+string(filepath.Separator)) })
		switch {
		case filepath.Base(path) == "gpl.txt":
			// The other of two licences that can be chosen from.
		case inFolder, above && notice.MatchString(d.Name()) && !strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Errorf("%s has no licence", m.Path)
	}
	slices.Sort(files)
	var all []string
	for _, path := range files {
		all = append(all, read(t, path))
	}
	return strings.Join(all, "\n\n")
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
}

// kinds are the licences that the program may contain, by words that only they have. Of
// several the first counts.
var kinds = []struct{ words, name string }{
	{"SIL OPEN FONT LICENSE Version 1.1", "OFL-1.1"},
	{"The FreeType Project LICENSE", "FTL"},
	{"Creative Commons Attribution", "CC-BY"},
	{"Permission to use, copy, modify, and/or distribute", "ISC"},
	{"Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following disclaimer in the documentation and/or other materials provided with the distribution. * Neither", "BSD-3-Clause"},
	{"Neither the name", "BSD-3-Clause"},
	{"Redistributions of source code must retain", "BSD-2-Clause"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Apache License", "Apache-2.0"},
	{"licensed under the Apache License, Version 2.0", "Apache-2.0"},
}

// kind names the licences of a text; an unknown one is an error.
func kind(t *testing.T, name, text string) string {
	t.Helper()
	flat := strings.Join(strings.Fields(text), " ")
	var found []string
	for _, k := range kinds {
		if strings.Contains(flat, k.words) && !slices.Contains(found, k.name) {
			found = append(found, k.name)
		}
	}
	if slices.Contains(found, "BSD-3-Clause") {
		found = slices.DeleteFunc(found, func(k string) bool { return k == "BSD-2-Clause" })
	}
	if len(found) == 0 || strings.Contains(flat, "GNU GENERAL PUBLIC LICENSE Version") {
		t.Errorf("%s: the licence is not one of those that are known; read it before it is added", name)
	}
	return strings.Join(found, "+")
}

// pagePackage is the head of a notice of the page, which its build has collected.
var pagePackage = regexp.MustCompile(`^(\S+) (\S+) \((\S+)\)\n\n`)

func components(t *testing.T) []component {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	library := read(t, filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	all := []component{{"go", "standard-library", kind(t, "go", library), library}}
	for _, m := range linked(t) {
		text := m.texts(t)
		all = append(all, component{m.Path, m.Version, kind(t, m.Path, text), text})
	}
	table := read(t, "../../example/README.md")
	if !strings.Contains(table, "CC BY 4.0") {
		t.Error("the table of the example has another licence than it had")
	}
	all = append(all, component{"data:breast_cancer.csv", "1995", "CC-BY-4.0", table})
	page := read(t, "../../server/page/dist/LICENSES.txt")
	_, page, _ = strings.Cut(page, "\n\n")
	for _, text := range strings.Split(page, "\n"+strings.Repeat("-", 80)+"\n\n") {
		head := pagePackage.FindStringSubmatch(text)
		if head == nil {
			t.Fatalf("no name in %.60q", text)
		}
		all = append(all, component{"npm:" + head[1], head[2], head[3], strings.TrimSpace(text[len(head[0]):])})
	}
	slices.SortFunc(all, func(a, b component) int { return cmp.Compare(a.name, b.name) })
	return all
}

// What the program says of what it contains is what it contains. Those with the same
// notice share it.
func TestNoticesAreComplete(t *testing.T) {
	var list, texts strings.Builder
	names := make(map[string][]string) // by text
	var order []string
	for _, c := range components(t) {
		fmt.Fprintf(&list, "%s %s %s\n", c.name, c.version, c.licence)
		if names[c.text] == nil {
			order = append(order, c.text)
		}
		names[c.text] = append(names[c.text], c.name+" "+c.version)
	}
	texts.WriteString("lossep contains code and fonts that others wrote, under these terms.\n")
	for _, text := range order {
		fmt.Fprintf(&texts, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(names[text], "\n"), text)
	}
	for _, f := range []struct{ name, have, want string }{
		{"dependencies.txt", Dependencies, list.String()}, {"licences.txt", Texts, texts.String()},
	} {
		if *update {
			if err := os.WriteFile(f.name, []byte(f.want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if f.have != f.want {
			t.Errorf("%s is not what the program contains; look at what has changed after make licences", f.name)
		}
	}
}

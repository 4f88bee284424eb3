package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manifest is what the build notes about itself: checksums by path.
type manifest struct {
	Sources map[string]string `json:"sources"`
	Files   map[string]string `json:"files"`
}

// file is what the server sends under a name.
func file(t *testing.T, name string) []byte {
	t.Helper()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	text, ok := files[name]
	if !ok {
		t.Fatalf("there is no file %s", name)
	}
	return text
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	var m manifest
	if err := json.Unmarshal(file(t, "manifest.json"), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// What is embedded was built from the sources at hand: forgetting to build fails
// here, with no need for node.
func TestBundleIsWhatTheSourcesGive(t *testing.T) {
	sources := []string{"build.js", "package.json", "package-lock.json"}
	scripts, err := filepath.Glob("src/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		sources = append(sources, filepath.ToSlash(s))
	}
	slices.Sort(sources)

	m := readManifest(t)
	if built := slices.Sorted(maps.Keys(m.Sources)); !slices.Equal(built, sources) {
		t.Errorf("built from %v\nbut the sources are %v: run npm run build", built, sources)
	}
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if checksum(text) != m.Sources[name] {
			t.Errorf("%s changed after the bundle was built: run npm run build", name)
		}
	}
}

// Nothing in the bundle was edited by hand, added or lost.
func TestBundleIsUntouched(t *testing.T) {
	m := readManifest(t)
	names, err := filepath.Glob("dist/*")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return path.Base(name) == "manifest.json" })
	for _, name := range names {
		if checksum(file(t, path.Base(name))) != m.Files[name] {
			t.Errorf("%s is not what the build wrote", name)
		}
	}
	if want := slices.Sorted(maps.Keys(m.Files)); !slices.Equal(names, want) {
		t.Errorf("dist has %v, the build wrote %v", names, want)
	}
}

// The page keeps to its own host and to the content security policy: no script or
// handler in the markup, and every file it names is embedded.
func TestPageIsSelfContained(t *testing.T) {
	served := []string{"openapi.json", "lab", "./"} // by the server, under another name or without a file
	for _, page := range []string{"index.html", "lab.html"} {
		text := file(t, page)
		for _, m := range regexp.MustCompile(`(?:src|href)="([^"#]+)"`).FindAllSubmatch(text, -1) {
			name := string(m[1])
			if strings.Contains(name, ":") || strings.HasPrefix(name, "//") {
				t.Errorf("%s refers to %s", page, name)
			} else if !slices.Contains(served, name) {
				file(t, path.Clean(name))
			}
		}
		if m := regexp.MustCompile(`(?i)<script>|\son[a-z]+=`).Find(text); m != nil {
			t.Errorf("%s has an inline script: %s", page, m)
		}
	}
	if m := regexp.MustCompile(`@import|url\((?:[^d)]|d[^a])`).Find(file(t, "style.css")); m != nil {
		t.Errorf("style.css loads something: %s", m)
	}
}

// The libraries in the bundle may be passed on only with their notices.
func TestNoticesAreKept(t *testing.T) {
	text := file(t, "LICENSES.txt")
	for _, name := range []string{"@observablehq/plot 0.6.17", "d3-array ", "d3-scale ", "Copyright", "Permission to use"} {
		if !bytes.Contains(text, []byte(name)) {
			t.Errorf("LICENSES.txt lacks %q", name)
		}
	}
}

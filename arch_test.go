package lossep_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lossep/lossep"

type pkg struct {
	ImportPath, Name, Dir string
	Imports, GoFiles      []string
	Doc                   string
}

// packages lists the packages of the module as the go command sees them.
func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Dir,Imports,GoFiles,Doc", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		all = append(all, p)
	}
}

// The thesis of the paper as a property of the import graph: inference sees views
// and factors, and neither decisions nor Gaussian processes.
func TestInferenceKnowsNoDecisions(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != "infer" {
			continue
		}
		for _, forbidden := range []string{"decision", "gp", "kernel", "data"} {
			if slices.Contains(p.Imports, module+"/"+forbidden) {
				t.Errorf("infer imports %s", forbidden)
			}
		}
		return
	}
	t.Error("there is no package infer")
}

// Nothing below the root prints, logs or takes arguments: that is the business of
// the command. Reading and writing one file by name is what safetensors is for.
func TestLibrariesAreQuiet(t *testing.T) {
	allowed := map[string][]string{
		"safetensors": {"os"},
		"level3":      {"os"}, // reads one environment variable
		"server":      {"log/slog"},
	}
	for _, p := range packages(t) {
		if p.Name == "main" || p.ImportPath == "" || strings.Contains(p.ImportPath, "internal") {
			continue
		}
		for _, quiet := range []string{"os", "log", "log/slog", "flag"} {
			if slices.Contains(p.Imports, quiet) && !slices.Contains(allowed[p.ImportPath], quiet) {
				t.Errorf("%s imports %s", p.ImportPath, quiet)
			}
		}
	}
}

// Only tests make the program fail.
func TestNobodyInjectsFaults(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*/*.go", "*/*/*.go", "*/*/*/*.go"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), "fault.Inject(") {
			t.Errorf("%s makes the program fail", file)
		}
	}
}

// Only the command knows of flags: an error of a library names an option, and the
// command says how that is given to it.
func TestOnlyTheCommandNamesFlags(t *testing.T) {
	flag := regexp.MustCompile(`(^|[\s("'` + "`" + `])--[a-z]`)
	texts := 0
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && flag.MatchString(text.Value) {
					if texts++; p.ImportPath != "cmd/lossep" {
						t.Errorf("%s: %s", fset.Position(text.Pos()), text.Value)
					}
				}
				return true
			})
		}
	}
	if texts == 0 {
		t.Error("not even the command names one: this test does not see them")
	}
}

// Every package says what it is for, and none is a drawer for odds and ends.
func TestPackagesHaveOneReason(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" {
			t.Errorf("%s has no doc comment", p.ImportPath)
		}
		for _, drawer := range []string{"util", "utils", "misc", "common", "helpers"} {
			if p.Name == drawer {
				t.Errorf("%s: what is it for?", p.ImportPath)
			}
		}
	}
}

// Matrix products run on the machine's kernels, whoever imports the library: none goes
// through gonum's global implementation, which is slow unless a program exchanges it.
func TestMatrixProductsAreFast(t *testing.T) {
	slow := regexp.MustCompile(`blas64\.(Gemm|Symm|Syrk|Syr2k|Trmm|Trsm)\(`)
	out, err := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for file := range strings.FieldsSeq(string(out)) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if call := slow.Find(text); call != nil {
			t.Errorf("%s calls %s; use level3", file, call)
		}
	}
}

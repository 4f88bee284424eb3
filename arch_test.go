package lossep_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
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
// and factors, and neither decisions nor Gaussian processes. Nor does it need the references
// that it is compared with.
func TestInferenceKnowsNoDecisions(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		forbidden := []string{"decision", "gp", "kernel", "table", "recipe", "advise", "methods"}
		switch p.ImportPath {
		case "infer":
			forbidden = append(forbidden, "infer/exact", "infer/corrected", "nuts", "orthant")
		case "infer/exact", "infer/corrected", "methods":
		default:
			continue
		}
		seen++
		for _, name := range forbidden {
			if slices.Contains(p.Imports, module+"/"+name) {
				t.Errorf("%s imports %s", p.ImportPath, name)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d packages of inference", seen)
	}
}

// A process knows nothing of how its kernel is found, and a search nothing of tables and costs.
func TestSearchStandsBetweenProcessesAndModels(t *testing.T) {
	forbidden := map[string][]string{
		"gp":     {"search", "compare", "table", "recipe", "advise", "decision", "methods", ""},
		"search": {"table", "recipe", "advise", "decision", "methods", ""},
	}
	seen := 0
	for _, p := range packages(t) {
		names, ok := forbidden[p.ImportPath]
		if !ok {
			continue
		}
		seen++
		for _, name := range names {
			if slices.Contains(p.Imports, strings.TrimSuffix(module+"/"+name, "/")) {
				t.Errorf("%s imports %q", p.ImportPath, name)
			}
		}
	}
	if seen != len(forbidden) {
		t.Errorf("%d packages", seen)
	}
}

// Front ends know what is below them, and not each other; the command starts the others.
func TestFrontEndsKnowNoOther(t *testing.T) {
	ends := []string{"server", "worker", "internal/command"}
	for _, p := range packages(t) {
		if p.ImportPath != "server" && p.ImportPath != "worker" && p.ImportPath != "service" {
			continue
		}
		for _, other := range ends {
			if other != p.ImportPath && slices.Contains(p.Imports, module+"/"+other) {
				t.Errorf("%s imports %s", p.ImportPath, other)
			}
		}
	}
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

// sources are the files of the program, without tests, and their text.
func sources(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.ToSlash(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Only tests make the program fail.
func TestNobodyInjectsFaults(t *testing.T) {
	for path, text := range sources(t) {
		if strings.Contains(text, "fault.Inject(") {
			t.Errorf("%s makes the program fail", path)
		}
	}
}

// A panic in a goroutine that nobody watches ends the process. Package tasks watches its
// own; the others that are started do so themselves, and are known here.
func TestGoroutinesAreWatched(t *testing.T) {
	watched := map[string]int{
		"level3/team.go":                1, // helpers catch what panics in a task
		"table/read.go":                 2, // tasks.Try around a chunk and around reading it
		"table/input.go":                1, // tasks.Try around a read
		"internal/command/input.go":     1, // waiting for a file to open
		"server/batch.go":               1, // so does finish
		"server/calibrate.go":           1, // tasks.Try
		"internal/record/record.go":     2, // tasks.Try around the writers, which are waited for
		"server/serve.go":               1, // http.Server catches what panics in a handler
		"internal/command/serve.go":     3, // tasks.Try around reloads; waiting for a browser
		"worker/session.go":             1, // tasks.Try around a request
		"internal/command/mcp_lines.go": 1, // tasks.Try
		"internal/command/worker.go":    1, // waits, and ends the process
		"xlsx/read.go":                  1, // tasks.Try
		"jsonlines/jsonlines.go":        1, // tasks.Try
		"docs/compare/record/main.go":   1, // a program that measures, and ends with its clients
	}
	start := regexp.MustCompile(`(?m)^\s*go (func\b|[\w.]+\()|sync\.WaitGroup|\btime\.AfterFunc`)
	for path, text := range sources(t) {
		if strings.HasPrefix(path, "internal/tasks/") {
			continue
		}
		if got := len(start.FindAllString(text, -1)); got != watched[path] {
			t.Errorf("%s starts goroutines in %d places and not in %d: let package tasks do it, or say here who watches them", path, got, watched[path])
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
					if texts++; p.ImportPath != "internal/command" {
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

// The files of the root package use only what stands in files before them, in the order
// in which CONTRIBUTING.md lists them; but for lossep.go, which shows what other programs see.
func TestFilesOfTheRootPointDown(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## The files of the root package\n")
	section, _, _ = strings.Cut(section, "\n## ")
	place := make(map[string]int)
	for k, m := range regexp.MustCompile("`(\\w+\\.go)`").FindAllStringSubmatch(section, -1) {
		place[m[1]] = k + 1
	}
	if !found || len(place) == 0 {
		t.Fatal("CONTRIBUTING.md does not say in which order they stand")
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, p := range packages(t) {
		if p.ImportPath != "" {
			continue
		}
		for _, name := range p.GoFiles {
			if place[name] == 0 {
				t.Errorf("CONTRIBUTING.md does not list %s", name)
			}
			file, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	root, err := (&types.Config{Importer: compiled(t, fset)}).Check(module, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	reported := make(map[[2]string]bool)
	for name, object := range info.Uses {
		function, _ := object.(*types.Func)
		if object.Pkg() != root || object.Parent() != root.Scope() && function == nil {
			continue // of another package, or a field, or local
		}
		from, to := fset.Position(name.Pos()).Filename, fset.Position(object.Pos()).Filename
		if from == "lossep.go" || to == "lossep.go" {
			continue
		}
		if arrow := [2]string{from, to}; place[to] > place[from] && !reported[arrow] {
			reported[arrow] = true
			t.Errorf("%s uses %s of %s, which stands above it", from, object.Name(), to)
		}
	}
}

// compiled imports packages as the go command has compiled them.
func compiled(t *testing.T, fset *token.FileSet) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	paths := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 2 {
			paths[words[0]] = words[1]
		}
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(paths[path]) })
}

// Labels are places among outcomes; the sign of a term is made of them in package factor alone.
// So nobody else writes a term of one sign down.
func TestSignsAreMadeInFactor(t *testing.T) {
	terms := []string{"Probit", "Logit", "RobustProbit"}
	made := 0
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				switch of := literal.Type.(type) {
				case *ast.Ident:
					if p.ImportPath == "factor" && slices.Contains(terms, of.Name) {
						made++
					}
				case *ast.SelectorExpr:
					if from, ok := of.X.(*ast.Ident); ok && from.Name == "factor" && slices.Contains(terms, of.Sel.Name) {
						t.Errorf("%s: %s makes a factor.%s of a sign; call factor.New%s with a label", p.ImportPath, name, of.Sel.Name, of.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if made == 0 {
		t.Error("package factor makes no terms: nothing is tested")
	}
}

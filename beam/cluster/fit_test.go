package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/lossep/lossep/beam/cluster"
	"github.com/lossep/lossep/internal/command"
	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// tableOf writes a folder of Parquet files with so many rows each, whose outcome depends on
// some of the columns.
func tableOf(t *testing.T, sizes ...int) string {
	t.Helper()
	return folderOf(t, sizes, func(rng *rand.Rand, f float64) []any {
		y := "no"
		if f+rng.NormFloat64() > 0.8 {
			y = "yes"
		}
		return []any{math.Exp(rng.NormFloat64()), y}
	}, table.SourceColumn{Name: "amount", Kind: table.NumberCells}, table.SourceColumn{Name: "y"})
}

// folderOf is a folder of such files, with columns that are made from what the outcome depends on.
func folderOf(t *testing.T, sizes []int, more func(rng *rand.Rand, f float64) []any, columns ...table.SourceColumn) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "table")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	columns = append([]table.SourceColumn{{Name: "id"}, {Name: "a", Kind: table.NumberCells}, {Name: "b", Kind: table.NumberCells}, {Name: "kind"}}, columns...)
	rng := rand.New(rand.NewPCG(1, 2))
	row := 0
	for k, n := range sizes {
		var b bytes.Buffer
		w, err := parquet.NewWriter(&b, columns)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			a, c := rng.NormFloat64(), rng.NormFloat64()
			kind := []string{"red", "green", "blue"}[rng.IntN(3)]
			f := math.Sin(2*a) + 0.7*c
			if kind == "red" {
				f++
			}
			row++
			if err := w.Write(append([]any{fmt.Sprintf("case %d", row), a, c, kind}, more(rng, f)...)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.parquet", k)), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// lossep runs the command in this process, and lossepBeam by Beam.
func lossep(t *testing.T, args ...string) (code int, said string) {
	return run(t, nil, args...)
}

func lossepBeam(t *testing.T, args ...string) (code int, said string) {
	return run(t, cluster.NewPlace(), args...)
}

func run(t *testing.T, place *command.Place, args ...string) (int, string) {
	t.Helper()
	var out, errs bytes.Buffer
	code := command.RunAt(context.Background(), place, args, strings.NewReader(""), &out, &errs)
	return code, out.String() + errs.String()
}

func must(t *testing.T, code int, said string) {
	t.Helper()
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fitArgs are those of a fit that takes a second.
func fitArgs(folder, model string, more ...string) []string {
	args := []string{"fit", folder, "--target", "y", "--positive", "yes", "--id", "id", "--drop", "amount", "--inducing", "12", "-o", model}
	if !slices.Contains(more, "--cost") {
		args = append(args, "--cost", "fn=5*amount,fp=1")
	}
	return append(args, more...)
}

// The model of a fit by Beam is that of a fit in one process to the bit, for shards that end
// with files and within them, and for methods that make passes of their own.
func TestFitIsThatOfOneProcess(t *testing.T) {
	folder := tableOf(t, 9_000, 5_400, 12_000)
	// The default without its effects, for time.
	const smooth = "matern32(ard) + additive(ard) + constant"
	for _, more := range [][]string{
		{"--shard-rows", "6600", "--kernel", smooth},
		{"--shard-rows", "30000", "--kernel", smooth},
		{"--shard-rows", "13200", "--sweeps", "2", "--method", "loss-ep", "--fixed", "--kernel", "rbf + constant"},
		{"--shard-rows", "6600", "--weights", "amount", "--cost", "fn=3,fp=1", "--likelihood", "logit", "--method", "vi", "--fixed", "--kernel", "matern32 + constant"},
	} {
		t.Run(strings.Join(more, " "), func(t *testing.T) {
			same(t, func(model string) []string { return fitArgs(folder, model, more...) })
		})
	}
}

// same fits by Beam and in one process, and says what the latter said.
func same(t *testing.T, args func(model string) []string) (said string) {
	t.Helper()
	one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
	code, said := lossep(t, args(one)...)
	must(t, code, said)
	code, there := lossepBeam(t, args(beam)...)
	must(t, code, there)
	if !bytes.Equal(content(t, one), content(t, beam)) {
		t.Errorf("another model:\n%s\nand in one process\n%s", there, said)
	}
	if left, _ := filepath.Glob(beam + "?*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return said
}

// An audit whose folds are computed by Beam says what one in one process says, whatever the outcome is.
func TestAuditIsThatOfOneProcess(t *testing.T) {
	categories, others, costs := tableOf(t, 90, 60), outcomesOf(t, 70, 50), filepath.Join(t.TempDir(), "costs.csv")
	if err := os.WriteFile(costs, []byte("action,low,middle,high\nwait,0,1,4\nact,2,1,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"categories": {categories, "--target", "y", "--positive", "yes", "--drop", "amount", "--cost", "fn=5,fp=1", "--references", "0", "--methods", "laplace"},
		"numbers":    {others, "--target", "amount", "--features", "a,b", "--cost", "under=3,over=1"},
		"capacity":   {others, "--target", "amount", "--features", "a,b", "--cost", "under=3,over=1", "--capacity", "action=20"},
		"grades":     {others, "--target", "grade", "--features", "a,b", "--ordered", "grade=low,middle,high", "--cost-matrix", costs},
	} {
		t.Run(name, func(t *testing.T) {
			one, beam := filepath.Join(t.TempDir(), "audit"), filepath.Join(t.TempDir(), "audit")
			args := append([]string{"audit"}, append(args, "--id", "id", "--folds", "3", "--kernel", "rbf + constant")...)
			code, here := lossep(t, append(args, "--out", one)...)
			must(t, code, here)
			code, there := lossepBeam(t, append(args, "--out", beam)...)
			must(t, code, there)
			if !bytes.Equal(content(t, filepath.Join(one, "results.json")), content(t, filepath.Join(beam, "results.json"))) {
				t.Errorf("said %s\nand by Beam %s", here, there)
			}
		})
	}
}

// rowsOf is the rows of Parquet files as text.
func rowsOf(t *testing.T, paths ...string) []string {
	t.Helper()
	var files []parquet.File
	for _, path := range paths {
		b := content(t, path)
		files = append(files, parquet.File{Name: path, Content: bytes.NewReader(b), Size: int64(len(b))})
	}
	source, err := parquet.Open("decisions", files, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	all, err := table.ReadSource(context.Background(), source, table.Format{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{strings.Join(all.Columns(), "|")}
	for i := range all.Len() {
		rows = append(rows, strings.Join(all.Row(i), "|"))
	}
	return rows
}

// Decisions by Beam are those of one process to the last digit, with what each case costs
// and what names it, in the order of the rows.
func TestDecisionsAreThoseOfOneProcess(t *testing.T) {
	folder := tableOf(t, 1500, 900, 200)
	model := filepath.Join(t.TempDir(), "model.lossep")
	code, said := lossep(t, fitArgs(folder, model, "--fixed", "--kernel", "rbf + constant")...)
	must(t, code, said)
	sameDecisions(t, model, folder)
	sameDecisions(t, model, folder, "--keep", "--second-opinion", "--cost", "fn=2,fp=1")
}

// sameDecisions decides a table of three files by Beam and in one process.
func sameDecisions(t *testing.T, model, folder string, more ...string) {
	t.Helper()
	one, beam := filepath.Join(t.TempDir(), "one.parquet"), filepath.Join(t.TempDir(), "decided")
	code, here := lossep(t, append([]string{"decide", model, folder, "-o", one}, more...)...)
	must(t, code, here)
	code, there := lossepBeam(t, append([]string{"decide", model, folder, "-o", beam}, more...)...)
	must(t, code, there)
	if here != there {
		t.Errorf("said %s\nand by Beam %s", here, there)
	}
	parts, err := filepath.Glob(filepath.Join(beam, "*"))
	if err != nil || len(parts) != 3 {
		t.Fatal(parts, err)
	}
	if want, got := rowsOf(t, one), rowsOf(t, parts...); !slices.Equal(want, got) {
		t.Errorf("%v: %d rows, and by Beam %d others", more, len(want), len(got))
	}
}

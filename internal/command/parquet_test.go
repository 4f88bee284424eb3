package command

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// flightsText is a table with numbers, categories, dates, identifiers and missing cells.
func flightsText(rows int) string {
	rng := rand.New(rand.NewPCG(1, 9))
	var b strings.Builder
	b.WriteString("flight,day,origin,distance,seats,remark,delay\n")
	for i := range rows {
		distance := fmt.Sprintf("%.3f", 100+900*rng.Float64())
		if rng.IntN(20) == 0 {
			distance = ""
		}
		fmt.Fprintf(&b, "F%03d,2024-%02d-%02d 0%d:30:00,%s,%s,%d,\"%d,%03d\",%d\n", i, 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(10),
			[]string{"BER", "CDG", "OSL"}[rng.IntN(3)], distance, 50+rng.IntN(200), 1+rng.IntN(9), rng.IntN(1000), rng.IntN(30))
	}
	return b.String()
}

// asParquet writes rows of a table of text as Parquet.
func asParquet(t *testing.T, text, path string, from, to int) {
	t.Helper()
	data, err := table.Read(context.Background(), strings.NewReader(text), path, table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	var columns []table.SourceColumn
	for j, name := range data.Columns() {
		columns = append(columns, table.SourceColumn{Name: name, Kind: data.Kinds()[j]})
	}
	columns[3].Kind = table.NumberCells // and missing
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, columns)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < min(to, data.Len()); i++ {
		var row []any
		for _, cell := range data.Row(i) {
			row = append(row, cell)
		}
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func succeed(t *testing.T, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	if code := run(context.Background(), args, nil, &o, &e); code != 0 {
		t.Fatalf("lossep %s: exit code %d: %s", strings.Join(args, " "), code, e.String())
	}
	return o.String(), e.String()
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same table gives the same model, the same predictions and the same decisions to the
// last byte, whether it is text, Parquet or a folder of Parquet, and whatever columns are
// left out.
func TestParquetIsTheSameToTheLastByte(t *testing.T) {
	t.Chdir(t.TempDir())
	text := flightsText(80)
	write(t, "past.csv", text)
	asParquet(t, text, "past.parquet", 0, 80)
	if err := os.Mkdir("past", 0o700); err != nil {
		t.Fatal(err)
	}
	asParquet(t, text, "past/a.parquet", 0, 33)
	asParquet(t, text, "past/b.parquet", 33, 80)
	write(t, "past/_SUCCESS", "")
	for k, flags := range [][]string{
		{"--drop", "origin", "--cost", "fn=5,fp=1"},
		{"--features", "distance,origin", "--cost", "fn=seats,fp=`remark`", "--categorical", "origin"},
	} {
		var wanted [][]byte
		for _, input := range []string{"past.csv", "past.parquet", "past"} {
			model, decided, predicted := filepath.Base(input)+".lossep", input+".decided.csv", input+".predicted.csv"
			fit := append([]string{"fit", input, "-o", model, "--target", "delay >= 15", "--id", "flight", "--missing", "impute", "--fixed", "--method", "ep"}, flags...)
			succeed(t, fit...)
			succeed(t, "decide", model, input, "-o", decided, "--keep")
			succeed(t, "predict", model, input, "-o", predicted)
			got := [][]byte{content(t, model), content(t, predicted)}
			// What is kept is spelled as the file does, or the shortest way.
			rows := strings.Split(string(content(t, decided)), "\n")
			for i := range rows {
				if at := strings.LastIndex(rows[i], ",negative,"); at >= 0 {
					rows[i] = rows[i][at:]
				} else if at := strings.LastIndex(rows[i], ",positive,"); at >= 0 {
					rows[i] = rows[i][at:]
				}
			}
			got = append(got, []byte(strings.Join(rows, "\n")))
			if wanted == nil {
				wanted = got
			}
			for i, name := range []string{"model", "predictions", "decisions"} {
				if !bytes.Equal(got[i], wanted[i]) {
					t.Errorf("flags %d, %s: other %s than from text", k, input, name)
				}
			}
		}
	}
}

// So does an audit, but for the name of the file and its lines: what is no text has rows.
func TestAuditOfParquetIsTheSame(t *testing.T) {
	t.Chdir(t.TempDir())
	text := flightsText(40)
	write(t, "past.csv", text)
	asParquet(t, text, "past.parquet", 0, 40)
	place := regexp.MustCompile(`(?m)"(data|line)": .*$`)
	var wanted string
	for _, input := range []string{"past.csv", "past.parquet"} {
		out, _ := succeed(t, "audit", input, "--out", input+"-audit", "--folds", "2", "--references", "0", "--methods", "ep", "--method", "ep", "--format", "json",
			"--target", "delay >= 15", "--features", "distance,seats", "--by", "origin", "--missing", "impute", "--fixed", "--cost", "fn=5,fp=1")
		out = place.ReplaceAllString(out, "")
		if wanted == "" {
			wanted = out
		}
		if out != wanted || !strings.Contains(out, "OSL") {
			t.Errorf("%s: another audit than of text\n%s\n%s", input, out, wanted)
		}
	}
}

// Decisions written as Parquet have typed columns and read back as what was decided.
func TestDecisionsAsParquet(t *testing.T) {
	t.Chdir(t.TempDir())
	text := flightsText(60)
	write(t, "past.csv", text)
	asParquet(t, text, "past.parquet", 0, 60)
	succeed(t, "fit", "past.csv", "-o", "m.lossep", "--target", "delay >= 15", "--drop", "remark", "--id", "flight", "--missing", "impute", "--fixed", "--method", "ep", "--cost", "fn=5,fp=1")
	for _, input := range []string{"past.csv", "past.parquet"} {
		for _, keep := range []string{"--keep", "--keep=false"} {
			succeed(t, "decide", "m.lossep", input, keep, "-o", "decided.csv")
			succeed(t, "decide", "m.lossep", input, keep, "-o", "decided.parquet")
			f, err := os.Open("decided.parquet")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			source, err := parquet.Open("decided.parquet", []parquet.File{{Name: "decided.parquet", Content: f, Size: info.Size()}}, 1<<26)
			if err != nil {
				t.Fatal(err)
			}
			kinds := make(map[string]table.CellKind)
			for _, c := range source.Columns() {
				kinds[c.Name] = c.Kind
			}
			if kinds["action"] != table.TextCells || kinds["probability"] != table.NumberCells || kinds["flight"] != table.TextCells {
				t.Errorf("%s: %v", input, kinds)
			}
			if keep == "--keep" && kinds["distance"] != table.NumberCells {
				t.Errorf("%s: distances are kept as %v", input, kinds["distance"])
			}
			binary, err := table.ReadSource(context.Background(), source, table.Format{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := table.Read(context.Background(), bytes.NewReader(content(t, "decided.csv")), "decided.csv", table.Format{Header: table.HeaderYes})
			if err != nil {
				t.Fatal(err)
			}
			for i := range plain.Len() {
				if a, b := binary.Row(i), plain.Row(i); strings.Join(a, "|") != strings.Join(b, "|") {
					t.Fatalf("%s %s, row %d: %q, and as text %q", input, keep, i+1, a, b)
				}
			}
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"decide", "m.lossep", "past.csv", "-o", "x.parquet", "--format", "json"}, nil, &out, &errs); code != 2 {
		t.Errorf("JSON as Parquet: exit code %d: %s", code, errs.String())
	}
}

// What cannot be read is refused by name, with exit code 2, and nothing is written.
func TestBadParquet(t *testing.T) {
	t.Chdir(t.TempDir())
	text := flightsText(60)
	asParquet(t, text, "past.parquet", 0, 60)
	whole := content(t, "past.parquet")
	write(t, "cut.parquet", string(whole[:len(whole)/2]))
	write(t, "empty.parquet", "")
	write(t, "text.parquet", text)
	middle := bytes.Clone(whole)
	for i := 100; i < 400; i++ {
		middle[i] ^= 0x55
	}
	write(t, "middle.parquet", string(middle))
	for _, folder := range []string{"none", "mixed", "deep", "differ"} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "mixed/a.parquet", string(whole))
	write(t, "mixed/b.csv", text)
	write(t, "differ/a.parquet", string(whole))
	asParquet(t, strings.Replace(text, "seats", "chairs", 1), "differ/b.parquet", 0, 60)
	if err := os.Mkdir("deep/year=2024", 0o700); err != nil {
		t.Fatal(err)
	}
	for input, want := range map[string]string{
		"cut.parquet":    "cut.parquet: the file does not end as Parquet does",
		"empty.parquet":  "empty.parquet: a file of 0 bytes is no Parquet",
		"text.parquet":   "text.parquet: the file does not end as Parquet does",
		"middle.parquet": "middle.parquet, column",
		"none":           "none: this is a directory without .parquet files",
		"mixed":          "mixed/b.csv: this is not a .parquet file",
		"deep":           "deep/year=2024: a folder within a folder",
		"differ":         `differ/b.parquet, column "seats": the file lacks a column`,
		"past.parquet":   "past.parquet: separator, encoding and header are those of text",
	} {
		args := []string{"fit", input, "-o", "m.lossep", "--target", "delay >= 15", "--drop", "remark", "--missing", "impute", "--cost", "fn=5,fp=1"}
		if input == "past.parquet" {
			args = append(args, "--separator", ";")
		}
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, nil, &out, &errs); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%s: exit code %d, and not %q: %s", input, code, want, errs.String())
		}
		if _, err := os.Stat("m.lossep"); err == nil {
			t.Fatalf("%s: a model was written", input)
		}
	}
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"fit", "-", "--target", "delay >= 15"}, bytes.NewReader(whole), &out, &errs); code != 2 || !strings.Contains(errs.String(), "this is Parquet") {
		t.Errorf("from a pipe: exit code %d: %s", code, errs.String())
	}
}

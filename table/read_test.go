package table

import (
	"bytes"
	"compress/gzip"
	"context"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// mustRead reads a table that is expected to be sound.
func mustRead(t testing.TB, text string, header Header) *Table {
	t.Helper()
	table, err := Read(context.Background(), strings.NewReader(text), "test.csv", Format{Header: header})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return table
}

func TestReadDialects(t *testing.T) {
	columns := []string{"age", "job", "y"}
	want := [][]string{{"1.5", "a, b", "yes"}, {"2", "c", "no"}}
	for name, text := range map[string]string{
		"comma":            "age,job,y\n1.5,\"a, b\",yes\n2,c,no\n",
		"semicolon":        "age;job;y\n1.5;a, b;yes\n2;c;no\n",
		"tab":              "age\tjob\ty\n1.5\ta, b\tyes\n2\tc\tno\n",
		"quoted":           "\"age\",\"job\",\"y\"\n\"1.5\",\"a, b\",\"yes\"\n\"2\",\"c\",\"no\"\n",
		"space and quotes": "age, job, y\n1.5, \"a, b\", yes\n2, c, no\n",
		"CRLF":             "age,job,y\r\n1.5,\"a, b\",yes\r\n2,c,no\r\n",
		"no final newline": "age,job,y\n1.5,\"a, b\",yes\n2,c,no",
		"byte-order mark":  "\xEF\xBB\xBFage,job,y\n1.5,\"a, b\",yes\n2,c,no\n",
		"BOM and quotes":   "\xEF\xBB\xBF\"age\",job,y\n1.5,\"a, b\",yes\n2,c,no\n",
		"blank lines":      "age,job,y\n1.5,\"a, b\",yes\n2,c,no\n\n  \n",
	} {
		t.Run(name, func(t *testing.T) {
			for kind, r := range map[string]*bytes.Reader{
				"plain": bytes.NewReader([]byte(text)), "gzip": bytes.NewReader(zipped(t, text)),
			} {
				got, err := Read(context.Background(), iotest.OneByteReader(r), "test.csv", Format{})
				if err != nil {
					t.Fatalf("%s: %v", kind, err)
				}
				if !got.HasHeader() || !cmp.Equal(got.Columns(), columns) || got.Line(0) != 2 || got.Line(1) != 3 {
					t.Errorf("%s: columns %q, lines %d and %d", kind, got.Columns(), got.Line(0), got.Line(1))
				}
				if diff := cmp.Diff(want, contents(got)); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", kind, diff)
				}
			}
		})
	}
}

// contents are the cells of a table as text.
func contents(t *Table) (rows [][]string) {
	for i := range t.Len() {
		rows = append(rows, t.Row(i))
	}
	return rows
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A semicolon file whose numbers have decimal commas splits consistently by
// either delimiter; the semicolon must win.
func TestReadPrefersSemicolonOverDecimalComma(t *testing.T) {
	table := mustRead(t, "1,5;2,5;a\n3,5;4,5;b\n", HeaderNo)
	if got := table.Row(0); !cmp.Equal(got, []string{"1.5", "2.5", "a"}) {
		t.Errorf("row 0 = %q", got)
	}
}

func TestReadLineNumbers(t *testing.T) {
	table := mustRead(t, "a,b\n\n1,\"two\nlines\"\n3,x\n", HeaderYes)
	if got := []int{table.Line(0), table.Line(1)}; !cmp.Equal(got, []int{3, 5}) {
		t.Errorf("lines %v, want [3 5]", got)
	}
}

func TestHeaderDetection(t *testing.T) {
	for _, c := range []struct {
		name, text string
		header     bool
	}{
		{"words over numbers", "age,class\n30,a\n40,b\n", true},
		{"numbers only", "1,2\n3,4\n", false},
		{"years over numbers, one word", "city,1990\nA,2\nB,3\n", false}, // the only numeric column has a number on top
		{"majority of words", "age,income,1990\n1,2,3\n3,4,5\n", true},
		{"one typo on top", "1,x,3\n2,3,4\n3,4,5\n", false},
		{"missing on top is neutral", "NA,2\n1,3\n", false},
		{"words only, header", "color,taste\nred,good\nred,bad\nblue,good\n", true},
		{"words only, none", "red,good\nred,bad\nblue,good\n", false},
		{"words only, nothing repeats", "a,b\nc,d\ne,f\n", false},
		{"one row of data", "1,a\n", false},
		{"quoted labels", "0.1,'-1'\n0.2,'1'\n0.3,'1'\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := mustRead(t, c.text, HeaderAuto)
			if table.HasHeader() != c.header {
				t.Errorf("header %v, want %v", table.HasHeader(), c.header)
			}
			if !c.header && table.Columns()[0] != "c1" {
				t.Errorf("columns %q, want c1, …", table.Columns())
			}
		})
	}
}

func TestTableAccess(t *testing.T) {
	table := mustRead(t, "amount,2,y\n10,a,1\n20.5,b,0\n30,a,1\n", HeaderYes)
	amounts, err := table.Floats("amount")
	if err != nil || !cmp.Equal(amounts, []float64{10, 20.5, 30}) {
		t.Errorf("Floats = %v, %v", amounts, err)
	}
	for ref, want := range map[string]int{"amount": 0, "1": 0, "2": 1, "3": 2, "last": 2, "y": 2} {
		if got, err := table.Column(ref); got != want || err != nil {
			t.Errorf("Column(%q) = %d, %v; want %d", ref, got, err, want)
		}
	}
	part := table.Subset([]int{2, 0})
	if part.Len() != 2 || part.Row(0)[0] != "30" || part.Line(0) != 4 || part.Line(1) != 2 {
		t.Errorf("Subset: %v at lines %d, %d", contents(part), part.Line(0), part.Line(1))
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]Numeral{
		"1": Finite, "-1.5e-3": Finite, "+2": Finite, ".5": Finite, "5.": Finite, "1e-400": Finite, "007": Finite,
		"inf": Infinite, "-Infinity": Infinite, "+Inf": Infinite, "1e400": Infinite, "-1e999": Infinite,
		"": NotNumber, "nan": NotNumber, "NaN": NotNumber, "0x1p4": NotNumber, "1_000": NotNumber, "1,5": NotNumber,
		"--1": NotNumber, "1-2": NotNumber, "income": NotNumber, ".": NotNumber, "'1'": NotNumber, "2020-01-02": NotNumber,
	} {
		if _, got := ParseNumber([]byte(text), '.'); got != want {
			t.Errorf("parseNumber(%q) = %v, want %v", text, got, want)
		}
	}
}

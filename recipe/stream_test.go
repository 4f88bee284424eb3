package recipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

const trainText = "age,job,amount,y\n20,a,100,no\n30,b,250,yes\n40,a,100,no\n50,c,900,yes\n"

func TestReaderReordersAndIgnores(t *testing.T) {
	recipe, x, y := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	text := "note,y,amount,job,age\nhello,no,100,a,20\nx,yes,250,b,30\n,,100,a,40\nz,yes,900,c,50\n"
	rows, err := NewReader(context.Background(), strings.NewReader(text), "new.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows.Columns(); !cmp.Equal(got, []string{"note", "y", "amount", "job", "age"}) || !rows.HasTarget() {
		t.Errorf("columns %q, target %v", got, rows.HasTarget())
	}
	seen := 0
	for _, want := range []int{3, 1} { // blocks of three: the second is short
		block, err := rows.ReadBlock(3)
		if err != nil || len(block.Rows) != want {
			t.Fatalf("block %v, %v; want %d rows", block, err, want)
		}
		for i := range block.Rows {
			row := &block.Rows[i]
			if !cmp.Equal(row.Features, x.RawRowView(seen)) || !cmp.Equal(block.X.RawRowView(i), row.Features) {
				t.Errorf("row %d: features %v, want %v", seen, row.Features, x.RawRowView(seen))
			}
			if row.Line != seen+2 {
				t.Errorf("row %d is on line %d", seen, row.Line)
			}
			label, ok, err := row.Label()
			switch {
			case seen == 2 && (ok || err != nil):
				t.Errorf("missing outcome: %d, %v, %v", label, ok, err)
			case seen != 2 && (!ok || err != nil || label != y[seen]):
				t.Errorf("row %d: outcome %d, %v, %v", seen, label, ok, err)
			}
			amount, err := row.Value("amount")
			if want := []float64{100, 250, 100, 900}[seen]; err != nil || amount != want {
				t.Errorf("row %d: amount %g, %v; want %g", seen, amount, err, want)
			}
			seen++
		}
		if seen == 3 && block.Rows[0].Cells()[0] != "hello" {
			t.Errorf("cells %q", block.Rows[0].Cells())
		}
	}
	if _, err := rows.ReadBlock(3); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if got := rows.Report().Lines(); len(got) != 1 || !strings.Contains(got[0], `"note"`) {
		t.Errorf("report %q", got)
	}
}

func TestReaderUnseenCategories(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	rows, err := NewReader(context.Background(), strings.NewReader("age,job,amount\n20,z,100\n30,b,250\n20,q,100\n"), "new.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	block, err := rows.ReadBlock(10)
	if err != nil {
		t.Fatal(err)
	}
	if got := block.Rows[0].Features[2]; got != -1 {
		t.Errorf("unseen category encodes as %v", got)
	}
	if want := (Counts{{Column: "job", Cells: 2, Example: "z"}}); !cmp.Equal(rows.Report().Unseen, want) || rows.Report().Rows != 3 {
		t.Errorf("report %+v", rows.Report())
	}
	if _, ok, err := block.Rows[0].Label(); ok || err != nil || rows.HasTarget() {
		t.Errorf("outcome of a file without one: %v, %v", ok, err)
	}
}

func TestRowValueErrors(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{Markers: []string{"absent", "-9", "age=7"}})
	rows, err := NewReader(context.Background(), strings.NewReader("age,job,amount,fee,y\n20,a,100,free,maybe\n20,a,100,,\n20,a,100,absent,\n20,a,100,-9,\n20,a,100,7,\n"), "new.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	block, err := rows.ReadBlock(5)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 4; i++ {
		_, err = block.Rows[i].Value("fee")
		checkError(t, err, []string{"new.csv", fmt.Sprintf("line %d", i+2), `column 4 ("fee")`, "a missing cell, and this column is needed"})
	}
	if x, err := block.Rows[4].Value("fee"); err != nil || x != 7 { // which is missing in the column age alone
		t.Errorf("%v, %v", x, err)
	}
	_, err = block.Rows[0].Value("fee")
	checkError(t, err, []string{"new.csv", "line 2", `column 4 ("fee")`, `"free"`})
	_, err = block.Rows[0].Value("price")
	checkError(t, err, []string{"new.csv", `column "price"`, `"fee"`})
	_, _, err = block.Rows[0].Label()
	checkError(t, err, []string{"new.csv", "line 2", `column 5 ("y")`, `"maybe"`, `"yes"`, `"no"`})
}

// Rows before a bad one are handed out first.
func TestReaderErrorAfterGoodRows(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	rows, err := NewReader(context.Background(), strings.NewReader("age,job,amount\n20,a,100\n30,b,250\nold,b,250\n30,b,1\n"), "new.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	block, err := rows.ReadBlock(10)
	if err != nil || len(block.Rows) != 2 || block.X.RawMatrix().Rows != 2 {
		t.Fatalf("block %+v, %v", block, err)
	}
	for range 2 { // the error stays
		_, err = rows.ReadBlock(10)
		checkError(t, err, []string{"new.csv", "line 4", `column 1 ("age")`})
	}
}

// A model trained without a header takes rows by position, with and without the
// outcome, under any header, and by the generated names.
func TestReaderByPosition(t *testing.T) {
	recipe, x, _ := mustLearn(t, mustRead(t, "0,20,a\n1,30,b\n0,40,a\n", table.HeaderNo), Options{Target: "1"})
	for name, c := range map[string]struct {
		text    string
		columns []string
	}{
		"all columns":     {"0,20,a\n1,30,b\n0,40,a\n", []string{"c1", "c2", "c3"}},
		"without outcome": {"20,a\n30,b\n40,a\n", []string{"c2", "c3"}},
		"semicolons":      {"20;a\n30;b\n40;a\n", []string{"c2", "c3"}},
		"foreign header":  {"age,job\n20,a\n30,b\n40,a\n", []string{"age", "job"}},
		"own header":      {"c3,extra,c2\na,1,20\nb,1,30\na,1,40\n", []string{"c3", "extra", "c2"}},
	} {
		rows, err := NewReader(context.Background(), strings.NewReader(c.text), "new.csv", recipe, table.Format{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		block, err := rows.ReadBlock(5)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !mat.Equal(block.X, x) || !cmp.Equal(rows.Columns(), c.columns) {
			t.Errorf("%s: columns %q, X =\n%v", name, rows.Columns(), mat.Formatted(block.X))
		}
		if v, err := block.Rows[1].Value("c2"); v != 30 || err != nil {
			t.Errorf("%s: Value(c2) = %g, %v", name, v, err)
		}
	}
	// And the other way round: rows without a header for a model with names.
	named, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	rows, err := NewReader(context.Background(), strings.NewReader("20,a,100\n"), "new.csv", named, table.Format{Header: table.HeaderNo})
	if err != nil || !cmp.Equal(rows.Columns(), []string{"age", "job", "amount"}) {
		t.Fatalf("by position: %v", err)
	}
}

// Each row comes out before the next is written.
func TestReaderServesASlowPipe(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	in, out := io.Pipe()
	written := make(chan string)
	go func() {
		for text := range written {
			_, _ = io.WriteString(out, text) // a failure shows as a missing row
		}
		_ = out.Close()
	}()
	written <- "age,job,amount\n"
	rows, err := NewReader(context.Background(), in, "-", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		written <- fmt.Sprintf("%d,a,100\n", 20+i)
		block, err := rows.ReadBlock(1)
		if err != nil || block.Rows[0].Cells()[0] != fmt.Sprint(20+i) {
			t.Fatalf("row %d: %v, %v", i, block, err)
		}
	}
	close(written)
	if _, err := rows.ReadBlock(1); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// repeated yields a text over and over without holding it.
type repeated struct {
	text []byte
	left int
	rest []byte
}

func (r *repeated) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.rest = r.text
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// The live heap after 200,000 rows (over 20 MB of text, more than any one row
// may have) is within 1 MB of what it was after the first thousand.
func TestReaderMemoryIsBounded(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	line := []byte("20," + strings.Repeat("z", 100) + ",100\n")
	text := io.MultiReader(strings.NewReader("age,job,amount\n"), &repeated{text: bytes.Repeat(line, 1000), left: 200})
	rows, err := NewReader(context.Background(), text, "new.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var before int64
	total := 0
	for {
		block, err := rows.ReadBlock(1000)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if total == 0 {
			before = heap()
		}
		total += len(block.Rows)
	}
	if total != 200_000 || rows.Report().Unseen[0].Cells != total {
		t.Fatalf("%d rows, report %+v", total, rows.Report())
	}
	if growth := heap() - before; growth > 1<<20 {
		t.Errorf("live heap grew by %d bytes", growth)
	}
	runtime.KeepAlive(rows)
}

// Both delimiters give two cells in the first row, the only one a stream may
// look at; the recipe knows which of them makes a number.
func TestReaderDelimiterByRecipe(t *testing.T) {
	recipe, _, _ := mustLearn(t, mustRead(t, "1.5,a;b,0\n2.5,c,1\n3.5,a;b,1\n", table.HeaderNo), Options{})
	rows, err := NewReader(context.Background(), strings.NewReader("2.5,a;b\n1.5,c\n"), "new.csv", recipe, table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	block, err := rows.ReadBlock(2)
	if err != nil || len(block.Rows) != 2 || rows.Report().Unseen != nil {
		t.Errorf("%d rows, report %+v, %v", len(block.Rows), rows.Report(), err)
	}
}

func TestApplyAndLabels(t *testing.T) {
	recipe, x, y := mustLearn(t, mustRead(t, trainText, table.HeaderYes), Options{})
	turned := mustRead(t, "y,extra,amount,job,age\nyes,1,250,b,30\nno,2,100,z,20\n", table.HeaderAuto)
	got, report, err := recipe.Apply(turned)
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(got.RawRowView(0), x.RawRowView(1)) {
		t.Errorf("row %v, want %v", got.RawRowView(0), x.RawRowView(1))
	}
	if report.Rows != 2 || len(report.Lines()) != 2 {
		t.Errorf("report %+v", report)
	}
	labels, err := recipe.Labels(turned)
	if err != nil || !cmp.Equal(labels, []int{y[1], y[0]}) {
		t.Errorf("labels %v, %v", labels, err)
	}
	none, _, err := recipe.Apply(turned.Subset(nil))
	if err != nil || !none.IsEmpty() {
		t.Errorf("no rows: %v, %v", none, err)
	}

	without := mustRead(t, "amount,job,age\n250,b,30\n", table.HeaderYes)
	_, err = recipe.Labels(without)
	checkError(t, err, []string{"test.csv", `column "y"`})
	odd := mustRead(t, "amount,job,age,y\n250,b,30,yes\n250,b,30,perhaps\n", table.HeaderYes)
	_, err = recipe.Labels(odd)
	checkError(t, err, []string{"test.csv", "line 3", `column 4 ("y")`, `"perhaps"`})
	_, _, err = recipe.Apply(mustRead(t, "amount,age,y\n250,30,yes\n", table.HeaderYes))
	checkError(t, err, []string{"test.csv", "line 1", `column "job"`})
	_, err = odd.Floats("job")
	checkError(t, err, []string{"test.csv", "line 2", `column 2 ("job")`, `"b"`})
}

// Messages stay readable whatever the file holds.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	names := make([]string, 3000)
	for j := range names {
		names[j] = fmt.Sprint("column", j)
	}
	table := mustRead(t, strings.Join(names, ",")+"\n"+strings.Repeat("1,", len(names)-1)+long+"\n", table.HeaderYes)
	_, err := table.Floats("last")
	checkError(t, err, []string{"line 2", "column 3000", "…"})
	if len(err.Error()) > 300 {
		t.Errorf("message of %d bytes", len(err.Error()))
	}
	_, err = table.Column("absent")
	checkError(t, err, []string{"columns (3000)", "and 2988 more"})
	if len(err.Error()) > 400 {
		t.Errorf("message of %d bytes", len(err.Error()))
	}
}

// A header whose letters are composed otherwise than those of the training file names the
// same columns, also where a name in the file is exactly the model's.
func TestNamesComposedOtherwise(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	for _, c := range []struct {
		learned, given string
		want           []float64 // of the first of the columns in the two rows, as it is
		ignored        []string
	}{
		{composed + ",x", decomposed + ",x", []float64{4, 9}, nil},
		{decomposed + ",x", "x," + composed, []float64{1, 2}, nil},
		{composed + ",x", decomposed + "," + composed + ",x", []float64{1, 2}, []string{decomposed}},
	} {
		data, err := table.Read(context.Background(), strings.NewReader(c.learned+",y\n1,5,a\n2,6,b\n3,4,a\n5,9,b\n"), "train.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := Learn(data, Options{Positive: "b", KeepScale: true})
		if err != nil {
			t.Fatal(err)
		}
		text := c.given + "\n4,1\n9,2\n"
		if strings.Count(c.given, ",") == 2 {
			text = c.given + "\n4,1,7\n9,2,8\n"
		}
		rd, err := NewReader(context.Background(), strings.NewReader(text), "new.csv", l.Recipe, table.Format{})
		if err != nil {
			t.Errorf("%q and %q: %v", c.learned, c.given, err)
			continue
		}
		block, err := rd.ReadBlock(10)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got := block.Rows[i].Features[0]; got != want {
				t.Errorf("%q and %q, row %d: %v, want %v", c.learned, c.given, i, got, want)
			}
		}
		if got := rd.Report().Ignored; !slices.Equal(got, c.ignored) {
			t.Errorf("%q ignored, want %q", got, c.ignored)
		}
	}
}

// So do options, unless two columns look the same.
func TestOptionsComposedOtherwise(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	read := func(header string) *table.Table {
		table, err := table.Read(context.Background(), strings.NewReader(header+"\n1,5,a\n2,6,b\n3,4,a\n5,9,b\n"), "train.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, names := range [][2]string{{composed, decomposed}, {decomposed, composed}} {
		l, err := Learn(read("x,z,"+names[0]), Options{Target: names[1], Positive: "b"})
		if err != nil {
			t.Errorf("target %q of a table with %q: %v", names[1], names[0], err)
			continue
		}
		if got := l.Recipe.Target.Column; got != names[0] {
			t.Errorf("the outcome is %q, want %q", got, names[0])
		}
	}
	// Two marks below and above a letter may stand in either order, and neither is composed.
	const one, other, third = "a\u0323\u0302", "a\u0302\u0323", "\u1ead"
	table := read(one + "," + other + ",y")
	if j, err := table.Column(other); err != nil || j != 1 {
		t.Errorf("a name as it is: column %d, %v", j, err)
	}
	if j, err := table.Column(third); err == nil {
		t.Errorf("column %d is found by a name that two columns look like", j)
	}
}

// A block of rows with long texts ends before it holds many of them, and no row is lost.
func TestBlocksOfLongTexts(t *testing.T) {
	const rows, size = 40, 3 << 20
	recipe, _, _ := mustLearn(t, mustRead(t, "x,w,y\n1,a,0\n2,b,1\n3,a,0\n4,b,1\n", table.HeaderYes), Options{Target: "y", Drop: []string{"w"}})
	var text strings.Builder
	text.WriteString("x,w\n")
	long := strings.Repeat("z", size)
	for i := range rows {
		fmt.Fprintf(&text, "%d,%s%d\n", i, long, i)
	}
	for name, open := range map[string]func() (*Reader, error){
		"text": func() (*Reader, error) {
			return NewReader(context.Background(), strings.NewReader(text.String()), "new.csv", recipe, table.Format{})
		},
		"source": func() (*Reader, error) {
			return NewSourceReader(context.Background(), sourceOf(text.String(), rows), recipe, table.Format{}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rd, err := open()
			if err != nil {
				t.Fatal(err)
			}
			next := 0
			for {
				block, err := rd.ReadBlock(2 * rows)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if name == "text" && len(block.Rows)*size > blockBytes+2*size {
					t.Errorf("a block of %d rows of %d MB", len(block.Rows), size>>20)
				}
				for i := range block.Rows {
					if got, want := string(block.Rows[i].Text(1)[size:]), fmt.Sprint(next); got != want {
						t.Fatalf("row %s where %s comes", got, want)
					}
					next++
				}
			}
			if next != rows {
				t.Errorf("%d rows of %d", next, rows)
			}
		})
	}
}

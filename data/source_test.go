package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// memorySource is a table of texts by columns, in groups.
type memorySource struct {
	columns []SourceColumn
	rows    [][]string
	each    int // rows of a group
}

func (m *memorySource) Name() string            { return "memory" }
func (m *memorySource) Columns() []SourceColumn { return m.columns }
func (m *memorySource) Groups() (groups []SourceGroup) {
	for from := 0; from < len(m.rows); from += m.each {
		groups = append(groups, SourceGroup{File: fmt.Sprint("file", from), First: 1, Rows: min(m.each, len(m.rows)-from)})
	}
	return groups
}

func (m *memorySource) Open(group, column int) (ColumnReader, error) {
	return &memoryReader{m.rows[group*m.each:], column}, nil
}

type memoryReader struct {
	rows   [][]string
	column int
}

func (r *memoryReader) Read(n int, to *Cells) error {
	for _, row := range r.rows[:n] {
		to.Text([]byte(row[r.column]))
	}
	r.rows = r.rows[n:]
	return nil
}
func (r *memoryReader) Close() error { return nil }

func sourceOf(text string, each int) *memorySource {
	m := &memorySource{each: each}
	for k, line := range strings.Split(strings.TrimSpace(text), "\n") {
		cells := strings.Split(line, ",")
		if k > 0 {
			m.rows = append(m.rows, cells)
			continue
		}
		for _, name := range cells {
			m.columns = append(m.columns, SourceColumn{Name: name})
		}
	}
	return m
}

const sourceText = `x,truth,note,price,y
1,True,hello,1 234 €,no
2,False,world,1 500 €,yes
3,True,a,999 €,no
4,False,b,5 €,yes
5,True,c,17 €,yes
`

// Columns that are left out are not there, but for texts that could all be numbers: how
// those are written is part of the recipe, as it is when a text is read.
func TestColumnsLeftOut(t *testing.T) {
	o := Options{Target: "y", Drop: []string{"note", "price"}}
	s := sourceOf(sourceText, 2)
	table, err := ReadSource(context.Background(), s, Format{}, o.Skips([]string{"x", "truth", "note", "price", "y"}))
	if err != nil {
		t.Fatal(err)
	}
	recipe, x, _ := mustLearn(t, table, o)
	text, err := Read(context.Background(), strings.NewReader(sourceText), "text", Format{Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	wanted, features, _ := mustLearn(t, text, o)
	if fmt.Sprint(*recipe.Columns[3].Notation) != fmt.Sprint(*wanted.Columns[3].Notation) || recipe.Columns[2].Notation != nil || !sameBits(x, features) {
		t.Errorf("another recipe than of text: %+v", recipe.Columns)
	}
	_, err = table.Texts("note")
	checkError(t, err, []string{"memory", `"note"`, "left out and has not been read"})
	if row := table.Row(1); row[2] != "" || row[1] != "False" {
		t.Errorf("%q", row)
	}
	if table.Place(3).Error() != (&Error{File: "file2", Row: 2}).Error() {
		t.Errorf("the fourth row is at %v", table.Place(3))
	}
}

// Truth values are compared whatever their case; rows are told by their file and number.
func TestSourceRows(t *testing.T) {
	text, err := Read(context.Background(), strings.NewReader(sourceText), "text", Format{Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	recipe, x, _ := mustLearn(t, text, Options{Target: "y", Drop: []string{"note", "price"}})
	s := sourceOf(strings.NewReplacer("True", "true", "False", "FALSE").Replace(sourceText), 3)
	rd, err := NewSourceReader(context.Background(), s, recipe, Format{}, func(name string) bool { return name == "price" })
	if err != nil {
		t.Fatal(err)
	}
	block, err := rd.ReadBlock(100)
	if err != nil {
		t.Fatal(err)
	}
	if !sameBits(block.X, x) || len(block.Rows[0].Unseen) > 0 {
		t.Error("other features than of text")
	}
	if _, err := rd.ReadBlock(1); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
	last := &block.Rows[4]
	if v, err := last.Value("price"); v != 17 || err != nil {
		t.Errorf("price %v, %v", v, err)
	}
	_, err = last.Value("note")
	checkError(t, err, []string{"file3", "row 2", `"note"`, "left out"})
	s.rows[4][0] = "far"
	if rd, err = NewSourceReader(context.Background(), s, recipe, Format{}, nil); err != nil {
		t.Fatal(err)
	}
	if block, err = rd.ReadBlock(100); err != nil || len(block.Rows) != 4 {
		t.Fatalf("rows before a bad one: %v", err)
	}
	_, err = rd.ReadBlock(100)
	checkError(t, err, []string{"file3, row 2, column 1", `"far" is not a finite number`})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rd, err = NewSourceReader(ctx, s, recipe, Format{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err = rd.ReadBlock(1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Many integers at a time are what they are one by one, those that are codes too.
func TestIntegers(t *testing.T) {
	var xs []int64
	for i := range int64(3000) {
		x := i * i
		if i%7 == 0 || i > 2990 {
			x = -1e15 - i
		}
		xs = append(xs, x)
	}
	one, many := &Cells{to: new(cells)}, &Cells{to: new(cells)}
	for _, x := range xs {
		one.Integer(x)
	}
	many.Missing() // batches begin anywhere
	many.Integers(xs[:10])
	many.Integers(nil)
	many.Integers(xs[10:])
	one.flush()
	many.flush()
	if many.Len() != len(xs)+1 {
		t.Fatalf("%d cells of %d", many.Len(), len(xs)+1)
	}
	for i := range xs {
		if want, got := one.to.text(one.to.at(i)), many.to.text(many.to.at(i+1)); got != want {
			t.Fatalf("integer %d is %q, not %q", i, got, want)
		}
	}
}

// countedRoom is room for so many numbers.
type countedRoom struct{ left int }

var errNoRoom = errors.New("no room is left")

func (r *countedRoom) Numbers(n int) ([]float64, error) {
	if r.left -= n; r.left < 0 {
		return nil, errNoRoom
	}
	return make([]float64, n), nil
}

// A table that lies elsewhere is the same table, and one that finds no room is refused.
func TestRoom(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range 2*segmentRows + 5 {
		fmt.Fprintf(&text, "%d,%d\n", i%17, i%2)
	}
	s := sourceOf(text.String(), 10_000)
	read := func(r Room) (*Learned, error) {
		table, err := ReadSource(context.Background(), s, Format{Room: r}, nil)
		if err != nil {
			return nil, err
		}
		return Learn(table, Options{})
	}
	here, err := read(nil)
	if err != nil {
		t.Fatal(err)
	}
	const cells = 4 * segmentRows // the first segments are where small tables are
	room := &countedRoom{cells + len(s.rows)}
	there, err := read(room)
	if err != nil || !mat.Equal(here.X, there.X) {
		t.Errorf("another table: %v", err)
	}
	if room.left != 0 {
		t.Errorf("there is room for %d more numbers", room.left)
	}
	for _, few := range []int{cells - 1, cells + len(s.rows) - 1} {
		if _, err := read(&countedRoom{few}); !errors.Is(err, errNoRoom) {
			t.Errorf("with room for %d numbers: %v", few, err)
		}
	}
}

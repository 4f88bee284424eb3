package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/table"
)

// memorySource is a table of texts by columns, in groups.
type memorySource struct {
	columns []table.SourceColumn
	rows    [][]string
	each    int // rows of a group
}

func (m *memorySource) Name() string                  { return "memory" }
func (m *memorySource) Columns() []table.SourceColumn { return m.columns }
func (m *memorySource) Groups() (groups []table.SourceGroup) {
	for from := 0; from < len(m.rows); from += m.each {
		groups = append(groups, table.SourceGroup{File: fmt.Sprint("file", from), First: 1, Rows: min(m.each, len(m.rows)-from)})
	}
	return groups
}

func (m *memorySource) Open(group, column int) (table.ColumnReader, error) {
	return &memoryReader{m.rows[group*m.each:], column}, nil
}

type memoryReader struct {
	rows   [][]string
	column int
}

func (r *memoryReader) Read(n int, to *table.Cells) error {
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
			m.columns = append(m.columns, table.SourceColumn{Name: name})
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

// closedSource is a table with columns that nobody may open.
type closedSource struct {
	*memorySource
	t      *testing.T
	closed []int
}

func (s *closedSource) Open(group, column int) (table.ColumnReader, error) {
	if slices.Contains(s.closed, column) {
		s.t.Errorf("column %d is opened", column+1)
	}
	return s.memorySource.Open(group, column)
}

// Columns that are left out are not opened, and nothing is known of them.
func TestColumnsLeftOut(t *testing.T) {
	o := Options{Target: "y", Drop: []string{"note", "price"}}
	s := &closedSource{sourceOf(sourceText, 2), t, []int{2, 3}}
	data, err := table.ReadSource(context.Background(), s, table.Format{}, o.Skips([]string{"x", "truth", "note", "price", "y"}))
	if err != nil {
		t.Fatal(err)
	}
	recipe, x, _ := mustLearn(t, data, o)
	text, err := table.Read(context.Background(), strings.NewReader(sourceText), "text", table.Format{Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	_, features, _ := mustLearn(t, text, o)
	if recipe.Columns[2].Notation != nil || recipe.Columns[3].Notation != nil || !sameBits(x, features) {
		t.Errorf("another recipe than of text: %+v", recipe.Columns)
	}
	rd, err := NewSourceReader(context.Background(), s, recipe, table.Format{}, func(string) bool { return false })
	if err == nil {
		_, err = rd.ReadBlock(100)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = data.Texts("note")
	checkError(t, err, []string{"memory", `"note"`, "left out and has not been read"})
	if row := data.Row(1); row[2] != "" || row[1] != "False" {
		t.Errorf("%q", row)
	}
	if data.Place(3).Error() != (&table.Error{File: "file2", Row: 2}).Error() {
		t.Errorf("the fourth row is at %v", data.Place(3))
	}
}

// Truth values are compared whatever their case; rows are named by their file and number.
func TestSourceRows(t *testing.T) {
	text, err := table.Read(context.Background(), strings.NewReader(sourceText), "text", table.Format{Separator: ","})
	if err != nil {
		t.Fatal(err)
	}
	recipe, x, _ := mustLearn(t, text, Options{Target: "y", Drop: []string{"note", "price"}})
	s := sourceOf(strings.NewReplacer("True", "true", "False", "FALSE").Replace(sourceText), 3)
	rd, err := NewSourceReader(context.Background(), s, recipe, table.Format{}, func(name string) bool { return name == "price" })
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
	if rd, err = NewSourceReader(context.Background(), s, recipe, table.Format{}, nil); err != nil {
		t.Fatal(err)
	}
	if block, err = rd.ReadBlock(100); err != nil || len(block.Rows) != 4 {
		t.Fatalf("rows before a bad one: %v", err)
	}
	_, err = rd.ReadBlock(100)
	checkError(t, err, []string{"file3, row 2, column 1", `"far" is not a finite number`})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rd, err = NewSourceReader(ctx, s, recipe, table.Format{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err = rd.ReadBlock(1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Texts that are too long, too large together or too many to go through end a table and a
// stream by an error that says which column.
func TestTextsOfSourcesAreBounded(t *testing.T) {
	text := func(size int, more ...string) *memorySource {
		s := sourceOf("x,w\n1,a\n2,b\n3,c\n", 3)
		for i := range s.rows {
			s.rows[i][1] = strings.Repeat("z", size) + strings.Join(more, "") + fmt.Sprint(i%2)
		}
		return s
	}
	learned, _, _ := mustLearn(t, mustRead(t, "x,w,y\n1,a,0\n2,b,1\n3,a,0\n4,b,1\n", table.HeaderYes), Options{Target: "y"})
	for name, c := range map[string]struct {
		source *memorySource
		limits table.Limits
		want   []string
		stream bool // too
	}{
		"long":     {text(table.LongestText), table.Limits{}, []string{"file0", `column 2 ("w")`, "a text of more than 16 MiB", "leave the column out"}, true},
		"large":    {text(3 << 20), table.Limits{Cells: 1 << 19}, []string{`column 2 ("w")`, "more than 524288 cells, or their texts take as much"}, true},
		"together": {text(3 << 20), table.Limits{Bytes: 8 << 20}, []string{`column 2 ("w")`, "the text is longer than 8 MiB"}, false},
		"fine":     {text(1 << 20), table.Limits{Cells: 1 << 19, Bytes: 8 << 20}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := table.ReadSource(context.Background(), c.source, table.Format{Limits: c.limits}, nil)
			if err != nil || c.want != nil {
				checkError(t, err, c.want)
			}
			rd, err := NewSourceReader(context.Background(), c.source, learned.WithOpen("w"), table.Format{Limits: c.limits}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = rd.ReadBlock(100); err != nil || c.want != nil && c.stream {
				checkError(t, err, c.want)
			}
		})
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
	for i := range 2*table.SegmentRows + 5 {
		fmt.Fprintf(&text, "%d,%d\n", i%17, i%2)
	}
	s := sourceOf(text.String(), 10_000)
	read := func(r table.Room) (*Learned, error) {
		table, err := table.ReadSource(context.Background(), s, table.Format{Room: r}, nil)
		if err != nil {
			return nil, err
		}
		return Learn(table, Options{})
	}
	here, err := read(nil)
	if err != nil {
		t.Fatal(err)
	}
	const cells = 4 * table.SegmentRows // the first segments are where small tables are
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

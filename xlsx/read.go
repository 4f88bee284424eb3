// Package xlsx reads and writes sheets of Excel workbooks (Office Open XML, .xlsx).
//
// A sheet is read as the text of a table, CSV in UTF-8, in which a row of the sheet is a line:
// what is said of a line is said of the row of that number. Numbers are written as the shortest
// decimals that stand for them, cells that are shown as dates or times as 2025-04-03,
// 2025-04-03 13:45:00 or 13:45:00, truth values as true and false, and errors such as #N/A as
// they are. Of a formula the value is read that was stored with it. Rows and columns around the
// table that are empty are left out.
//
// Files come from anywhere and may be made to do harm: parts are read as streams, the texts and
// styles that all cells share within a bound, whatever sizes the archive declares.
package xlsx

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

// Extension is how names of such files end.
const Extension = ".xlsx"

const (
	maxRows    = 1 << 20 // of a sheet, as Excel has it
	maxColumns = 1 << 14
	maxParts   = 1 << 14 // files of the archive
	maxCell    = 1 << 20 // bytes of a text; Excel has 32,767 characters
	maxSheet   = 8 << 30 // bytes of a sheet, or of all shared texts
	maxElement = 1 << 22 // bytes of a cell or a text of these
)

// Book is a workbook.
type Book struct {
	name   string // for messages
	files  map[string]*zip.File
	sheets []sheet
	memory int64 // that shared texts and styles may take

	date1904 bool
	shared   []string // texts that cells refer to
	times    []bool   // by style: whether it shows dates or times
}

type sheet struct{ name, part string }

// Open reads what a workbook says about itself, and the texts that its cells share. These take
// no more memory than the given number of bytes.
func Open(name string, r io.ReaderAt, size, memory int64) (*Book, error) {
	b := &Book{name: name, memory: memory, files: make(map[string]*zip.File)}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, b.damaged(fmt.Errorf("not a workbook: %w", err))
	}
	if len(archive.File) > maxParts {
		return nil, b.damaged(fmt.Errorf("%d parts", len(archive.File)))
	}
	for _, f := range archive.File {
		b.files[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	if _, old := b.files["encryptedpackage"]; old {
		return nil, &table.Error{File: name, Msg: "the workbook has a password", Fix: "save it without one"}
	}
	if err := b.readBook(); err != nil {
		return nil, b.damaged(err)
	}
	if len(b.sheets) == 0 {
		return nil, &table.Error{File: name, Msg: "the workbook has no sheets of cells", Fix: "save the table as .xlsx or .csv"}
	}
	return b, nil
}

// Sheets are the names of the sheets in order.
func (b *Book) Sheets() (names []string) {
	for _, s := range b.sheets {
		names = append(names, s.name)
	}
	return names
}

// damaged is an error about the file, if it does not say that itself.
func (b *Book) damaged(err error) error {
	if located := new(table.Error); errors.As(err, &located) || errors.Is(err, context.Canceled) || errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return &table.Error{File: b.name, Msg: "the workbook cannot be read: " + err.Error(), Fix: "save it again as .xlsx, or as .csv", Err: err}
}

// part opens a part of the archive, nil if it is not there.
func (b *Book) part(name string) (io.ReadCloser, error) {
	f := b.files[strings.ToLower(strings.TrimPrefix(name, "/"))]
	if f == nil {
		return nil, nil
	}
	return f.Open()
}

// each goes over the elements of a part of at most so many bytes; begin may read on to the end of
// one. A part that is not there has none.
func (b *Book) each(part string, most int64, begin func(d *xml.Decoder, e xml.StartElement) error) error {
	r, err := b.part(part)
	if r == nil || err != nil {
		return err
	}
	defer r.Close() // nothing was written
	in := &bounded{r: r, left: most, name: b.name}
	d := xml.NewDecoder(bufio.NewReaderSize(in, 1<<16))
	for {
		in.element = maxElement
		token, err := d.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := begin(d, e); err != nil {
				return err
			}
		}
	}
}

// bounded ends with an error after so many bytes, in all or of one element.
type bounded struct {
	r             io.Reader
	left, element int64
	name          string
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.left, b.element = b.left-int64(n), b.element-int64(n)
	if b.left < 0 || b.element < 0 {
		return 0, tooLarge(b.name)
	}
	return n, err
}

func tooLarge(name string) error {
	return &table.Error{File: name, Msg: "the workbook is larger, once it is uncompressed, than there is memory for it", Fix: "save the sheet as .csv", Ways: []table.Way{{Option: table.WayMemory, Value: "SIZE"}}}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// readBook reads the list of sheets, the styles and the shared texts.
func (b *Book) readBook() error {
	book := b.target("_rels/.rels", "officeDocument", "xl/workbook.xml")
	folder, file := path.Split(book)
	targets, kinds := make(map[string]string), make(map[string]string)
	err := b.each(folder+"_rels/"+file+".rels", b.memory, func(_ *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local == "Relationship" {
			at := attribute(e, "Target")
			if !strings.HasPrefix(at, "/") {
				at = path.Join(folder, at)
			}
			targets[attribute(e, "Id")] = at
			kinds[path.Base(attribute(e, "Type"))] = at
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = b.each(book, b.memory, func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			b.date1904 = truth(attribute(e, "date1904"))
		case "sheet":
			if part := targets[attribute(e, "id")]; strings.Contains(strings.ToLower(part), "worksheet") {
				b.sheets = append(b.sheets, sheet{attribute(e, "name"), part})
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := b.readStyles(kinds["styles"]); err != nil {
		return err
	}
	return b.readShared(kinds["sharedStrings"])
}

// target is the part that a relation of a kind leads to.
func (b *Book) target(part, kind, usual string) string {
	found := usual
	// What is wrong with it is found where the part is read.
	_ = b.each(part, 1<<20, func(_ *xml.Decoder, e xml.StartElement) error {
		if path.Base(attribute(e, "Type")) == kind {
			found = strings.TrimPrefix(attribute(e, "Target"), "/")
		}
		return nil
	})
	return found
}

func truth(text string) bool { return text == "1" || text == "true" }

// readShared reads the texts that cells refer to by number.
func (b *Book) readShared(part string) error {
	held := int64(0)
	return b.each(part, maxSheet, func(d *xml.Decoder, e xml.StartElement) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := textOf(d)
		b.shared = append(b.shared, text)
		if held += int64(len(text)) + 16; held > b.memory {
			return tooLarge(b.name)
		}
		return err
	})
}

// textOf reads to the end of an element that was begun, and is its text: that of the elements t
// within it, but for how it is pronounced.
func textOf(d *xml.Decoder) (string, error) {
	var b strings.Builder
	depth, silent, inside := 1, 0, false
	for depth > 0 {
		token, err := d.RawToken()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if t.Name.Local == "rPh" {
				silent = depth
			}
			inside = t.Name.Local == "t" && silent == 0
		case xml.EndElement:
			if depth == silent {
				silent = 0
			}
			depth--
			inside = false
		case xml.CharData:
			if inside {
				b.Write(t)
			}
			if b.Len() > maxCell {
				return "", fmt.Errorf("a text of more than %d bytes", maxCell)
			}
		}
	}
	return unescaped(b.String()), nil
}

// unescaped replaces _x000D_ and the like, by which texts have what XML cannot.
func unescaped(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	var b strings.Builder
	for {
		k := strings.Index(text, "_x")
		var r rune
		if k < 0 || len(text) < k+7 || text[k+6] != '_' {
			if k < 0 {
				b.WriteString(text)
				return b.String()
			}
		} else if _, err := fmt.Sscanf(text[k+2:k+6], "%04x", &r); err == nil {
			b.WriteString(text[:k] + string(r))
			text = text[k+7:]
			continue
		}
		b.WriteString(text[:k+2])
		text = text[k+2:]
	}
}

// Table is a sheet as text, by its name, or the first if that is empty. It is read as it is
// asked for; closing it ends that.
func (b *Book) Table(ctx context.Context, name string) (io.ReadCloser, error) {
	at := 0
	if name != "" {
		if at = slices.IndexFunc(b.sheets, func(s sheet) bool { return s.name == name }); at < 0 {
			return nil, &table.Error{File: b.name, Msg: fmt.Sprintf("unknown sheet %q", name), Fix: table.Instead(name, b.Sheets())}
		}
	}
	part := b.sheets[at].part
	counts := make([]int, 0, 64) // of cells, by column
	err := b.rows(part, func(_ int, cells []string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j, cell := range cells {
			if cell == "" {
				continue
			}
			for len(counts) <= j {
				counts = append(counts, 0)
			}
			counts[j]++
		}
		return nil
	})
	if err != nil {
		return nil, b.damaged(err)
	}
	from, to := extent(counts)
	r, w := io.Pipe()
	go func() { w.CloseWithError(tasks.Try(func() error { return b.write(w, part, from, to) })) }()
	return r, nil
}

// extent is from which column to before which the table is, by how many cells each has. A single cell
// beyond an empty column is a stray, and no column of it.
func extent(counts []int) (from, to int) {
	to = len(counts)
	for to > 0 && counts[to-1] == 0 {
		to--
	}
	for from < to && counts[from] == 0 {
		from++
	}
	for to-from > 2 && counts[to-1] == 1 && counts[to-2] == 0 {
		for to--; counts[to-1] == 0; {
			to--
		}
	}
	for to-from > 2 && counts[from] == 1 && counts[from+1] == 0 {
		for from++; counts[from] == 0; {
			from++
		}
	}
	return from, to
}

var lines = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ") // for a row is a line

// write writes the columns from one to before another of a sheet as CSV.
func (b *Book) write(w io.Writer, part string, from, to int) error {
	out := bufio.NewWriterSize(w, 1<<16)
	record, line := make([]string, to-from), 1
	records := csv.NewWriter(out)
	err := b.rows(part, func(row int, cells []string) error {
		clear(record)
		for j := from; j < min(to, len(cells)); j++ {
			record[j-from] = lines.Replace(cells[j])
		}
		if !slices.ContainsFunc(record, func(cell string) bool { return cell != "" }) {
			return nil
		}
		records.Flush()
		for ; line < row; line++ {
			_ = out.WriteByte('\n') // an error comes again
		}
		line++
		if len(record) == 1 { // quotes tell an empty cell from an empty line
			_, err := fmt.Fprintf(out, "\"%s\"\n", strings.ReplaceAll(record[0], `"`, `""`))
			return err
		}
		return records.Write(record)
	})
	if err != nil {
		return b.damaged(err)
	}
	records.Flush()
	return out.Flush()
}

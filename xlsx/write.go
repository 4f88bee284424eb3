package xlsx

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Writer writes a workbook of one sheet row by row.
type Writer struct {
	archive *zip.Writer
	sheet   *bufio.Writer
	names   []string
	first   [][]any // rows that wait until the widths of columns are known by them; nil once they are
	rows    int
}

// widthRows is by how many rows columns are made wide enough.
const widthRows = 200

// What a workbook has beside its cells: one sheet, and the styles 1 and 2 for dates and for times of
// dates, 3 for numbers with four decimals, 4 for those that have none of four, and 5 for headings. %s is the name
// of the sheet.
var parts = []struct{ name, text string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="%s" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/styles.xml", `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/><numFmt numFmtId="166" formatCode="0.0000"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="6"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="166" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="11" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`},
}

// widths makes columns wide enough for their names and for what is in some rows.
func widths(names []string, rows [][]any) string {
	if len(names) == 0 {
		return ""
	}
	const least, most = 10, 60
	var b strings.Builder
	for j, name := range names {
		width := max(least, utf8.RuneCountInString(name))
		for _, row := range rows {
			if j >= len(row) {
				continue
			}
			if text, ok := row[j].(string); ok {
				width = max(width, utf8.RuneCountInString(text))
			}
		}
		fmt.Fprintf(&b, `<col min="%d" max="%d" width="%d" customWidth="1"/>`, j+1, j+1, min(width, most)+2)
	}
	return "<cols>" + b.String() + "</cols>"
}

// NewWriter begins a workbook of a sheet whose first row has the names of the columns. The name of the
// sheet is one that Excel allows.
func NewWriter(w io.Writer, sheet string, names []string) (*Writer, error) {
	if len(names) > maxColumns {
		return nil, fmt.Errorf("%d columns are more than the %d of an Excel sheet; write .csv or .parquet", len(names), maxColumns)
	}
	out := &Writer{archive: zip.NewWriter(w), names: names, first: make([][]any, 0, widthRows)}
	for _, part := range parts {
		f, err := out.archive.Create(part.name)
		if err == nil {
			_, err = io.WriteString(f, xml.Header+strings.Replace(part.text, "%s", sheet, 1))
		}
		if err != nil {
			return nil, err
		}
	}
	f, err := out.archive.Create("xl/worksheets/sheet1.xml")
	out.sheet = bufio.NewWriterSize(f, 1<<16)
	return out, err
}

// begin writes the head of the sheet and the rows that wait.
func (w *Writer) begin() error {
	rows := w.first
	w.first = nil
	_, err := w.sheet.WriteString(xml.Header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` + widths(w.names, rows) + `<sheetData>`)
	head := make([]any, len(w.names))
	for j, name := range w.names {
		head[j] = heading(name)
	}
	for _, row := range append([][]any{head}, rows...) {
		if err == nil {
			err = w.Write(row)
		}
	}
	return err
}

// heading is a text whatever it spells.
type heading string

// Write adds a row of float64, bool and string. A string that spells a date or a number, as
// numbers are written plainly, is one in the sheet.
func (w *Writer) Write(row []any) error {
	if w.first != nil {
		if w.first = append(w.first, slices.Clone(row)); len(w.first) < widthRows {
			return nil
		}
		return w.begin()
	}
	if w.rows++; w.rows > maxRows {
		return fmt.Errorf("there are more than the %d rows of an Excel sheet; write .csv or .parquet, or fewer rows", maxRows)
	}
	fmt.Fprintf(w.sheet, `<row r="%d">`, w.rows)
	for j, v := range row {
		at := columnName(j) + strconv.Itoa(w.rows)
		var err error
		switch v := v.(type) {
		case float64:
			fmt.Fprintf(w.sheet, `<c r="%s" s="%d"><v>%s</v></c>`, at, numberStyle(v), strconv.FormatFloat(v, 'g', -1, 64))
		case bool:
			fmt.Fprintf(w.sheet, `<c r="%s" t="b"><v>%d</v></c>`, at, map[bool]int{true: 1}[v])
		case heading:
			err = w.text(at, string(v), ` s="5"`)
		case string:
			err = w.spelled(at, v)
		default:
			err = w.text(at, fmt.Sprint(v), "")
		}
		if err != nil {
			return err
		}
	}
	_, err := w.sheet.WriteString("</row>")
	return err
}

// numberStyle is that of a number, which the cell has in full: as it is if it is whole or large, to four
// decimals, or to three digits if these are zeros.
func numberStyle(x float64) int {
	switch size := math.Abs(x); {
	case x == math.Trunc(x) || size >= 1e9:
		return 0
	case size < 0.001:
		return 4
	}
	return 3
}

// plainNumber is a number that a sheet shows as it is written: a code such as 007 is none, nor
// one of more digits than Excel keeps.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9]\d{0,14})(\.\d{1,14})?$`)

// spelled writes what a text spells.
func (w *Writer) spelled(at, text string) error {
	if text == "" {
		return nil
	}
	if plainNumber.MatchString(text) && len(text) <= 16 {
		_, err := fmt.Fprintf(w.sheet, `<c r="%s"><v>%s</v></c>`, at, text)
		return err
	}
	for style, layout := range []string{time.DateOnly, time.DateTime} {
		if len(text) != len(layout) {
			continue
		}
		t, err := time.Parse(layout, text)
		if days := t.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24; err == nil && days >= 61 {
			_, err = fmt.Fprintf(w.sheet, `<c r="%s" s="%d"><v>%s</v></c>`, at, style+1, strconv.FormatFloat(days, 'g', -1, 64))
			return err
		}
	}
	return w.text(at, text, "")
}

func (w *Writer) text(at, text, style string) error {
	if utf8.RuneCountInString(text) > 32767 {
		return errors.New("a text of more than the 32767 characters of an Excel cell; write .csv or .parquet")
	}
	fmt.Fprintf(w.sheet, `<c r="%s"%s t="inlineStr"><is><t xml:space="preserve">`, at, style)
	// What XML cannot have is escaped as Excel does, and so is what looks like such an escape.
	var b strings.Builder
	for k, r := range text {
		switch {
		case r < ' ' && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, "_x%04X_", r)
		case strings.HasPrefix(text[k:], "_x"):
			b.WriteString("_x005F_")
		default:
			b.WriteRune(r)
		}
	}
	if err := xml.EscapeText(w.sheet, []byte(b.String())); err != nil {
		return err
	}
	_, err := w.sheet.WriteString("</t></is></c>")
	return err
}

// columnName is that of a column from 0: A to Z, AA and so on.
func columnName(j int) string {
	name := ""
	for j++; j > 0; j = (j - 1) / 26 {
		name = string(rune('A'+(j-1)%26)) + name
	}
	return name
}

// Close finishes the workbook.
func (w *Writer) Close() error {
	if w.first != nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	filter := ""
	if len(w.names) > 0 {
		filter = fmt.Sprintf(`<autoFilter ref="A1:%s%d"/>`, columnName(len(w.names)-1), w.rows)
	}
	if _, err := w.sheet.WriteString("</sheetData>" + filter + "</worksheet>"); err != nil {
		return err
	}
	if err := w.sheet.Flush(); err != nil {
		return err
	}
	return w.archive.Close()
}

package xlsx

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

func open(t *testing.T, book []byte, sheet string) (string, error) {
	t.Helper()
	b, err := Open("book.xlsx", bytes.NewReader(book), int64(len(book)), 1<<21)
	if err != nil {
		return "", err
	}
	r, err := b.Table(t.Context(), sheet)
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	return string(text), err
}

// What is written is read again: numbers, truth values, texts whatever they spell, dates as dates.
func TestWrittenIsRead(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, "decisions", []string{"id", "2020", "day", "text", "advantage_refuse"})
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]any{
		{"007", 0.1, "2025-04-03", "a,\"b\" <c> & _x000D_\x01", true},
		{"12", -1e-300, "2025-04-03 13:45:01", "", false},
		{"", 4.6, "1900-01-01", " blank ", true},
	}
	for _, row := range rows {
		if err := w.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, out.Bytes(), "")
	want := "id,2020,day,text,advantage_refuse\n007,0.1,2025-04-03,\"a,\"\"b\"\" <c> & _x000D_\x01\",true\n12,-1e-300,2025-04-03 13:45:01,,false\n,4.6,1900-01-01,\" blank \",true\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	sheet := part(t, out.Bytes(), "xl/worksheets/sheet1.xml")
	for _, cell := range []string{`<c r="A3"><v>12</v>`, `<c r="A2" t="inlineStr">`, `<c r="C2" s="1"><v>45750</v>`, `<c r="B1" s="5" t="inlineStr">`, `</sheetData><autoFilter ref="A1:E4"/></worksheet>`, `<c r="C3" s="2"><v>`, `<col min="5" max="5" width="18" customWidth="1"/></cols><sheetData>`} {
		if !strings.Contains(sheet, cell) {
			t.Errorf("no %s in\n%s", cell, sheet)
		}
	}
	if book := part(t, out.Bytes(), "xl/workbook.xml"); !strings.Contains(book, `<sheet name="decisions" `) {
		t.Errorf("the sheet is not called decisions:\n%s", book)
	}
}

// Numbers are shown to four decimals, or three digits, and kept in full; columns are as wide as what is in
// their first rows, also with more of them than are looked at.
func TestLooks(t *testing.T) {
	for _, n := range []int{1, widthRows, widthRows + 1} {
		var out bytes.Buffer
		w, err := NewWriter(&out, "decisions", []string{"p", "why"})
		if err != nil {
			t.Fatal(err)
		}
		for k := range n {
			if err := w.Write([]any{[]float64{0.123456789, 3, 1.25e-7, 2.5e12}[k%4], "months in the job = 36"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sheet := part(t, out.Bytes(), "xl/worksheets/sheet1.xml")
		cells := []string{`<col min="2" max="2" width="24" customWidth="1"/>`, `<c r="A2" s="3"><v>0.123456789</v>`}
		if n > 4 {
			cells = append(cells, `<c r="A3" s="0"><v>3</v>`, `<c r="A4" s="4"><v>1.25e-07</v>`, `<c r="A5" s="0"><v>2.5e+12</v>`)
		}
		for _, cell := range cells {
			if !strings.Contains(sheet, cell) {
				t.Errorf("%d rows: no %s in\n%s", n, cell, sheet)
			}
		}
		if text, err := open(t, out.Bytes(), ""); err != nil || strings.Count(text, "\n") != n+1 {
			t.Errorf("%d rows: %d lines, %v", n, strings.Count(text, "\n"), err)
		}
	}
}

func part(t *testing.T, book []byte, name string) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(book), int64(len(book)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// book is a workbook of one sheet, with styles and shared texts.
func book(t *testing.T, sheet, styles, shared, pr string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	for name, text := range map[string]string{
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="a" Type="` + relation + `worksheet" Target="/xl/worksheets/one.xml"/><Relationship Id="b" Type="` + relation + `worksheet" Target="worksheets/two.xml"/><Relationship Id="s" Type="` + relation + `styles" Target="styles.xml"/><Relationship Id="t" Type="` + relation + `sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/workbook.xml":            `<workbook>` + pr + `<sheets><sheet name="Loans &amp; more" r:id="a"/><sheet name="Rates" r:id="b"/></sheets></workbook>`,
		"xl/worksheets/one.xml":      sheet,
		"xl/worksheets/two.xml":      `<worksheet><sheetData><row><c><v>1</v></c></row></sheetData></worksheet>`,
		"xl/styles.xml":              styles,
		"xl/sharedStrings.xml":       shared,
	} {
		f, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const (
	someStyles = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy;@"/><numFmt numFmtId="171" formatCode="0.00&quot; days&quot;"/><numFmt numFmtId="172" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="22"/><xf numFmtId="172"/></cellXfs></styleSheet>`
	someShared = `<sst><si><t>name</t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>sound</t></rPh></si></sst>`
)

// Sheets of other programs: rows and cells with and without places, shared, rich and inline texts,
// stored values of formulas, errors, and dates by the format that shows them.
func TestSheet(t *testing.T) {
	sheet := `<worksheet><sheetData>
<row r="2"><c r="B2" t="s"><v>0</v></c><c r="C2" t="inlineStr"><is><t>day</t></is></c><c r="E2" t="str"><f>A1</f><v>f</v></c></row>
<row r="4"><c r="B4" t="s"><v>1</v></c><c r="C4" s="1"><v>45750</v></c><c r="D4" s="4"><v>45750.5</v></c><c r="E4" t="b"><v>1</v></c></row>
<row><c/><c><v>4.5999999999999996</v></c><c s="2"><v>60</v></c><c s="3"><v>2.5</v></c><c t="e"><v>#N/A</v></c></row>
<row r="9"><c r="A9" s="1"/></row>
<row r="10"><c r="E10" s="5"><v>0.25</v></c></row></sheetData></worksheet>`
	got, err := open(t, book(t, sheet, someStyles, someShared, ""), "Loans & more")
	want := "\nname,day,,f\n\ntwo runs,2025-04-03,2025-04-03 12:00:00,true\n4.6,1900-02-28,2.5,#N/A\n\n\n\n\n,,,06:00:00\n"
	if err != nil || got != want {
		t.Errorf("%v\n%q\nwant\n%q", err, got, want)
	}
	if got, err := open(t, book(t, strings.ReplaceAll(sheet, "45750<", "44288<"), someStyles, someShared, `<workbookPr date1904="1"/>`), ""); err != nil || !strings.Contains(got, "2025-04-03,") {
		t.Errorf("from 1904: %v\n%s", err, got)
	}
	_, err = open(t, book(t, sheet, someStyles, someShared, ""), "Rate")
	if located := new(table.Error); !errors.As(err, &located) || !strings.Contains(err.Error(), `unknown sheet "Rate"; did you mean "Rates"`) {
		t.Errorf("another sheet: %v", err)
	}
}

// What is no workbook, or one made to do harm, is an error that says so.
func TestHostile(t *testing.T) {
	for name, file := range map[string][]byte{
		"no archive":       []byte("a,b\n1,2\n"),
		"no sheets":        zipped(t, "x", "y"),
		"no such text":     book(t, `<worksheet><sheetData><row><c t="s"><v>7</v></c></row></sheetData></worksheet>`, someStyles, someShared, ""),
		"rows backwards":   book(t, `<worksheet><sheetData><row r="3"/><row r="2"/></sheetData></worksheet>`, someStyles, someShared, ""),
		"a row far away":   book(t, `<worksheet><sheetData><row r="99999999"/></sheetData></worksheet>`, someStyles, someShared, ""),
		"a column beyond":  book(t, `<worksheet><sheetData><row><c r="ZZZZZZZZZZ1"><v>1</v></c></row></sheetData></worksheet>`, someStyles, someShared, ""),
		"a cell outside":   book(t, `<worksheet><sheetData><c><v>1</v></c></sheetData></worksheet>`, someStyles, someShared, ""),
		"an end too early": book(t, `<worksheet><sheetData><row><c><v>1`, someStyles, someShared, ""),
		"an entity":        book(t, `<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet><sheetData><row><c><v>&a;</v></c></row></sheetData></worksheet>`, someStyles, someShared, ""),
		"a long text":      book(t, `<worksheet><sheetData/></worksheet>`, someStyles, `<sst><si><t>`+strings.Repeat("a", 2<<20)+`</t></si></sst>`, ""),
		"many texts":       book(t, `<worksheet><sheetData/></worksheet>`, someStyles, `<sst>`+strings.Repeat(`<si><t>`+strings.Repeat("a", 1<<10)+`</t></si>`, 1<<12)+`</sst>`, ""),
		"a long element":   book(t, `<worksheet><sheetData><row r="`+strings.Repeat("1", maxElement+1)+`"/></sheetData></worksheet>`, someStyles, someShared, ""),
	} {
		_, err := open(t, file, "")
		if located := new(table.Error); !errors.As(err, &located) || located.File != "book.xlsx" || located.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func zipped(t *testing.T, name, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	f, err := z.Create(name)
	if err == nil {
		_, err = io.WriteString(f, text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Any bytes are a table or an error.
func FuzzOpen(f *testing.F) {
	f.Add(`<worksheet><sheetData><row r="2"><c r="B2" t="s"><v>0</v></c></row></sheetData></worksheet>`, someStyles, someShared)
	f.Fuzz(func(t *testing.T, sheet, styles, shared string) {
		_, err := open(t, book(t, sheet, styles, shared, ""), "")
		if located := new(table.Error); err != nil && !errors.As(err, &located) {
			t.Errorf("%v", err)
		}
	})
}

// A single cell beyond an empty column is no column of the table.
func TestExtent(t *testing.T) {
	for _, c := range []struct {
		counts   []int
		from, to int
	}{
		{nil, 0, 0},
		{[]int{0, 1, 0}, 1, 2},
		{[]int{0, 5, 5, 0}, 1, 3},
		{[]int{5, 5, 0, 0, 1}, 0, 2},
		{[]int{5, 5, 0, 1, 0, 1}, 0, 2},
		{[]int{1, 0, 5, 5}, 2, 4},
		{[]int{5, 1}, 0, 2}, // beside others
		{[]int{5, 0, 2}, 0, 3},
	} {
		if from, to := extent(c.counts); from != c.from || to != c.to {
			t.Errorf("%v: %d to %d, want %d to %d", c.counts, from, to, c.from, c.to)
		}
	}
}

package advise

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
	"gonum.org/v1/gonum/mat"
)

// amounts are rows with an outcome that is a number, but in two of them.
func amounts(n int, odd string) string {
	var b strings.Builder
	b.WriteString("a,y\n")
	for i := range n {
		y := fmt.Sprintf("%d.5", i*37%(n-2))
		if i == 3 || i == 20 {
			y = odd
		}
		fmt.Fprintf(&b, "%s,%s\n", amount(i), y)
	}
	return b.String()
}

// The files that people really have: each says what is read, or the whole message.
func TestMessyFiles(t *testing.T) {
	utf16le := func(text string) string {
		b := []byte{0xFF, 0xFE}
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return string(b)
	}
	german := "Name;Größe;Betrag;Datum;Ziel\nMüller;1,85;1.234,50 €;31.01.2024;ja\nWeiß;1,70;99,00 €;01.02.2024;nein\nMüller;1,62;12.000,00 €;15.02.2024;ja\nWeiß;1,90;5,25 €;03.03.2024;nein\n"
	latin := func(s string) string {
		var b []byte
		for _, r := range s {
			if r == '€' {
				b = append(b, 0x80)
			} else {
				b = append(b, byte(r))
			}
		}
		return string(b)
	}
	wantGerman := []string{
		`"Name": 2 categories "Müller", "Weiß"`, `"Größe": numeric`, `"Betrag": numeric, decimal comma, thousands by ".", in €`,
		`"Datum": date, days since 2024-01-31, day of the week`,
	}
	for _, c := range []struct {
		name    string
		text    string
		options recipe.Options
		format  table.Format
		read    []string // what descriptions of columns begin with
		notes   []string // parts of notes
		message string   // or the whole message
	}{
		{
			name: "SAS's missing cells", text: manyRows(300, "income", every(15, ".", amount)), options: recipe.Options{Impute: true},
			read: []string{`"income": numeric, mean`},
		},
		{
			name: "every usual spelling of nothing", options: recipe.Options{Impute: true},
			text: manyRows(60, "a", func(i int) string {
				if i < len(table.DefaultMissing()) {
					return `"` + table.DefaultMissing()[i] + `"`
				}
				return amount(i)
			}),
			read: []string{`"a": numeric`},
		},
		{
			name: "words among numbers", text: manyRows(300, "income", every(15, "unknown", every(20, "n.k.", amount))),
			message: `messy.csv, line 2, column 1 ("income"): 270 of 300 cells are numbers, but not "unknown" (20 cells), "n.k." (10 cells); correct the cells, or say what they are: the option Markers "unknown" (a missing cell), the option Categorical "income" (codes) or the option Drop "income" (not needed)`,
		},
		{
			name: "words among numbers, settled", text: manyRows(300, "income", every(15, "unknown", every(20, "n.k.", amount))),
			options: recipe.Options{Impute: true, Markers: []string{"unknown", "n.k."}}, read: []string{`"income": numeric`},
		},
		{
			name: "thousands", text: manyRows(30, "a", func(i int) string { return fmt.Sprintf(`"%d,%03d.50"`, i+1, i*7) }),
			read: []string{`"a": numeric, thousands by ",", mean`}, notes: []string{`"a" is read as numbers`},
		},
		{
			name: "percent", text: manyRows(30, "a", func(i int) string { return fmt.Sprintf("%d.0%%", i) }),
			read: []string{`"a": numeric, in %, mean 14.5`},
		},
		{
			name: "some percent", text: manyRows(30, "a", every(3, "0.5", func(i int) string { return fmt.Sprintf("%d.0%%", i) })),
			message: `messy.csv, line 3, column 1 ("a"): some numbers are written like "1.0%" and 10 cells are not; write all numbers of the column in the same way: the option Categorical "a" (if they are codes) or the option Drop "a"`,
		},
		{
			name: "a unit of its own", text: manyRows(30, "a", func(i int) string { return fmt.Sprintf("%d.5 mg/dl", 70+i*i%31) }),
			read: []string{`"a": numeric, in mg/dl, mean`}, notes: []string{`"a" is read as numbers: in mg/dl`},
		},
		{
			name: "numbers and words that differ", text: manyRows(30, "a", func(i int) string { return []string{"1 room", "2 rooms", "3 rooms"}[i%3] }),
			read: []string{`"a": 3 categories "1 room", "2 rooms", "3 rooms"`},
		},
		{
			name: "dates in two ways", text: manyRows(60, "a", func(i int) string {
				if i%3 == 0 {
					return fmt.Sprintf("2024-01-%02d", 1+i%28)
				}
				return fmt.Sprintf("%02d.02.2024", 1+i%28)
			}),
			read: []string{`"a": date, days since 2024-01-01, day of the week`},
		},
		{
			name: "nines that stand for nothing", text: manyRows(60, "a", every(20, "-999", amount)),
			message: "messy.csv, line 2, column 1 (\"a\"): 3 cells of -999, apart from all others (35.5 to 999.7): do they stand for missing cells?; say what they are: the option Markers \"a=-999\" (missing cells) or the option Bends \"a=auto\" (values like the others)",
			options: recipe.Options{Impute: true},
		},
		{
			name: "nines that are numbers", text: manyRows(60, "a", every(20, "-999", amount)), options: recipe.Options{Bends: map[string]recipe.Bend{"a": recipe.AutoBend}},
			read: []string{`"a": numeric`}, notes: []string{`column "a" has 3 cells of -999, apart from all others (35.5 to 999.7); if missing: the option Markers "a=-999"`},
		},
		{
			name: "one number of nines", text: manyRows(60, "a", every(60, "-9", func(i int) string { return strconv.Itoa(i % 4) })),
			read: []string{`"a": numeric`}, notes: []string{`column "a" has 1 cell of -9, apart from all others (0 to 3); if missing: the option Markers "a=-9"`},
		},
		{
			name: "when a case arose", text: manyRows(30, "day", func(i int) string { return fmt.Sprintf("2024-03-%02d", i+1) }),
			read: []string{`"day": date`}, notes: []string{`column "day" is a date and used as a feature; later dates are an extrapolation; if it says when the case arose: the option Drop "day", in an audit: the option Time "day"`},
		},
		{
			name: "a nought that stands for nothing", text: manyRows(60, "a,b", every(20, "0", func(i int) string { return strconv.Itoa(60 + i%17) }), every(20, "0", func(i int) string { return strconv.Itoa(i % 13) })),
			read: []string{`"a": numeric`}, notes: []string{`column "a" has 3 cells of 0, apart from all others (60 to 76); if missing: the option Markers "a=0"`},
		},
		{
			name: "a nought that was said to be missing", text: manyRows(60, "a,b", every(20, "0", func(i int) string { return strconv.Itoa(60 + i%17) }), every(20, "0", func(i int) string { return strconv.Itoa(i % 13) })),
			options: recipe.Options{Impute: true, Markers: []string{"1=0"}}, read: []string{`"a": numeric, mean 67.6, scale 4.705, missing → 67, with an indicator of missing cells`, `"b": numeric`},
		},
		{
			name: "a marker of a dropped column", text: manyRows(30, "a,b", amount, amount), options: recipe.Options{Impute: true, Drop: []string{"b"}, Markers: []string{"b=9"}},
			message: `messy.csv, column 2 ("b"): the missing marker "b=9" is of a column that is not a feature; give the spelling without the name of a column; it then counts in all of them`,
		},
		{
			name: "case", text: manyRows(30, "a,b", func(i int) string { return []string{"Yes", " yes", "NO"}[i%3] }, func(i int) string { return []string{"a", "b"}[i%2] }),
			read:  []string{`"a": 3 categories "NO", "Yes", "yes"`},
			notes: []string{`column "a" has categories that differ in upper and lower case only, such as "Yes" and "yes"; they are treated as two`},
		},
		{
			name: "case of outcomes", text: manyRows(30, "a,late", amount, func(i int) string { return []string{"TRUE", "false", "True", "FALSE", "true", "false"}[i%6] }),
			options: recipe.Options{Target: "late", Drop: []string{"y"}, Positive: "true"}, read: []string{`"a": numeric`},
			notes: []string{`outcomes that differ in upper and lower case only are the same: "FALSE", "True", "true" beside "false", "TRUE"`},
		},
		{
			name: "names that begin with numbers, and a line of totals", options: recipe.Options{Target: "y", Markers: []string{"Total"}, Impute: true},
			text: manyRows(20, "2019 sales,2020 sales", func(i int) string { return fmt.Sprintf("%d km", i*i%17) }, amount) + "Total,Total,1\n",
			read: []string{`"2019 sales": numeric, in km`, `"2020 sales": numeric`},
		},
		{
			name: "thousands or decimals, some of them", format: table.Format{Separator: ";"},
			text:    strings.ReplaceAll(manyRows(30, "a", func(i int) string { return []string{"2.096", "8.072", "948", "1.169"}[i%4] }), ",", ";"),
			message: `messy.csv, line 2, column 1 ("a"): nothing in the file tells whether "2.096" is 2096 or a little more than 2; say what separates decimals: the option Decimal "." or the option Decimal ","`,
		},
		{
			name: "thousands that are whole either way", format: table.Format{Separator: ";"},
			text:    strings.ReplaceAll(manyRows(30, "a", func(i int) string { return []string{"2.000", "800", "12.000", "950"}[i%4] }), ",", ";"),
			message: `messy.csv, column 1 ("a"): nothing in the file tells whether "2.000" is 2000 or 2; say what separates decimals: the option Decimal "." or the option Decimal ","`,
		},
		{
			name: "an empty last column", text: strings.ReplaceAll(manyRows(20, "a", amount), "\n", ",\n"),
			message: `messy.csv, column 3 ("c3"): the outcome is missing in every row; name the column of the outcome: the option Target`,
		},
		{
			name: "rows without an outcome", text: manyRows(20, "a", amount) + "17,\nTotal,\n",
			message: `messy.csv, line 22, column 2 ("y"): the outcome is missing in 2 rows: line 22, line 23; fill the outcomes in, or leave these rows out: the option Labelled`,
		},
		{
			name: "dollars", text: manyRows(30, "a", func(i int) string { return fmt.Sprintf(`"$%d,%03d"`, i+1, i) }),
			read: []string{`"a": numeric, thousands by ",", in $`},
		},
		{
			name: "brackets", text: manyRows(30, "a", func(i int) string { return fmt.Sprintf("($%d.00)", i+1) }),
			read: []string{`"a": numeric, in $, mean -15.5`},
		},
		{
			name: "dates", text: manyRows(400, "day", func(i int) string { return time.Unix(86400*int64(20000+i), 0).UTC().Format(time.DateOnly) }),
			read: []string{`"day": date, days since 2024-10-04, day of the week, day of the year, mean 199.5`},
		},
		{
			name: "moments", text: manyRows(40, "at", func(i int) string { return fmt.Sprintf("2024-03-%02dT%02d:15:00Z", 1+i%28, i%24) }),
			read: []string{`"at": date, days since 2024-03-01 00:15:00, hour of the day, day of the week`},
		},
		{
			name: "times", text: manyRows(40, "at", func(i int) string { return fmt.Sprintf("%d:%02d", i%24, i) }),
			read: []string{`"at": date, time of day, hour of the day`},
		},
		{
			name: "day or month", text: manyRows(12, "day", func(i int) string { return fmt.Sprintf("%02d/03/2024", i+1) }),
			message: `messy.csv, line 2, column 1 ("day"): nothing in the column tells whether the day or the month comes first in "01/03/2024"; say which: the option Dates "day-first" or the option Dates "month-first"`,
		},
		{
			name: "day or month, settled", text: manyRows(12, "day", func(i int) string { return fmt.Sprintf("%02d/03/2024", i+1) }),
			options: recipe.Options{Dates: table.DayFirst}, read: []string{`"day": date, days since 2024-03-01, mean`},
		},
		{
			name: "day and month", text: manyRows(30, "day", func(i int) string { return fmt.Sprintf("03/%02d/2024", i+1) }),
			read: []string{`"day": date, days since 2024-03-01, day of the week, mean`},
		},
		{
			name: "dates and words", text: manyRows(30, "day", every(10, "soon", func(i int) string { return fmt.Sprintf("2024-03-%02d", i+1) })),
			message: `messy.csv, line 2, column 1 ("day"): 27 of 30 cells are dates, but not "soon" (3 cells); correct the cells, or say what they are: the option Markers "soon" (a missing cell), the option Categorical "day" (codes) or the option Drop "day" (not needed)`,
		},
		{
			name: "an outcome with nines", text: amounts(60, "-999"), options: recipe.Options{Number: true},
			message: `messy.csv, line 5, column 2 ("y"): 2 cells of -999, apart from all others (0.5 to 57.5): do they stand for missing cells?; say what they are: the option Markers "y=-999" with the option Labelled (missing outcomes) or the option Bends "y=auto" (values like the others)`,
		},
		{
			name: "an outcome with nines that are numbers", text: amounts(60, "-999"), options: recipe.Options{Number: true, Bends: map[string]recipe.Bend{"y": recipe.AutoBend}},
			read: []string{`"a": numeric`}, notes: []string{`column "y" has 2 cells of -999, apart from all others (0.5 to 57.5); if missing: the option Markers "y=-999"`},
		},
		{
			name: "an outcome with a word", text: amounts(60, "closed"), options: recipe.Options{Number: true},
			message: `messy.csv, line 5, column 2 ("y"): 58 of 60 cells are numbers, but not "closed" (2 cells); correct the cells, or say what they are: the option Markers "y=closed" with the option Labelled (a missing outcome)`,
		},
		{
			name: "an outcome of words", text: manyRows(30, "a,size", amount, func(i int) string { return []string{"S", "M"}[i%2] }), options: recipe.Options{Number: true, Target: "size"},
			message: `messy.csv, line 2, column 2 ("size"): 30 of 30 cells of the outcome are no numbers: "S" (15 cells), "M" (15 cells); name the column of the outcome: the option Target`,
		},
		{
			name: "a number of receipts that comes again", text: manyRows(60, "Beleg-Nr,a", func(i int) string { return fmt.Sprint(40000 + max(i, 1)) }, amount),
			read: []string{`"Beleg-Nr": numeric`}, notes: []string{`column "Beleg-Nr" is named like an identifier and has repeated values; it is used as a feature: numeric`},
		},
		{
			name: "identifier or not", text: manyRows(40, "name", func(i int) string { return fmt.Sprint("person ", max(i, 2)) }),
			message: `messy.csv, column 1 ("name"): 38 different texts in 40 rows, such as "person 2": is this an identifier?; say which it is: the option ID "name" (an identifier, to stand beside decisions), the option Drop "name" (an identifier or free text) or the option Categorical "name" (a category each)`,
		},
		{
			name: "a header with an empty cell", text: "a,,y\n1,red,0\n2,blue,1\n3,red,0\n4,blue,1\n",
			read: []string{`"c2": 2 categories`}, notes: []string{`1 column without a name in the header, called by place: "c2"`},
		},
		{
			name: "many categories", text: manyRows(400, "town", func(i int) string { return fmt.Sprint("town ", i%41) }),
			read: []string{`"town": 41 categories`}, notes: []string{`column "town" has 41 categories in 400 rows`},
		},
		{
			name: "a German spreadsheet", text: german, read: wantGerman,
		},
		{
			name: "a German spreadsheet in its own encoding", text: latin(german), read: wantGerman, notes: []string{"read as Latin-1"},
		},
		{name: "UTF-16", text: utf16le(german), read: wantGerman},
		{name: "bars", text: "a|b|y\n1.5|x|no\n2.5|z|yes\n3,5|x|no\n", read: []string{`"a": numeric`}, options: recipe.Options{Categorical: []string{"b"}}, format: table.Format{Decimal: "."}, message: "messy.csv, line 4, column 1 (\"a\"): 2 of 3 cells are numbers, but not \"3,5\" (1 cell); correct the cells, or say what they are: the option Markers \"3,5\" (a missing cell), the option Categorical \"a\" (codes) or the option Drop \"a\" (not needed)"},
		{name: "bars read", text: "a|b|y\n1.5|x|no\n2.5|z|yes\n3.5|x|no\n", read: []string{`"a": numeric`, `"b": 2 categories "x", "z"`}},
		{name: "a separator of one's own", text: "a~b~y\n1.5~x~no\n2.5~z~yes\n3.5~x~no\n", format: table.Format{Separator: "~"}, read: []string{`"a": numeric`, `"b": 2 categories "x", "z"`}},
		{name: "Excel", text: "PK\x03\x04\x14\x00\x06\x00xl/workbook.xml", message: `messy.csv: this is an Excel workbook (.xlsx), not text; save the sheet as CSV`},
		{
			name: "a title above the header", text: "Patients, ward 3\n\nage,bp,y\n50,120,1\n60,130,0\n",
			message: `messy.csv, line 3: this line looks like the header: 3 cells here and in the rows below, and 2 in line 1; leave out what is above it: the option Skip "1-2" (a title, or comments)`,
		},
		{
			name: "comments above the header", text: "# a study\n# of 2024\n" + manyRows(30, "x", amount),
			message: `messy.csv, line 3: this line looks like the header: 2 cells here and in the rows below, and 1 in line 1; leave out what is above it: the option Skip "1-2" (a title, or comments)`,
		},
		{
			name: "a title with as many cells", text: "Patients,ward,3\nage,bp,y\n50,120,1\n60,130,0\n", options: recipe.Options{Target: "y"}, format: table.Format{Header: table.HeaderYes},
			message: `messy.csv, line 1, column "y": no such column; columns (3): "Patients", "ward", "3"; if line 2 is the header, leave out what is above it, or else give a name, a number from 1, or "last": the option Skip "1" (a title, or comments)`,
		},
		{
			name: "a title filled up with empty cells", text: "Patients,,\n,,\nage,bp,y\n50,120,1\n60,130,0\n",
			message: `messy.csv, line 3: this line looks like the header: no cell is empty here, and some are in line 1; leave out what is above it, or say what the first line is: the option Skip "1-2" (a title, or comments), the option Header "yes" (the header) or the option Header "no" (a row)`,
		},
		{
			name: "a title filled up above words", text: "Customers,,\nplace,job,class\nA,clerk,good\nB,smith,bad\nA,clerk,good\nB,smith,bad\nA,clerk,good\nA,smith,bad\n",
			message: `messy.csv, line 2: this line looks like the header: no cell is empty here, and some are in line 1; leave out what is above it, or say what the first line is: the option Skip "1" (a title, or comments), the option Header "yes" (the header) or the option Header "no" (a row)`,
		},
		{
			name: "a last column without a name", text: "place,y,\nA,no,clerk\nB,yes,smith\nA,no,clerk\nB,yes,smith\nA,no,smith\n", options: recipe.Options{Target: "y"},
			read: []string{`"place": 2 categories "A", "B"`, `"c3": 2 categories "clerk", "smith"`},
		},
		{
			name: "an accountant's numbers without a unit", text: manyRows(30, "a", every(3, "(1.50)", func(i int) string { return fmt.Sprintf("%d.50", i) })),
			read: []string{`"a": numeric, below zero in brackets, mean 9.833`}, notes: []string{`"a" is read as numbers: below zero in brackets`},
		},
		{
			name: "a cell too many in the first row of data", text: "a,b,y\n1,2,3,1\n1,2,0\n1,2,1\n",
			message: `messy.csv, line 2, column 4: ragged row: 4 cells where the first row has 3; complete the row, quote cells that contain the separator ',', or give another separator: the option Separator`,
		},
		{
			name: "a separator that is not found", text: "a^y\n1^0\n2^1\n", options: recipe.Options{Target: "y"},
			message: `messy.csv, column "y": no such column; columns (1): "c1"; name it, or say what stands between the cells of more: the option Separator`,
		},
		{name: "old Excel", text: "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", message: `messy.csv: this is an old Excel workbook (.xls), not text; save the sheet as CSV`},
		{name: "a web page", text: "<!DOCTYPE html>\n<html>", message: `messy.csv: this is a web page or XML, not a table of text; download or export the table as CSV`},
		{name: "JSON", text: `{"rows": [1]}`, message: `messy.csv: this is JSON, not a table of text; name a file of one object a line .jsonl, uncompressed, or write the rows as CSV or Parquet`},
		{
			name: "nearly the target", text: "a,Class\n1,yes\n2,no\n", options: recipe.Options{Target: "class"},
			message: `messy.csv, line 1, column "class": no such column; did you mean "Class"? columns (2): "a", "Class"; give a name, a number from 1, or "last"`,
		},
		{name: "plus and minus", text: "a,b,y\n+,1,-\n-,2,+\n+,3,-\n", format: table.Format{Header: table.HeaderYes}, read: []string{`"a": 2 categories "+", "-"`, `"b": numeric`}},
		{name: "long codes", text: manyRows(30, "code", func(i int) string { return fmt.Sprintf("1234567890123456780%d", i%3) }), options: recipe.Options{Categorical: []string{"code"}}, read: []string{`"code": 3 categories "12345678901234567800", "12345678901234567801", "12345678901234567802"`}},
		{
			name: "long codes, not declared", text: manyRows(30, "code", func(i int) string {
				return []string{"10000000000000001", "23456789012345678", "99999999999999999"}[i%3]
			}),
			read: []string{`"code": 3 categories "10000000000000001", "23456789012345678", "99999999999999999"`}, notes: []string{`"code" has integers of more than 15 digits, which are treated as categorical`},
		},
		{
			name: "long identifiers", text: manyRows(30, "a,code", amount, func(i int) string { return fmt.Sprint(1234567890123456780 + i) }),
			read: []string{`dropped "code": all 30 values are unique (identifier)`},
		},
		{
			name: "a few long integers", text: manyRows(30, "a", every(10, "12345678901234567", func(i int) string { return fmt.Sprint(i * i * i) })),
			read: []string{`"a": numeric`}, notes: []string{`"a" has 3 integers of more than 15 digits, which are rounded`},
		},
		{
			name: "close integers", text: manyRows(20, "a", func(i int) string { return fmt.Sprint(123456789012345 + i%2) }),
			read: []string{`"a": numeric, mean 1.235e+14, scale 0.5`},
		},
		{
			name: "a category twice", text: manyRows(30, "size", func(i int) string { return fmt.Sprint(i % 3) }), options: recipe.Options{Ordered: []recipe.OrderedSet{{Column: "size", Categories: []string{"0", "1", "1.0", "2"}}}},
			message: `messy.csv, column 1 ("size"): "1" and "1.0" are the same number in the order of "size"; give every category once`,
		},
		{
			name: "two orders", text: manyRows(30, "size", func(i int) string { return fmt.Sprint(i % 2) }), options: recipe.Options{Ordered: []recipe.OrderedSet{{Column: "size", Categories: []string{"0", "1"}}, {Column: "1", Categories: []string{"1", "0"}}}},
			message: `messy.csv, column 1 ("size"): two orders are given: 0,1 and 1,0; give one of them`,
		},
		{
			name: "dates of two digits a year", text: manyRows(30, "a,b,c", func(i int) string { return fmt.Sprintf("%d-Jan-24", 1+i%3) }, func(i int) string { return fmt.Sprintf("Jan %d 2024", 1+i%3) }, func(i int) string { return fmt.Sprintf("01/0%d/24", 1+i%3) }),
			read: []string{`"a": 3 categories "1-Jan-24"`}, notes: []string{`"a" has words such as "1-Jan-24", which are not read as dates`, `"b" has words such as "Jan 1 2024", which`, `"c" has words such as "01/01/24", which`},
		},
		{name: "an order", text: manyRows(30, "size", func(i int) string { return []string{"S", "M", "L"}[i%3] }), options: recipe.Options{Ordered: []recipe.OrderedSet{{Column: "size", Categories: []string{"S", "M", "L"}}}}, read: []string{`"size": ordered, S < M < L, mean 1`}},
		{
			name: "an order with a hole", text: manyRows(30, "size", func(i int) string { return []string{"S", "M", "XL"}[i%3] }), options: recipe.Options{Ordered: []recipe.OrderedSet{{Column: "size", Categories: []string{"S", "M", "L"}}}},
			message: `messy.csv, line 4, column 1 ("size"): "XL" (10 cells) is not in the order "S", "M", "L"; put every category in the order, or make it a missing marker`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := table.Read(context.Background(), strings.NewReader(c.text), "messy.csv", c.format)
			var l *recipe.Learned
			var found *Advice
			if err == nil {
				l, found, err = Learn(data, c.options)
			}
			if c.message != "" || err != nil {
				if diff := cmp.Diff(c.message, fmt.Sprint(err)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				return
			}
			lines := strings.Join(l.Recipe.Describe(), "\n")
			for _, want := range c.read {
				if !strings.Contains(lines, "\n"+want) {
					t.Errorf("no line begins with %s in\n%s", want, lines)
				}
			}
			for _, want := range c.notes {
				if !strings.Contains(strings.Join(found.Findings.Texts(), "\n"), want) {
					t.Errorf("%q are not among the notes %q", want, found.Findings.Texts())
				}
			}
			// What was learned from reads again as new rows, bit for bit.
			again, err := recipe.NewReader(context.Background(), strings.NewReader(c.text), "again.csv", l.Recipe, c.format)
			if err != nil {
				t.Fatal(err)
			}
			block, err := again.ReadBlock(data.Len())
			if err != nil || !mat.Equal(block.X, l.X) {
				t.Errorf("read again: %v", err)
			}
		})
	}
}

package xlsx

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// readStyles reads which styles show dates or times.
func (b *Book) readStyles(part string) error {
	custom, cells := make(map[string]string), false
	return b.each(part, b.memory, func(_ *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			custom[attribute(e, "numFmtId")] = attribute(e, "formatCode")
		case "cellXfs":
			cells = true
		case "cellStyles", "cellStyleXfs", "dxfs":
			cells = false
		case "xf":
			if !cells {
				return nil
			}
			id := attribute(e, "numFmtId")
			code, own := custom[id]
			n, _ := strconv.Atoi(id)
			// The numbers that Excel knows without a code: dates and times of all countries.
			b.times = append(b.times, own && showsTime(code) || !own && (n >= 14 && n <= 22 || n >= 27 && n <= 36 || n >= 45 && n <= 47 || n >= 50 && n <= 58))
		}
		return nil
	})
}

// showsTime tells whether a number format shows a date or a time: there is one of the letters
// for their parts outside of quotes, escapes and brackets, but for hours and the like in these.
func showsTime(code string) bool {
	code, _, _ = strings.Cut(code, ";") // that of positive numbers
	code = strings.ToLower(code)
	for k := 0; k < len(code); k++ {
		switch code[k] {
		case '\\', '_', '*':
			k++
		case '"', '[':
			end := strings.IndexByte(code[k+1:], map[byte]byte{'"': '"', '[': ']'}[code[k]])
			if end < 0 {
				return false
			}
			if inner := code[k+1 : k+1+end]; code[k] == '[' && inner != "" && strings.Trim(inner, inner[:1]) == "" && strings.Contains("hms", inner[:1]) {
				return true
			}
			k += end + 1
		case 'y', 'm', 'd', 'h', 's':
			return true
		case 'g': // of General
			if strings.HasPrefix(code[k:], "general") {
				k += len("general") - 1
			}
		}
	}
	return false
}

// rows goes over the rows of a sheet that there are, with their numbers from 1.
func (b *Book) rows(part string, use func(row int, cells []string) error) error {
	row, column, open := 0, 0, false
	var cells []string
	flush := func() error {
		if !open {
			return nil
		}
		open = false
		return use(row, cells)
	}
	found := false
	err := b.each(part, maxSheet, func(d *xml.Decoder, e xml.StartElement) error {
		switch e.Name.Local {
		case "sheetData":
			found = true
		case "row":
			if err := flush(); err != nil {
				return err
			}
			next := row + 1
			if text := attribute(e, "r"); text != "" {
				n, err := strconv.Atoi(text)
				if err != nil || n < next {
					return fmt.Errorf("row %q comes after row %d", text, row)
				}
				next = n
			}
			if next > maxRows {
				return fmt.Errorf("row %d is beyond the %d that a sheet can have", next, maxRows)
			}
			row, column, cells, open = next, 0, cells[:0], true
		case "c":
			at := column
			if ref := attribute(e, "r"); ref != "" {
				if at = columnOf(ref); at < column {
					return fmt.Errorf("cell %q is not where it belongs", ref)
				}
			}
			if at >= maxColumns || !open {
				return errors.New("a cell is outside of the sheet")
			}
			text, err := b.cell(d, e)
			if err != nil {
				return fmt.Errorf("row %d, column %d: %w", row, at+1, err)
			}
			for len(cells) < at {
				cells = append(cells, "")
			}
			cells, column = append(cells, text), at+1
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New(part + " has no cells")
	}
	if err != nil {
		return err
	}
	return flush()
}

// columnOf is the column of a reference such as AB12, from 0.
func columnOf(ref string) int {
	n := 0
	for _, r := range ref {
		if r < 'A' || r > 'Z' {
			break
		}
		if n = 26*n + int(r-'A') + 1; n > maxColumns {
			return maxColumns
		}
	}
	return n - 1
}

// cell reads a cell to its end, as text.
func (b *Book) cell(d *xml.Decoder, e xml.StartElement) (string, error) {
	value, inline := "", ""
	for depth, inside := 1, false; depth > 0; {
		token, err := d.RawToken()
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "is" {
				if inline, err = textOf(d); err != nil {
					return "", err
				}
				continue
			}
			depth++
			inside = t.Name.Local == "v"
		case xml.EndElement:
			depth--
			inside = false
		case xml.CharData:
			if inside {
				value += string(t)
			}
			if len(value) > maxCell {
				return "", fmt.Errorf("a value of more than %d bytes", maxCell)
			}
		}
	}
	switch attribute(e, "t") {
	case "inlineStr":
		return inline, nil
	case "s":
		k, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || k < 0 || k >= len(b.shared) {
			return "", fmt.Errorf("there is no text of number %q", value)
		}
		return b.shared[k], nil
	case "b":
		return strconv.FormatBool(truth(value)), nil
	case "str":
		return unescaped(value), nil
	case "e":
		return value, nil
	case "d":
		return strings.Replace(strings.TrimSuffix(value, "Z"), "T", " ", 1), nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value, nil
	}
	if s, err := strconv.Atoi(attribute(e, "s")); err == nil && s >= 0 && s < len(b.times) && b.times[s] {
		if text, ok := dateText(x, b.date1904); ok {
			return text, nil
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64), nil
}

// dateText is a number of days as a date, with the time of the day if it has one, or as a time
// alone if there is no day.
func dateText(days float64, from1904 bool) (string, bool) {
	if !(days >= 0 && days < 2958466) { // the end of 9999
		return "", false
	}
	begin := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	if from1904 {
		begin = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if days >= 1 && days < 60 {
		days++ // Excel has a 29 February 1900
	}
	whole, part := math.Modf(days)
	seconds := math.Round(part * 86400)
	at := begin.AddDate(0, 0, int(whole)).Add(time.Duration(seconds) * time.Second)
	switch {
	case whole == 0 && !from1904:
		return at.Format(time.TimeOnly), true
	case seconds == 0:
		return at.Format(time.DateOnly), true
	}
	return at.Format(time.DateTime), true
}

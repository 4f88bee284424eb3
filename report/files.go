package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Results is the name of the file with every number.
const Results = "results.json"

// Origin is what made the numbers, at the head of Results.
type Origin struct {
	MadeBy   string            `json:"made_by"`
	Versions map[string]string `json:"versions"`
}

// files are the contents of a report's files, by name.
type files map[string][]byte

func (f files) add(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f[name] = b.Bytes()
	return nil
}

// figure adds a figure for pages and one for everything else.
func (f files) figure(name string, figure Figure) error {
	if err := f.add(name+".svg", func(w io.Writer) error { return WriteSVG(w, figure) }); err != nil {
		return err
	}
	return f.add(name+".png", func(w io.Writer) error { return WritePNG(w, figure) })
}

func (f files) results(v any, indent string) error {
	b, err := json.MarshalIndent(v, "", indent)
	f[Results] = append(b, '\n')
	return err
}

// exactly is a number to its last digit.
func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

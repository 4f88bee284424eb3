package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/lossep/lossep/internal/tasks"
)

// Results is the name of the file with every number.
const Results = "results.json"

// Origin is what made the numbers, at the head of Results.
type Origin struct {
	MadeBy   string            `json:"made_by"`
	Versions map[string]string `json:"versions"`
}

// files are what writes each of a report's files, by name.
type files map[string]func(io.Writer) error

// figure adds a figure for pages and one for everything else.
func (f files) figure(name string, figure Figure) {
	f[name+".svg"] = func(w io.Writer) error { return WriteSVG(w, figure) }
	f[name+".png"] = func(w io.Writer) error { return WritePNG(w, figure) }
}

// results adds the file with every number.
func (f files) results(v any, indent string) {
	f[Results] = func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", indent)
		return e.Encode(v)
	}
}

// contents are those of all files.
func (f files) contents() (map[string][]byte, error) {
	names := slices.Sorted(maps.Keys(f))
	all, errs := make([]bytes.Buffer, len(names)), make([]error, len(names))
	tasks.For(len(names), func(i int) { errs[i] = f[names[i]](&all[i]) })
	found := make(map[string][]byte, len(names))
	for i, name := range names {
		if errs[i] != nil {
			return nil, fmt.Errorf("%s: %w", name, errs[i])
		}
		found[name] = all[i].Bytes()
	}
	return found, nil
}

// exactly is a number to its last digit.
func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

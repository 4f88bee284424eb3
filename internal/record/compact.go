package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// compact makes a Parquet file of a journal, and removes it. One that is there already is of a process that
// was killed in between, and is made again with the same rows.
func compact(path string) error {
	kinds, names, rows, err := survey(path)
	if err != nil {
		return err
	}
	if rows > 0 {
		stamp := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "_journal-"), ".jsonl")
		err = replace(filepath.Join(filepath.Dir(path), "decisions-"+stamp+parquet.Extension), func(f *os.File) error {
			return convert(f, path, names, kinds)
		})
	}
	if err != nil {
		return err
	}
	return os.Remove(path)
}

// Columns of decisions; those of inputs follow, and one _probability_NAME for each outcome.
var own = []string{"_id", "_time", "_digest", "_action"}

// lines hands over the whole lines of a journal.
func lines(path string, use func(l *line) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	in := bufio.NewReaderSize(f, 1<<16)
	for {
		text, err := in.ReadBytes('\n')
		if err == io.EOF { // and a line that was begun
			return nil
		}
		if err != nil {
			return err
		}
		var l line
		if json.Unmarshal(text, &l) != nil {
			continue // torn by a machine that lost its power
		}
		if err := use(&l); err != nil {
			return err
		}
	}
}

// survey finds the columns of a journal, and what they hold.
func survey(path string) (kinds map[string]table.CellKind, names []string, rows int, err error) {
	kinds = make(map[string]table.CellKind)
	note := func(name string, kind table.CellKind) {
		if before, known := kinds[name]; !known {
			kinds[name] = kind
		} else if before != kind {
			kinds[name] = table.TextCells
		}
	}
	err = lines(path, func(l *line) error {
		rows++
		for name, value := range l.Inputs {
			switch v := string(value); {
			case v == "null":
			case v == "true" || v == "false":
				note(name, table.TruthCells)
			case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
				note(name, table.NumberCells)
			default:
				note(name, table.TextCells)
			}
		}
		for _, o := range l.Outcomes {
			note("_probability_"+o, table.NumberCells)
		}
		return nil
	})
	names = slices.Sorted(maps.Keys(kinds))
	for _, name := range own {
		kinds[name] = table.TextCells
	}
	return kinds, append(slices.Clone(own), slices.DeleteFunc(names, func(n string) bool { return slices.Contains(own, n) })...), rows, err
}

// convert writes the rows of a journal.
func convert(f *os.File, path string, names []string, kinds map[string]table.CellKind) error {
	columns := make([]table.SourceColumn, len(names))
	for i, name := range names {
		columns[i] = table.SourceColumn{Name: name, Kind: kinds[name]}
	}
	to := bufio.NewWriter(f)
	w, err := parquet.NewWriter(to, columns)
	if err != nil {
		return err
	}
	row := make([]any, len(names))
	err = lines(path, func(l *line) error {
		cells := map[string]string{"_id": l.ID, "_time": l.Time, "_digest": l.Digest, "_action": l.Action}
		for k, o := range l.Outcomes {
			cells["_probability_"+o] = strconv.FormatFloat(l.Probabilities[k], 'g', -1, 64)
		}
		for i, name := range names {
			row[i] = nil
			text, is := cells[name]
			if !is {
				text = plain(l.Inputs[name])
			}
			if text != "" {
				row[i] = text
			}
		}
		return w.Write(row)
	})
	if err != nil {
		return err
	}
	return errors.Join(w.Close(), to.Flush())
}

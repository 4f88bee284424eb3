package record

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lossep/lossep/table"
	"github.com/lossep/lossep/table/parquet"
)

// compact makes a Parquet file of a journal, and removes it; one that is damaged is kept under another name, and counted.
// A Parquet file that is there already is of a process that was killed in between, and is made again with the same rows.
func (r *Recorder) compact(path string) error {
	c, err := survey(path, r.rest)
	if err != nil {
		return err
	}
	stamp := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "_journal-"), journalExtension)
	if c.rows > 0 {
		err = replace(filepath.Join(filepath.Dir(path), "decisions-"+stamp+parquet.Extension), func(f *os.File) error {
			return c.write(f, path, r.rest)
		})
	}
	switch kept := filepath.Join(filepath.Dir(path), "_damaged-"+stamp+journalExtension); {
	case err != nil:
		return err
	case c.damaged == 0:
		return os.Remove(path)
	default:
		if err := os.Rename(path, kept); err != nil {
			return err
		}
		r.dropped.Add(int64(c.damaged))
		r.fail(fmt.Errorf("%s: damaged in %d places; %d decisions could be read, and the file is kept as %s; check the disk", path, c.damaged, c.rows, kept))
		return syncFolder(filepath.Dir(path))
	}
}

const (
	// groupRows is how many rows a group of a file has: what is encoded at a time while requests may wait for the
	// processor.
	groupRows = 1 << 13
	// stepRows is after how many rows it may rest, stepTime for how long it works until then, and restShare how often
	// the time that it worked it rests: it takes a quarter of one processor at most, and half of one where another journal
	// waits.
	stepRows    = 32
	stepTime    = 300 * time.Microsecond
	restShare   = 3
	longestRest = 20 * time.Millisecond
	// It waits for requests that are being answered, and looks every pause; a server that always has some does not
	// keep it for longer than longestWait.
	pause       = time.Millisecond / 2
	longestWait = 25 * time.Millisecond
)

// rest has others come first: nobody waits for Parquet files while the server is up and few journals wait to become some.
func (r *Recorder) rest() {
	worked := time.Since(r.rested)
	if worked < stepTime {
		return
	}
	switch waiting := len(r.full); {
	case r.hurry.Load() || waiting > fullLength/2:
		runtime.Gosched()
	case waiting > 0:
		time.Sleep(min(worked, longestRest))
	default:
		time.Sleep(min(restShare*worked, longestRest))
		r.wait(longestWait, func() bool { return false })
	}
	r.rested = time.Now()
}

// wait waits until no request is being answered, for so long at most, or until it is urgent.
func (r *Recorder) wait(most time.Duration, urgent func() bool) {
	for since := time.Now(); r.answering.Load() > 0 && time.Since(since) < most && !urgent(); {
		time.Sleep(pause)
	}
}

// Columns of decisions; one _probability_NAME for each outcome, other numbers and those of inputs follow, by name.
var own = []string{"_id", "_time", "_digest", Action}

// conversion is a table in the making: its columns, and what each holds.
type conversion struct {
	names         []string
	kinds         map[string]table.CellKind
	rows, damaged int
}

// survey finds the columns of a journal, and what they hold.
func survey(path string, rest func()) (*conversion, error) {
	c := &conversion{kinds: make(map[string]table.CellKind)}
	found := make(map[string]*kindSet)
	var of []*kindSet // the columns of the schema
	var err error
	action := table.NumberCells // unless some have names
	c.damaged, err = frames(path, func(s *Schema) {
		of = of[:0]
		for _, name := range s.values() {
			c.kinds[name] = table.NumberCells
		}
		if len(s.Actions) > 0 {
			action = table.TextCells
		}
		for _, name := range s.Columns {
			if found[name] == nil {
				found[name] = new(kindSet)
			}
			of = append(of, found[name])
		}
	}, func(d *decided) error {
		if c.rows++; c.rows%stepRows == 0 {
			rest()
		}
		for k, cell := range d.cells {
			if kind, is := kindOf(cell); is {
				*of[k] |= 1 << kind
			}
		}
		return nil
	})
	for name, kinds := range found {
		if _, taken := c.kinds[name]; !taken && *kinds != 0 {
			c.kinds[name] = kinds.common()
		}
	}
	for _, name := range own {
		c.kinds[name] = table.TextCells
	}
	c.kinds[Action] = action
	c.names = append(slices.Clone(own), slices.DeleteFunc(slices.Sorted(maps.Keys(c.kinds)), func(n string) bool { return slices.Contains(own, n) })...)
	return c, err
}

// kindSet is a set of kinds.
type kindSet uint32

// common is what holds all of them.
func (s kindSet) common() table.CellKind {
	if bits.OnesCount32(uint32(s)) == 1 {
		return table.CellKind(bits.TrailingZeros32(uint32(s)))
	}
	return table.TextCells
}

// reserved tells whether a column is one of decisions, which one of inputs cannot be.
func (s *Schema) reserved(column string) bool {
	return slices.Contains(own, column) || slices.Contains(s.values(), column)
}

// kindOf is what a JSON value is as a cell, if there is one.
func kindOf(value []byte) (kind table.CellKind, is bool) {
	switch {
	case len(value) == 0 || value[0] == 'n' || string(value) == `""`:
		return kind, false
	case value[0] == 't' || value[0] == 'f':
		return table.TruthCells, true
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return table.NumberCells, true
	}
	return table.TextCells, true
}

// write writes the rows of a journal.
func (c *conversion) write(f *os.File, path string, rest func()) error {
	columns, at := make([]table.SourceColumn, len(c.names)), make(map[string]int)
	for i, name := range c.names {
		columns[i], at[name] = table.SourceColumn{Name: name, Kind: c.kinds[name]}, i
	}
	to := bufio.NewWriter(f)
	w, err := parquet.NewWriter(to, columns)
	if err != nil {
		return err
	}
	w.GroupRows, w.Rest = groupRows, rest
	var digest, moment any // of rows that follow each other mostly the same
	var actions []any
	var places []int // of numbers and cells
	schema := func(s *Schema) {
		digest, actions, places = s.Digest, nil, nil
		for _, a := range s.Actions {
			actions = append(actions, a)
		}
		for _, name := range s.values() {
			places = append(places, at[name])
		}
		for _, name := range s.Columns {
			place, is := at[name]
			if !is || s.reserved(name) {
				place = -1
			}
			places = append(places, place)
		}
	}
	row, rows, second := make([]any, len(c.names)), 0, int64(-1)
	numbers := make([]float64, len(c.names)) // of the row, so that none is allocated
	_, err = frames(path, schema, func(d *decided) error {
		if rows++; rows%stepRows == 0 {
			rest()
		}
		if d.time != second {
			second, moment = d.time, time.Unix(d.time, 0).UTC().Format(layout)
		}
		clear(row)
		row[0], row[1], row[2] = string(d.id), moment, digest
		if actions != nil {
			row[3] = actions[d.action]
		}
		for k, p := range d.values {
			if place := places[k]; columns[place].Kind == table.NumberCells {
				numbers[place] = p
				row[place] = &numbers[place]
			} else { // an action where others have names
				row[place] = strconv.FormatFloat(p, 'g', -1, 64)
			}
		}
		for k, cell := range d.cells {
			if place := places[len(d.values)+k]; place >= 0 {
				row[place] = cellOf(cell, columns[place].Kind, &numbers[place])
			}
		}
		return w.Write(row)
	})
	return errors.Join(err, w.Close(), to.Flush())
}

// cellOf is a JSON value as a cell of a column that holds a kind, a number where it is put, and nil if there is none.
func cellOf(value []byte, as table.CellKind, number *float64) any {
	kind, is := kindOf(value)
	switch {
	case !is:
		return nil
	case as == table.NumberCells:
		x, err := strconv.ParseFloat(string(value), 64)
		if err != nil {
			return nil
		}
		*number = x
		return number
	case as == table.TruthCells:
		return value[0] == 't'
	case kind == table.TextCells:
		return unquoted(value)
	}
	return string(value)
}

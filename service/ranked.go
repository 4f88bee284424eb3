package service

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"slices"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/table"
)

// Ranked writes rows largest first by one of their numbers, or only the first of them. Rows
// that are equal in it stay in their order.
type Ranked struct {
	to     RowWriter
	top    int   // 0 for all
	memory int64 // bytes that rows may take
	field  int
	at     int // of a list
	rows   rankedRows
	n      int
	bytes  int64
}

// NewRanked ranks rows of the fields by a column of them before a writer has them. No more
// than so many bytes of rows are held.
func NewRanked(to RowWriter, fields []Field, column string, top int, memory int64) (*Ranked, error) {
	field, at, known := numberColumn(fields, column)
	if field < 0 {
		return nil, optionError("sort", "unknown column %q; %s", column, table.Instead(column, known))
	}
	return &Ranked{to: to, top: top, memory: memory, field: field, at: at}, nil
}

// numberColumn is the field that has a column of numbers, −1 if none has, and the column's place in it;
// or all such columns.
func numberColumn(fields []Field, column string) (field, at int, known []string) {
	for k := range fields {
		for at, name := range fields[k].Columns {
			if fields[k].kind(at) != table.NumberCells {
				continue
			}
			if name == column {
				return k, at, nil
			}
			known = append(known, name)
		}
	}
	return -1, 0, known
}

type rankedRow struct {
	key    float64
	number int
	cells  []string
	record []any
}

// before tells whether a row is written before another.
func (r *rankedRow) before(other *rankedRow) int {
	return cmp.Or(cmp.Compare(other.key, r.key), cmp.Compare(r.number, other.number))
}

// rankedRows is a heap whose first is the row that would be written last.
type rankedRows []*rankedRow

func (h rankedRows) Len() int           { return len(h) }
func (h rankedRows) Less(i, j int) bool { return h[i].before(h[j]) > 0 }
func (h rankedRows) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *rankedRows) Push(x any)        { *h = append(*h, x.(*rankedRow)) }
func (h *rankedRows) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Write implements RowWriter.
func (r *Ranked) Write(cells []string, record []any) error {
	row := &rankedRow{number: r.n, cells: cells, record: record}
	r.n++
	switch v := record[r.field].(type) {
	case float64:
		row.key = v
	case []float64:
		row.key = v[r.at]
	case Object:
		row.key = v.Cells()[r.at].(float64)
	}
	if r.top > 0 && len(r.rows) == r.top {
		if row.before(r.rows[0]) > 0 {
			return nil
		}
		r.bytes -= r.rows[0].size()
		r.rows[0] = row
		heap.Fix(&r.rows, 0)
	} else {
		heap.Push(&r.rows, row)
	}
	if r.bytes += row.size(); r.bytes > r.memory {
		return optionError("sort", "%d rows take more memory than there is for sorting, %s; write fewer with {top}, or give more by {max-memory}", len(r.rows), SizeText(r.memory))
	}
	return nil
}

// size is about how many bytes the row takes.
func (r *rankedRow) size() int64 {
	bytes := int64(96)
	for _, cell := range r.cells {
		bytes += 16 + int64(len(cell))
	}
	for _, v := range r.record {
		bytes += 32
		switch v := v.(type) {
		case string:
			bytes += int64(len(v))
		case []float64:
			bytes += 24 + 8*int64(len(v))
		case []string:
			for _, text := range v {
				bytes += 16 + int64(len(text))
			}
		case Object:
			bytes += 64 * int64(len(v.Cells()))
		}
	}
	return bytes
}

// Close implements RowWriter.
func (r *Ranked) Close() error {
	slices.SortFunc(r.rows, (*rankedRow).before)
	for _, row := range r.rows {
		if err := r.to.Write(row.cells, row.record); err != nil {
			return err
		}
	}
	return r.to.Close()
}

// Writer writes rows of the fields as the request says: in its format, with the columns that
// are kept of the input, and sorted in so many bytes of memory if it says so.
func (r *Cases) Writer(w io.Writer, kept []table.SourceColumn, fields []Field, memory int64) (RowWriter, error) {
	rows, err := NewRowWriter(w, r.As, r.what, kept, fields)
	if err != nil || r.Sort == "" {
		return rows, err
	}
	return NewRanked(rows, fields, r.Sort, r.Top, memory)
}

// UncertainCost is a cost, or a utility, that is not known, and what it would be worth to find it out.
type UncertainCost struct {
	Entry        string  `json:"entry" doc:"the action and the outcome"`
	Distribution string  `json:"distribution"`
	Worth        float64 `json:"worth" doc:"how much less a case would be expected to cost, or how much more to bring, if this were known before deciding (expected value of perfect information)"`
}

// Doubts are what decisions leave open under costs that are not known.
type Doubts struct {
	Flippable int       // decisions that another value of them would change
	Worths    []float64 // of knowing each, summed over cases
}

// add counts a decision; nothing where all is known.
func (d *Doubts) add(s *decision.Stakes, c *decision.Choice, p []float64) {
	if len(s.Spreads) == 0 {
		return
	}
	if s.CouldFlip(c, p) {
		d.Flippable++
	}
	d.sum(s.Worths(c, p))
}

func (d *Doubts) sum(worths []float64) {
	if d.Worths == nil {
		d.Worths = make([]float64, len(worths))
	}
	for k, x := range worths {
		d.Worths[k] += x
	}
}

// Costs are those that are not known, with what each is worth a case.
func (d *Doubts) Costs(s *decision.Spec, rows int) (all []UncertainCost) {
	for k, u := range s.Uncertain() {
		worth := 0.0
		if d.Worths != nil {
			worth = d.Worths[k] / float64(max(1, rows))
		}
		all = append(all, UncertainCost{u.Name, u.Text, worth})
	}
	return all
}

// Case counts a case.
func (d *Doubts) Case(c *Case) { d.add(&c.Decision.Stakes, c.free(), c.Decision.Probabilities) }

// lines say it in words.
func (d *Doubts) lines(s *decision.Spec, rows int) (lines []string) {
	costs := d.Costs(s, rows)
	if len(costs) == 0 || rows == 0 {
		return nil
	}
	what := map[bool]string{true: "costs", false: "utilities"}[s.Costs()]
	lines = append(lines, fmt.Sprintf("%s: another action is best for some values within the ranges of the %s", table.Plural(d.Flippable, "row"), what))
	for _, c := range costs {
		lines = append(lines, fmt.Sprintf("knowing %s, %s, in advance would be worth %.4g per row", c.Entry, c.Distribution, c.Worth))
	}
	return lines
}

// flipFields say whether a decision could flip, where costs are not known.
func flipFields(s *decision.Spec) []Field {
	if len(s.Uncertain()) == 0 {
		return nil
	}
	return []Field{{Name: "could_flip", Columns: []string{"could_flip"}, Truth: func(c *Case) bool {
		return c.Decision.Stakes.CouldFlip(c.free(), c.Decision.Probabilities)
	}}}
}

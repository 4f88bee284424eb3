package recipe

import (
	"math"
	"runtime/debug"
	"slices"

	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/table"
)

// A table that is owned and its encoded rows would take 16 bytes for a cell. Its numbers are held by the rows as
// soon as these are made, some segments at a time, which leaves a byte of each.

// heldAtOnce is how many bytes of cells are encoded before they are held by the rows and their memory is returned.
const heldAtOnce = 1 << 27

// holder holds the cells of a table by its encoded rows.
type holder struct {
	*tableReader
	blocks int // of rows that are encoded before
	bytes  int // held since memory was returned
}

func newHolder(r *tableReader) *holder {
	h := &holder{tableReader: r, blocks: (r.table.Len() + blockOfRows - 1) / blockOfRows}
	if r.table.Holds() {
		segments := max(1, heldAtOnce/(8*table.SegmentRows*max(1, len(r.features))))
		h.blocks = segments * table.SegmentRows / blockOfRows
		h.bytes = 8 * r.table.Len() * len(r.features) // where reading may have left as much behind
		h.release()
	}
	return h
}

// hold does so with the rows from a block on that have just been encoded.
func (h *holder) hold(block int) {
	if !h.table.Holds() {
		return
	}
	first := block * blockOfRows / table.SegmentRows
	last := (min(h.table.Len(), (block+h.blocks)*blockOfRows) + table.SegmentRows - 1) / table.SegmentRows
	segments := last - first
	found := make([]*inputs, len(h.features)*segments)
	tasks.For(len(found), func(task int) {
		f, segment := &h.fields[h.features[task/segments]], first+task%segments
		if f.column.Kind == Numeric {
			cells := h.table.Cells(h.source[h.features[task/segments]]).Segment(segment)
			found[task] = h.missed(cells, f, segment*table.SegmentRows)
		}
	})
	for task, m := range found {
		if m != nil {
			h.table.Cells(h.source[h.features[task/segments]]).Hold(first+task%segments, m)
			h.bytes += 8 * m.Len()
		}
	}
	h.release()
}

// release returns memory of cells that are held, once there is much of it.
func (h *holder) release() {
	if h.bytes >= heldAtOnce/2 {
		debug.FreeOSMemory()
		h.bytes = 0
	}
}

// inputs are the cells of a segment by what they are encoded as. The way back from (v − mean)/scale rounds, and most
// cells are missed by a few units in the last place, which are kept. Those that are missed by more, numbers
// near zero and texts, are kept themselves.
type inputs struct {
	column Column
	data   []float64 // of the encoded rows, from the first number of the column in the first row on
	stride int
	units  []int8 // by which cells are missed, farOff where they are kept
	rows   []int32
	cells  []float64 // that are kept, of these rows
}

const farOff = math.MinInt8

// missed has cells be held, nil if too many would be missed.
func (h *holder) missed(cells []float64, f *field, first int) *inputs {
	x := h.x.RawMatrix()
	m := &inputs{column: *f.column, data: x.Data[first*x.Stride+f.at:], stride: x.Stride, units: make([]int8, len(cells))}
	for i, cell := range cells {
		back := m.back(i)
		units := int64(math.Float64bits(cell) - math.Float64bits(back))
		if back == back && farOff < units && units <= math.MaxInt8 {
			m.units[i] = int8(units)
			continue
		}
		if 4*len(m.rows) > len(cells) {
			return nil
		}
		m.units[i] = farOff
		m.rows, m.cells = append(m.rows, int32(i)), append(m.cells, cell)
	}
	return m
}

// back is the number that an input was made of, but for rounding. It is compiled once, so that it always rounds alike.
//
//go:noinline
func (m *inputs) back(i int) float64 { return m.column.unscaled(m.data[i*m.stride]) }

// Len implements table.Form.
func (m *inputs) Len() int { return len(m.units) }

// At implements table.Form.
func (m *inputs) At(i int) float64 {
	if m.units[i] == farOff {
		k, _ := slices.BinarySearch(m.rows, int32(i))
		return m.cells[k]
	}
	return math.Float64frombits(math.Float64bits(m.back(i)) + uint64(m.units[i]))
}

package table

// SomeRows is the rows of a source from one up to, not including, another.
func SomeRows(s Source, from, to int) Source {
	return NewPart(s, from, to, func(int) bool { return true })
}

// newPart is some rows of a source, and of its columns those that are needed.
func NewPart(s Source, from, to int, needs func(column int) bool) Source {
	p := &sourcePart{source: s}
	for j, c := range s.Columns() {
		if needs(j) {
			p.columns = append(p.columns, c)
			p.column = append(p.column, j)
		}
	}
	first := 0
	for k, g := range s.Groups() {
		low, high := max(from-first, 0), min(to-first, g.Rows)
		if low < high {
			p.groups = append(p.groups, SourceGroup{File: g.File, First: g.First + low, Rows: high - low})
			p.group = append(p.group, k)
			p.skip = append(p.skip, low)
		}
		first += g.Rows
	}
	return p
}

// sourcePart is some rows and columns of a source.
type sourcePart struct {
	source  Source
	columns []SourceColumn
	column  []int // in the source
	groups  []SourceGroup
	group   []int // in the source
	skip    []int // rows of each before the first
}

func (p *sourcePart) Name() string            { return p.source.Name() }
func (p *sourcePart) Columns() []SourceColumn { return p.columns }
func (p *sourcePart) Groups() []SourceGroup   { return p.groups }

// Open implements Source. Cells before the first are read and forgotten.
func (p *sourcePart) Open(group, column int) (ColumnReader, error) {
	r, err := p.source.Open(p.group[group], p.column[column])
	if err != nil {
		return nil, err
	}
	whole := p.source.Groups()[p.group[group]]
	for done := 0; done < p.skip[group]; {
		n := min(slabRows, p.skip[group]-done)
		if err := readCells(r, n, &Cells{to: new(Column), decimal: '.'}, &whole, done); err != nil {
			_ = r.Close() // nothing was written
			return nil, err
		}
		done += n
	}
	return r, nil
}

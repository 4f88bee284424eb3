package parquet

import (
	"fmt"
	"strings"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/lossep/lossep/data"
)

// column is a column of a file.
type column struct {
	data.SourceColumn
	leaf  int // number among the columns of the file's schema
	descr *schema.Column
	form  form
	unit  int64 // how many make a second, of times
	scale int   // digits after the point, of decimals
	empty bool  // of a type without values
}

// form is how the values of a column become cells.
type form int

const (
	integer form = iota
	unsigned
	number
	truth
	text
	date
	moment
	clock
	decimal
	uuid
	half
)

// formNames say what a column holds.
var formNames = map[form]string{
	integer: "integers", unsigned: "unsigned integers", number: "numbers", truth: "truth values", text: "texts", date: "dates",
	moment: "times", clock: "times of day", decimal: "decimals", uuid: "UUIDs", half: "numbers",
}

// what the column holds, for people.
func (c *column) what() string {
	switch {
	case c.Bad != "":
		return "what is not read"
	case c.empty:
		return "nothing"
	}
	return formNames[c.form]
}

// like tells whether columns of two files can be one: numbers of different types can, and
// what holds nothing goes with everything.
func (c *column) like(d *column) bool {
	class := func(f form) form {
		switch f {
		case integer, unsigned, decimal, half:
			return number
		}
		return f
	}
	return c.empty || d.empty || (c.Bad == "") == (d.Bad == "") && class(c.form) == class(d.form)
}

// columnsOf are the columns at the top of a schema.
func columnsOf(s *schema.Schema) []column {
	var all []column
	var last schema.Node
	for i := range s.NumColumns() {
		descr, root := s.Column(i), s.ColumnRoot(i)
		if root == last {
			continue // a further leaf of a nested column
		}
		last = root
		c := column{SourceColumn: data.SourceColumn{Name: root.Name()}, leaf: i, descr: descr}
		if root.Type() == schema.Group || descr.MaxRepetitionLevel() > 0 || descr.MaxDefinitionLevel() > 1 {
			c.Bad = fmt.Sprintf("the column is nested (%s), and only plain columns are read", nesting(root))
		} else {
			c.decide()
		}
		all = append(all, c)
	}
	return all
}

// nesting says how a column is nested.
func nesting(n schema.Node) string {
	switch n.LogicalType().(type) {
	case schema.ListLogicalType:
		return "a list"
	case schema.MapLogicalType:
		return "a map"
	}
	if n.Type() == schema.Group {
		return "a structure"
	}
	return "a list"
}

// decide finds the form of a plain column.
func (c *column) decide() {
	physical := c.descr.PhysicalType()
	switch l := c.descr.LogicalType().(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		c.form = text
	case schema.DecimalLogicalType:
		c.form, c.scale = decimal, int(l.Scale())
	case schema.DateLogicalType:
		c.form = date
	case schema.TimestampLogicalType:
		c.form, c.unit = moment, perSecond(l.TimeUnit())
	case schema.TimeLogicalType:
		c.form, c.unit = clock, perSecond(l.TimeUnit())
	case schema.IntLogicalType:
		if c.form = integer; !l.IsSigned() {
			c.form = unsigned
		}
	case schema.UUIDLogicalType:
		c.form = uuid
	case schema.Float16LogicalType:
		c.form = half
	case schema.NullLogicalType, schema.UnknownLogicalType:
		c.empty = true
		c.plain(physical)
	case schema.NoLogicalType, nil:
		c.plain(physical)
	default:
		c.Bad = fmt.Sprintf("the column is of a type that is not read (%s)", strings.ToLower(l.String()))
	}
	if (c.form == moment || c.form == clock) && c.unit == 0 {
		c.Bad = "the column holds times of an unknown unit"
	}
	if physical == pq.Types.FixedLenByteArray && c.descr.TypeLength() > 64 && c.Bad == "" {
		c.Bad = fmt.Sprintf("the column holds pieces of %d bytes that are no numbers or texts", c.descr.TypeLength())
	}
	switch c.form {
	case integer:
		c.Kind = data.IntegerCells
	case number, decimal, half:
		c.Kind = data.NumberCells
	case truth:
		c.Kind = data.TruthCells
	case text:
		c.Kind = data.TextCells
	default:
		c.Kind = data.OtherCells
	}
}

// plain decides by the physical type. Older programs do not say that bytes are text.
func (c *column) plain(physical pq.Type) {
	switch physical {
	case pq.Types.Boolean:
		c.form = truth
	case pq.Types.Int32, pq.Types.Int64:
		c.form = integer
	case pq.Types.Int96:
		c.form, c.unit = moment, 1e9
	case pq.Types.Float, pq.Types.Double:
		c.form = number
	case pq.Types.ByteArray:
		c.form = text
	default:
		c.Bad = "the column holds bytes that are no numbers or texts"
	}
}

// perSecond is how many of a unit make a second.
func perSecond(u schema.TimeUnitType) int64 {
	switch u {
	case schema.TimeUnitMillis:
		return 1e3
	case schema.TimeUnitMicros:
		return 1e6
	case schema.TimeUnitNanos:
		return 1e9
	}
	return 0
}

package parquet

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lossep/lossep/table"
)

// column is a column of a file.
type column struct {
	table.SourceColumn
	leaf     int // number among the columns of the file's schema
	physical format.Type
	size     int  // of values of fixed length, in bytes
	optional bool // cells may be missing
	form     form
	unit     int64 // how many make a second, of times
	scale    int   // digits after the point, of decimals
	empty    bool  // of a type without values
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

// columnsOf are the columns at the top of a schema, whose form was checked.
func columnsOf(schema []format.SchemaElement) (all []column, leaves int, err error) {
	if len(schema) == 0 {
		return nil, 0, errFooter
	}
	k := 1 // behind the root
	for range schema[0].NumChildren.V {
		e := &schema[k]
		c := column{SourceColumn: table.SourceColumn{Name: e.Name}, leaf: leaves, physical: e.Type.V, size: int(e.TypeLength.V)}
		c.optional = e.RepetitionType.V == format.Optional
		end, inside := under(schema, k)
		if !e.Type.Valid || e.NumChildren.V > 0 || e.RepetitionType.V == format.Repeated {
			c.Bad = fmt.Sprintf("the column is nested (%s), and only plain columns are read", nesting(e))
		} else {
			c.decide(e)
		}
		all = append(all, c)
		k, leaves = end, leaves+inside
	}
	if k != len(schema) {
		return nil, 0, errFooter
	}
	return all, leaves, nil
}

// under is where the elements of a schema under one of them end, and how many of them are
// columns.
func under(schema []format.SchemaElement, k int) (end, leaves int) {
	for open := int32(1); open > 0; k++ {
		open += schema[k].NumChildren.V - 1
		if schema[k].NumChildren.V == 0 && schema[k].Type.Valid {
			leaves++
		}
	}
	return k, leaves
}

// nesting says how a column is nested.
func nesting(e *format.SchemaElement) string {
	switch e.LogicalType.Value.(type) {
	case *format.ListType:
		return "a list"
	case *format.MapType:
		return "a map"
	}
	switch {
	case e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List:
		return "a list"
	case e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue):
		return "a map"
	case !e.Type.Valid:
		return "a structure"
	}
	return "a list"
}

// decide finds the form of a plain column.
func (c *column) decide(e *format.SchemaElement) {
	what := c.logical(e)
	if c.Bad == "" && what != "" && !c.fits() {
		c.Bad = fmt.Sprintf("the column is of a type that is not read (%s of %s)", what, strings.ToLower(c.physical.String()))
	}
	if (c.form == moment || c.form == clock) && c.unit == 0 && c.Bad == "" {
		c.Bad = "the column holds times of an unknown unit"
	}
	if c.physical == format.FixedLenByteArray && c.Bad == "" && (c.size > 64 || c.size < 1) {
		c.Bad = fmt.Sprintf("the column holds pieces of %d bytes that are no numbers or texts", c.size)
	}
	switch c.form {
	case integer:
		c.Kind = table.IntegerCells
	case number, decimal, half:
		c.Kind = table.NumberCells
	case truth:
		c.Kind = table.TruthCells
	case text:
		c.Kind = table.TextCells
	default:
		c.Kind = table.OtherCells
	}
}

// logical decides by what the values mean, and says how that is called; empty if the file
// does not say it.
func (c *column) logical(e *format.SchemaElement) string {
	value := e.LogicalType.Value
	if value == nil {
		return c.converted(e)
	}
	switch l := value.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		c.form = text
	case *format.DecimalType:
		c.form, c.scale = decimal, int(l.Scale)
	case *format.DateType:
		c.form = date
	case *format.TimestampType:
		c.form, c.unit = moment, perSecond(l.Unit)
	case *format.TimeType:
		c.form, c.unit = clock, perSecond(l.Unit)
	case *format.IntType:
		if c.form = integer; !l.IsSigned {
			c.form = unsigned
		}
	case *format.UUIDType:
		c.form = uuid
	case *format.Float16Type:
		c.form = half
	case *format.NullType:
		c.empty = true
		c.plain()
		return ""
	default:
		c.Bad = fmt.Sprintf("the column is of a type that is not read (%s)", strings.ToLower(value.String()))
	}
	return strings.ToLower(value.String())
}

// converted decides by what older programs say about the values.
func (c *column) converted(e *format.SchemaElement) string {
	if !e.ConvertedType.Valid {
		c.plain()
		return ""
	}
	t := e.ConvertedType.V
	switch t {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		c.form = text
	case deprecated.Decimal:
		c.form, c.scale = decimal, int(e.Scale.V)
	case deprecated.Date:
		c.form = date
	case deprecated.TimeMillis:
		c.form, c.unit = clock, 1e3
	case deprecated.TimeMicros:
		c.form, c.unit = clock, 1e6
	case deprecated.TimestampMillis:
		c.form, c.unit = moment, 1e3
	case deprecated.TimestampMicros:
		c.form, c.unit = moment, 1e6
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		c.form = unsigned
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		c.form = integer
	default:
		what := map[deprecated.ConvertedType]string{deprecated.Interval: "interval", deprecated.Bson: "bson"}[t]
		c.Bad = fmt.Sprintf("the column is of a type that is not read (%s)", cmp.Or(what, fmt.Sprint("type ", int(t))))
	}
	return formNames[c.form]
}

// fits tells whether values of the physical type can be what they are said to mean.
func (c *column) fits() bool {
	whole := c.physical == format.Int32 || c.physical == format.Int64
	fixed := c.physical == format.FixedLenByteArray
	switch c.form {
	case integer, unsigned, clock:
		return whole
	case date:
		return c.physical == format.Int32
	case moment:
		return c.physical == format.Int64
	case text:
		return c.physical == format.ByteArray
	case decimal:
		return (whole || fixed || c.physical == format.ByteArray) && c.scale >= 0 && c.scale <= mostDigits
	case uuid:
		return fixed && c.size == 16
	case half:
		return fixed && c.size == 2
	}
	return true
}

// mostDigits is how many digits decimals may have: those of 64 bytes.
const mostDigits = 155

// plain decides by the physical type. Older programs do not say that bytes are text.
func (c *column) plain() {
	switch c.physical {
	case format.Boolean:
		c.form = truth
	case format.Int32, format.Int64:
		c.form = integer
	case format.Int96:
		c.form, c.unit = moment, 1e9
	case format.Float, format.Double:
		c.form = number
	case format.ByteArray:
		c.form = text
	default:
		c.Bad = "the column holds bytes that are no numbers or texts"
	}
}

// perSecond is how many of a unit make a second.
func perSecond(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.MicroSeconds:
		return 1e6
	case *format.NanoSeconds:
		return 1e9
	}
	return 0
}

package command

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
)

// tableFlags say how a table is written, where that is not found out.
type tableFlags struct {
	header, separator, decimal, encoding string
	bytes, cells                         string
}

func addTableFlags(flags *pflag.FlagSet) *tableFlags {
	t := new(tableFlags)
	flags.StringVar(&t.header, "header", "auto", "whether the first row names the columns: auto, yes or no")
	flags.StringVar(&t.separator, "separator", "", "what stands between cells, such as ';', '|' or tab, if it is not to be found out")
	flags.StringVar(&t.decimal, "decimal", "", "what stands before decimals, . or , if it is not to be found out")
	flags.StringVar(&t.encoding, "encoding", "", "utf-8, utf-16 or latin-1, if it is not to be found out")
	flags.StringVar(&t.bytes, "max-bytes", "", "refuse more text than this, once uncompressed, such as 500M or 10G (4G where the table is held in memory)")
	return t
}

// format is what the flags say.
func (t *tableFlags) format() (data.Format, error) {
	f := data.Format{Header: data.Header(t.header), Separator: t.separator, Decimal: t.decimal, Encoding: data.Encoding(strings.ToLower(t.encoding))}
	switch f.Header {
	case data.HeaderAuto, data.HeaderYes, data.HeaderNo:
	default:
		return f, usagef("--header: %q is none of auto, yes, no", t.header)
	}
	switch strings.ToLower(t.separator) {
	case "tab", `\t`:
		f.Separator = "\t"
	case "comma":
		f.Separator = ","
	case "semicolon":
		f.Separator = ";"
	case "pipe", "bar":
		f.Separator = "|"
	}
	if len(f.Separator) > 1 {
		return f, usagef("--separator: %q is not one character; give it, or tab", t.separator)
	}
	if f.Decimal != "" && f.Decimal != "." && f.Decimal != "," {
		return f, usagef("--decimal: %q is neither . nor ,", t.decimal)
	}
	switch f.Encoding {
	case "", data.UTF8, data.UTF16, data.Latin1:
	case "utf8":
		f.Encoding = data.UTF8
	case "utf16":
		f.Encoding = data.UTF16
	case "latin1", "iso-8859-1", "windows-1252", "cp1252":
		f.Encoding = data.Latin1
	default:
		return f, usagef("--encoding: %q is none of utf-8, utf-16, latin-1", t.encoding)
	}
	if t.bytes != "" {
		n, err := parseSize(t.bytes)
		if err != nil {
			return f, usagef("--max-bytes: %w", err)
		}
		f.Limits.Bytes = n
	}
	if t.cells != "" {
		n, err := parseSize(t.cells)
		if err != nil {
			return f, usagef("--max-cells: %w", err)
		}
		f.Limits.Cells = int(n)
	}
	return f, nil
}

// parseSize reads a number with k, M, G or T after it; each is a thousand times the one
// before.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "iBb")
	factor := 1.0
	for k, unit := range []string{"k", "m", "g", "t"} {
		if rest, ok := strings.CutSuffix(strings.ToLower(number), unit); ok {
			number, factor = rest, math.Pow(1000, float64(k+1))
			break
		}
	}
	x, err := parseNumber(number)
	if n := x * factor; err == nil && n >= 1 && n < 1e18 {
		return int64(n), nil
	}
	return 0, fmt.Errorf("%q is no size such as 500M or 10G", text)
}

// share is the value of a flag between 0 and 1, or in percent.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }
func (s *share) Type() string   { return "share" }

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	x, err := parseNumber(strings.TrimSpace(number))
	if err != nil {
		return fmt.Errorf("%q is no share such as 0.02 or 2%%", text)
	}
	if percent {
		x /= 100
	}
	if !(x > 0 && x < 1) {
		return fmt.Errorf("%s is not between 0 and 1; write such as 0.02 or 2%%", text)
	}
	*s = share(x)
	return nil
}

// dataFlags say how past cases are read.
type dataFlags struct {
	*tableFlags
	options     data.Options
	missing     string
	dates       string
	ordered     []string
	scaling     []string
	standardize bool
	labelled    bool
	counts      string
	given       *pflag.FlagSet
	room        data.Room // for the table, nil for the memory of the process
}

// addDataFlags adds what it takes to read past cases.
func addDataFlags(flags *pflag.FlagSet) *dataFlags {
	d := &dataFlags{tableFlags: addTableFlags(flags), given: flags}
	o := &d.options
	flags.StringVar(&o.Target, "target", "", `the outcome: a column's name, its number from 1, or "last"`)
	flags.StringVar(&o.Positive, "positive", "", "the spelling of the positive outcome; not needed where the two are such as 0 and 1, no and yes, false and true")
	flags.BoolVar(&d.labelled, "skip-unlabelled", false, "leave out rows whose outcome is missing")
	flags.StringSliceVar(&o.Features, "features", nil, "the only columns to decide by, if not all: a,b,c")
	flags.StringSliceVar(&o.Drop, "drop", nil, "columns not to decide by: a,b,c")
	flags.StringVar(&o.Weights, "weights", "", "the column that says how much each case counts")
	flags.StringVar(&d.counts, "counts", "", "the column that says how many cases a row stands for, in a table of counts; never decided by")
	flags.StringVar(&o.Groups, "groups", "", "the column that says which cases belong together, such as patients: left out together, and in an audit one unit in intervals; never decided by")
	flags.Var((*share)(&o.Prevalence), "prevalence", "how frequent the positive outcome is among the cases to be decided, such as 0.02 or 2%, if not as in the table")
	flags.StringVar(&o.ID, "id", "", "the column that names the cases; never decided by")
	flags.StringSliceVar(&o.Categorical, "categorical", nil, "columns that are categorical whatever they look like: a,b,c; auto has the evidence decide about columns of few different whole numbers")
	flags.StringArrayVar(&d.ordered, "ordered", nil, "a column whose categories have an order, such as size=S,M,L; can be repeated")
	flags.StringVar(&d.dates, "dates", "", "day-first or month-first, where 03/04/2025 could be either")
	flags.StringVar(&d.missing, "missing", "error", "what to do about missing cells: error, or impute (median or mode, plus an indicator)")
	flags.StringArrayVar(&o.Markers, "missing-marker", nil, "a spelling of a missing cell beside the usual ones (empty . - ? NA N/A #N/A NaN NULL None and the like), or COLUMN=SPELLING for one of a column alone, such as pressure=0; can be repeated")
	flags.StringSliceVar(&d.scaling, "scaling", nil, "how numeric columns are bent before they are standardised: auto (those with long tails), none, log, yeo-johnson or rank (normal scores), for all columns or for one, such as amount=log (default auto)")
	flags.BoolVar(&d.standardize, "standardize", true, "give numeric columns mean 0 and variance 1")
	flags.StringVar(&d.cells, "max-cells", "", "refuse more cells than this, at 8 bytes each, such as 500M (134M)")
	return d
}

// exampleAlone refuses flags about a table of one's own beside --example.
func exampleAlone(flags *pflag.FlagSet, useExample bool) error {
	if !useExample {
		return nil
	}
	for _, name := range []string{
		"target", "positive", "skip-unlabelled", "features", "drop", "weights", "counts", "groups", "prevalence", "id", "categorical", "ordered", "dates", "missing", "missing-marker",
		"header", "separator", "decimal", "encoding",
	} {
		if flags.Changed(name) {
			return usagef("--%s: the example comes with its own; leave it out, or give a table in place of --example", name)
		}
	}
	return nil
}

// complete checks the flags and finishes the options.
func (d *dataFlags) complete() (data.Options, error) {
	switch d.missing {
	case "error", "impute":
		d.options.Impute = d.missing == "impute"
	default:
		return d.options, usagef("--missing: %q is neither error nor impute", d.missing)
	}
	switch o := data.DateOrder(d.dates); o {
	case "", data.DayFirst, data.MonthFirst:
		d.options.Dates = o
	default:
		return d.options, usagef("--dates: %q is neither day-first nor month-first", d.dates)
	}
	d.options.Ordered = nil
	for _, text := range d.ordered {
		column, order, ok := strings.Cut(text, "=")
		categories := strings.Split(order, ",")
		if !ok || column == "" || len(categories) < 2 {
			return d.options, usagef("--ordered: %q is no column with its categories in order, such as size=S,M,L", text)
		}
		set := data.OrderedSet{Column: column, Categories: categories}
		if err := set.Check(); err != nil {
			return d.options, usagef("--ordered %s: %w; give every category once, such as size=S,M,L", text, err)
		}
		for _, other := range d.options.Ordered {
			if other.Column == column && !slices.Equal(other.Categories, categories) {
				return d.options, usagef("--ordered %s: the column has the order %s already; give one of them", text, strings.Join(other.Categories, ","))
			}
		}
		d.options.Ordered = append(d.options.Ordered, set)
	}
	d.options.Bends = make(map[string]data.Bend)
	for _, text := range d.scaling {
		column, name, one := strings.Cut(text, "=")
		if !one {
			name = column
		}
		if one && column == "" {
			return d.options, usagef("--scaling %s: there is no column before the =; give one, such as income=%s, or %s alone for all columns", text, name, name)
		}
		if !slices.Contains(data.Bends(), data.Bend(name)) {
			var all []string
			for _, b := range data.Bends() {
				all = append(all, string(b))
			}
			return d.options, usagef("--scaling: %q is none of %s", name, strings.Join(all, ", "))
		}
		before, of := d.options.Scaling, "all columns"
		if one {
			before, of = d.options.Bends[column], column
			d.options.Bends[column] = data.Bend(name)
		} else {
			d.options.Scaling = data.Bend(name)
		}
		if before != "" && before != data.Bend(name) {
			return d.options, usagef("--scaling %s: %s is given for %s already; give one of them", text, before, of)
		}
	}
	bent := d.options.Scaling != "" && d.options.Scaling != data.Straight
	for _, b := range d.options.Bends {
		bent = bent || b != data.Straight
	}
	if d.options.KeepScale = !d.standardize; d.options.KeepScale && bent {
		return d.options, usagef("--scaling: columns are not scaled with --standardize=false; leave one of them out")
	}
	_, err := d.format()
	return d.options, err
}

// decideCodes has the evidence decide which numbers are codes if that is asked for:
// --categorical auto, unless a column is called that.
func decideCodes(o *lossep.Options, t *data.Table) {
	named := namedCodes(o.Data.Categorical, t)
	o.DecideCodes = len(named) < len(o.Data.Categorical)
	o.Data.Categorical = named
}

// namedCodes are the columns that --categorical names.
func namedCodes(categorical []string, t *data.Table) []string {
	if slices.Contains(t.Columns(), "auto") {
		return categorical
	}
	return slices.DeleteFunc(slices.Clone(categorical), func(name string) bool { return name == "auto" })
}

// readTable reads a whole table of past cases, up to a number of rows. Columns that the
// options leave out need not be read, but for those that are named in also.
func (d *dataFlags) readTable(c *cobra.Command, path string, maxRows int, also ...string) (*data.Table, error) {
	f, err := d.format()
	if err != nil {
		return nil, err
	}
	f.Limits.Rows = maxRows
	switch f.Room = d.room; {
	case f.Limits.Cells > 0:
	case d.room != nil:
		f.Limits.Cells = math.MaxInt // the room is the limit
	default: // a quarter of the memory, at eight bytes each
		f.Limits.Cells = int(min(data.DefaultCells, maxMemory(c)/32))
	}
	in, err := openInput(c, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if d.counts != "" {
		also = append(also, d.counts)
	}
	t, err := in.read(c.Context(), f, &d.options, also)
	if err != nil {
		return nil, err
	}
	return d.cases(t, min(f.Limits.Cells, data.DefaultCells))
}

// cases are the rows that are learned from, up to a number.
func (d *dataFlags) cases(t *data.Table, most int) (_ *data.Table, err error) {
	if d.labelled {
		o := d.options
		o.Categorical = namedCodes(o.Categorical, t)
		t, err = t.Labelled(o)
	}
	if err == nil && d.counts != "" {
		return t.Repeated(d.counts, most)
	}
	return t, err
}

// described says what is going to be fitted, and asks about numbers that may be codes.
func described(p *lossep.Problem) []string {
	lines := p.Describe()
	if len(p.Codes) > 0 {
		lines = append(lines, fmt.Sprintf("few different whole numbers, taken for quantities: %s; if they are codes, give --categorical %s",
			strings.Join(p.Codes, ", "), shellQuoted(strings.Join(p.Codes, ","))))
	}
	return lines
}

// flagOf are the flags that stand for options of package data.
var flagOf = map[data.Option]string{
	data.WayHeader: "header", data.WaySeparator: "separator", data.WayDecimal: "decimal", data.WayEncoding: "encoding",
	data.WayDates: "dates", data.WayMarkers: "missing-marker", data.WayImpute: "missing impute", data.WayCategorical: "categorical",
	data.WayDrop: "drop", data.WayID: "id", data.WayScaling: "scaling", data.WayTarget: "target", data.WayPositive: "positive", data.WayUnseen: "allow-unseen", data.WayLabelled: "skip-unlabelled",
	data.WayBytes: "max-bytes", data.WayRows: "max-rows", data.WayCells: "max-cells", data.WayMemory: "max-memory",
}

// renderWay writes a way out of an error as flags.
func renderWay(w data.Way) string {
	text := "--" + flagOf[w.Option]
	if w.Value != "" {
		text += " " + shellQuoted(w.Value)
	}
	return text
}

// shellQuoted is a word as one types it into a shell.
func shellQuoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.,:/%+@=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// withFlags gives an error about rows the file it is in, if it does not know it, and
// the flags that would settle it.
func withFlags(err error, rows *data.Error, file string) error {
	located := *rows
	if located.File == "" {
		located.File = file
	}
	text := strings.Replace(err.Error(), rows.Error(), located.Text(renderWay), 1)
	return &flagged{text, err}
}

// flagged is an error in the words of the command.
type flagged struct {
	text string
	err  error
}

func (e *flagged) Error() string { return e.text }
func (e *flagged) Unwrap() error { return e.err }

package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Table is how a table of text is written, where that is not found out.
type Table struct {
	Format table.Format
	Sheet  string // of a workbook, empty for the first
	cells  int64
}

// Options are those of the table, which they are bound to.
func (t *Table) Options() Options {
	f := &t.Format
	f.Header = table.HeaderAuto
	return Options{
		{Name: "header", Group: File, CommandOf: true, Help: "whether the first row is a header", Value: choice[table.Header]{to: &f.Header, of: []table.Header{table.HeaderAuto, table.HeaderYes, table.HeaderNo}}},
		{Name: "skip-lines", Group: File, CommandOf: true, Help: "lines that are not rows, such as titles, units and totals: line numbers, ranges, or last, such as 1-2,4,last; can be repeated", Value: skipLines{&f.Skip}},
		{Name: "sheet", Group: File, CommandOf: true, Help: "sheet of an Excel workbook (default: the first)", Value: text{&t.Sheet, "NAME"}},
		{Name: "separator", Group: File, CommandOf: true, Help: "field separator, such as ';', '|' or tab (default: detected)", Value: separator{&f.Separator}},
		{Name: "decimal", Group: File, CommandOf: true, Help: "decimal mark (default: detected)", Value: choice[string]{to: &f.Decimal, of: []string{".", ","}}},
		{Name: "encoding", Group: File, CommandOf: true, Help: "character encoding (default: detected)", Value: choice[table.Encoding]{
			to: &f.Encoding, of: []table.Encoding{table.UTF8, table.UTF16, table.Latin1},
			alias: map[string]table.Encoding{"utf8": table.UTF8, "utf16": table.UTF16, "latin1": table.Latin1, "iso-8859-1": table.Latin1, "windows-1252": table.Latin1, "cp1252": table.Latin1},
		}},
		{Name: "max-bytes", Group: Advanced, CommandOf: true, Help: "maximum size of the uncompressed text, such as 500M or 10G", Shown: "4G if the table is held in memory", Value: size{&f.Limits.Bytes}},
	}
}

// skipLines are numbers of lines, to which those that are suggested can be added.
type skipLines struct{ to *string }

func (v skipLines) String() string { return *v.to }
func (v skipLines) Type() string   { return "LINES" }
func (v skipLines) Set(lines string) error {
	if err := table.CheckLines(lines); err != nil {
		return err
	}
	*v.to = strings.TrimPrefix(*v.to+","+lines, ",")
	return nil
}

func (v skipLines) replace(lines []string) error {
	*v.to = ""
	return v.Set(strings.Join(lines, ","))
}

// separator is one character between cells, by itself or by name.
type separator struct{ to *string }

func (v separator) String() string { return *v.to }
func (v separator) Type() string   { return "CHARACTER" }
func (v separator) Set(text string) error {
	named := map[string]string{"tab": "\t", `\t`: "\t", "comma": ",", "semicolon": ";", "pipe": "|", "bar": "|"}
	character, ok := named[strings.ToLower(text)]
	if !ok {
		character = text
	}
	if len(character) != 1 {
		return fmt.Errorf("%q is not one character; give it, or tab", text)
	}
	*v.to = character
	return nil
}

// Rows is how past cases are read: which columns are what, and how cells become numbers.
type Rows struct {
	Table
	Data recipe.Options
	// SkipUnlabelled leaves out rows whose outcome is missing, and Counts is the column of a
	// table of counts.
	SkipUnlabelled bool
	Counts         string

	missing     string
	standardize bool
	scaling     []string
}

func (r *Rows) options() Options {
	o := &r.Data
	r.missing, r.standardize = "impute", true
	return append(Options{
		{Name: "target", Group: Basics, Help: `target column: its name, its number from 1, or "last"; or a condition such as 'delay >= 15'`, Shown: "last", Value: text{&o.Target, "COLUMN"}},
		{Name: "positive", Group: Basics, Help: "positive class (default: 1, yes, true, …)", Value: text{&o.Positive, "VALUE"}},
		{Name: "features", Group: Basics, Help: "columns to use as features (default: all)", Value: newList(&o.Features, "A,B,C")},
		{Name: "drop", Group: Basics, Help: "columns to exclude", Value: newList(&o.Drop, "A,B,C")},
		{Name: "id", Group: Basics, Help: "row identifier column (excluded from features)", Value: text{&o.ID, "COLUMN"}},
		{Name: "missing", Group: Basics, Help: "missing values: impute (median or mode, with a missing indicator for columns that have missing values) or error", Value: choice[string]{to: &r.missing, of: []string{"impute", "error"}}},
		skipUnlabelled(&r.SkipUnlabelled),
		{Name: "weights", Group: Columns, Help: "column of sample weights", Value: text{&o.Weights, "COLUMN"}},
		{Name: "noise-sd", Group: Columns, Help: "column with the known standard deviation of the noise of an outcome that is a number, such as standard errors of studies (excluded from features); what is predicted is the outcome without noise", Value: text{&o.NoiseSD, "COLUMN"}},
		{Name: "counts", Group: Columns, Help: "frequency column: each row counts this many times (excluded from features)", Value: text{&r.Counts, "COLUMN"}},
		{Name: "groups", Group: Columns, Help: "grouping column, e.g. patient: groups are never split across folds and are the unit of resampling (excluded from features)", Value: text{&o.Groups, "COLUMN"}},
		{Name: "score", Group: Columns, Help: "column with another model's probability of the positive class, predicted out of fold: the model corrects it (latent value = learned slope × Φ⁻¹(score) + Gaussian process)", Value: text{&o.Score, "COLUMN"}},
		{Name: "prevalence", Group: Columns, Help: "prevalence of the positive class in the target population, such as 0.02 or 2%, or by name, such as mild=0.3,severe=5% (default: as in the table)", Value: prevalence{&o.Prevalence, &o.Population}},
		{Name: "categorical", Group: Columns, Help: "columns to treat as categorical; auto: choose by evidence for integer columns with few values", Value: newList(&o.Categorical, "A,B,C")},
		{Name: "ordered", Group: Columns, Help: "ordinal column, or the target, with its categories in order, such as size=S,M,L; can be repeated", Value: newOrders(&o.Ordered)},
		{Name: "dates", Group: Columns, Help: "how to read ambiguous dates such as 03/04/2025", Value: choice[table.DateOrder]{to: &o.Dates, of: []table.DateOrder{table.DayFirst, table.MonthFirst}}},
		{Name: "missing-marker", Group: Columns, Help: "additional NA value besides the usual ones (empty . - ? NA N/A #N/A NaN NULL None, …), or COLUMN=VALUE for one column, such as pressure=0; can be repeated", Value: newRepeatable(&o.Markers, "TEXT")},
		{Name: "scaling", Group: Columns, Help: "transformation of numeric columns before standardising: auto (transform heavy-tailed columns, or use common if its evidence is higher), none, common (no transformation, one scale shared by all such columns), log, log-odds (probabilities), yeo-johnson or rank (normal scores), for all columns or for one, such as amount=log", Shown: "auto", Value: newList(&r.scaling, "NAME|COLUMN=NAME")},
		{Name: "standardize", Group: Advanced, Help: "scale numeric columns to mean 0 and variance 1", Value: toggle{&r.standardize}},
		{Name: "max-cells", Group: Advanced, CommandOf: true, Help: "maximum number of cells (8 bytes each), such as 500M", Shown: "134M", Value: size{&r.cells}},
	}, r.Table.Options()...)
}

// skipUnlabelled is the option to leave out rows whose outcome is missing.
func skipUnlabelled(to *bool) *Option {
	return &Option{Name: "skip-unlabelled", Group: Columns, Help: "skip rows whose target is missing", Value: toggle{to}}
}

// takenAsGiven refuses to leave rows out, for a front end whose caller has them in hand.
func takenAsGiven(skipUnlabelled bool) error {
	if skipUnlabelled {
		return optionError("skip-unlabelled", "rows are used as they are given; leave those without an outcome out")
	}
	return nil
}

// complete checks options against each other and finishes those of data.
func (r *Rows) complete() error {
	r.Data.Impute = r.missing == "impute"
	r.Format.Limits.Cells = int(r.cells)
	if err := r.transformations(); err != nil {
		return err
	}
	transformed := r.Data.Scaling != "" && r.Data.Scaling != recipe.Straight
	for _, b := range r.Data.Bends {
		transformed = transformed || b != recipe.Straight
	}
	if r.Data.KeepScale = !r.standardize; r.Data.KeepScale && transformed {
		return optionError("scaling", "columns are not scaled with {standardize=false}; leave one of them out")
	}
	return nil
}

// transformations reads how columns are transformed.
func (r *Rows) transformations() error {
	r.Data.Scaling, r.Data.Bends = "", make(map[string]recipe.Bend)
	for _, text := range r.scaling {
		column, name, one := strings.Cut(text, "=")
		if !one {
			name = column
		}
		if one && column == "" {
			return optionError("scaling", "%q has no column before the =; give one, such as income=%s, or %s alone for all columns", text, name, name)
		}
		if !slices.Contains(recipe.Bends(), recipe.Bend(name)) {
			return optionError("scaling", "invalid value %q; choose one of %s", name, joined(recipe.Bends()))
		}
		before, of := r.Data.Scaling, "all columns"
		if one {
			before, of = r.Data.Bends[column], column
			r.Data.Bends[column] = recipe.Bend(name)
		} else {
			r.Data.Scaling = recipe.Bend(name)
		}
		if before != "" && before != recipe.Bend(name) {
			return optionError("scaling", "%s for %s, which has %s already; give one of them", name, of, before)
		}
	}
	return nil
}

func joined[T ~string](words []T) string {
	texts := make([]string, len(words))
	for k, word := range words {
		texts[k] = string(word)
	}
	return strings.Join(texts, ", ")
}

// orders are columns with their categories in order.
type orders struct {
	to    *[]recipe.OrderedSet
	begun *bool
}

func newOrders(to *[]recipe.OrderedSet) orders { return orders{to, new(bool)} }

func (v orders) Type() string { return "COLUMN=A,B,C" }

func (v orders) String() string {
	var texts []string
	for _, set := range *v.to {
		texts = append(texts, set.Column+"="+strings.Join(set.Categories, ","))
	}
	return strings.Join(texts, " ")
}

func (v orders) Set(text string) error {
	column, order, ok := strings.Cut(text, "=")
	categories := strings.Split(order, ",")
	if !ok || column == "" || len(categories) < 2 {
		return fmt.Errorf("%q is not a column with its categories in order, such as size=S,M,L", text)
	}
	set := recipe.OrderedSet{Column: column, Categories: categories}
	if err := set.Check(); err != nil {
		return fmt.Errorf("%s: %w; give every category once, such as size=S,M,L", text, err)
	}
	if !*v.begun {
		*v.begun, *v.to = true, nil
	}
	for _, other := range *v.to {
		if other.Column == column && !slices.Equal(other.Categories, categories) {
			return fmt.Errorf("%s: the column has the order %s already; give one of them", text, strings.Join(other.Categories, ","))
		}
	}
	*v.to = append(*v.to, set)
	return nil
}

func (v orders) replace(texts []string) error {
	*v.begun, *v.to = true, nil
	return setAll(v, texts)
}

package recipe

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/table"
)

// binding says where in the rows of a file the columns of a recipe are.
type binding struct {
	recipe    *Recipe
	fields    []field
	missing   *table.Markers   // in columns without their own
	markers   []*table.Markers // of each of the file's columns
	file      string
	names     []string        // of the file's columns
	source    []int           // for each column of the recipe the file's column, or −1
	target    int             // the file's column with the outcome, or −1
	condition *expr.Condition // that is the outcome, if the file has its columns
	ignored   []string        // columns of the file that the recipe does not know
}

// bind matches columns by name where both the training file and this one name
// them, and by position otherwise. line is the line of the header.
func (r *Recipe) bind(file string, line int, names []string, header bool) (*binding, error) {
	b := &binding{recipe: r, fields: r.fields(), missing: table.NewMarkers(r.Missing), file: file, names: r.asLearned(names), source: make([]int, len(r.Columns)), target: -1}
	// Rows written out with generated names (c1, c2, …) come back by name even
	// though the training file had none.
	byName := header && (r.Header || r.matches(names) == r.needed())
	var err error
	if byName {
		err = b.byName(line)
	} else {
		err = b.byPosition(line)
		if err == nil && !header {
			b.names = b.namesByPosition()
		}
	}
	if err != nil {
		return nil, err
	}
	b.target = b.only(Outcome)
	b.markers = slices.Repeat([]*table.Markers{b.missing}, len(b.names))
	for i, j := range b.source {
		if j >= 0 {
			b.markers[j] = b.fields[i].markers
		}
	}
	if r.Target.Condition {
		b.bindCondition()
	}
	return b, nil
}

// bindCondition finds the columns of an outcome that is a condition; without one of
// them the file has no outcome.
func (b *binding) bindCondition() {
	c, err := expr.ParseCondition(b.recipe.Target.Column)
	if err != nil {
		return // Validate has seen to it
	}
	for _, name := range c.Columns() {
		if _, err := b.column(name); err != nil {
			return
		}
	}
	b.condition = &c
}

// asLearned are names of columns as the recipe spells them, if they look the same. A name that
// the recipe has as it is stands for itself.
func (r *Recipe) asLearned(names []string) []string {
	if strings.IndexFunc(strings.Join(names, ""), func(c rune) bool { return c > unicode.MaxASCII }) < 0 {
		return names
	}
	own, taken := make(map[string]string, len(r.Columns)), make(map[string]bool, len(names))
	for _, name := range names {
		taken[name] = true
	}
	for i := range r.Columns {
		own[expr.Composed(r.Columns[i].Name)] = r.Columns[i].Name
	}
	spelled := slices.Clone(names)
	for j, name := range names {
		if learned, ok := own[expr.Composed(name)]; ok && !taken[learned] {
			spelled[j], taken[learned] = learned, true
		}
	}
	return spelled
}

// only is the file's column of a kind, or −1.
func (b *binding) only(k Kind) int {
	if i := b.recipe.only(k); i >= 0 {
		return b.source[i]
	}
	return -1
}

// needed is the number of columns new rows must have.
func (r *Recipe) needed() int {
	n := 0
	for i := range r.Columns {
		if r.Columns[i].IsFeature() {
			n++
		}
	}
	return n
}

// matches counts the columns needed that are among the names.
func (r *Recipe) matches(names []string) int {
	known := make(map[string]bool, len(names))
	for _, name := range r.asLearned(names) {
		known[name] = true
	}
	n := 0
	for i := range r.Columns {
		if r.Columns[i].IsFeature() && known[r.Columns[i].Name] {
			n++
		}
	}
	return n
}

// byName finds every column by its name, wherever it is; those without
// features may be absent.
func (b *binding) byName(line int) error {
	where := make(map[string]int, len(b.names))
	for j, name := range b.names {
		where[name] = j
	}
	var absent []string
	for i := range b.recipe.Columns {
		c := &b.recipe.Columns[i]
		j, ok := where[c.Name]
		delete(where, c.Name) // what is left over at the end is ignored
		switch {
		case ok:
			b.source[i] = j
		default:
			b.source[i] = -1
			if c.IsFeature() && !b.recipe.isOpen(c.Name) {
				absent = append(absent, c.Name)
			}
		}
	}
	if len(absent) > 0 {
		at := (&table.Error{File: b.file, Line: line, ColumnName: absent[0]}).Say("add the columns under these names",
			"missing from the file: %s of the model: %s; %sthe file has %s", table.Plural(len(absent), "column"), table.QuoteList(absent), table.DidYouMean(absent[0], b.names), table.QuoteList(b.names))
		if line > 0 {
			at.Fix += ", or, if the first row is data in the order of the training file, give"
			at.Ways = []table.Way{{Option: table.WayHeader, Value: string(table.HeaderNo)}}
		}
		return at
	}
	for _, name := range b.names {
		if _, unknown := where[name]; unknown {
			b.ignored = append(b.ignored, name)
		}
	}
	return nil
}

// byPosition expects the columns of the training file in its order, with or
// without the outcome.
func (b *binding) byPosition(line int) error {
	all, here := len(b.recipe.Columns), len(b.names)
	if here != all && (here != all-1 || b.recipe.Target.Condition) {
		return (&table.Error{File: b.file, Line: line, Column: min(here, all) + 1}).Say(
			"give the columns of the training file in its order, or name them in a header",
			"%s where the training file had %d (the outcome may be left out)", table.Plural(here, "column"), all)
	}
	next := 0
	for i := range b.recipe.Columns {
		if here == all-1 && b.recipe.Columns[i].Kind == Outcome {
			b.source[i] = -1
			continue
		}
		b.source[i] = next
		next++
	}
	return nil
}

// namesByPosition gives the columns of a file without a header the names they
// had in training.
func (b *binding) namesByPosition() []string {
	names := make([]string, len(b.names))
	for i, j := range b.source {
		if j >= 0 {
			names[j] = b.recipe.Columns[i].Name
		}
	}
	return names
}

// column finds a column of the file by its name there, by the name it had in training, or by
// one that looks the same.
func (b *binding) column(name string) (int, error) {
	if j := slices.Index(b.names, name); j >= 0 {
		return j, nil
	}
	for i := range b.recipe.Columns {
		if b.recipe.Columns[i].Name == name && b.source[i] >= 0 {
			return b.source[i], nil
		}
	}
	if j, ok := table.Alike(b.names, name); ok {
		return j, nil
	}
	return 0, (&table.Error{File: b.file, ColumnName: name}).Say("add it to the file",
		"no such column; %sthe file has %s", table.DidYouMean(name, b.names), table.QuoteList(b.names))
}

// needs tells which columns of the file the recipe has a use for: those that make
// features, the outcome and what names the rows.
func (b *binding) needs() map[int]bool {
	read := map[int]bool{b.target: true, b.only(Identity): true}
	for i := range b.recipe.Columns {
		if b.recipe.Columns[i].IsFeature() {
			read[b.source[i]] = true
		}
	}
	if b.condition != nil {
		for _, name := range b.condition.Columns() {
			if j, err := b.column(name); err == nil {
				read[j] = true
			}
		}
	}
	return read
}

// Part is the rows of a source from one up to, not including, another, and of its columns
// those that the features of the recipe, its labels and weights are made of. Rows keep their
// numbers in messages.
func (r *Recipe) Part(s table.Source, from, to int) (table.Source, error) {
	names, err := table.SourceNames(s)
	if err != nil {
		return nil, err
	}
	b, err := r.bind(s.Name(), 0, names, true)
	if err != nil {
		return nil, err
	}
	needs := b.needs()
	needs[b.only(Weights)] = true
	return table.NewPart(s, from, to, func(j int) bool { return needs[j] }), nil
}

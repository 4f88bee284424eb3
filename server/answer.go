package server

import (
	"errors"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
)

// Row is a case: values by the names of columns. Texts are read like cells of a file,
// null is a missing cell, and columns that the model does not know are ignored.
type Row map[string]any

// optionFields read the options of a request from the members of a body.
func optionFields(options service.Options) rows.Fields {
	fields := make(rows.Fields, len(options)+1)
	for _, o := range options {
		name := service.Fields(o.Name, "")
		fields[name] = func(text []byte) error {
			var value any
			if err := problem.Strict(name, text, &value); err != nil {
				return err
			}
			return optionProblem(o.Give(value))
		}
	}
	return fields
}

// optionProblem turns errors about options into problems; others stay what they are.
func optionProblem(err error) error {
	var option *service.Error
	if !errors.As(err, &option) {
		return err
	}
	return problem.Wrong(service.Fields(option.Option, ""), "%s", service.Naming(service.Fields).In(option.Msg))
}

// requestSchema is the schema of a body with rows, costs and options.
func requestSchema(r huma.Registry, options service.Options) *huma.Schema {
	type request struct {
		Rows    []Row   `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
		Utility Utility `json:"utility,omitempty"`
	}
	s := huma.SchemaFromType(r, reflect.TypeFor[request]())
	for _, o := range options {
		kind, elements := o.JSON()
		member := &huma.Schema{Type: kind, Description: service.Naming(service.Fields).In(o.Help)}
		switch kind {
		case "object":
			member.AdditionalProperties = &huma.Schema{Type: elements}
		case "array":
			member.Items = &huma.Schema{Type: elements}
		}
		s.Properties[service.Fields(o.Name, "")] = member
	}
	return s
}

// appendCases writes what is said about each of the rows, and about all of them together; fill
// says what is known of each.
func appendCases(b []byte, name string, m *served, r *rows.Rows, fields []service.Field, fill func(i int, c *service.Case)) []byte {
	fields = append(slices.Clip(fields), service.UnusualField)
	if r.IDs != nil {
		fields = slices.Insert(fields, 0, service.IDField)
	}
	numbers := 0
	for k := range fields {
		numbers += 1 + len(fields[k].Over)
	}
	b = slices.Grow(b, 64+r.N*32*numbers)
	b = append(append(append(b, `,"`...), name...), `":[`...)
	var scratch [16]float64
	var c service.Case
	for i := range r.N {
		if i > 0 {
			b = append(b, ',')
		}
		c.Unusual = r.Unusual(i)
		fill(i, &c)
		if r.IDs != nil {
			c.ID = r.IDs[i]
		}
		b = append(service.AppendJSON(append(b, '{'), fields, &c, scratch[:0]), '}')
	}
	b = append(b, ']')
	if r.Ignored != nil {
		b = jsonappend.Texts(append(b, `,"ignored":`...), r.Ignored)
	}
	if notes := m.notes(r); notes != nil {
		b = jsonappend.Texts(append(b, `,"notes":`...), notes)
	}
	return append(b, '}')
}

// appendModel begins an answer with who gives it, and what probabilities are of, and for whom.
func appendModel(b []byte, m *served) []byte {
	b = jsonappend.Text(append(b, `{"model":`...), m.name)
	b = jsonappend.Text(append(b, `,"model_version":`...), m.version())
	b = jsonappend.Text(append(b, `,"method":`...), string(m.held.Method()))
	t := &m.Recipe().Target
	switch {
	case t.Number:
		return jsonappend.Text(append(b, `,"outcome":`...), t.Column)
	case !t.Binary():
		b = jsonappend.Texts(append(b, `,"outcomes":`...), t.Outcomes)
		if t.Population != nil {
			b = jsonappend.Floats(append(b, `,"population":`...), t.Population)
		}
		return b
	}
	b = jsonappend.Text(append(b, `,"outcome":`...), t.Outcome())
	if t.Prevalence > 0 {
		b = jsonappend.Float(append(b, `,"prevalence":`...), t.Prevalence)
	}
	return b
}

// notes tell of columns that are far outside the training rows in most rows, of times that have
// zones where those of training had none, or the reverse, and of missing cells where training had none.
func (m *served) notes(r *rows.Rows) (notes []string) {
	far, zones, gaps := make(map[string]int), make(map[string]int), make(map[string]int)
	for _, remarks := range r.Remarks {
		tally(far, remarks.Far)
		tally(zones, remarks.Zones)
		tally(gaps, remarks.Gaps)
	}
	learned := m.Recipe()
	for i := range learned.Columns {
		name := learned.Columns[i].Name
		if note := learned.MostlyFar(recipe.Count{Column: name, Cells: far[name]}, r.N); note != "" {
			notes = append(notes, note)
		}
		if n := zones[name]; n > 0 {
			notes = append(notes, learned.OtherZones(recipe.Count{Column: name, Cells: n}, r.N))
		}
		if n := gaps[name]; n > 0 {
			notes = append(notes, learned.NewGaps(recipe.Count{Column: name, Cells: n}, r.N))
		}
	}
	return notes
}

func tally(count map[string]int, columns []string) {
	for _, name := range columns {
		count[name]++
	}
}

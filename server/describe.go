package server

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/methods"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// ModelList is the models being served.
type ModelList struct {
	Models []ModelSummary `json:"models"`
}

// ModelSummary is a model in a list.
type ModelSummary struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind" enum:"categories,number" doc:"of the outcome"`
	Method   string   `json:"method" doc:"how the posterior was approximated"`
	Rows     int      `json:"rows" doc:"training rows"`
	Features int      `json:"features" doc:"numbers that a row becomes"`
	Outcomes []string `json:"outcomes" nullable:"true" doc:"of two the negative one first; null of a number"`
	Actions  []string `json:"actions" nullable:"true" doc:"null where they are numbers"`
}

// ModelDescription is what there is to know of a model.
type ModelDescription struct {
	Name        string           `json:"name"`
	Kind        string           `json:"kind" enum:"categories,number" doc:"of the outcome"`
	Method      string           `json:"method" doc:"how the posterior was approximated"`
	Likelihood  string           `json:"likelihood"`
	Kernel      string           `json:"kernel"`
	Rows        int              `json:"rows" doc:"training rows"`
	Features    int              `json:"features" doc:"numbers that a row becomes"`
	Version     string           `json:"version" doc:"of the program that fitted it"`
	Digest      string           `json:"digest" doc:"SHA-256 of the model file"`
	Target      TargetColumn     `json:"target"`
	Columns     []Column         `json:"columns" doc:"those that a row must have"`
	Utility     json.RawMessage  `json:"utility" doc:"what actions cost or bring, in the form that requests have"`
	Rule        string           `json:"rule" doc:"which probabilities lead to which action"`
	Summary     *lossep.Summary  `json:"summary,omitempty" doc:"what the fit found"`
	Number      json.RawMessage  `json:"number,omitempty" doc:"what the fit found, where the outcome is a number"`
	ExampleRows []map[string]any `json:"example_rows,omitempty" doc:"rows to try: those of the training that the model keeps"`
}

// TargetColumn is the outcome that was learned.
type TargetColumn struct {
	Name       string    `json:"name"`
	Negative   string    `json:"negative"`
	Positive   string    `json:"positive"`
	Outcome    string    `json:"outcome" doc:"what the positive one is called in answers"`
	Outcomes   []string  `json:"outcomes,omitempty" doc:"those that there are if they are more than two; then there is none that is positive"`
	Rows       []int     `json:"outcome_rows,omitempty" doc:"how many training rows have each of them"`
	Share      float64   `json:"share" doc:"of the positive outcome in the training rows, by weight where rows have one"`
	Prevalence float64   `json:"prevalence,omitempty" doc:"its share in the population that answers are for, if it is another"`
	Population []float64 `json:"population,omitempty" doc:"the shares of more than two outcomes in the population that answers are for, if they are others"`
}

// Column is one that a row must have.
type Column struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind" enum:"numeric,categorical,ordered,date,presence" doc:"presence: only whether there is a value matters"`
	Categories []string `json:"categories,omitempty"`
	Mean       *float64 `json:"mean,omitempty" doc:"of the training rows, if the column was standardised as it is"`
	Scale      *float64 `json:"scale,omitempty" doc:"their standard deviation"`
	Scaling    string   `json:"scaling,omitempty" doc:"the transformation applied before the column was standardised"`
	Example    any      `json:"example" doc:"a value to start from"`
}

// describe writes down once what requests ask for often.
func describe(m *served, examples []map[string]any) (*ModelDescription, error) {
	model, recipe := m.model, m.model.Recipe()
	utility, err := json.Marshal(model.Utility())
	if err != nil {
		return nil, err
	}
	t := recipe.Target
	if examples == nil {
		examples = exampleRows(model, model.Utility().Columns())
	}
	columns := columnsOf(recipe, model.Utility().Columns(), examples)
	return &ModelDescription{
		Name: m.name, Kind: string(service.Categories), Method: string(model.Method()), Likelihood: model.Likelihood().String(), Kernel: model.Kernel().String(),
		Rows: model.Provenance().Rows, Features: model.Provenance().Features, Version: model.Provenance().Version, Digest: m.digest,
		Target: targetOf(&t), Columns: columns,
		Utility: utility, Rule: model.Utility().RuleLine(), Summary: new(model.Summary()), ExampleRows: examples,
	}, nil
}

func targetOf(t *recipe.Target) TargetColumn {
	if !t.Binary() {
		return TargetColumn{Name: t.Column, Outcomes: t.Outcomes, Rows: t.Rows, Population: t.Population}
	}
	return TargetColumn{Name: t.Column, Negative: t.Outcomes[0], Positive: t.Positive(), Outcome: t.Outcome(), Share: t.PositiveShare(), Prevalence: t.Prevalence}
}

// summary is the description in short.
func (m *served) summary() ModelSummary {
	d := m.description
	short := ModelSummary{Name: d.Name, Kind: d.Kind, Method: d.Method, Rows: d.Rows, Features: d.Features}
	if m.model != nil {
		short.Outcomes, short.Actions = m.model.Utility().Outcomes(), m.model.Utility().Actions()
	} else {
		short.Actions = m.numbers.Costs().Actions().Choices
	}
	return short
}

// columnsOf are the columns that make features, and those that costs name, with values of the middle
// one of the examples.
func columnsOf(learned *recipe.Recipe, costs []string, examples []map[string]any) []Column {
	var columns []Column
	var names []string
	for _, c := range learned.Columns {
		column := Column{Name: c.Name, Kind: string(c.Kind), Categories: c.Categories}
		switch c.Kind {
		case recipe.Numeric:
			column.Example = legible(&c)
			if c.Scaling != nil {
				column.Scaling = c.Scaling.String()
			} else if learned.Standardize {
				column.Mean, column.Scale = new(c.Mean), new(c.Scale)
			}
		case recipe.Date:
			column.Example = c.Dates.Example()
		case recipe.Categorical, recipe.Ordered:
			column.Example = c.Categories[0]
			if c.FillCategory != "" {
				column.Example = c.FillCategory
			}
		case recipe.Presence:
		default:
			continue
		}
		columns, names = append(columns, column), append(names, c.Name)
	}
	for _, name := range costs {
		if !slices.Contains(names, name) {
			columns = append(columns, Column{Name: name, Kind: string(recipe.Numeric), Example: 1})
		}
	}
	for i := range columns {
		if len(examples) == 0 {
			break
		}
		if value := examples[len(examples)/2][columns[i].Name]; value != nil && value != "" {
			columns[i].Example = value
		}
	}
	return columns
}

// exampleRows are the training rows that the model keeps, with numbers as such where they are
// written as one.
func exampleRows(m held, costs []string) (rows []map[string]any) {
	kept := m.Examples()
	if kept == nil {
		return nil
	}
	numeric := make(map[string]bool)
	for _, c := range m.Recipe().Columns {
		numeric[c.Name] = c.Kind == recipe.Numeric || c.Kind == recipe.Outcome && m.Recipe().Target.Number || slices.Contains(costs, c.Name)
	}
	for _, cells := range kept.Rows {
		row := make(map[string]any, len(cells))
		for j, name := range kept.Columns {
			row[name] = cells[j]
			if x, ok := table.Number(cells[j]); ok && numeric[name] {
				row[name] = x
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// legible is the middle of a column in four digits, for people to start from; it is whole where
// the ends are.
func legible(c *recipe.Column) float64 {
	x := c.Center()
	if whole := math.Round(x); c.Low == math.Round(c.Low) && c.High == math.Round(c.High) && c.Low <= whole && whole <= c.High {
		return whole
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x // rounded up beyond the largest number
	}
	return short
}

func (s *Server) listModels(x *exchange) error {
	models := *s.models.Load()
	list := ModelList{Models: make([]ModelSummary, 0, len(models))}
	for _, name := range models.names() {
		m := models[name]
		list.Models = append(list.Models, m.summary())
	}
	x.writeJSON(list)
	return nil
}

func (s *Server) describeModel(x *exchange) error {
	m, err := s.modelOf(x)
	if err != nil {
		return err
	}
	x.writeJSON(m.description)
	return nil
}

// effects answers with the effects of a model, which do not change.
func (s *Server) effects(x *exchange) error {
	m, err := s.modelOf(x)
	if err != nil {
		return err
	}
	found, err := m.figures()
	if err != nil {
		return err
	}
	x.writeJSON(found)
	return nil
}

// MethodList is the table of methods.
type MethodList struct {
	Methods []methods.Method `json:"methods"`
}

func (s *Server) listMethods(x *exchange) error {
	x.writeJSON(MethodList{Methods: methods.List(nil)})
	return nil
}

package data

import "fmt"

// Report counts what happened while rows were encoded.
type Report struct {
	Rows    int      // rows encoded
	Unseen  []Unseen // columns with categories that training had not seen
	Ignored []string // columns of the file that the recipe does not know

	recipe *Recipe
	index  map[int]int // recipe column → element of Unseen
}

// Unseen counts the cells of a column whose category was not seen in training;
// they were encoded as zeros.
type Unseen struct {
	Column  string
	Cells   int
	Example string // the first of them
}

// newReport starts counting for one file.
func newReport(b *binding) *Report {
	return &Report{Ignored: b.ignored, recipe: b.recipe, index: make(map[int]int)}
}

// unseen takes note of a cell in a column of the recipe.
func (p *Report) unseen(column int, cell string) {
	k, ok := p.index[column]
	if !ok {
		k = len(p.Unseen)
		p.index[column] = k
		p.Unseen = append(p.Unseen, Unseen{Column: p.recipe.Columns[column].Name, Example: cell})
	}
	p.Unseen[k].Cells++
}

// Lines says in words what a reader of the results should know, one fact a
// line; nothing if all was as in training.
func (p *Report) Lines() []string {
	var lines []string
	if len(p.Ignored) > 0 {
		lines = append(lines, fmt.Sprintf("ignored %s the model does not know: %s", plural(len(p.Ignored), "column"), quoteList(p.Ignored)))
	}
	for _, u := range p.Unseen {
		lines = append(lines, fmt.Sprintf("column %s: %s of %d with a category not seen in training, such as %s, encoded as zeros",
			quote(u.Column), plural(u.Cells, "row"), p.Rows, quote(u.Example)))
	}
	return lines
}

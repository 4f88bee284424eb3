package lossep

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/pass"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Training is what has to be known of training rows where passes over them are made
// elsewhere. It can be written as JSON.
type Training struct {
	Recipe   *recipe.Recipe `json:"recipe"`
	Outcomes Outcomes       `json:"outcomes"`
	// Rows are cut into shards of ShardRows, of which the last may have fewer.
	Rows      int `json:"rows"`
	ShardRows int `json:"shard_rows"`
	// Checksums are those of the shards as numbers.
	Checksums []uint32 `json:"checksums"`
	// Fingerprint tells problems apart: those with the same one have the same passes.
	Fingerprint string `json:"fingerprint"`

	terms gp.Terms // of all rows, where the fit is
}

// Outcomes make terms of what training rows have in the column of the target. They can be written as JSON.
type Outcomes interface {
	// Terms are those of rows with these outcomes: numbers, or places among those of the target.
	Terms(r *recipe.Recipe, outcomes, weights []float64) gp.Terms
}

// NewTraining is what has to be known of rows whose terms the fit moves; of shards of so many rows, 0 for gp.ShardRows.
func NewTraining(r *recipe.Recipe, of Outcomes, x *mat.Dense, outcomes, weights []float64, terms gp.Terms, size int, fingerprint string) *Training {
	t := &Training{Recipe: r, Outcomes: of, Rows: len(outcomes), ShardRows: cmp.Or(size, gp.ShardRows), Fingerprint: fingerprint, terms: terms}
	all := &Part{x, outcomes, weights, nil}
	for from := 0; from < t.Rows; from += t.ShardRows {
		t.Checksums = append(t.Checksums, all.checksum(from, min(from+t.ShardRows, t.Rows)))
	}
	return t
}

// Functions is how many functions the terms of rows are on.
func (t *Training) Functions() int { return gp.Functions(t.terms) }

// Tuned are the logarithms of the hyperparameters that the terms of rows have now, nil for those of the outcomes.
func (t *Training) Tuned() []float64 {
	if tuned, ok := t.terms.(gp.TunedTerms); ok {
		return tuned.Tuned()
	}
	return nil
}

// Shards is the number of shards.
func (t *Training) Shards() int { return (t.Rows + t.ShardRows - 1) / t.ShardRows }

// Process is a process with this kernel, as Kernel.String writes it, seen from inducing
// points z.
func (t *Training) Process(text string, z *mat.Dense) (*gp.Inducing, error) {
	k, err := kernel.ParseColumns(text, columns(t.Recipe.Coding()))
	if err != nil {
		return nil, err
	}
	return gp.NewInducing(k, z)
}

// Part is some of the training rows as numbers.
type Part struct {
	inputs            *mat.Dense
	outcomes, weights []float64
	terms             gp.Terms
}

// part are rows with their terms.
func (t *Training) part(x *mat.Dense, outcomes, weights []float64) *Part {
	return &Part{x, outcomes, weights, t.Outcomes.Terms(t.Recipe, outcomes, weights)}
}

// Part reads the rows of a shard from a table that has them and no others. Rows that are
// not those of the problem are a *table.Error.
func (t *Training) Part(shard int, rows *table.Table) (*Part, error) {
	x, outcomes, weights, err := Encode(t.Recipe, rows)
	if err != nil {
		return nil, err
	}
	p := t.part(x, outcomes, weights)
	if p.checksum(0, rows.Len()) != t.Checksums[shard] {
		at := rows.Place(0)
		at.Msg, at.Fix = fmt.Sprintf("the %d rows from here on are not those that the fit began with", rows.Len()), "leave files alone while they are fitted to, and begin again"
		return nil, at
	}
	return p, nil
}

// checksum is that of the numbers of some rows.
func (p *Part) checksum(from, to int) uint32 {
	sum, buffer := uint32(0), []byte(nil)
	for i := from; i < to; i++ {
		buffer = p.appendRow(buffer, i)
		if len(buffer) > 1<<16 || i == to-1 {
			sum = crc32.Update(sum, castagnoli, buffer)
			buffer = buffer[:0]
		}
	}
	return sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Bytes is the part as a file: row by row the outcome, the features and the weight if rows have any, in eight
// bytes each.
func (p *Part) Bytes() []byte {
	var all []byte
	for i := range p.outcomes {
		all = p.appendRow(all, i)
	}
	return all
}

// appendRow appends the bytes of row i.
func (p *Part) appendRow(to []byte, i int) []byte {
	number := func(v float64) { to = binary.LittleEndian.AppendUint64(to, math.Float64bits(v)) }
	number(p.outcomes[i])
	for _, v := range p.inputs.RawRowView(i) {
		number(v)
	}
	if p.weights != nil {
		number(p.weights[i])
	}
	return to
}

// PartOf is the part of a shard that Bytes wrote down, or an error if it was another one.
func (t *Training) PartOf(shard int, all []byte) (*Part, error) {
	rows, features := min(t.ShardRows, t.Rows-shard*t.ShardRows), t.Recipe.Coding().Len()
	x, outcomes := mat.NewDense(rows, features, nil), make([]float64, rows)
	var weights []float64
	width := 8 * (1 + features)
	if slices.ContainsFunc(t.Recipe.Columns, func(c recipe.Column) bool { return c.Kind == recipe.Weights }) {
		weights = make([]float64, rows)
		width += 8
	}
	if len(all) != rows*width || crc32.Checksum(all, castagnoli) != t.Checksums[shard] {
		return nil, errors.New("these are not the rows of the shard")
	}
	number := func() float64 {
		v := math.Float64frombits(binary.LittleEndian.Uint64(all))
		all = all[8:]
		return v
	}
	for i := range rows {
		outcomes[i] = number()
		row := x.RawRowView(i)
		for k := range row {
			row[k] = number()
		}
		if weights != nil {
			weights[i] = number()
		}
	}
	return t.part(x, outcomes, weights), nil
}

// Tune sets the hyperparameters of the terms, unless there are none.
func (p *Part) Tune(logs []float64) {
	if logs != nil {
		p.terms.(gp.TunedTerms).Tune(logs)
	}
}

// Functions is how many functions the terms are on.
func (p *Part) Functions() int { return gp.Functions(p.terms) }

// Shard is the part as a process sees it.
func (p *Part) Shard(process *gp.Inducing) pass.Rows { return process.Shard(p.inputs, p.terms) }

// Effects is the part as effects see it, whose first row is that of this number.
func (p *Part) Effects(first int) *effects.Shard {
	return effects.NewShard(first, len(p.outcomes), func() (*mat.Dense, effects.Terms, error) { return p.inputs, p.terms, nil })
}

// columns is the form of encoded rows, for kernels.
func columns(c *recipe.Coding) kernel.Columns {
	return kernel.Columns{Numbers: c.Numbers(), Codes: c.Codes(), Score: c.Scored()}
}

// Encode applies a recipe that is given.
func Encode(r *recipe.Recipe, t *table.Table) (x *mat.Dense, outcomes, weights []float64, err error) {
	if x, _, err = r.Apply(t); err != nil {
		return nil, nil, nil, err
	}
	if r.Target.Number {
		outcomes, err = r.Numbers(t)
	} else {
		var labels []int
		labels, err = r.Labels(t)
		outcomes = numbersOf(labels)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if name := r.NameOf(recipe.Weights); name != "" {
		weights, err = t.Weights(name, r.Missing...)
	}
	return x, outcomes, weights, err
}

// encode is Encode for outcomes that are labels.
func encode(r *recipe.Recipe, t *table.Table) (x *mat.Dense, labels []int, weights []float64, err error) {
	x, outcomes, weights, err := Encode(r, t)
	return x, labelsOf(outcomes), weights, err
}

// labelsOf are labels that were kept as numbers, and numbersOf labels as numbers.
func labelsOf(numbers []float64) []int {
	labels := make([]int, len(numbers))
	for i, y := range numbers {
		labels[i] = int(y)
	}
	return labels
}

func numbersOf(labels []int) []float64 {
	numbers := make([]float64, len(labels))
	for i, y := range labels {
		numbers[i] = float64(y)
	}
	return numbers
}

// terms are the terms of labels, without a place in memory for each.
type terms struct {
	labels  []int
	weights []float64 // nil if all are one
	outcome decision.Outcome
}

func (l Likelihood) many(labels []int, weights []float64) terms {
	return terms{labels, weights, l.outcome()}
}

func (t terms) Len() int { return len(t.labels) }

func (t terms) Term(i int) factor.Factor { return t.outcome[t.labels[i]] }

// Count implements pass.Counter.
func (t terms) Count(i int) float64 {
	if t.weights == nil {
		return 1
	}
	return t.weights[i]
}

// grades are terms whose cut points a search moves together with the kernel.
type grades struct {
	terms
	likelihood Likelihood
	priors     []kernel.Prior
	logs       []float64 // that were set last
}

func newGrades(l Likelihood, labels []int, weights []float64) *grades {
	return &grades{l.many(labels, weights), l, gradePriors(len(l.Cuts)+1, labels, weights), nil}
}

// Hyperpriors, Tune, Tuned and Fork implement gp.TunedTerms.
func (g *grades) Hyperpriors() []kernel.Prior { return g.priors }
func (g *grades) Tuned() []float64            { return g.logs }
func (g *grades) Fork() gp.TunedTerms         { c := *g; return &c }
func (g *grades) Tune(logs []float64) {
	g.logs, g.outcome = slices.Clone(logs), g.likelihood.tuned(logs).outcome()
}

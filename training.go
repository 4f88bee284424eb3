package lossep

import (
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
	Recipe     *recipe.Recipe `json:"recipe"`
	Likelihood Likelihood     `json:"likelihood"`
	// Rows are cut into shards of ShardRows, of which the last may have fewer.
	Rows      int `json:"rows"`
	ShardRows int `json:"shard_rows"`
	// Checksums are those of the shards as numbers.
	Checksums []uint32 `json:"checksums"`
	// Fingerprint tells problems apart: those with the same one have the same passes.
	Fingerprint string `json:"fingerprint"`
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
	inputs *mat.Dense
	terms  terms
}

// Part reads the rows of a shard from a table that has them and no others. Rows that are
// not those of the problem are a *table.Error.
func (t *Training) Part(shard int, rows *table.Table) (*Part, error) {
	x, labels, weights, err := encode(t.Recipe, rows)
	if err != nil {
		return nil, err
	}
	p := &Part{x, t.Likelihood.many(labels, weights)}
	if p.checksum() != t.Checksums[shard] {
		at := rows.Place(0)
		at.Msg, at.Fix = fmt.Sprintf("the %d rows from here on are not those that the fit began with", rows.Len()), "leave files alone while they are fitted to, and begin again"
		return nil, at
	}
	return p, nil
}

// checksum is that of the numbers.
func (p *Part) checksum() uint32 {
	sum, buffer := uint32(0), []byte(nil)
	for i := range p.terms.labels {
		buffer = p.appendRow(buffer, i)
		if len(buffer) > 1<<16 || i == len(p.terms.labels)-1 {
			sum = crc32.Update(sum, castagnoli, buffer)
			buffer = buffer[:0]
		}
	}
	return sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Bytes is the part as a file: row by row the label, in one byte, and the features and the
// weight if rows have any, in eight each.
func (p *Part) Bytes() []byte {
	var all []byte
	for i := range p.terms.labels {
		all = p.appendRow(all, i)
	}
	return all
}

// appendRow appends the bytes of row i.
func (p *Part) appendRow(to []byte, i int) []byte {
	to = append(to, byte(p.terms.labels[i]))
	for _, v := range p.inputs.RawRowView(i) {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(v))
	}
	if p.terms.weights != nil {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(p.terms.weights[i]))
	}
	return to
}

// PartOf is the part of a shard that Bytes wrote down, or an error if it was another one.
func (t *Training) PartOf(shard int, all []byte) (*Part, error) {
	rows, features := min(t.ShardRows, t.Rows-shard*t.ShardRows), t.Recipe.Coding().Len()
	var weights []float64
	width := 1 + 8*features
	if slices.ContainsFunc(t.Recipe.Columns, func(c recipe.Column) bool { return c.Kind == recipe.Weights }) {
		weights = make([]float64, rows)
		width += 8
	}
	if len(all) != rows*width || crc32.Checksum(all, castagnoli) != t.Checksums[shard] {
		return nil, errors.New("these are not the rows of the shard")
	}
	p := &Part{mat.NewDense(rows, features, nil), t.Likelihood.many(make([]int, rows), weights)}
	number := func() float64 {
		v := math.Float64frombits(binary.LittleEndian.Uint64(all))
		all = all[8:]
		return v
	}
	for i := range rows {
		p.terms.labels[i] = int(all[0])
		all = all[1:]
		row := p.inputs.RawRowView(i)
		for k := range row {
			row[k] = number()
		}
		if weights != nil {
			weights[i] = number()
		}
	}
	return p, nil
}

// slice is a part of the part.
func (p *Part) slice(from, to int) *Part {
	_, d := p.inputs.Dims()
	s := &Part{p.inputs.Slice(from, to, 0, d).(*mat.Dense), p.terms}
	s.terms.labels = p.terms.labels[from:to]
	if p.terms.weights != nil {
		s.terms.weights = p.terms.weights[from:to]
	}
	return s
}

// Shard is the part as a process sees it.
func (p *Part) Shard(process *gp.Inducing) pass.Rows { return process.Shard(p.inputs, p.terms) }

// Effects is the part as effects see it.
func (p *Part) Effects() *effects.Shard {
	return effects.NewShard(len(p.terms.labels), func() (*mat.Dense, effects.Terms, error) { return p.inputs, p.terms, nil })
}

// columns is the form of encoded rows, for kernels.
func columns(c *recipe.Coding) kernel.Columns {
	return kernel.Columns{Numbers: c.Numbers(), Codes: c.Codes(), Score: c.Scored()}
}

// encode applies a recipe that is given.
func encode(r *recipe.Recipe, t *table.Table) (x *mat.Dense, labels []int, weights []float64, err error) {
	if x, _, err = r.Apply(t); err != nil {
		return nil, nil, nil, err
	}
	if labels, err = r.Labels(t); err != nil {
		return nil, nil, nil, err
	}
	if name := r.NameOf(recipe.Weights); name != "" {
		weights, err = t.Weights(name, r.Missing...)
	}
	return x, labels, weights, err
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
}

func newGrades(l Likelihood, labels []int, weights []float64) *grades {
	return &grades{l.many(labels, weights), l, gradePriors(len(l.Cuts)+1, labels, weights)}
}

// Hyperpriors, Tune and Fork implement gp.TunedTerms.
func (g *grades) Hyperpriors() []kernel.Prior { return g.priors }
func (g *grades) Tune(logs []float64)         { g.outcome = g.likelihood.tuned(logs).outcome() }
func (g *grades) Fork() gp.TunedTerms         { c := *g; return &c }

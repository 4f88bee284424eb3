package lossep

import (
	"encoding/binary"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/recipe"
)

// Trained are the rows that a model was fitted to, as long as it keeps them.
type Trained struct {
	rows map[string]struct{}
	// chance is the share of new rows that are equal to one of them by chance.
	chance float64
}

// Trained are the rows that the model was fitted to.
func (m *Model) Trained() *Trained { return NewTrained(m.x, m.recipe) }

// NewTrained takes encoded rows, nil for none.
func NewTrained(x *mat.Dense, r *recipe.Recipe) *Trained {
	t := &Trained{rows: make(map[string]struct{})}
	if x == nil {
		return t
	}
	rows, _ := x.Dims()
	for i := range rows {
		t.rows[keyOf(x.RawRowView(i))] = struct{}{}
	}
	if len(t.rows) < rows && r.Copies(x) == nil { // different cases with the same entries
		t.chance = float64(rows-len(t.rows)) / float64(rows)
	}
	return t
}

// Has tells whether features are equal to those of a training row, to the last bit.
func (t *Trained) Has(features []float64) bool {
	if t == nil { // no model
		return false
	}
	_, ok := t.rows[keyOf(features)]
	return ok
}

// Optimistic tells whether as many of some rows are training rows as three standard deviations more than
// chance would give: what these cost is not what new ones do.
func (t *Trained) Optimistic(seen, of int) bool {
	n := float64(of)
	return float64(seen) > n*t.chance+3*math.Sqrt(n*t.chance*(1-t.chance))
}

func keyOf(features []float64) string {
	key := make([]byte, 0, 8*len(features))
	for _, v := range features {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // +0 makes one of both zeros
	}
	return string(key)
}

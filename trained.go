package lossep

import (
	"encoding/binary"
	"math"
)

// Trained gives a function that tells whether features are equal to those of a row the model
// was fitted to, to the last bit. What such rows cost is not what new ones do. It is nil if
// the model does not keep its rows, and where that would tell nothing: if rows are equal to
// each other that are different cases (see recipe.Recipe.Copies), so are new ones.
func (m *Model) Trained() func(features []float64) bool {
	if m.x == nil {
		return nil
	}
	rows, _ := m.x.Dims()
	known := make(map[string]struct{}, rows)
	for i := range rows {
		known[keyOf(m.x.RawRowView(i))] = struct{}{}
	}
	if len(known) < rows && m.recipe.Copies(m.x) == nil {
		return nil
	}
	return func(features []float64) bool {
		_, ok := known[keyOf(features)]
		return ok
	}
}

func keyOf(features []float64) string {
	key := make([]byte, 0, 8*len(features))
	for _, v := range features {
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) // +0 makes one of both zeros
	}
	return string(key)
}

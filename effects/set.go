package effects

// Set is the effects of several families.
type Set []*Effect

// At is the sum of the effects on a function at a row, by their posterior.
func (s Set) At(row []float64, function int) (sum Moment) {
	for _, e := range s {
		w, _ := e.At(row, function)
		sum.Mean += w.Mean
		sum.Variance += w.Variance
	}
	return sum
}

// Functions is how many functions have effects of their own: one where there are none.
func (s Set) Functions() int {
	if len(s) == 0 {
		return 1
	}
	return s[0].Functions()
}

// Divergence is KL(q ‖ prior) of all effects.
func (s Set) Divergence() (kl float64) {
	for _, e := range s {
		kl += e.divergence()
	}
	return kl
}

// Groups is the number of effects.
func (s Set) Groups() (n int) {
	for _, e := range s {
		n += len(e.Moments)
	}
	return n
}

// Without is by how much the mean and variance of a function at a training row change when the
// row itself is left out, with terms as they were last looked at: its slope g and curvature τ
// are taken from each of its effects, whose variance becomes c = V/(1 − τV) and whose mean
// falls by cg.
func (f *Fit) Without(row, function int) (change Moment) {
	at := function*f.table.Len() + row
	slope, curvature := f.slope[at], f.curvature[at]
	for _, m := range f.members {
		v := m.Of(function)[m.ids.at(row)].Variance
		rest := 1 - curvature*v
		if !(rest > leastRest) { // damping may leave a little more precision in the row than in the effect
			rest = leastRest
		}
		c := v / rest
		change.Mean -= c * slope
		change.Variance += c - v
	}
	return change
}

// leastRest is the least share of the precision of an effect that others than one row are taken
// to have given it.
const leastRest = 1e-6

// Bytes is about what the effects take up.
func (s Set) Bytes() (bytes float64) {
	for _, e := range s {
		bytes += 12*float64(len(e.seen.words)) + 16*float64(len(e.Moments)) + 4*float64(len(e.Rows))
	}
	return bytes
}

package recipe

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/lossep/lossep/internal/indices"
	"github.com/lossep/lossep/internal/radix"
	"github.com/lossep/lossep/table"
)

// median of finite values.
func median(values []float64) float64 {
	first, last := (len(values)-1)/2, len(values)/2 // the places of those in the middle
	near, below := around(values, first, last)
	slices.Sort(near)
	low, high := near[first-below], near[last-below]
	if low == high {
		return low + 0 // never −0, which JSON would not keep
	}
	return low/2 + high/2 // the sum of two large numbers may overflow
}

// around are the values that begin with the same bits as those that two places next to each other have in their
// order, and how many are below them. Of few values that are all.
func around(values []float64, first, last int) (near []float64, below int) {
	if len(values) < radix.Many {
		return slices.Clone(values), 0
	}
	const shift = 48
	var counts [1 << (64 - shift)]int
	for _, x := range values {
		counts[radix.Key(x)>>shift]++
	}
	from := uint64(0)
	for below+counts[from] <= first {
		below += counts[from]
		from++
	}
	to, n := from, counts[from]
	for below+n <= last {
		to++
		n += counts[to]
	}
	near = make([]float64, 0, n)
	for _, x := range values {
		if k := radix.Key(x) >> shift; from <= k && k <= to {
			near = append(near, x)
		}
	}
	return near, below
}

// spare is memory that is used for one column after another. A nil one is new memory for
// each.
type spare struct {
	values, sorting, sample []float64
	scores, quantiles       []float64
}

// sampleRoom is memory for n values of a sample.
func (s *spare) sampleRoom(n int) []float64 {
	if s == nil {
		return make([]float64, n)
	}
	return grown(&s.sample, n)
}

// sort puts finite numbers in increasing order.
func (s *spare) sort(values []float64) {
	if s == nil {
		s = new(spare)
	}
	radix.Sort(values, &s.sorting)
}

// scoreRoom is memory for n normal scores, and the quantiles of the normal distribution at
// k/2n, as far as they are known: columns of as many values have them in common.
func (s *spare) scoreRoom(n int) (scores, quantiles []float64) {
	if s == nil {
		return make([]float64, n), make([]float64, 2*n)
	}
	if len(s.quantiles) != 2*n {
		s.quantiles = make([]float64, 2*n)
	}
	return grown(&s.scores, n), s.quantiles
}

// grown is memory for n values, which is kept for the next time.
func grown(kept *[]float64, n int) []float64 {
	if cap(*kept) < n {
		*kept = make([]float64, n)
	}
	return (*kept)[:n]
}

// room is memory for n values.
func (s *spare) room(n int) []float64 {
	if s == nil {
		return make([]float64, 0, n)
	}
	if cap(s.values) < n {
		s.values = make([]float64, 0, n)
	}
	return s.values[:0]
}

// meanScale is the mean and the standard deviation (divisor n) of values. They are
// scaled by a power of two, which is exact, so that no finite column overflows, and
// summed with twice the digits, so that their order does not matter.
func meanScale(values []float64) (mean, scale float64) {
	return meanScaleWithin(magnitude(values), values)
}

// meanScaleWithin is the same of values in parts, where the largest absolute value is known.
func meanScaleWithin(largest float64, parts ...[]float64) (mean, scale float64) {
	var sum, sum2 table.Sum
	shrink, shrink2 := shrinking(largest)
	for _, values := range parts {
		for ; len(values) > 1; values = values[2:] { // two sums, of which none waits for the other
			sum = sum.Plus(values[0] * shrink * shrink2)
			sum2 = sum2.Plus(values[1] * shrink * shrink2)
		}
		for _, x := range values {
			sum = sum.Plus(x * shrink * shrink2)
		}
	}
	return scaleAround(sum.Join(sum2).Value(), largest, parts)
}

// meanScaleOf is the same where the sum is known, too.
func meanScaleOf(sum table.Sum, largest float64, parts ...[]float64) (mean, scale float64) {
	const far = 1 << 500 // from where on sums of values or their squares are in danger
	if largest > far || largest < 1.0/far {
		return meanScaleWithin(largest, parts...)
	}
	shrink, shrink2 := shrinking(largest)
	return scaleAround(sum.Value()*shrink*shrink2, largest, parts)
}

// shrinking is by what values are multiplied: by one power of two and then another, since
// together they may be too small a number.
func shrinking(largest float64) (shrink, shrink2 float64) {
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, -exponent/2), math.Ldexp(1, exponent/2-exponent)
}

// scaleAround is the second pass: the deviation from the mean, for which the sum of what
// was shrunk is known.
func scaleAround(sum, largest float64, parts [][]float64) (mean, scale float64) {
	n := 0.0
	for _, values := range parts {
		n += float64(len(values))
	}
	shrink, shrink2 := shrinking(largest)
	grow, grow2 := 1/shrink, 1/shrink2
	mean = sum / n
	var squares, squares2, first, first2 table.Sum
	for _, values := range parts {
		for ; len(values) > 1; values = values[2:] {
			d, d2 := values[0]*shrink*shrink2-mean, values[1]*shrink*shrink2-mean
			first = first.Plus(d)
			first2 = first2.Plus(d2)
			squares = squares.Plus(d * d)
			squares2 = squares2.Plus(d2 * d2)
		}
		for _, x := range values {
			d := x*shrink*shrink2 - mean
			first = first.Plus(d)
			squares = squares.Plus(d * d)
		}
	}
	first, squares = first.Join(first2), squares.Join(squares2)
	// The second pass corrects the rounding of the first mean.
	correction := first.Value() / n
	variance := max(squares.Value()/n-correction*correction, 0)
	return (mean+correction)*grow*grow2 + 0, math.Sqrt(variance) * grow * grow2
}

// bounds are the smallest and the largest of finite values.
func bounds(values []float64) (low, high float64) {
	low, high = values[0], values[0]
	for _, x := range values {
		if x < low {
			low = x
		}
		if x > high {
			high = x
		}
	}
	return low, high
}

// apart tells whether the smallest and the largest of values differ by more than rounding.
// Those that are exact, as 123456789012345 and 123456789012346 are, do however close they
// lie: the difference of close numbers is exact, and so is what standardising makes of it.
func apart(low, high float64) bool {
	if high-low > constantFraction*max(math.Abs(low), math.Abs(high)) {
		return true
	}
	return low < high && isExact(low) && isExact(high)
}

// isExact recognises integers and decimals of no more digits than a float64 keeps.
func isExact(x float64) bool {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return true
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', table.ExactDigits-1, 64), 64)
	return rounded == x
}

// magnitude is the largest absolute value.
func magnitude(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	low, high := bounds(values)
	return max(math.Abs(low), math.Abs(high))
}

// Where rows have weights, what is estimated of a column is what it would be if each row
// were written as often as it counts: every statistic is then weighted, medians, ranks and
// powers as well as means.

const (
	// mostCopies is how many copies weights may stand for to be taken at their word.
	mostCopies = 1 << 22
	// fewestCopies is how many others are rounded to, at least: 1/4096 of the weight is far
	// below what the scale of a column matters to.
	fewestCopies = 1 << 12
)

// copiesOf are values as often as their weights say, in increasing order, and how many
// copies the rest of the weight makes. Weights that are multiples of the smallest are exact;
// others are rounded so that the error does not add up from one value to the next.
func copiesOf(values, weights []float64, rest float64) (copies []float64, others int) {
	total, unit := rest, math.Inf(1)
	for _, w := range weights {
		total += w
		if w > 0 {
			unit = min(unit, w)
		}
	}
	if total == 0 {
		return nil, 0
	}
	multiple := func(w float64) bool { return math.Abs(w/unit-math.Round(w/unit)) <= 1e-9*w/unit }
	if total/unit > mostCopies || !multiple(rest) || slices.ContainsFunc(weights, func(w float64) bool { return !multiple(w) }) {
		unit = total / float64(max(fewestCopies, 4*len(values)))
	}
	order := indices.Of(len(values))
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(values[i], values[j]), cmp.Compare(weights[i], weights[j]))
	})
	sum := 0.0
	for _, i := range order {
		sum += weights[i]
		for float64(len(copies)) < math.Floor(sum/unit+0.5) {
			copies = append(copies, values[i])
		}
	}
	return copies, int(math.Round(rest / unit))
}

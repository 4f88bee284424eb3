package posterior

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/internal/tasks"
)

// NearestRows is how many rows stand for what a case may be of which some is not known.
const NearestRows = 50

// completedAtOnce is how many completed rows are predicted together, in some megabytes of memory.
const completedAtOnce = 2048

// Donors are rows that complete cases of which some entries are not known, NaN: what is not known
// is thought to be what it is in one of the rows that are nearest in all that is.
type Donors struct {
	X       *mat.Dense
	Numbers int // entries that are numbers, before those that are codes
	// Shares is how likely a case is to be like each of some rows.
	Shares func(rows []int) []float64
	order  []int // rows that are as near are taken in this order
}

// NewDonors takes rows, the first entries of which are so many numbers and the others codes.
func NewDonors(x *mat.Dense, numbers int, shares func(rows []int) []float64) *Donors {
	n, _ := x.Dims()
	return &Donors{x, numbers, shares, rand.New(rand.NewPCG(1, uint64(n))).Perm(n)}
}

// EqualShares are those of rows that count the same.
func EqualShares(rows []int) []float64 {
	return slices.Repeat([]float64{1 / float64(len(rows))}, len(rows))
}

// Unknown are the entries of a row that are not known.
func Unknown(row []float64) (places []int) {
	for k, v := range row {
		if v != v {
			places = append(places, k)
		}
	}
	return places
}

// Gaps tells whether some entries of rows are not known.
func Gaps(x *mat.Dense) bool {
	n, _ := x.Dims()
	for i := range n {
		if slices.ContainsFunc(x.RawRowView(i), math.IsNaN) {
			return true
		}
	}
	return false
}

// neighbour is a row at a squared distance; rank is its place in the order.
type neighbour struct {
	distance float64
	rank     int
}

func (c neighbour) compare(d neighbour) int {
	return cmp.Or(cmp.Compare(c.distance, d.distance), cmp.Compare(c.rank, d.rank))
}

// Nearest are the rows nearest to one in what is known of it, the nearest first. Of rows that are
// as near, any may be among them: the first of a file that is sorted would all be alike. The best
// so far are kept in order, so that most rows are turned down by one comparison.
func (d *Donors) Nearest(row []float64) []int {
	var numbers, codes []int
	for k, v := range row {
		switch {
		case v != v:
		case k < d.Numbers:
			numbers = append(numbers, k)
		default:
			codes = append(codes, k)
		}
	}
	best := make([]neighbour, 0, NearestRows+1)
	for rank, i := range d.order {
		own, c := d.X.RawRowView(i), neighbour{rank: rank}
		for _, k := range numbers {
			c.distance += (own[k] - row[k]) * (own[k] - row[k])
		}
		for _, k := range codes {
			if own[k] != row[k] {
				c.distance += 2 // of two 0/1 columns
			}
		}
		if len(best) == NearestRows && c.compare(best[NearestRows-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, neighbour.compare)
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), NearestRows)]
	}
	rows := make([]int, len(best))
	for k, c := range best {
		rows[k] = d.order[c.rank]
	}
	return rows
}

// Fill writes a row with some of its entries those of a donor.
func (d *Donors) Fill(to, row []float64, places []int, donor int) {
	copy(to, row)
	for _, place := range places {
		to[place] = d.X.At(donor, place)
	}
}

// Variants are what a row may be, each once, and how likely: with all that is not known as one of
// the nearest donors has it, the same for all entries, so that what goes together stays so. One of
// which all is known is itself.
func (d *Donors) Variants(row []float64) (all [][]float64, shares []float64) {
	places := Unknown(row)
	if places == nil {
		return [][]float64{row}, []float64{1}
	}
	near := d.Nearest(row)
	for k, share := range d.Shares(near) {
		filled := make([]float64, len(row))
		d.Fill(filled, row, places, near[k])
		same := slices.IndexFunc(all, func(other []float64) bool {
			return !slices.ContainsFunc(places, func(place int) bool { return other[place] != filled[place] })
		})
		if same < 0 {
			same, all, shares = len(all), append(all, filled), append(shares, 0)
		}
		shares[same] += share
	}
	return all, shares
}

// Predict predicts rows of which some entries may not be known by what is predicted of rows that
// are: of each the mixture over its Variants, with probabilities p = Σ_s w_s p_s and the moments
// m = Σ_s w_s m_s and v = Σ_s w_s (v_s + (m_s − m)²) of the latent value. A row with gaps takes a pass
// over the donors, N·D operations, and up to NearestRows predictions.
func (d *Donors) Predict(x *mat.Dense, predict func(*mat.Dense) []Prediction) []Prediction {
	n, columns := x.Dims()
	out := make([]Prediction, 0, n)
	for len(out) < n {
		from, to := len(out), len(out)
		for size := 0; to < n && size < completedAtOnce; to++ {
			if size++; Unknown(x.RawRowView(to)) != nil {
				size += NearestRows
			}
		}
		variants, shares := make([][][]float64, to-from), make([][]float64, to-from)
		tasks.For(to-from, func(k int) { variants[k], shares[k] = d.Variants(x.RawRowView(from + k)) })
		rows := slices.Concat(variants...)
		all := predict(mat.NewDense(len(rows), columns, slices.Concat(rows...)))
		for _, own := range shares {
			out = append(out, mixed(all[:len(own)], own))
			all = all[len(own):]
		}
	}
	return out
}

// mixed is the mixture of predictions of one case. One alone is itself, to the bit.
func mixed(all []Prediction, shares []float64) Prediction {
	if len(all) == 1 {
		return all[0]
	}
	p := Prediction{Probabilities: Mean(probabilitiesOf(all), shares)}
	for s, q := range all {
		p.Mean += shares[s] * q.Mean
	}
	for s, q := range all {
		p.Variance += shares[s] * (q.Variance + (q.Mean-p.Mean)*(q.Mean-p.Mean))
	}
	return p
}

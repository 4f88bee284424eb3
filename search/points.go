package search

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/indices"
)

// MostPoints is the largest number of inducing points that Induce chooses by itself for
// so many rows: all of two thousand, fewer the more there are, 337 for 2.9 million. A pass
// takes much the same time as long as the search looks at all rows, N·M², and what takes
// time in proportion to the points more. Beyond that there are some ten passes over all
// rows, and points become fewer more slowly. A search on a sample has no more points than
// all rows will have, so that it costs an eighth of the next.
//
// A pass takes as much time again for every further function, and functions of outcomes are found
// from the same points: of C there are fewer by C^⅔, with which a pass takes a little less than that
// of one. With 350 points in place of 632, as many as keep the time the same, the log loss of the
// ten handwritten digits left out one by one rises by 0.0006.
func MostPoints(rows, functions int) int {
	most := 2000 * math.Pow(max(1, min(float64(rows), SearchRows)/2000), -0.45)
	most *= math.Pow(max(1, float64(rows)/SearchRows), -0.135)
	return min(rows, int(most/math.Cbrt(float64(functions*functions))))
}

// TolerableLoss is what the bound may lack for want of points, in nats per row, before Induce
// looks for more by itself. Log losses are known the better the more rows there are, by the root
// of their number, and beyond those of a search the points cost a few passes only. On 96,000 rows of
// Give Me Some Credit 535 points in place of 256 lower the log loss of 24,000 others by 0.0003 ± 0.0001.
func TolerableLoss(rows int) float64 {
	return 0.002 * min(1, math.Sqrt(SearchRows/float64(max(1, rows))))
}

// growth is what the bound lacked, in nats per row, after so many points.
type growth []struct {
	points int
	lost   float64
}

// enough tells whether more points would bring little: little is lacking, or as many more
// as half of them have brought little.
func (g growth) enough(tolerable float64) bool {
	last := g[len(g)-1]
	if last.lost <= tolerable {
		return true
	}
	for _, before := range slices.Backward(g) {
		if 2*before.points <= last.points {
			return before.lost-last.lost <= tolerable
		}
	}
	return false
}

// firstPoints is enough for a start, when nothing is known of the curvature of the terms.
const firstPoints = 100

// noShare is the share of the variance below which nothing is left to explain: a sum of linear terms has
// as many points as it has dimensions.
const noShare = 1e-6

// pivotRows is the most rows among which inducing points are chosen for each of them.
const pivotRows = 32

// searchPoints is the most inducing points of a search with so many rows. An evaluation with
// a quarter as many costs a quarter of one of the full process; with as many as rows it
// would cost three times as much, and with more than 500 of 5,000 rows most of the time of a
// search, as 500 of 25,000 would. On 800 rows of German credit probabilities from 200 points are 0.03 away from those of the full process, but only 0.01 if the full process takes over
// the kernel found with them. A few evaluations with all points halve what is left: with 750
// points for 900 rows probabilities are 0.007 away in place of 0.013.
//
// Of several functions there are fewer, as in MostPoints.
func searchPoints(rows, functions int) int {
	return max(firstPoints, int(float64(min(rows/4, mostSearchPoints))/math.Sqrt(float64(functions))))
}

// mostSearchPoints is the most of any search.
const mostSearchPoints = 250

// most is the largest number of inducing points for so many of the rows.
func (s *induction) most(rows int) int {
	most := s.opt.Points
	if most == 0 {
		most = MostPoints(s.terms.Len(), gp.Functions(s.terms))
		if s.opt.Most > 0 {
			most = min(most, s.opt.Most)
		}
	}
	return min(most, rows)
}

// choose chooses inducing points for the kernel so far among some of the rows: for a search,
// or as many as there are to be.
func (s *induction) choose(x *mat.Dense, terms gp.Terms, whole bool) {
	n, _ := x.Dims()
	most := s.most(n)
	if s.opt.Points == 0 && s.last == nil {
		most = min(most, firstPoints)
	}
	s.at.Fewer = !whole && most > searchPoints(n, gp.Functions(s.terms))
	if s.at.Fewer {
		most = searchPoints(n, gp.Functions(s.terms))
	}
	rng := rand.New(rand.NewPCG(s.opt.Seed, uint64(3+100*s.at.Level+s.round)))
	if among := max(fewestRows, pivotRows*most); among < n {
		x, terms = s.rowsAt(x, terms, deal(rng, n, among))
	} else if x == s.x && s.opt.Order != nil {
		x, terms = s.rowsAt(x, terms, indices.Of(n))
	}
	pivots := NewPivots(s.kernel.With(s.at.Logs[:s.kernel.NumParams()]), x, s.weights(x, terms), rng)
	pivots.most = most
	var grown growth
	share := 0.0
	if s.opt.Points == 0 {
		share = noShare
	}
	for {
		m := pivots.Grow(min(most, len(pivots.Chosen())+pivotBlock), share)
		s.at.Lost = pivots.lost()
		grown = append(grown, struct {
			points int
			lost   float64
		}{m, s.at.Lost})
		if m == most || pivots.finished || s.opt.Points == 0 && (pivots.Share() <= share || grown.enough(TolerableLoss(s.terms.Len()))) {
			break
		}
	}
	// Fewer than there may be can be enough.
	s.at.Fewer = s.at.Fewer && len(pivots.Chosen()) == most
	s.at.Share = pivots.Share()
	pivots.Release()
	z := pivots.Points(most)
	s.at.Points = make([][]float64, len(pivots.Chosen()))
	for i := range s.at.Points {
		s.at.Points[i] = slices.Clone(z.RawRowView(i))
	}
}

// points are the inducing points chosen last.
func (s *induction) points() *mat.Dense {
	_, d := s.x.Dims()
	z := mat.NewDense(len(s.at.Points), d, nil)
	for i, p := range s.at.Points {
		z.SetRow(i, p)
	}
	return z
}

// rows are the first so many of the random order, in their own order, with their terms and what is
// known of effects on them.
func (s *induction) rows(n int) (*mat.Dense, gp.Terms, []effects.Moment) {
	if n == s.terms.Len() {
		return s.x, s.terms, s.opt.Sums
	}
	places := slices.Clone(s.order[:n])
	slices.Sort(places)
	x, terms := s.rowsAt(s.x, s.terms, places)
	return x, terms, s.opt.Beside.Trained(x)
}

// rowsAt are the rows of x at some places of the order, which those of a sample stand in, with
// their terms.
func (s *induction) rowsAt(x *mat.Dense, terms gp.Terms, places []int) (*mat.Dense, gp.Terms) {
	rows := s.numbers(x, places)
	return gp.RowsOf(x, rows), gp.Part(terms, rows)
}

// numbers are those of the rows of x at some places.
func (s *induction) numbers(x *mat.Dense, places []int) []int {
	rows := slices.Clone(places)
	if x == s.x && s.opt.Order != nil {
		for i, place := range places {
			rows[i] = s.opt.Order[place]
		}
	}
	return rows
}

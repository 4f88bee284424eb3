package lanes

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// A function that falls as e^−|p − q| takes no exponential for a pair of numbers where each
// has its own: e^−|p − q| is the smaller one of e^p·e^−q and e^−p·e^q. A triple is p, e^p and
// e^−p.
//
// No product may leave the range of a float64, e^±708. So numbers of cases are within Reach,
// and those of probes within mostReach, where those that are farther are put: there they are
// at least 80 away from any case, and (1 + 80)e^−80 is 1e-33.
const (
	Reach     = 300.0
	mostReach = Reach + 80
)

// slopeSums is how many sums a column has in Slopes, eight of each kind: as many as the
// longest vector holds, so that they are the same in every code.
const slopeSums = 16

// Triples are cases z with q_k = scale_k z_k, in the order of Strips: in runs of Width cases,
// and of each run one column after another, with all q before all e^q and all e^−q. The last
// run is filled up with zeros.
type Triples struct {
	cases, columns int
	data           []float64
}

// TriplesSize is how many numbers the triples of n cases of d columns are.
func TriplesSize(n, d int) int { return 3 * Size(n, d) }

// NewTriples makes triples of the rows of z, times scale and then within Reach, in storage,
// which has their size.
func NewTriples(z blas64.General, scale, storage []float64) Triples {
	if len(storage) != TriplesSize(z.Rows, z.Cols) || len(scale) != z.Cols {
		panic(fmt.Sprintf("lanes: storage of %d numbers and %d scales for %d cases of %d columns", len(storage), len(scale), z.Rows, z.Cols))
	}
	for from := 0; from < z.Rows; from += Width {
		for k, by := range scale {
			strip := storage[3*(from*z.Cols+k*Width):][:3*Width]
			q := strip[:Width]
			clear(q)
			for j := range min(Width, z.Rows-from) {
				if by != 0 { // a column that is left out may be infinite
					q[j] = by * z.Data[(from+j)*z.Stride+k]
				}
			}
			expand(strip, Reach)
		}
	}
	return Triples{cases: z.Rows, columns: z.Cols, data: storage}
}

// expand fills the second and third part of t with e^p and e^−p of the first, which it puts
// within ±most. Their product is 1 or the number before it: the reciprocal of e rounds once.
func expand(t []float64, most float64) {
	n := len(t) / 3
	p, up, down := t[:n], t[n:2*n], t[2*n:]
	for i, v := range p {
		switch {
		case v > most:
			v = most
		case v < -most:
			v = -most
		}
		p[i], up[i] = v, math.Abs(v)
	}
	Gaussian.Apply(up, 1, 1)
	for i, e := range up {
		down[i] = e
		if p[i] < 0 {
			down[i] = 1 / e
		} else {
			up[i] = 1 / e
		}
	}
}

// Probes are rows x with p_k = scale_k x_k to be compared with Triples.
type Probes struct {
	rows, columns int
	data          []float64 // all p, all e^p and all e^−p, row by row
}

// ProbesSize is how many numbers the probes of n rows of d columns are.
func ProbesSize(n, d int) int { return 3 * Padded(n*d) }

// NewProbes makes probes of the rows of x times scale in storage, which has their size. Each
// depends on nothing but its row.
func NewProbes(x blas64.General, scale, storage []float64) Probes {
	if len(storage) != ProbesSize(x.Rows, x.Cols) || len(scale) != x.Cols {
		panic(fmt.Sprintf("lanes: storage of %d numbers and %d scales for %d rows of %d columns", len(storage), len(scale), x.Rows, x.Cols))
	}
	p := storage[:len(storage)/3]
	for i := range x.Rows {
		for k, by := range scale {
			p[i*x.Cols+k] = 0
			if by != 0 { // as above
				p[i*x.Cols+k] = by * x.Data[i*x.Stride+k]
			}
		}
	}
	clear(p[x.Rows*x.Cols:])
	expand(storage, mostReach)
	return Probes{rows: x.Rows, columns: x.Cols, data: storage}
}

// each calls visit for every probe and strip of triples, strip by strip: one of 40 columns is
// 30 kB, so that it stays in the first-level cache.
func (t Triples) each(x Probes, visit func(i, j int, probe, strip []float64)) {
	if x.columns != t.columns || t.columns == 0 {
		panic(fmt.Sprintf("lanes: probes of %d columns and triples of %d", x.columns, t.columns))
	}
	for j := 0; j < t.cases; j += Width {
		strip := t.data[3*j*t.columns : 3*(j+Width)*t.columns]
		for i := range x.rows {
			visit(i, j, x.data[i*x.columns:], strip)
		}
	}
}

// Matern32 writes Σ_k amplitude_k (1 + u_k) e^−u_k, u_k = |p_k − q_k|, for every probe and
// case; dst has a row for each probe and Padded columns, of which those past the cases mean
// nothing.
func (t Triples) Matern32(dst blas64.General, x Probes, amplitudes []float64) {
	if dst.Rows != x.rows || dst.Cols != Padded(t.cases) || len(amplitudes) != t.columns {
		panic(fmt.Sprintf("lanes: a %d×%d matrix and %d amplitudes for %d probes and %d cases of %d columns", dst.Rows, dst.Cols, len(amplitudes), x.rows, t.cases, t.columns))
	}
	apart := len(x.data) / 3
	t.each(x, func(i, j int, probe, strip []float64) {
		selected.columnSums(dst.Data[i*dst.Stride+j:][:Width], probe, apart, amplitudes, strip)
	})
}

// SlopesSize is how much room Slopes of d columns take.
func SlopesSize(d int) int { return slopeSums * d }

// Slopes sets values_k to Σ w (1 + u_k) e^−u_k and slopes_k to Σ w u_k² e^−u_k over all pairs
// of a probe and a case, where w has a row for each probe and a column for each case: the
// second is the derivative of the first by the logarithm of what p_k and q_k are divided by.
// It wants room of SlopesSize.
func (t Triples) Slopes(values, slopes []float64, w blas64.General, x Probes, room []float64) {
	if w.Rows != x.rows || w.Cols != t.cases || len(values) != t.columns || len(slopes) != t.columns || len(room) != slopeSums*t.columns {
		panic(fmt.Sprintf("lanes: %d×%d weights, %d and %d sums and room for %d numbers for %d probes and %d cases of %d columns",
			w.Rows, w.Cols, len(values), len(slopes), len(room), x.rows, t.cases, t.columns))
	}
	clear(room)
	apart := len(x.data) / 3
	var last [Width]float64
	t.each(x, func(i, j int, probe, strip []float64) {
		weights := w.Data[i*w.Stride+j : i*w.Stride+min(j+Width, w.Cols)]
		if len(weights) < Width {
			clear(last[copy(last[:], weights):])
			weights = last[:]
		}
		selected.columnSlopes(room, probe, apart, weights, strip)
	})
	for k := range t.columns {
		sums := room[k*slopeSums : (k+1)*slopeSums]
		values[k], slopes[k] = 0, 0
		for l := range slopeSums / 2 {
			values[k] += sums[l]
			slopes[k] += sums[slopeSums/2+l]
		}
	}
}

// plainPair is u = |p − q| and e^−u.
func plainPair(probe []float64, apart, k int, strip []float64, j int) (u, e float64) {
	at := 3*k*Width + j
	u = math.Abs(probe[k] - strip[at])
	e, other := probe[apart+k]*strip[at+2*Width], probe[2*apart+k]*strip[at+Width]
	if !(e < other) {
		e = other
	}
	return u, e
}

func plainColumnSums(dst, probe []float64, apart int, amplitudes, strip []float64) {
	clear(dst)
	for k, amplitude := range amplitudes {
		for j := range dst {
			u, e := plainPair(probe, apart, k, strip, j)
			dst[j] = math.FMA(math.FMA(u, amplitude, amplitude), e, dst[j])
		}
	}
}

func plainColumnSlopes(room, probe []float64, apart int, weights, strip []float64) {
	for k := range len(room) / slopeSums {
		values, slopes := room[k*slopeSums:][:slopeSums/2], room[k*slopeSums+slopeSums/2:][:slopeSums/2]
		for j, w := range weights {
			u, e := plainPair(probe, apart, k, strip, j)
			e = float64(e * w)
			at := j % (slopeSums / 2)
			values[at] = math.FMA(1+u, e, values[at])
			slopes[at] = math.FMA(float64(u*u), e, slopes[at])
		}
	}
}

package lanes

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// forEach runs a test with every code of this machine in turn.
func forEach(t *testing.T, test func(t *testing.T)) {
	before := selected
	defer func() { selected = before }()
	for _, c := range available() {
		selected = c
		t.Run(c.name, test)
	}
}

func random(rng *rand.Rand, rows, cols int) blas64.General {
	m := blas64.General{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]float64, rows*(cols+3))}
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func at(m blas64.General, i, j int) float64 { return m.Data[i*m.Stride+j] }

// The sums are the ones their names say, to the rounding of as many terms, and the same
// bits in every code.
func TestSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 31, 32, 33, 100} {
		for _, d := range []int{1, 2, 7, 61} {
			x, z := random(rng, 5, d), random(rng, n, d)
			w := make([]float64, d)
			for k := range w {
				w[k] = rng.ExpFloat64()
			}
			for _, sum := range []struct {
				name string
				call func(s Strips, dst blas64.General)
				term func(x, z, w float64) float64
			}{
				{"distances", func(s Strips, dst blas64.General) { s.Distances(dst, x) }, func(x, z, _ float64) float64 { return (x - z) * (x - z) }},
				{"weighted", func(s Strips, dst blas64.General) { s.WeightedDistances(dst, x, w) }, func(x, z, w float64) float64 { return w * (x - z) * (x - z) }},
				{"dots", func(s Strips, dst blas64.General) { s.Dots(dst, x) }, func(x, z, _ float64) float64 { return x * z }},
			} {
				var first []float64
				forEach(t, func(t *testing.T) {
					dst := random(rng, 5, Padded(n))
					sum.call(NewStrips(z, make([]float64, Size(n, d))), dst)
					var all []float64
					for i := range 5 {
						for j := range n {
							want, size := 0.0, 0.0
							for k := range d {
								v := sum.term(at(x, i, k), at(z, j, k), w[k])
								want += v
								size += math.Abs(v)
							}
							all = append(all, at(dst, i, j))
							// A term rounds three times at most, and so does the sum for each.
							if math.Abs(at(dst, i, j)-want) > float64(d+3)*0x1p-52*size {
								t.Fatalf("%s of %d columns: %v, want %v", sum.name, d, at(dst, i, j), want)
							}
						}
					}
					if first == nil {
						first = all
					} else if !slices.Equal(first, all) {
						t.Errorf("%s of %d columns: not the same bits in every code", sum.name, d)
					}
				})
			}
		}
	}
}

// Numbers are added one to one.
func TestAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	forEach(t, func(t *testing.T) {
		for strips := range 4 {
			from, src, got := make([]float64, strips*Width), make([]float64, strips*Width), make([]float64, strips*Width)
			for i := range from {
				from[i], src[i] = rng.NormFloat64(), rng.NormFloat64()
			}
			copy(got, from)
			Add(got, src, 0.3)
			for i, v := range got {
				if v != from[i]+src[i]+0.3 {
					t.Errorf("%v + %v + 0.3 is %v", from[i], src[i], v)
				}
			}
		}
	})
}

// bigExp is e^−t to 200 bits: the Taylor series of e^(−t/2¹²), squared twelve times.
func bigExp(t float64) *big.Float {
	const halvings = 12
	at := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	x := at(-t)
	x.SetMantExp(x, -halvings)
	sum, term := at(1), at(1)
	for k := 1; k < 60; k++ {
		term.Mul(term, x)
		term.Quo(term, at(float64(k)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps is by how many units in the last place of a float64 that rounds to want x
// differs from it.
func ulps(x float64, want *big.Float) float64 {
	near, _ := want.Float64()
	unit := math.Nextafter(math.Abs(near), math.Inf(1)) - math.Abs(near)
	diff := new(big.Float).SetPrec(200).Sub(want, new(big.Float).SetPrec(200).SetFloat64(x))
	difference, _ := diff.Float64()
	return math.Abs(difference) / unit
}

// The exponential is right to one unit in the last place from one to the smallest
// subnormal number, and zero where nothing smaller is left.
func TestExponentialToTheLastPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	points := []float64{0, 0x1p-1074, 0x1p-60, 0.3465735902799726, 0.34657359027997264, 0.5, 1, 700, 708.3964185322641, 708.4, 744.4400719213812, 745.1}
	for len(points) < 3200 {
		switch rng.IntN(3) {
		case 0:
			points = append(points, rng.Float64())
		case 1:
			points = append(points, 746*rng.Float64())
		default:
			points = append(points, math.Exp(-30*rng.Float64()))
		}
	}
	forEach(t, func(t *testing.T) {
		got := slices.Clone(points)
		for len(got)%Width != 0 {
			got = append(got, 0)
		}
		Gaussian.Apply(got, 1, 1)
		worst := 0.0
		for i, p := range points {
			worst = max(worst, ulps(got[i], bigExp(p)))
		}
		if worst > 1 {
			t.Errorf("off by %.3f units in the last place", worst)
		}
		t.Logf("within %.3f units in the last place", worst)
	})
}

// Every decay is its formula, to the few roundings it has, ends at zero, and keeps what
// is no number.
func TestDecays(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	points := []float64{0, 0x1p-1074, 1e-300, 1e10, 1e300, math.MaxFloat64, math.Inf(1), math.NaN()}
	for len(points) < 960 {
		points = append(points, math.Exp(20*rng.NormFloat64()))
	}
	const amplitude, scale = 1.7, 0.6
	for _, decay := range []struct {
		name  string
		apply func(s []float64, amplitude, scale float64)
		want  func(s float64) float64
	}{
		{"gaussian", Gaussian.Apply, func(s float64) float64 { return math.Exp(-scale * s) }},
		{"exponential", Exponential.Apply, func(s float64) float64 { return math.Exp(-math.Sqrt(scale * s)) }},
		{"matern32", Matern32.Apply, func(s float64) float64 {
			r := math.Sqrt(scale * s)
			return (1 + r) * math.Exp(-r)
		}},
		{"matern52", Matern52.Apply, func(s float64) float64 {
			r := math.Sqrt(scale * s)
			return (1 + r + r*r/3) * math.Exp(-r)
		}},
	} {
		var first []uint64
		forEach(t, func(t *testing.T) {
			got := slices.Clone(points)
			decay.apply(got, amplitude, scale)
			var bits []uint64
			for i, s := range points {
				want := amplitude * decay.want(s)
				if math.IsInf(s, 1) || s > 1e299 {
					want = 0 // where the formula is ∞·0
				}
				// e^−r has the relative error of r, half an ulp, times r itself, up to 745.
				if math.Abs(got[i]-want) > 2e-13*want+0x1p-1073 || math.IsNaN(got[i]) != math.IsNaN(s) {
					t.Errorf("%s of %v: %v, want %v", decay.name, s, got[i], want)
				}
				if math.IsNaN(s) {
					continue // whose bits may vary
				}
				bits = append(bits, math.Float64bits(got[i]))
			}
			if got[0] != amplitude {
				t.Errorf("%s of 0 is %v", decay.name, got[0])
			}
			if first == nil {
				first = bits
			} else if !slices.Equal(first, bits) {
				t.Errorf("%s: not the same bits in every code", decay.name)
			}
		})
	}
}

// Φ and N are right to the accuracy stated, and the same bits whichever code runs.
func TestNormals(t *testing.T) {
	points := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-300, 1e200, -1e200, 39, -39, 8, -8}
	for x := -9.0; len(points)%Width != 0 || x < 9; x += 0.00137 {
		points = append(points, x)
	}
	var first [2][]float64
	forEach(t, func(t *testing.T) {
		cdf, density := slices.Clone(points), make([]float64, len(points))
		Normals(cdf, density)
		for i, z := range points {
			if math.IsNaN(z) {
				if !math.IsNaN(cdf[i]) || !math.IsNaN(density[i]) {
					t.Errorf("of NaN: %v and %v", cdf[i], density[i])
				}
				cdf[i], density[i] = 0, 0 // to be compared
				continue
			}
			if math.Abs(cdf[i]-0.5*math.Erfc(-z/math.Sqrt2)) > 1e-13 {
				t.Errorf("Φ(%v) = %v", z, cdf[i])
			}
			if want := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi); math.Abs(density[i]-want) > 1e-15 {
				t.Errorf("N(%v) = %v, want %v", z, density[i], want)
			}
		}
		if first[0] == nil {
			first = [2][]float64{cdf, density}
		} else if !slices.Equal(cdf, first[0]) || !slices.Equal(density, first[1]) {
			t.Error("not the same bits in every code")
		}
	})
}

// Four rows with weights are added as the formula says, to the same bits in every code.
func TestBlend(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 8, 16, 40, 152} {
		rows, from := make([]float64, 4*n), make([]float64, n)
		for i := range rows {
			rows[i] = rng.NormFloat64()
			from[i%max(n, 1)] = rng.NormFloat64()
		}
		weights := [4]float64{0.3, -0.7, 1.1, 0.2}
		var first []float64
		forEach(t, func(t *testing.T) {
			got := slices.Clone(from)
			Blend(got, &weights, rows)
			for i := range got {
				want := from[i]
				for k, w := range weights {
					want += w * rows[k*n+i]
				}
				if math.Abs(got[i]-want) > 1e-14 {
					t.Errorf("%d of %d: %v, want %v", i, n, got[i], want)
				}
			}
			if first == nil {
				first = got
			} else if !slices.Equal(got, first) {
				t.Error("not the same bits in every code")
			}
		})
	}
}

// An update of rank one is what the formula says, in the rows asked for and to the same bits
// in every code.
func TestOuter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][2]int{{0, 8}, {1, 8}, {8, 8}, {15, 16}, {60, 64}} {
		rows, n := size[0], size[1]
		from, column := make([]float64, n*n), make([]float64, n)
		for i := range from {
			from[i], column[i%n] = rng.NormFloat64(), rng.NormFloat64()
		}
		var first []float64
		forEach(t, func(t *testing.T) {
			got := slices.Clone(from)
			Outer(got, rows, -0.3, column)
			for k := range got {
				want := from[k]
				if i := k / n; i < rows {
					want -= 0.3 * column[i] * column[k%n]
				}
				if math.Abs(got[k]-want) > 1e-14 {
					t.Errorf("%d of %v: %v, want %v", k, size, got[k], want)
				}
			}
			if first == nil {
				first = got
			} else if !slices.Equal(got, first) {
				t.Error("not the same bits in every code")
			}
		})
	}
}

// Squared lengths are those of the product, of a triangle and of any matrix, and each
// row's is the same bits whatever rows it is computed with.
func TestSquaredLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 3, 12, 23, 24, 25, 49, 100} {
		for _, columns := range []int{n, 1, 30} {
			triangular := columns == n
			m := random(rng, n, columns)
			const rows = 21
			a := random(rng, 24, n)
			a.Rows = rows
			forEach(t, func(t *testing.T) {
				v := NewPanels(m)
				if triangular {
					v = NewTriangle(blas64.Triangular{N: n, Stride: m.Stride, Data: m.Data})
				}
				sums := make([]float64, 24*Group)
				got := make([]float64, rows)
				v.SquaredLengths(got, a, sums)
				for i := range rows {
					want, size := 0.0, 0.0
					for j := range columns {
						dot, most := 0.0, 0.0
						for k := range n {
							if triangular && k > j {
								break
							}
							dot += at(a, i, k) * at(m, k, j)
							most += math.Abs(at(a, i, k) * at(m, k, j))
						}
						want += dot * dot
						size += most * most
					}
					if math.Abs(got[i]-want) > 4*float64(n)*0x1p-52*size {
						t.Fatalf("%d×%d, row %d: %v, want %v", n, columns, i, got[i], want)
					}
					// The same row alone, and in another place.
					for _, place := range []int{0, 5} {
						alone := random(rng, 8, n)
						alone.Rows = place + 1
						copy(alone.Data[place*alone.Stride:][:n], a.Data[i*a.Stride:])
						one := make([]float64, place+1)
						v.SquaredLengths(one, alone, sums)
						if one[place] != got[i] {
							t.Fatalf("%d×%d, row %d: %v, with other rows %v", n, columns, i, one[place], got[i])
						}
					}
				}
			})
		}
	}
}

func TestMistakesPanic(t *testing.T) {
	z := blas64.General{Rows: 3, Cols: 2, Stride: 2, Data: make([]float64, 6)}
	s := NewStrips(z, make([]float64, Size(3, 2)))
	triples := NewTriples(z, []float64{1, 1}, make([]float64, TriplesSize(3, 2)))
	probes := NewProbes(z, []float64{1, 1}, make([]float64, ProbesSize(3, 2)))
	wide := blas64.General{Rows: 3, Cols: 32, Stride: 32, Data: make([]float64, 96)}
	for name, mistake := range map[string]func(){
		"storage": func() { NewStrips(z, make([]float64, 5)) },
		"columns": func() {
			s.Dots(blas64.General{Rows: 1, Cols: 32, Stride: 32, Data: make([]float64, 32)}, blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float64, 3)})
		},
		"destination": func() { s.Dots(blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float64, 3)}, z) },
		"weights": func() {
			s.WeightedDistances(blas64.General{Rows: 3, Cols: 32, Stride: 32, Data: make([]float64, 96)}, z, []float64{1})
		},
		"triples":    func() { NewTriples(z, []float64{1}, make([]float64, TriplesSize(3, 2))) },
		"probes":     func() { NewProbes(z, []float64{1, 1}, make([]float64, 6)) },
		"amplitudes": func() { triples.Matern32(wide, probes, []float64{1}) },
		"covariance": func() { triples.Matern32(z, probes, []float64{1, 1}) },
		"room": func() {
			triples.Slopes([]float64{0, 0}, []float64{0, 0}, blas64.General{Rows: 3, Cols: 3, Stride: 3, Data: make([]float64, 9)}, probes, nil)
		},
		"other columns": func() {
			triples.Matern32(wide, NewProbes(blas64.General{Rows: 3, Cols: 1, Stride: 2, Data: z.Data}, []float64{1}, make([]float64, ProbesSize(3, 1))), []float64{1, 1})
		},
		"added":     func() { Add(make([]float64, 32), make([]float64, 64), 0) },
		"parts":     func() { Add(make([]float64, 8), make([]float64, 8), 0) },
		"numbers":   func() { Gaussian.Apply(make([]float64, 5), 1, 1) },
		"normals":   func() { Normals(make([]float64, 5), make([]float64, 5)) },
		"rows":      func() { Blend(make([]float64, 8), new([4]float64), make([]float64, 31)) },
		"octets":    func() { Blend(make([]float64, 5), new([4]float64), make([]float64, 20)) },
		"outer":     func() { Outer(make([]float64, 16), 2, 1, make([]float64, 7)) },
		"too many":  func() { Outer(make([]float64, 63), 8, 1, make([]float64, 8)) },
		"densities": func() { Normals(make([]float64, 32), make([]float64, 31)) },
		"lengths": func() {
			NewTriangle(blas64.Triangular{N: 3, Stride: 3, Data: make([]float64, 9)}).SquaredLengths(make([]float64, 3), z, make([]float64, 64))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			mistake()
		})
	}
}

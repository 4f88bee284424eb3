package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// bruteSignedRank is the definition: ranks by counting, then every sign pattern.
func bruteSignedRank(diff []float64) (statistic, p float64) {
	var ranks []float64
	for _, d := range diff {
		if d == 0 {
			continue
		}
		less, equal := 0.0, 0.0
		for _, e := range diff {
			switch {
			case math.Abs(e) < math.Abs(d):
				less++
			case math.Abs(e) == math.Abs(d):
				equal++
			}
		}
		rank := less + (equal+1)/2
		ranks = append(ranks, rank)
		if d > 0 {
			statistic += rank
		}
	}
	total := 0.0
	for _, r := range ranks {
		total += r
	}
	// Sums of halves are exact in float64, so the comparison is too.
	distance := math.Abs(statistic - total/2)
	extreme := 0
	for pattern := range 1 << len(ranks) {
		sum := 0.0
		for i, r := range ranks {
			if pattern>>i&1 == 1 {
				sum += r
			}
		}
		if math.Abs(sum-total/2) >= distance {
			extreme++
		}
	}
	return statistic, float64(extreme) / float64(int(1)<<len(ranks))
}

func bruteShift(x []float64) float64 {
	var averages []float64
	for i := range x {
		for j := i; j < len(x); j++ {
			averages = append(averages, x[i]/2+x[j]/2)
		}
	}
	if len(averages) == 0 {
		return 0
	}
	slices.Sort(averages)
	n := len(averages)
	return averages[(n-1)/2]/2 + averages[n/2]/2
}

func negated(x []float64) []float64 {
	y := slices.Clone(x)
	for i := range y {
		y[i] = -y[i]
	}
	return y
}

// Up to twelve differences, ties and zeros frequent: the result is the enumeration
// to the last bit (counts over a power of two), and turning all signs turns the
// direction and nothing else.
func TestSignedRankEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		diff := rapid.SliceOfN(rapid.Map(rapid.IntRange(-4, 4), func(i int) float64 { return float64(i) / 8 }), 0, 12).Draw(t, "diff")
		got := SignedRank(diff)
		statistic, p := bruteSignedRank(diff)
		if got.Statistic != statistic || got.P != p || !got.Exact {
			t.Fatalf("%+v; enumeration gives statistic %v, p %v", got, statistic, p)
		}
		if got.N+got.Zeros != len(diff) {
			t.Fatalf("%+v for %d differences", got, len(diff))
		}
		if want := bruteShift(diff); got.Shift != want {
			t.Fatalf("shift %v, want %v", got.Shift, want)
		}
		turned := SignedRank(negated(diff))
		if turned.P != got.P || turned.Shift != -got.Shift {
			t.Fatalf("turned %+v, was %+v", turned, got)
		}
	})
}

// The largest smaller rank sum significant at 0.05, two-sided, without ties, as in
// the standard table (Wilcoxon and Wilcox, Some Rapid Approximate Statistical
// Procedures, Lederle Laboratories 1964).
func TestSignedRankTable(t *testing.T) {
	for _, c := range []struct{ n, critical int }{
		{6, 0},
		{7, 2},
		{8, 3},
		{9, 5},
		{10, 8},
		{11, 10},
		{12, 13},
		{13, 17},
		{14, 21},
		{15, 25},
		{16, 29},
		{17, 34},
		{18, 40},
		{19, 46},
		{20, 52},
		{21, 58},
		{22, 65},
		{23, 73},
		{24, 81},
		{25, 89},
		{30, 137},
		{50, 434},
	} {
		at, above := SignedRank(withRankSum(c.n, c.critical)), SignedRank(withRankSum(c.n, c.critical+1))
		if int(at.Statistic) != c.critical || !at.Exact {
			t.Fatalf("n %d: %+v", c.n, at)
		}
		if !(at.P <= 0.05 && above.P > 0.05) {
			t.Errorf("n %d: p %v at %d and %v above; the table divides there", c.n, at.P, c.critical, above.P)
		}
	}
}

// withRankSum has differences ±1 … ±n whose positive ranks add to sum.
func withRankSum(n, sum int) []float64 {
	diff := make([]float64, n)
	for r := n; r >= 1; r-- {
		diff[r-1] = float64(-r)
		if r <= sum {
			diff[r-1] = float64(r)
			sum -= r
		}
	}
	return diff
}

func TestSignedRankPublished(t *testing.T) {
	// Hamilton's depression scores, Hollander and Wolfe (1973) p. 29: the example of
	// R's wilcox.test, V = 40 and one-sided p = 0.01953.
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	depression := make([]float64, len(before))
	for i := range before {
		depression[i] = before[i] - after[i]
	}
	// Darwin's maize: the example of scipy.stats.wilcoxon, statistic 24, p = 0.0412….
	maize := []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}
	// Ties and zeros beyond the exact range, against scipy 1.17.1's
	// wilcoxon(d, zero_method="pratt", correction=True, method="asymptotic").
	far, near := make([]float64, 120), make([]float64, 120)
	for i := range far {
		far[i] = float64(37*i%29 - 11)
		near[i] = float64(37*i%29 - 14)
		if i%7 == 0 {
			near[i] += 3
		}
	}
	for _, c := range []struct {
		name    string
		diff    []float64
		smaller float64 // the smaller of the two rank sums, which scipy reports
		p       float64
		zeros   int
		exact   bool
	}{
		{"depression", depression, 5, 0.0390625, 0, true},
		{"maize", maize, 24, 0.041259765625, 0, true},
		{"far", far, 2312, 0.0005839123884591899, 4, false},
		{"near", near, 3453, 0.6578570702548269, 5, false},
	} {
		got := SignedRank(c.diff)
		smaller := min(got.Statistic, SignedRank(negated(c.diff)).Statistic)
		// The exact p are dyadic; the others carry a few roundings in z and Φ.
		if smaller != c.smaller || math.Abs(got.P-c.p) > 1e-14 || got.Zeros != c.zeros || got.Exact != c.exact {
			t.Errorf("%s: %+v (smaller sum %v), want %+v", c.name, got, smaller, c)
		}
	}
}

// The variance Σr²/4 is the textbook's n(n+1)(2n+1)/24, less z(z+1)(2z+1)/24 for z
// zeros and Σ(t³−t)/48 for groups of t ties.
func TestSignedRankVariance(t *testing.T) {
	diff := []float64{0, 0, 0, 1, -1, 1, 2, 3, -3, 4, 4, 4, -4, 5}
	ranks, _ := doubledRanks(diff)
	got := 0.0
	for _, r := range ranks {
		got += float64(r*r) / 16
	}
	cubes := func(n float64) float64 { return n * (n + 1) * (2*n + 1) / 24 }
	ties := func(n float64) float64 { return (n*n*n - n) / 48 }
	want := cubes(14) - cubes(3) - ties(3) - ties(2) - ties(4)
	if got != want {
		t.Errorf("variance %v, want %v", got, want)
	}
}

// Just beyond the exact range the approximation agrees with the exact count of a
// sample one smaller. The Edgeworth error of the tail is of order 1/n.
func TestSignedRankHandover(t *testing.T) {
	for _, share := range []float64{0.3, 0.35, 0.4, 0.5} {
		exact := SignedRank(withRankSum(50, int(share*50*51/2)))
		normal := SignedRank(withRankSum(51, int(share*51*52/2)))
		if !exact.Exact || normal.Exact {
			t.Fatal("50 and 51 differences should lie on either side")
		}
		if math.Abs(exact.P-normal.P) > 0.01 {
			t.Errorf("share %v: exact %v for 50, normal %v for 51", share, exact.P, normal.P)
		}
	}
}

// Pratt's reason for his rule, on a sample of the kind he gives: lower every
// difference a little, and evidence for a positive shift must not grow. With the zero
// dropped before ranking it does: 12 of 78 (p = 0.034) becomes 14 of 91 (p = 0.027).
func TestSignedRankPratt(t *testing.T) {
	base := []float64{0, 2, 3, 4, 6, 7, 8, 9, 11, 14, 15, 17, -18}
	moved := func(by float64) Test {
		diff := slices.Clone(base)
		for i := range diff {
			diff[i] += by
		}
		return SignedRank(diff)
	}
	up, at, down := moved(0.5), moved(0), moved(-0.5)
	if !(up.P <= at.P && at.P <= down.P) {
		t.Errorf("p = %v moved up, %v as it is, %v moved down", up.P, at.P, down.P)
	}
	if dropped := SignedRank(base[1:]); !(dropped.P > down.P) {
		t.Errorf("p = %v with the zero dropped and %v moved down: the sample shows nothing", dropped.P, down.P)
	}
}

func TestSignedRankExtremes(t *testing.T) {
	if got := SignedRank(nil); got != (Test{P: 1, Exact: true}) {
		t.Errorf("no differences: %+v", got)
	}
	if got := SignedRank([]float64{0, math.Copysign(0, -1)}); got != (Test{P: 1, Zeros: 2, Exact: true}) {
		t.Errorf("zeros only: %+v", got)
	}
	large := SignedRank([]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64})
	if large.Shift != math.MaxFloat64/2 {
		t.Errorf("shift %v of the largest numbers", large.Shift)
	}
	// A few differences among very many zeros: too large a table to count, and
	// the approximation takes over. Ranks are then almost equal: a binomial.
	many := make([]float64, 200_000)
	for i := range 10 {
		many[i] = float64(i + 1)
	}
	if got := SignedRank(many); got.Exact || got.N != 10 || !(got.P > 0 && got.P < 0.01) {
		t.Errorf("among zeros: %+v", got)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken", bad)
				}
			}()
			SignedRank([]float64{1, bad})
		}()
	}
}

// Under the hypothesis the test claims a difference at most as often as it says:
// with ties and zeros, exact and normal. And it finds a shift that is there.
func TestSignedRankErrorRates(t *testing.T) {
	const trials, level = 4000, 0.05
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n     int
		shift float64
	}{{20, 0}, {60, 0}, {20, 2}} {
		rejected := 0
		diff := make([]float64, c.n)
		for range trials {
			for i := range diff {
				diff[i] = math.Round(2*rng.NormFloat64() + c.shift) // a fifth zeros, the rest tied
			}
			if SignedRank(diff).P <= level {
				rejected++
			}
		}
		rate := float64(rejected) / trials
		// Four binomial standard errors; the discreteness of the sums only lowers it.
		slack := 4 * math.Sqrt(level*(1-level)/trials)
		switch {
		case c.shift != 0 && rate < 0.9:
			t.Errorf("n %d, shift %v: found in %v of trials", c.n, c.shift, rate)
		case c.shift == 0 && (rate > level+slack || rate < 0.03):
			t.Errorf("n %d: false claims in %v of trials, stated %v", c.n, rate, level)
		}
	}
}

// The bisection finds the very float64 that sorting all averages finds.
func TestHodgesLehmann(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 1, 40).Draw(t, "x")
		if got, want := hodgesLehmann(x), bruteShift(x); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func ExampleSignedRank() {
	// Yield differences of Darwin's fifteen pairs of maize plants.
	diff := []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}
	t := SignedRank(diff)
	fmt.Printf("W+ = %g of %d pairs, p = %.4f, shift %g\n", t.Statistic, t.N, t.P, t.Shift)
	// Output: W+ = 96 of 15 pairs, p = 0.0413, shift 25
}

func BenchmarkSignedRank(b *testing.B) {
	for _, n := range []int{20, 50, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			diff := make([]float64, n)
			for i := range diff {
				diff[i] = rng.NormFloat64()
			}
			for b.Loop() {
				SignedRank(diff)
			}
		})
	}
}

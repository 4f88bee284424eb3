package report

import (
	"math"
	"math/rand/v2"
	"testing"
)

// signedArea is positive for loops that run counter-clockwise; holes count
// negative, so the sum over all loops is the area of the set.
func signedArea(loops [][]vertex) float64 {
	sum := 0.0
	for _, loop := range loops {
		for i, a := range loop {
			b := loop[(i+1)%len(loop)]
			sum += (a.x*b.y - b.x*a.y) / 2
		}
	}
	return sum
}

func sampled(n int, reach float64, f func(x, y float64) float64) Grid {
	g := Grid{X: grid(-reach, reach, n), Y: grid(-reach, reach, n)}
	for _, y := range g.Y {
		g.Z = append(g.Z, over(g.X, func(x float64) float64 { return f(x, y) }))
	}
	return g
}

func TestUpperSetAreas(t *testing.T) {
	bell := func(x, y float64) float64 { return math.Exp(-(x*x + y*y) / 2) }
	for _, c := range []struct {
		name  string
		f     func(x, y float64) float64
		level float64
		area  float64
		loops int
	}{
		// A Gaussian is at least s within a circle of squared radius −2 log s.
		{"disc", bell, 0.3, math.Pi * -2 * math.Log(0.3), 1},
		{"ring", func(x, y float64) float64 { r := math.Hypot(x, y); return -math.Abs(r - 1.5) }, -0.5, math.Pi * (4 - 1), 2},
		{"two discs", func(x, y float64) float64 { return bell(x-2, y) + bell(x+2, y) }, 0.9, 2 * math.Pi * -2 * math.Log(0.9), 2},
		// Cut off by the border: half of the square, and all of it.
		{"half plane", func(x, y float64) float64 { return x + y }, 0, 32, 1},
		{"everything", func(x, y float64) float64 { return 1 }, 0.5, 64, 1},
		{"nothing", func(x, y float64) float64 { return 0 }, 0.5, 0, 0},
		// Two quadrants that meet in a point, with nothing to join them.
		{"saddle", func(x, y float64) float64 { return x * y }, 0.01, 32, 2},
	} {
		// With n points a side the error is of the order of the squared spacing
		// (linear interpolation of curved functions), here 0.04² times a
		// curvature of at most a few, over sets some units across; the saddle
		// also loses the strip below its level, 4 ∫ 0.01/x dx ≈ 0.25.
		const tolerance = 0.02
		allowed := tolerance
		if c.name == "saddle" {
			allowed = 0.3
		}
		loops := sampled(201, 4, c.f).upperSet(c.level)
		if got := signedArea(loops); math.Abs(got-c.area) > allowed {
			t.Errorf("%s: area %.4f, want %.4f", c.name, got, c.area)
		}
		if len(loops) != c.loops {
			t.Errorf("%s: %d loops, want %d", c.name, len(loops), c.loops)
		}
	}
}

// On noise every square case occurs. The areas of the set and of the set of the
// mirrored function must make up the square.
func TestUpperSetOfNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		g := sampled(6, 2.5, func(_, _ float64) float64 { return rng.NormFloat64() })
		mirror := Grid{X: g.X, Y: g.Y}
		for _, row := range g.Z {
			mirror.Z = append(mirror.Z, over(row, func(z float64) float64 { return -z }))
		}
		level := rng.NormFloat64()
		up, down := g.upperSet(level), mirror.upperSet(-level)
		// Rounding only: some hundred products of numbers below 10.
		if total := signedArea(up) + signedArea(down); math.Abs(total-25) > 1e-12*100 {
			t.Fatalf("areas add up to %v, want 25", total)
		}
		for _, loop := range up {
			if len(loop) < 3 {
				t.Fatalf("loop of %d points", len(loop))
			}
		}
	}
}

func TestEllipseHoldsItsMass(t *testing.T) {
	e := Ellipse{Mean: [2]float64{1, -2}, Covariance: [2][2]float64{{4, 1.5}, {1.5, 3}}}
	det := 4*3 - 1.5*1.5
	for _, mass := range []float64{0.5, 0.9} {
		for _, v := range e.outline(mass) {
			// (x−μ)ᵀ Σ⁻¹ (x−μ) is χ² with two degrees of freedom, whose
			// distribution function is 1 − exp(−r²/2).
			dx, dy := v.x-1, v.y+2
			r2 := (3*dx*dx - 2*1.5*dx*dy + 4*dy*dy) / det
			if got := 1 - math.Exp(-r2/2); math.Abs(got-mass) > 1e-12 {
				t.Fatalf("point on the ellipse of mass %v, want %v", got, mass)
			}
		}
	}
}

package normal

import (
	"math"
	"math/big"
	"testing"
)

// tolerance is relative to the true value. The package promises 1e-13; it is held
// to twenty roundings, so that a correction lost anywhere shows (leaving out the
// rest of x² in Density, say, costs 6e-14).
const tolerance = 5e-15

// smallestNormal is the smallest float64 with full precision; below it the
// spacing is fixed at subnormalSpacing and relative accuracy cannot be asked.
const (
	smallestNormal   = 0x1p-1022
	subnormalSpacing = 0x1p-1074
)

// withinPromise reports whether got is within tolerance of want or, where want
// is subnormal or zero in float64, within a few subnormal spacings. (A few: the
// results are products of up to three roundings, hazard·(x + hazard) ≤ 40
// spacings for the curvature at x ≈ 38.)
func withinPromise(got float64, want *big.Float) bool {
	if w, _ := want.Float64(); math.Abs(w) < smallestNormal {
		return math.Abs(got-w) <= 40*subnormalSpacing
	}
	return relativeError(got, want) <= tolerance
}

// centralGrid covers ±40, with steps that hit neither the cells of the table
// nor round numbers, and both sides of every cell boundary.
func centralGrid() []float64 {
	var grid []float64
	for k := -1500; k <= 1500; k++ {
		grid = append(grid, float64(k)*40/1500)
	}
	for k := range cells + 1 {
		edge := float64(k) * cellWidth
		for _, t := range []float64{edge, math.Nextafter(edge, 0), math.Nextafter(edge, 40)} {
			grid = append(grid, t, -t)
		}
	}
	// Log-spaced towards zero from both sides.
	for x := 1.0; x > 1e-300; x *= 1e-7 {
		grid = append(grid, x, -x)
	}
	return grid
}

// lowerGrid runs, log-spaced, from −40 to far beyond −1e8.
func lowerGrid() []float64 {
	var grid []float64
	for x := -40.0; x > -1e9; x *= 1.07 {
		grid = append(grid, x)
	}
	return append(grid, -1e8, -1e20, -1e60, -1e120)
}

func TestAgainstReference(t *testing.T) {
	worst := map[string]float64{}
	check := func(name string, x, got float64, want *big.Float) {
		if !withinPromise(got, want) {
			t.Errorf("%s(%v) = %v, want %.17g: relative error %.2g", name, x, got, want, relativeError(got, want))
		}
		if w, _ := want.Float64(); math.Abs(w) >= smallestNormal {
			worst[name] = max(worst[name], relativeError(got, want))
		}
	}
	for _, x := range append(centralGrid(), lowerGrid()...) {
		ref := referenceAt(x)
		logCDF, hazard := LogCDFHazard(x)
		check("LogCDFHazard.logCDF", x, logCDF, ref.logCDF)
		check("LogCDFHazard.hazard", x, hazard, ref.hazard)
		logCDF, first, second := LogCDFDerivatives(x)
		check("LogCDFDerivatives.logCDF", x, logCDF, ref.logCDF)
		check("LogCDFDerivatives.first", x, first, ref.hazard)
		if ref.curvature != nil {
			check("LogCDFDerivatives.second", x, second, ref.curvature)
		}
		check("LogCDF", x, LogCDF(x), ref.logCDF)
		check("Hazard", x, Hazard(x), ref.hazard)
		check("LogDensity", x, LogDensity(x), ref.logDensity)
		if ref.cdf != nil {
			check("CDF", x, CDF(x), ref.cdf)
			check("Density", x, Density(x), ref.density)
		}
	}
	for name, e := range worst {
		t.Logf("%-25s worst relative error %.2g", name, e)
	}
}

// TestReferenceAgreesWithItself compares the reference's two independent
// expansions where both hold, and its constants with published digits.
func TestReferenceAgreesWithItself(t *testing.T) {
	for x := 5.0; x < 9; x += 0.37 {
		series, fraction := refSeriesMills(bigOf(x)), refFractionMills(bigOf(x))
		// The series loses e^{x²/2} < 1e18 of 1e96.
		if e, _ := quo(sub(series, fraction), series).Float64(); math.Abs(e) > 1e-70 {
			t.Errorf("at %v series and continued fraction differ by %g", x, e)
		}
	}
	if got := refPi.Text('f', 60); got != "3.141592653589793238462643383279502884197169399375105820974945" {
		t.Errorf("π = %s", got)
	}
	if got := refLn2.Text('f', 60); got != "0.693147180559945309417232121458176568075500134360255254120680" {
		t.Errorf("log 2 = %s", got)
	}
	if got := refExp(bigOf(1)).Text('f', 60); got != "2.718281828459045235360287471352662497757247093699959574966968" {
		t.Errorf("e = %s", got)
	}
	if e := relativeError(1, refLog(refExp(bigOf(1)))); e > 1e-80 {
		t.Errorf("log e is off by %g", e)
	}
}

// TestPublishedValues pins digits printed elsewhere.
func TestPublishedValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
		source    string
	}{
		{"Φ(1)", CDF(1), 0.841344746068543, "Abramowitz and Stegun, table 26.1"},
		{"Φ(1.96)", CDF(1.96), 0.975002104851780, "Abramowitz and Stegun, table 26.1"},
		{"−log10 Φ(−5)", -math.Log10(CDF(-5)), 6.54265, "Abramowitz and Stegun, table 26.2"},
		{"−log10 Φ(−10)", -LogCDF(-10) / math.Ln10, 23.11805, "Abramowitz and Stegun, table 26.2"},
		{"−log10 Φ(−500)", -LogCDF(-500) / math.Ln10, 54289.90830, "Abramowitz and Stegun, table 26.2"},
		{"Φ⁻¹(0.975)", Quantile(0.975), 1.959963984540054, "standard tables"},
		{"Φ⁻¹(0.25)", Quantile(0.25), -0.6744897501960817, "Wichura 1988, AS 241"},
		{"Φ⁻¹(0.001)", Quantile(0.001), -3.090232306167814, "Wichura 1988, AS 241"},
		{"Φ⁻¹(1e-20)", Quantile(1e-20), -9.262340089798408, "Wichura 1988, AS 241"},
		{"ρ(0)", Hazard(0), math.Sqrt(2 / math.Pi), "closed form"},
		{"log Φ(0)", LogCDF(0), -math.Ln2, "closed form"},
		{"N(0)", Density(0), 1 / math.Sqrt(2*math.Pi), "closed form"},
	} {
		// The printed digits: five decimals for the logarithms, else fifteen
		// decimals, or all sixteen digits of larger numbers.
		bound := 5e-16 * max(1, math.Abs(c.want))
		if c.want > 5 {
			bound = 0.5e-5
		}
		if math.Abs(c.got-c.want) > bound {
			t.Errorf("%s = %.17g, want %.17g (%s)", c.name, c.got, c.want, c.source)
		}
	}
}

func TestLimits(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	second := func(x float64) float64 { _, _, s := LogCDFDerivatives(x); return s }
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"CDF(-Inf)", CDF(-inf), 0},
		{"CDF(+Inf)", CDF(inf), 1},
		{"CDF(NaN)", CDF(nan), nan},
		{"Density(-Inf)", Density(-inf), 0},
		{"Density(1e200)", Density(1e200), 0},
		{"Density(NaN)", Density(nan), nan},
		{"LogDensity(-Inf)", LogDensity(-inf), -inf},
		{"LogCDF(-Inf)", LogCDF(-inf), -inf},
		{"LogCDF(+Inf)", LogCDF(inf), 0},
		{"LogCDF(NaN)", LogCDF(nan), nan},
		{"LogCDF(-1e154)", LogCDF(-1e154), -5e307},
		{"Hazard(-Inf)", Hazard(-inf), inf},
		{"Hazard(-MaxFloat64)", Hazard(-math.MaxFloat64), math.MaxFloat64},
		{"Hazard(+Inf)", Hazard(inf), 0},
		{"Hazard(NaN)", Hazard(nan), nan},
		{"second derivative at -Inf", second(-inf), -1},
		{"second derivative at -1e300", second(-1e300), -1},
		{"second derivative at +Inf", second(inf), 0},
		{"second derivative at NaN", second(nan), nan},
		{"Quantile(0)", Quantile(0), -inf},
		{"Quantile(1)", Quantile(1), inf},
		{"Quantile(0.5)", Quantile(0.5), 0},
		{"Quantile(-0.1)", Quantile(-0.1), nan},
		{"Quantile(1.1)", Quantile(1.1), nan},
		{"Quantile(NaN)", Quantile(nan), nan},
		{"QuantileLog(-Inf)", QuantileLog(-inf), -inf},
		{"QuantileLog(0)", QuantileLog(0), inf},
		{"QuantileLog(0.1)", QuantileLog(0.1), nan},
		{"QuantileLog(+Inf)", QuantileLog(inf), nan},
		{"QuantileLog(NaN)", QuantileLog(nan), nan},
	} {
		bothNaN := math.IsNaN(c.got) && math.IsNaN(c.want)
		near := math.Abs(c.got-c.want) <= 1e-15*math.Abs(c.want)
		if c.got != c.want && !bothNaN && !near {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
}

package normal

import "testing"

// sink keeps the compiler from dropping the work.
var sink float64

// benchmarkOver times f over inputs spread evenly on [low, high].
func benchmarkOver(b *testing.B, f func(float64) float64, low, high float64) {
	var inputs [256]float64
	for k := range inputs {
		inputs[k] = low + (high-low)*(float64(k*97%256)+0.5)/256
	}
	b.ReportAllocs()
	sum, k := 0.0, 0
	for b.Loop() {
		sum += f(inputs[k&255])
		k++
	}
	sink = sum
}

// ranges are the regions with different formulas: far tail, table, upper half.
var ranges = []struct {
	name      string
	low, high float64
}{
	{"tail", -100, -8},
	{"lower", -8, 0},
	{"upper", 0, 8},
	{"mixed", -4, 4},
}

func benchmarkRanges(b *testing.B, f func(float64) float64) {
	for _, r := range ranges {
		b.Run(r.name, func(b *testing.B) { benchmarkOver(b, f, r.low, r.high) })
	}
}

func BenchmarkDensity(b *testing.B) { benchmarkOver(b, Density, -8, 8) }
func BenchmarkCDF(b *testing.B)     { benchmarkRanges(b, CDF) }
func BenchmarkLogCDF(b *testing.B)  { benchmarkRanges(b, LogCDF) }
func BenchmarkHazard(b *testing.B)  { benchmarkRanges(b, Hazard) }

func BenchmarkLogCDFHazard(b *testing.B) {
	benchmarkRanges(b, func(x float64) float64 { l, h := LogCDFHazard(x); return l + h })
}

func BenchmarkLogCDFDerivatives(b *testing.B) {
	benchmarkRanges(b, func(x float64) float64 { l, f, s := LogCDFDerivatives(x); return l + f + s })
}

func BenchmarkQuantile(b *testing.B) {
	b.Run("centre", func(b *testing.B) { benchmarkOver(b, Quantile, 0.1, 0.9) })
	b.Run("tail", func(b *testing.B) { benchmarkOver(b, Quantile, 1e-9, 0.07) })
}

func BenchmarkQuantileLog(b *testing.B) { benchmarkOver(b, QuantileLog, -1000, -3) }

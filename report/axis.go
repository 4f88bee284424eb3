package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Axis describes a coordinate axis of [Lines] or [Intervals].
type Axis struct {
	Label string
	Log   bool // logarithmic; all data must be positive
	// Names stand at 1, 2, … in place of numbers, as many of them as there is room for.
	Names []string
	// Min and Max limit the axis; when both are zero the data do. What lies
	// outside is cut off.
	Min, Max float64
}

// span is the range of values an axis shows.
type span struct{ min, max float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) include(values ...float64) {
	for _, v := range values {
		s.min, s.max = math.Min(s.min, v), math.Max(s.max, v)
	}
}

// resolve settles the range: the caller's limits, or the data with margin (a
// fraction of the range) to breathe on both sides.
func (a Axis) resolve(data span, margin float64) span {
	if a.Min != 0 || a.Max != 0 {
		data = span{a.Min, a.Max}
		margin = 0
	}
	if !(data.min <= data.max) { // which a NaN among the data is not either
		return data
	}
	// Values closer to each other than tooClose of their size count as one
	// value, which has no scale but its own; labels could not tell them apart.
	const tooClose = 1e-9
	if a.Log {
		lo, hi := math.Log(data.min), math.Log(data.max)
		pad := margin * (hi - lo)
		if hi-lo < tooClose {
			pad = math.Ln2
		}
		return span{math.Exp(lo - pad), math.Exp(hi + pad)}
	}
	pad := margin * (data.max - data.min)
	size := math.Max(math.Abs(data.min), math.Abs(data.max))
	switch {
	case size == 0:
		pad = 1
	case data.max-data.min < tooClose*size:
		pad = size / 2
	}
	return span{data.min - pad, data.max + pad}
}

// check refuses what an axis cannot show: nothing, and what is not finite or so large that a range of it is not.
func (s span) check(a Axis) error {
	switch {
	case !(s.min < s.max) || math.Abs(s.min) >= 1e300 || math.Abs(s.max) >= 1e300:
		return &DataError{a.Label, fmt.Sprintf("it cannot go from %v to %v; give finite values, and leave the others out", s.min, s.max)}
	case a.Log && !(s.min > 0):
		return &DataError{a.Label, "a logarithmic axis needs positive values; drop the others or use a linear axis"}
	}
	return nil
}

// tick is a mark on an axis; one without a label is shorter.
type tick struct {
	value float64
	label string
}

// ticker places the marks of an axis.
type ticker interface {
	ticks(low, high float64) []tick
}

// linearTicks places labelled ticks at round numbers.
type linearTicks struct{ about int }

func (t linearTicks) ticks(low, high float64) []tick {
	step, decimals := roundStep((high - low) / float64(t.about))
	var ticks []tick
	// The slack admits a tick that rounding has put just outside the range.
	const slack = 1e-9
	first := math.Ceil(low/step - slack)
	for k := first; k*step <= high+slack*step; k++ {
		v := k * step
		ticks = append(ticks, tick{math.Min(math.Max(v, low), high), tickLabel(v, step, decimals)})
	}
	return ticks
}

// namedTicks places names at 1, 2, …, and labels every so many that they stand apart within a width.
type namedTicks struct {
	names []string
	style text.Style
	width vg.Length
}

func (t namedTicks) ticks(low, high float64) []tick {
	widest := vg.Length(0)
	for _, name := range t.names {
		widest = max(widest, t.style.Width(clean(name)+"  "))
	}
	every := max(1, int(math.Ceil(float64(widest/t.width)*(high-low))))
	var ticks []tick
	for k, name := range t.names {
		at := float64(k + 1)
		if at < low || at > high {
			continue
		}
		mark := tick{value: at}
		if (len(t.names)-1-k)%every == 0 { // the last is there
			mark.label = clean(name)
		}
		ticks = append(ticks, mark)
	}
	return ticks
}

// roundStep returns the smallest of 1, 2, 2.5, 5 times a power of ten that is
// not below least, and the number of decimals its multiples need.
func roundStep(least float64) (step float64, decimals int) {
	exponent := int(math.Floor(math.Log10(least)))
	unit := math.Pow(10, float64(exponent))
	for _, s := range [...]struct {
		multiple float64
		shift    int
	}{{1, 0}, {2, 0}, {2.5, 1}, {5, 0}, {10, -1}} {
		// The slack keeps a range of exactly five steps at five steps.
		if s.multiple*unit >= least*(1-1e-9) {
			return s.multiple * unit, max(0, s.shift-exponent)
		}
	}
	return 10 * unit, max(0, -exponent-1)
}

func tickLabel(v, step float64, decimals int) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 4 || math.Abs(v) >= 1e6 {
		// Six digits tell neighbouring ticks apart without showing rounding.
		text = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return minus(text)
}

// minus sets the hyphens of a number as proper minus signs.
func minus(number string) string { return strings.ReplaceAll(number, "-", "−") }

// logTicks labels powers of ten, with 2 and 5 between them on short ranges.
type logTicks struct{}

func (logTicks) ticks(low, high float64) []tick {
	decades := math.Log10(high / low)
	if decades < 0.7 {
		// Hardly a power of ten in sight: round numbers serve better.
		return linearTicks{5}.ticks(low, high)
	}
	labelled := func(exponent, digit int) bool {
		every := int(math.Ceil(decades / 6))
		return digit == 1 && exponent%every == 0 || decades < 2.2 && (digit == 2 || digit == 5)
	}
	var ticks []tick
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		for d := 1; d < 10; d++ {
			v := float64(d) * math.Pow(10, float64(e))
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := tick{value: math.Min(math.Max(v, low), high)}
			if labelled(e, d) {
				t.label = powerLabel(v, low)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// powerLabel writes a tick of a logarithmic axis that starts at low. Once the
// axis needs exponents, all small numbers on it have one.
func powerLabel(v, low float64) string {
	if low < 1e-4 && v < 0.1 {
		return minus(strconv.FormatFloat(v, 'e', 0, 64))
	}
	return minus(strconv.FormatFloat(v, 'g', 6, 64))
}

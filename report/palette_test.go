package report

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/lossep/lossep/methods"
)

type matrix [3][3]float64

// visions are normal sight and the three kinds of colour blindness, complete,
// as matrices on linear RGB: Machado, Oliveira and Fernandes, "A
// Physiologically-based Model for Simulation of Color Vision Deficiency" (2009).
var visions = map[string]matrix{
	"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia": {
		{0.152286, 1.052583, -0.204868},
		{0.114503, 0.786281, 0.099216},
		{-0.003882, -0.048116, 1.051998},
	},
	"deuteranopia": {
		{0.367322, 0.860646, -0.227968},
		{0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881},
	},
	"tritanopia": {
		{1.255528, -0.076749, -0.178779},
		{-0.078411, 0.930809, 0.147602},
		{0.004733, 0.691367, 0.303900},
	},
}

func (m matrix) apply(v [3]float64) (w [3]float64) {
	for i := range w {
		for j := range v {
			w[i] += m[i][j] * v[j]
		}
	}
	return w
}

// linear undoes the transfer function of sRGB.
func linear(c color.RGBA) (v [3]float64) {
	for i, b := range [...]uint8{c.R, c.G, c.B} {
		s := float64(b) / 255
		if s <= 0.04045 {
			v[i] = s / 12.92
		} else {
			v[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return v
}

// cielab converts linear sRGB to CIELAB (white point D65).
func cielab(rgb [3]float64) [3]float64 {
	xyz := matrix{
		{0.4124564, 0.3575761, 0.1804375},
		{0.2126729, 0.7151522, 0.0721750},
		{0.0193339, 0.1191920, 0.9503041},
	}.apply(rgb)
	for i, white := range [...]float64{0.95047, 1, 1.08883} {
		if t := xyz[i] / white; t > 216.0/24389 {
			xyz[i] = math.Cbrt(t)
		} else {
			xyz[i] = (24389.0/27*t + 16) / 116
		}
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

// However colours are seen, the methods of one figure of the paper differ by at
// least ten units of CIELAB, some four times a difference that is just noticed.
func TestColoursStayApart(t *testing.T) {
	for vision, m := range visions {
		methods := []string{"exact", "vi", "loss-vi", "ep", "loss-ep", "evidence", "corrected"}
		for i, a := range methods {
			for _, b := range methods[:i] {
				p, q := cielab(m.apply(linear(looks[a].color))), cielab(m.apply(linear(looks[b].color)))
				d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
				if d < 10 {
					t.Errorf("%s: %s and %s are %.1f apart", vision, a, b, d)
				}
			}
		}
	}
}

// Lines must be seen on white: luminance contrast of at least 2 : 1, given that
// they are nearly two points wide and carry markers.
func TestColoursShowOnWhite(t *testing.T) {
	for name, l := range looks {
		v := linear(l.color)
		luminance := 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]
		if contrast := 1.05 / (luminance + 0.05); contrast < 2 {
			t.Errorf("%s: contrast %.2f", name, contrast)
		}
	}
}

// Without any colour, dash and marker each tell all looks apart.
func TestLooksDifferInBlackAndWhite(t *testing.T) {
	dashes, markers := map[string]string{}, map[marker]string{}
	check := func(name string, l look) {
		key := fmt.Sprint(l.dashes)
		if other, ok := dashes[key]; ok {
			t.Errorf("%s and %s have the same dashes", name, other)
		}
		if other, ok := markers[l.marker]; ok {
			t.Errorf("%s and %s have the same marker", name, other)
		}
		dashes[key], markers[l.marker] = name, name
	}
	for name, l := range looks {
		if _, ok := methods.Named(name); !ok {
			t.Errorf("%s is no method", name)
		}
		check(name, l)
	}
	for i, l := range baselines {
		check(fmt.Sprint("baseline ", i), l)
	}
}

func TestLooksAreFixed(t *testing.T) {
	var first, second cast
	first.look("always on")
	if a, b := first.look("ep"), second.look("ep"); a.color != b.color || a.marker != b.marker {
		t.Error("a method's look depends on what else is in the figure")
	}
	if a, b := first.look("always off"), first.look("always on"); a.marker == b.marker {
		t.Error("two baselines of one figure look the same")
	}
	if a, b := first.look("always off"), first.look("always off"); a.marker != b.marker {
		t.Error("a baseline changes its look within a figure")
	}
}

func TestMethodLabel(t *testing.T) {
	for name, want := range map[string]string{"loss-ep": "Loss-EP", "nuts": "NUTS", "always on": "always on"} {
		if got := MethodLabel(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

package lab_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/lossep/lossep/lab"
)

// numbers turns bytes into numbers of all sizes: each is a power of ten from 1e-8 to
// 1e8, with a sign, which some limits refuse; 0 stays 0 and 255 is not a number. An
// even b is 10^(b/16 − 8), so that 128 is 1 and 144 is 10, and b+1 is its negative.
func numbers(data []byte) []float64 {
	x := make([]float64, len(data))
	for i, b := range data {
		switch b {
		case 0:
		case 255:
			x[i] = math.NaN()
		default:
			x[i] = math.Copysign(math.Pow(10, float64(b>>1)/8-8), 0.5-float64(b&1))
		}
	}
	return x
}

// optional is the i-th number, or nil.
func optional(x []float64, i int) *float64 {
	if i >= len(x) {
		return nil
	}
	return &x[i]
}

// rows makes a table of the numbers in pairs.
func rows(x []float64) (table [][]float64) {
	for ; len(x) > 1; x = x[2:] {
		table = append(table, x[:2])
	}
	return table
}

// FuzzReactor asks for anything: the answer is one that JSON can hold, or an error
// that names a field.
func FuzzReactor(f *testing.F) {
	f.Add([]byte{131, 137, 141, 140, 131}, []byte{128, 96, 126, 128}, []byte{0, 160, 124, 144, 128}, byte(134), []byte{})
	f.Add([]byte{160, 161}, []byte{0, 128, 128, 0}, []byte{140, 240, 0, 70, 150}, byte(190), []byte{241, 240})
	f.Add([]byte{1, 2}, []byte{128, 0, 120, 120, 0, 128}, []byte{0, 40, 126, 40, 40}, byte(3), []byte{129, 128})
	f.Fuzz(func(t *testing.T, data, utility, constants []byte, threshold byte, domain []byte) {
		if len(data) > 6 || len(utility) > 8 {
			t.Skip("small ones are quick")
		}
		c := numbers(constants)
		r := lab.ReactorRequest{
			Data: numbers(data), Utility: rows(numbers(utility)), Threshold: numbers([]byte{threshold})[0],
			PriorMean: optional(c, 0), PriorVariance: optional(c, 1), ClutterWeight: optional(c, 2),
			ClutterVariance: optional(c, 3), NoiseVariance: optional(c, 4),
		}
		if len(domain) > 0 {
			r.Domain = numbers(domain)
		}
		v, err := r.Solve(t.Context())
		checkFuzz(t, v, err)
		if err != nil {
			return
		}
		if len(v.Answers)+len(v.LeftOut) != 5 {
			t.Errorf("%d answers, left out %v", len(v.Answers), v.LeftOut)
		}
		for _, a := range v.Answers {
			if !(a.ProbabilityAbove >= 0 && a.ProbabilityAbove <= 1) || a.Variance < 0 {
				t.Errorf("%s: probability %v, variance %v", a.Method, a.ProbabilityAbove, a.Variance)
			}
		}
	})
}

func FuzzClassifier(f *testing.F) {
	f.Add([]byte{130, 131, 147, 120}, uint16(5), false, "rbf(variance=4)", []byte{128, 0, 120, 128}, []byte{137, 136})
	f.Add([]byte{130, 131, 147, 120}, uint16(0), true, "linear * periodic(period=0.1) + white", []byte{128, 0, 0, 128, 120, 120}, []byte{})
	f.Add([]byte{64, 65, 0, 190}, uint16(9), true, "matern32(lengthscale=[0.1, 100]) + constant(variance=50)", []byte{128, 40, 100, 200}, []byte{191, 190})
	f.Fuzz(func(t *testing.T, data []byte, labels uint16, plane bool, kernel string, utility, grid []byte) {
		if len(data) > 8 || len(utility) > 8 {
			t.Skip("small ones are quick")
		}
		c := lab.Classifier{Kernel: kernel, Utility: rows(numbers(utility))}
		d := 1
		if plane {
			d = 2
		}
		for x := numbers(data); len(x) >= d; x = x[d:] {
			c.X, c.Labels = append(c.X, x[:d]), append(c.Labels, 1-2*int(labels>>len(c.X)&1))
		}
		if ends := numbers(grid); len(ends) > 1 {
			c.Grid = &lab.Grid{}
			for range d {
				c.Grid.From, c.Grid.To = append(c.Grid.From, ends[0]), append(c.Grid.To, ends[1])
				c.Grid.Points = append(c.Grid.Points, 5)
			}
		}
		v, err := c.Solve(t.Context())
		checkFuzz(t, v, err)
		if err != nil {
			return
		}
		if len(v.Methods)+len(v.LeftOut) != 6 || (v.Exact == nil) != (v.ExactLeftOut != "") {
			t.Errorf("%d methods, left out %v and %q", len(v.Methods), v.LeftOut, v.ExactLeftOut)
		}
		for _, m := range v.Methods {
			for _, p := range m.Probability {
				if !(p >= 0 && p <= 1) {
					t.Errorf("%s: probability %v", m.Method, p)
				}
			}
		}
	})
}

// checkFuzz sees that there is an answer for JSON or an error about a field.
func checkFuzz(t *testing.T, v any, err error) {
	t.Helper()
	var input *lab.InputError
	if err != nil {
		if !errors.As(err, &input) || input.Field == "" || input.Msg == "" {
			t.Errorf("%T: %v", err, err)
		}
		return
	}
	if _, err := json.Marshal(v); err != nil {
		t.Error(err)
	}
}

package report

import (
	"fmt"
	"math"
	"testing"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0.51249), "0.512"},
		{Number(0.7), "0.700"},
		{Number(9.999), "10.0"},
		{Number(27.38), "27.4"},
		{Number(1234.5), "1234"}, // three digits at least, and no false zeros
		{Number(1000), "1000"},
		{Number(0), "0"},
		{Number(math.Copysign(0, -1)), "0"},
		{Number(-2.3156), "−2.32"},
		{Number(1.239e-5), "1.24e−05"},
		{Number(1.5e-300), "1.50e−300"},
		{Number(2.5e7), "2.50e+07"},
		{Number(math.NaN()), "NaN"},
		{Number(math.Inf(-1)), "−Inf"},

		{PlusMinus(0.5124, 0.0138), "0.512 ± 0.014"},
		{PlusMinus(0.5124, 0.031), "0.51 ± 0.03"},
		{PlusMinus(1.23e-5, 3.1e-6), "1.2e−05 ± 3e−06"},
		{PlusMinus(2e-7, 3.1e-6), "2e−07 ± 3e−06"},
		{PlusMinus(0, 3.1e-6), "0 ± 3e−06"},
		{PlusMinus(1e-6, 0.3), "0.0 ± 0.3"},
		{PlusMinus(3.2e-4, 9.9e-5), "3e−04 ± 1e−04"},
		{PlusMinus(-4.27, 0.196), "−4.3 ± 0.2"},
		{PlusMinus(1234, 56), "1234 ± 56"},
		{PlusMinus(0.5, 0), "0.500"},
		{PlusMinus(0.5, math.NaN()), "0.500"},

		{Range(0.4812, 0.5434), "0.48 to 0.54"},
		{Range(0.4812, 0.5234), "0.481 to 0.523"},
		{Range(-1, 12.34), "−1 to 12"},
		{Range(1e-6, 2e-6), "1.00e−06 to 2.00e−06"},
		{Range(0.5, 0.5), "0.500 to 0.500"},

		{Range(-0.004, 0.163), "0.00 to 0.16"},

		{Within(0.51249, 0.4812, 0.5434), "0.51"},
		{Within(7.453, 6.7, 8.3), "7.5"},
		{Within(-0.002, -0.08, 0.07), "0.00"},
		{Within(1.5e-6, 1e-6, 2e-6), "1.50e−06"},
		{Within(0.5, 0.5, 0.5), "0.500"},
		{Signed("0.24"), "+0.24"},
		{Signed("−0.24"), "−0.24"},
		{Signed("0.00"), "0.00"},

		{PValue(0.00099), "< 0.001"},
		{PValue(0.001), "0.001"},
		{PValue(0.0496), "0.050"},
		{PValue(0.0994), "0.099"},
		{PValue(0.0996), "0.10"},
		{PValue(1), "1.00"},
		{PValue(math.NaN()), "n/a"},

		{Percent(0.1234), "12.3 %"},
		{Count(0), "0"},
		{Count(999), "999"},
		{Count(11183), "11,183"},
		{Count(-1234567), "−1,234,567"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func ExamplePlusMinus() {
	fmt.Println(PlusMinus(0.5124, 0.0138))
	fmt.Println(PlusMinus(1.23e-5, 3.1e-6))
	// Output:
	// 0.512 ± 0.014
	// 1.2e−05 ± 3e−06
}

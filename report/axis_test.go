package report

import (
	"strings"
	"testing"
)

func labels(t ticker, low, high float64) string {
	var s []string
	for _, tick := range t.ticks(low, high) {
		if tick.label != "" {
			s = append(s, tick.label)
		}
	}
	return strings.Join(s, " ")
}

func TestTickLabels(t *testing.T) {
	for _, c := range []struct {
		ticker    ticker
		low, high float64
		want      string
	}{
		{linearTicks{5}, 0, 1, "0 0.2 0.4 0.6 0.8 1.0"},
		{linearTicks{5}, -10, 10, "−10 −5 0 5 10"},
		{linearTicks{5}, -8, 3, "−7.5 −5.0 −2.5 0 2.5"},
		{linearTicks{5}, 0.47, 0.9, "0.5 0.6 0.7 0.8 0.9"},
		{linearTicks{5}, 0, 3e-5, "0 1e−05 2e−05 3e−05"},
		{linearTicks{5}, 0, 4e6, "0 1e+06 2e+06 3e+06 4e+06"},
		{logTicks{}, 0.1, 10, "0.1 0.2 0.5 1 2 5 10"},
		{logTicks{}, 1e-6, 1e-2, "1e−06 1e−05 1e−04 1e−03 1e−02"},
		{logTicks{}, 1e-12, 1, "1e−12 1e−10 1e−08 1e−06 1e−04 1e−02 1"},
		{logTicks{}, 2, 3, "2.0 2.2 2.4 2.6 2.8 3.0"},
	} {
		if got := labels(c.ticker, c.low, c.high); got != c.want {
			t.Errorf("%T from %g to %g: %q, want %q", c.ticker, c.low, c.high, got, c.want)
		}
	}
}

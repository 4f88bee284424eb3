package gauss_test

import (
	"errors"
	"testing"

	"github.com/lossep/lossep/gauss"
)

// Natural parameters of which one is not proper leave all Gaussians as they were.
func TestExchangeAllOrNone(t *testing.T) {
	g := gauss.NewGaussians(3, 2)
	n := gauss.NewNaturals(3, 2)
	n.SetStandard()
	for c := range n {
		n[c].H[0] = float64(c + 1)
	}
	n[2].P.SetSym(1, 1, -1)
	if err := g.Exchange(n); !errors.Is(err, gauss.ErrImproper) {
		t.Fatal(err)
	}
	for c, one := range g {
		if one.Mean()[0] != 0 || n[c].H[0] != float64(c+1) {
			t.Errorf("Gaussian %d has the mean %v, and its parameters were to be %v", c, one.Mean(), n[c].H)
		}
	}
	n[2].P.SetSym(1, 1, 1)
	if err := g.Exchange(n); err != nil || g[2].Mean()[0] != 3 {
		t.Errorf("%v, mean %v", err, g[2].Mean())
	}
	if got, want := g.LogPartition(), 0.5*(1+4+9); got != want {
		t.Errorf("log-partition %v, want %v", got, want)
	}
}

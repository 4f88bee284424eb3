package infer

import (
	"math"

	"github.com/lossep/lossep/gauss"
)

// Where views share a noise (Model.Shared), a case that counts w times is as many copies, each
// with a noise u_k ~ N(0, 1) of its own. With T the precisions of the sites of one copy, equal for
// all of them at a fixed point, the copies tell about what is behind the noise what one case tells
// that has the sum of their sites, wT, and their mean noise ū ~ N(0, 1/w):
//
//	w(T − T11ᵀT/(1 + 1ᵀT1)) = wT − wT11ᵀwT/(w + 1ᵀwT1).
//
// So the views of the model are of that one case, and its sites are sums. Given what is behind the
// noise, u_k and ū have the same mean and the precisions 1 + 1ᵀT1 and w times that. It follows that
// the view of a copy has (1 − 1/w)/(1 + 1ᵀT1) more variance than that of the mean, and that the log
// partition of the copies is larger by −½(w − 1) log(1 + 1ᵀT1).
//
// Nothing of it needs a w that is whole, or above one: the view of a copy has a variance of
// 1/(1 + 1ᵀT1) or more for any w. With w < 1 there is less than one copy, of which
// expectation propagation leaves out all that is there and projects the w-th power of the terms
// (Propagation): with T ≥ 0 the precision of what is behind the noise and u without w times all
// sites has the complement w(1 − …)·T11ᵀT ≥ 0, so that there is such a cavity.

// copied tells whether cases with a shared noise count otherwise than once.
func (m *Model) copied() bool {
	if m.Shared == 0 {
		return false
	}
	for _, w := range m.Counts {
		if w != 1 {
			return true
		}
	}
	return false
}

// CheckCopies is an *UnsupportedError of a method that would need the copies themselves where cases
// with a shared noise count otherwise than once.
func (m *Model) CheckCopies(method string) error {
	if !m.copied() {
		return nil
	}
	return &UnsupportedError{method, "the views of a case share a noise, and cases count otherwise than once; repeat cases in place of counting them"}
}

// told is 1ᵀT1 of one copy of the case of view i.
func (m *Model) told(i int, sites []gauss.Scalar) (sum float64) {
	from := i - i%m.Shared
	for _, s := range sites[from:min(from+m.Shared, len(sites))] {
		sum += s.Tau
	}
	return sum / m.Count(i)
}

// copySeen is term i on the view of one copy where the view of the mean, s_i = a_i·v, is
// N(mean, variance) under these sites: the same where views share no noise.
func (m *Model) copySeen(i int, mean, variance float64, sites []gauss.Scalar) Seen {
	t := m.seen(i, mean, variance)
	if m.Shared > 0 && t.Count != 1 {
		least := 1 / (1 + m.told(i, sites))
		t.Variance = max(variance+(1-1/t.Count)*least, least) // rounding may leave less
	}
	return t
}

// copies is what the log partition of all copies is larger by than that of their means.
func (m *Model) copies(sites []gauss.Scalar) (sum float64) {
	if !m.copied() {
		return 0
	}
	for i := 0; i < len(m.Terms); i += m.Shared {
		if w := m.Count(i); w != 1 {
			sum -= 0.5 * (w - 1) * math.Log1p(m.told(i, sites))
		}
	}
	return sum
}

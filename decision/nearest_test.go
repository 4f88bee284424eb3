package decision

import (
	"math/rand/v2"
	"testing"
)

// The action of a range that is nearest to a number is that of its actions one by one.
func TestNearestOfARange(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, a := range []Actions{{From: -1, To: 4, Step: 0.5}, {From: 2, To: 9.9, Step: 3}, {From: 0.1, To: 0.7, Step: 0.1}} {
		list := Actions{List: a.all()}
		numbers := []float64{a.From - 10, a.From, a.To, a.To + 1e9, a.From + a.Step/2}
		for range 50 {
			numbers = append(numbers, a.From-1+(a.To-a.From+2)*rng.Float64())
		}
		for _, x := range numbers {
			if got, want := a.Nearest(x), list.Nearest(x); got != want {
				t.Errorf("%+v: nearest to %v is %v, not %v", a, x, got, want)
			}
		}
	}
}

package modelfile

import (
	"slices"
	"testing"

	"github.com/lossep/lossep/safetensors"
)

// TestOccurring writes and reads which combinations occur, as bits and as numbers, and refuses those that do not fit what
// the header says.
func TestOccurring(t *testing.T) {
	for _, c := range []struct {
		keys   []int
		all    int
		length int
	}{
		{[]int{0}, 1, 1},
		{[]int{0, 2, 63}, 64, 1},
		{[]int{1, 63, 64, 127, 128}, 129, 3},
		{[]int{5, 63}, 128, 2},            // as long as the numbers
		{[]int{5, 6399, 6400}, 6401, 3},   // by their numbers
		{[]int{0, 1 << 27}, 1<<27 + 1, 2}, // the same
	} {
		var f safetensors.File
		f.AddInts("cells", occurring(c.keys, c.all), len(occurring(c.keys, c.all)))
		if got := len(f.Tensors[0].Ints); got != c.length {
			t.Errorf("%v of %d: %d numbers, want %d", c.keys, c.all, got, c.length)
		}
		got, err := (&Reader{file: &f}).occurring("cells", len(c.keys), c.all)
		if err != nil || !slices.Equal(got, c.keys) {
			t.Errorf("%v of %d: %v, %v", c.keys, c.all, got, err)
		}
		if got, err := (&Reader{file: &f}).occurring("cells", len(c.keys)+1, c.all); err == nil {
			t.Errorf("%v of %d: read as %v where one more is said to occur", c.keys, c.all, got)
		}
	}
}

package sealed

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was written comes back, and with any byte changed or cut off nothing does.
func TestEveryByteIsCovered(t *testing.T) {
	type value struct {
		Name    string
		Numbers []float64
	}
	want := value{"a < b & \u2028", []float64{0.1, -1e300, 3}}
	text, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got value
	if err := Unmarshal(text, &got); err != nil || !cmp.Equal(got, want) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range text {
		changed := slices.Clone(text)
		changed[i] ^= 2 // still ASCII; the case of letters, which JSON names may have either way, stays
		for _, damaged := range [][]byte{changed, text[:i]} {
			if err := Unmarshal(damaged, new(value)); !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d: %s is read, %v", i, damaged, err)
			}
		}
	}
	var long string
	if text, err = Marshal(strings.Repeat("x", 3*piece)); err != nil || Unmarshal(text, &long) != nil || len(long) != 3*piece {
		t.Fatalf("%d bytes came back, %v", len(long), err)
	}
	for i := 0; i < len(text); i += piece / 2 { // in every piece
		text[i] ^= 2
		if err := Unmarshal(text, &long); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d of many: %v", i, err)
		}
		text[i] ^= 2
	}
	for _, other := range []string{"", "{}", "null", `{"Name":"x"}`, "[1]"} {
		if err := Unmarshal([]byte(other), new(value)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q is read, %v", other, err)
		}
	}
}

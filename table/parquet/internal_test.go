package parquet

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
)

// inPage is bytes with what may be looked at behind them.
func inPage(b []byte) []byte { return append(b, make([]byte, padding)...)[:len(b)] }

// blocks is the beginning of differences in packed blocks.
func blocks(block, parts, total uint64, rest ...byte) []byte {
	b := binary.AppendUvarint(nil, block)
	b = binary.AppendUvarint(b, parts)
	b = binary.AppendUvarint(b, total)
	return append(append(b, 0), rest...)
}

// Blocks that would be unpacked to gigabytes are refused, and those that programs write go
// by.
func TestCheckDelta(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		rest  int // bytes after the blocks, −1 if they are refused
	}{
		"one value":      {blocks(128, 4, 1, 9, 9), 2},
		"none":           {blocks(128, 4, 0), 0},
		"zeros":          {blocks(128, 4, 129, 0, 0, 0, 0, 0), 0},
		"bits":           {blocks(128, 4, 3, 0, 1, 0, 0, 0, 1, 2, 3, 4, 7), 1},
		"large block":    {blocks(1<<31, 1, 2, 0, 0), -1},
		"no parts":       {blocks(128, 0, 2, 0), -1},
		"odd parts":      {blocks(128, 3, 2, 0), -1},
		"no block":       {blocks(0, 4, 2), -1},
		"too wide":       {blocks(128, 4, 2, 0, 65, 0, 0, 0), -1},
		"missing bits":   {blocks(128, 4, 2, 0, 8, 0, 0, 0, 1), -1},
		"missing widths": {blocks(128, 4, 2, 0, 8), -1},
		"nothing":        {nil, -1},
	} {
		rest, err := checkDelta(c.bytes)
		if (err != nil) != (c.rest < 0) || err == nil && len(rest) != c.rest {
			t.Errorf("%s: %d bytes left, %v", name, len(rest), err)
		}
	}
}

// Differences and runs of every width, as the library writes them, are what went in, however
// many are taken at a time.
func TestEveryWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for width := range 65 {
		for _, n := range []int{1, 2, 7, 8, 9, 127, 128, 129, 1000} {
			long, short := make([]int64, n), make([]int32, n)
			for i := range long {
				x := rng.Uint64()
				if rng.IntN(3) > 0 && i > 0 {
					long[i] = long[i-1] // runs
				} else if width > 0 {
					long[i] = int64(x >> (64 - width))
				}
				short[i] = int32(uint32(long[i]))
			}
			checkLong(t, rng, long)
			if width <= 32 {
				checkShort(t, rng, short, uint(width))
			}
		}
	}
}

func checkLong(t *testing.T, rng *rand.Rand, want []int64) {
	t.Helper()
	b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	d, rest, err := newDifferences(inPage(append(b, 1, 2, 3)))
	if err != nil || len(rest) != 3 {
		t.Fatalf("%d bytes left of 3: %v", len(rest), err)
	}
	got := make([]int64, len(want))
	for k := 0; k < len(got); {
		n := min(1+rng.IntN(300), len(got)-k)
		if err := d.next(got[k : k+n]); err != nil {
			t.Fatal(err)
		}
		k += n
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d differences: %v, not %v", len(want), got, want)
	}
	if err := d.next(make([]int64, 1)); err == nil {
		t.Error("one more than there are")
	}
}

func checkShort(t *testing.T, rng *rand.Rand, want []int32, width uint) {
	t.Helper()
	b, err := (&rle.Encoding{BitWidth: int(width)}).EncodeInt32(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRuns(inPage(b), width)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int32, len(want))
	for k := 0; k < len(got); {
		n := min(1+rng.IntN(20), len(got)-k)
		if err := r.next(got[k : k+n]); err != nil {
			t.Fatal(err)
		}
		k += n
	}
	if !slices.Equal(got, want) {
		t.Fatalf("width %d: %v, not %v", width, got, want)
	}
}

// A run may declare any length, and there is as much room as was made for it.
func TestRunsBeyondTheirBytes(t *testing.T) {
	to := make([]int32, 100)
	for name, c := range map[string]struct {
		bytes []byte
		fine  bool
	}{
		"long run":     {append(binary.AppendUvarint(nil, 1<<40), 3), true},
		"long groups":  {append(binary.AppendUvarint(nil, 1<<40|1), make([]byte, 3*13)...), true},
		"short groups": {append(binary.AppendUvarint(nil, 1<<40|1), make([]byte, 3*12)...), false},
		"no value":     {binary.AppendUvarint(nil, 200), false},
		"nothing":      {nil, false},
		"empty runs":   {make([]byte, 1000), false},
	} {
		r, err := newRuns(inPage(c.bytes), 3)
		if err == nil {
			err = r.next(to)
		}
		if (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := newRuns(nil, 33); err == nil {
		t.Error("codes of 33 bits")
	}
}

// Memory beyond the budget is refused, that of the pages and that of the dictionaries; what is
// given back is used again, and does not stand in the way of other sizes.
func TestBudget(t *testing.T) {
	b := &budget{most: 1 << 20}
	first, err := b.take(300_000)
	if err != nil || len(first) != 300_000 || cap(first) < 300_000+padding {
		t.Fatalf("%d bytes of %d: %v", len(first), cap(first), err)
	}
	if err := b.count(1 << 20); !errors.Is(err, errBudget) {
		t.Errorf("more than there is: %v", err)
	}
	if _, err := b.take(1<<19 + 1); !errors.Is(err, errBudget) {
		t.Errorf("a page of more than half: %v", err)
	}
	if _, err := b.take(-1); !errors.Is(err, errBudget) {
		t.Errorf("a page of less than nothing: %v", err)
	}
	b.give(first)
	again, err := b.take(290_000)
	if err != nil || &again[0] != &first[0] {
		t.Errorf("memory is not used again: %v", err)
	}
	b.give(again)
	for range 3 {
		m, err := b.take(500_000)
		if err != nil {
			t.Fatalf("what was given back is in the way: %v", err)
		}
		if b.used+b.idle > b.most {
			t.Errorf("%d bytes are held, and %d idle", b.used, b.idle)
		}
		b.give(m)
	}
	if b.used != 0 {
		t.Errorf("%d bytes are held by nobody", b.used)
	}
}

package table

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Many integers at a time are what they are one by one, those that are codes too.
func TestIntegers(t *testing.T) {
	var xs []int64
	for i := range int64(3000) {
		x := i * i
		if i%7 == 0 || i > 2990 {
			x = -1e15 - i
		}
		xs = append(xs, x)
	}
	one, many := &Cells{to: new(Column)}, &Cells{to: new(Column)}
	for _, x := range xs {
		one.Integer(x)
	}
	many.Missing() // batches begin anywhere
	many.Integers(xs[:10])
	many.Integers(nil)
	many.Integers(xs[10:])
	one.flush()
	many.flush()
	if many.n != len(xs)+1 {
		t.Fatalf("%d cells of %d", many.n, len(xs)+1)
	}
	for i := range xs {
		if want, got := one.to.Text(one.to.At(i)), many.to.Text(many.to.At(i+1)); got != want {
			t.Fatalf("integer %d is %q, not %q", i, got, want)
		}
	}
}

// Cells that refer to a dictionary are what they would be one by one, and a text of it is held
// once for each table that refers to it.
func TestCodes(t *testing.T) {
	words := []string{"a", "12", " b ", "007", "", strings.Repeat("long ", 10_000)}
	added := 0
	d := NewDictionary(len(words), func(code int, to *Cells) {
		added++
		to.Text([]byte(words[code]))
	})
	rng := rand.New(rand.NewPCG(5, 6))
	var codes []int32
	for range 3000 {
		codes = append(codes, int32(rng.IntN(len(words))))
	}
	for turn := 1; turn <= 2; turn++ {
		one, many := &Cells{to: new(Column), decimal: '.'}, &Cells{to: new(Column), decimal: '.'}
		one.Text([]byte("first"))
		many.Text([]byte("first"))
		for _, code := range codes {
			one.Text([]byte(words[code]))
		}
		many.Codes(d, codes[:700])
		many.Codes(d, nil)
		many.Codes(d, codes[700:])
		one.flush()
		many.flush()
		if many.n != one.n || added != turn*len(words) || many.to.words.bytes() > 60_000 {
			t.Fatalf("%d cells, %d texts added, %d bytes", many.n, added, many.to.words.bytes())
		}
		for i := range one.n {
			if want, got := one.to.Text(one.to.At(i)), many.to.Text(many.to.At(i)); got != want {
				t.Fatalf("cell %d is %.20q, not %.20q", i, got, want)
			}
		}
	}
}

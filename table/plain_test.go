package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// parsed is all that a parser makes of a text.
func parsed(text string, width int, separator, decimal byte, careful bool) string {
	p := &parser{
		rows: rows{file: "f", separator: separator, width: width}, decimal: decimal, careful: careful,
		values: make([][]float64, width), words: make([]dictionary, width),
	}
	p.parse(chunk{text: []byte(text), line: 1})
	var b strings.Builder
	for i := range p.n {
		fmt.Fprintf(&b, "line %d:", p.lines[i])
		for j := range width {
			if x := p.values[j][i]; IsText(x) {
				fmt.Fprintf(&b, " %q", p.words[j].word(TextCode(x)))
			} else {
				fmt.Fprintf(&b, " %x", math.Float64bits(x))
			}
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%v at %d, line %d", p.err, p.rows.pos, p.rows.at)
	return b.String()
}

// Whatever the rows, those that are plain and those that are not give the same cells,
// lines and errors as when all are read with care.
func TestPlainRowsAreReadAsOthers(t *testing.T) {
	pieces := []string{
		"1", "-2.5", "0", "-0", "007", "3.", ".5", "-", "--", "+4", "1e5", "123456789012345", "1234567890123456", "0.1234567890123456789", "1,5",
		"abc", "a b", " x", "y ", "zoë", "é", "\u00a0n", "NA", "", " ", "\"q\"", "\"a,b\"", "\"c\nd\"", "e\"f", "inf", "1_000", "0x1F", "\t7", "8\r", "\r", "5-", "5.5.5", "-.", "1.5e3",
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 20_000 {
		width := 2 + rng.IntN(3)
		separator, decimal := []byte(",;\t")[rng.IntN(3)], []byte(".,")[rng.IntN(2)]
		var b strings.Builder
		for row := range 1 + rng.IntN(5) {
			cells := width
			if rng.IntN(15) == 0 {
				cells = 1 + rng.IntN(5)
			}
			for j := range cells {
				if j > 0 {
					b.WriteByte(separator)
				}
				k := rng.IntN(len(pieces))
				if rng.IntN(3) > 0 {
					k = rng.IntN(6) // so that some rows are plain
				}
				b.WriteString(pieces[k])
			}
			b.WriteString([]string{"\n", "\r\n", "\n\n", ""}[[]int{0, 0, 0, 1, 2, 0, 3}[rng.IntN(7)]])
			_ = row
		}
		text := b.String()
		if got, want := parsed(text, width, separator, decimal, false), parsed(text, width, separator, decimal, true); got != want {
			t.Fatalf("trial %d: %q in %d columns by %q, decimals by %q\n%s\nwith care\n%s", trial, text, width, separator, decimal, got, want)
		}
	}
}

// Numbers are those of strconv, to the last bit, however they are spelled.
func TestNumbersAreThoseOfStrconv(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	spell := []func() string{
		func() string { return strconv.FormatFloat(rng.NormFloat64()*1000, 'f', rng.IntN(8), 64) },
		func() string { return strconv.FormatFloat(math.Float64frombits(rng.Uint64()), 'g', -1, 64) },
		func() string { return strconv.FormatFloat(rng.ExpFloat64(), 'g', 1+rng.IntN(20), 64) },
		func() string { return strconv.FormatInt(rng.Int64()>>rng.IntN(63), 10) },
		func() string { return fmt.Sprintf("%d.%0*d", rng.IntN(1e6), 1+rng.IntN(12), rng.IntN(1e6)) },
		func() string { return fmt.Sprintf("%de%d", rng.IntN(1e9), rng.IntN(60)-30) },
		func() string { return "00" + strconv.FormatFloat(rng.Float64(), 'f', rng.IntN(20), 64) },
	}
	n := 2_000_000
	if testing.Short() {
		n = 100_000
	}
	p := &parser{rows: rows{separator: ',', width: 2}, decimal: '.', values: make([][]float64, 2), words: make([]dictionary, 2)}
	texts := make([]string, 0, 1000)
	var b []byte
	for range n / cap(texts) {
		texts, b = texts[:0], b[:0]
		for range cap(texts) {
			text := spell[rng.IntN(len(spell))]()
			texts = append(texts, text)
			b = append(append(append(b, text...), ','), "w\n"...)
		}
		p.parse(chunk{text: b, line: 1})
		if p.err != nil || p.n != len(texts) {
			t.Fatalf("%d rows of %d: %v", p.n, len(texts), p.err)
		}
		for i, text := range texts {
			want, err := strconv.ParseFloat(text, 64)
			got := p.values[0][i]
			if IsText(got) { // too large, not a number, an integer of more digits than are kept, or one with zeros in front
				if _, kind := ParseNumber([]byte(text), '.'); kind == Finite && !IsPadded([]byte(text)) {
					t.Fatalf("%s is taken for a text", text)
				}
				continue
			}
			if err != nil || math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s is read as %v, not %v (%v)", text, got, want, err)
			}
		}
	}
}

// Package jsonappend writes JSON text at the end of bytes, byte for byte as encoding/json
// does, and in a fraction of the time for responses with many numbers.
package jsonappend

import (
	"encoding/json"
	"math"
	"strconv"
)

// Float writes a finite number as encoding/json does: the shortest digits that
// Read back the same, with an exponent where it is very small or very large.
func Float(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		panic("jsonappend: a number is not finite")
	}
	if size := math.Abs(x); size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, x, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, x, 'e', -1, 64)
	// e-09 is written e-9.
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// Floats writes a list of numbers.
func Floats(b []byte, xs []float64) []byte {
	b = append(b, '[')
	for i, x := range xs {
		if i > 0 {
			b = append(b, ',')
		}
		b = Float(b, x)
	}
	return append(b, ']')
}

// Text writes a text.
func Text(b []byte, s string) []byte {
	for k := range len(s) {
		if c := s[k]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return append(b, Quoted(s)...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// Quoted is a text as a JSON string.
func Quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts always can be written
	}
	return b
}

// Texts writes a list of texts.
func Texts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, s := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = Text(b, s)
	}
	return append(b, ']')
}

package parquet

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"time"
)

// Values as texts.

// unixTime is a number of units since 1970.
func unixTime(x, perSecond int64) time.Time {
	seconds := x / perSecond
	rest := x - seconds*perSecond
	return time.Unix(seconds, rest*(1e9/perSecond)).UTC()
}

func momentText(t time.Time) []byte { return t.AppendFormat(nil, "2006-01-02 15:04:05.999999999") }

func clockText(t time.Time) []byte { return t.AppendFormat(nil, "15:04:05.999999999") }

// bigEndian reads an integer of any length in two's complement.
func bigEndian(x []byte) *big.Int {
	n := new(big.Int).SetBytes(x)
	if len(x) > 0 && x[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(x))))
	}
	return n
}

// decimalText writes n / 10^scale.
func decimalText(n *big.Int, scale int) []byte {
	digits := new(big.Int).Abs(n).Append(nil, 10)
	for len(digits) <= scale {
		digits = append([]byte{'0'}, digits...)
	}
	if scale > 0 {
		digits = slices.Insert(digits, len(digits)-scale, '.')
	}
	if n.Sign() < 0 {
		digits = append([]byte{'-'}, digits...)
	}
	return digits
}

// uuidText writes 8-4-4-4-12 hexadecimal digits.
func uuidText(x []byte) []byte {
	text := hex.AppendEncode(nil, x)
	if len(text) == 32 {
		for _, k := range []int{20, 16, 12, 8} {
			text = slices.Insert(text, k, '-')
		}
	}
	return text
}

// halfNumber is the value of a 16-bit floating-point number.
func halfNumber(bits uint16) float64 {
	exponent, fraction := int(bits>>10&0x1F), float64(bits&0x3FF)
	x := 0.0
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		if x = math.Inf(1); fraction != 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if bits&0x8000 != 0 {
		x = -x
	}
	return x
}

package rows

import "strconv"

// powers of ten that a float64 holds exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// mostDigits is how many digits survive a float64.
const mostDigits = 15

// ParseNumber reads a JSON number, as strconv.ParseFloat does and in a fraction of the
// time where there are at most 15 digits and no exponent: the digits as an integer are
// exact then, as is the power of ten, so that their quotient is rounded once.
func ParseNumber(text []byte) (float64, error) {
	digits := text
	if text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) > mostDigits+1 {
		return strconv.ParseFloat(string(text), 64)
	}
	var integer uint64
	point := -1
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			integer = 10*integer + uint64(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return strconv.ParseFloat(string(text), 64)
		}
	}
	x := float64(integer)
	if point >= 0 {
		x /= powers[len(digits)-1-point]
	} else if len(digits) > mostDigits {
		return strconv.ParseFloat(string(text), 64)
	}
	if text[0] == '-' {
		x = -x
	}
	return x, nil
}

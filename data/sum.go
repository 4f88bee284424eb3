package data

// twofold is a sum and what rounding took from it.
type twofold struct{ high, low float64 }

// plus adds without an error in the first part (Knuth's two-sum). It takes and returns
// values, which stay in registers.
func (s twofold) plus(x float64) twofold {
	sum := s.high + x
	back := sum - s.high
	return twofold{sum, s.low + ((s.high - (sum - back)) + (x - back))}
}

// join adds another sum.
func (s twofold) join(t twofold) twofold {
	s = s.plus(t.high)
	s.low += t.low
	return s
}

func (s twofold) value() float64 { return s.high + s.low }

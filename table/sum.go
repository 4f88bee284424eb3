package table

// twofold is a sum and what rounding took from it.
type Sum struct{ high, low float64 }

// plus adds without an error in the first part (Knuth's two-sum). It takes and returns
// values, which stay in registers.
func (s Sum) Plus(x float64) Sum {
	sum := s.high + x
	back := sum - s.high
	return Sum{sum, s.low + ((s.high - (sum - back)) + (x - back))}
}

// join adds another sum.
func (s Sum) Join(t Sum) Sum {
	s = s.Plus(t.high)
	s.low += t.low
	return s
}

func (s Sum) Value() float64 { return s.high + s.low }

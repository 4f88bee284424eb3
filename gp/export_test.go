package gp

// Raised tells whether the sites of the posterior have precisions below zero.
func (p *Predictor) Raised() bool { return p.added != nil }

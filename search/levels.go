package search

import "github.com/lossep/lossep/gp"

// How a search goes from few rows to more of them: on fewestRows at least, then on multiples
// of that by stepUp, up to all of them or SearchRows. The evidence of each is evaluated
// mostEvaluations times at most, and fewEvaluations times more with other points.
const (
	fewestRows      = 1000
	stepUp          = 8
	fewEvaluations  = 4
	mostEvaluations = 40
)

// SearchRows is the most rows that a search looks at. The more rows there are for each point,
// the smoother are the kernels that the evidence prefers, and all points that can be afforded
// do more for predictions than all rows do for the kernel: on 45,000 diamonds a search on 15,000
// with 300 points took three fifths of the time of one on all with 150, and log losses of other
// rows were 0.2859 against 0.2883; on 49,000 films 0.4729 against 0.4768. docs/research/inducing.md has more.
const SearchRows = 25_000

// firstRound is the most evaluations of the evidence in a first round.
func (s *induction) firstRound() int {
	if s.opt.MaxEvaluations > 0 {
		return min(mostEvaluations, s.opt.MaxEvaluations)
	}
	return mostEvaluations
}

// evaluations is the most of a level: two rounds, and a few more with all points, or the one
// of a kernel that is held.
func (s *induction) evaluations(level int) int {
	rows, last := s.levels[level], level == len(s.levels)-1
	widens := last && s.most(rows) > searchPoints(rows, gp.Functions(s.terms))
	switch {
	case s.opt.Fixed && level == 0 && widens && s.opt.Points == 0: // with points chosen again, and more of them
		return 3
	case s.opt.Fixed && (level == 0 || widens): // one of both
		return 2
	case s.held(level):
		return 1
	}
	most := s.firstRound()
	if !last || most > fewEvaluations { // a second round
		most += min(most, fewEvaluations)
	}
	if widens {
		most += fewEvaluations
	}
	return most
}

// held tells whether the kernel stays as it is with the rows of a level.
func (s *induction) held(level int) bool { return s.opt.Fixed || s.levels[level] > SearchRows }

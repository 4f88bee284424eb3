package search

// convergence is about how many evaluations of a search take as long as the sites of as many rows
// take to converge from nothing, and convergencePasses the passes that takes. What comes after a
// search, to let sites converge further, to find the bound and to leave rows out, is about finishing
// of them.
const (
	convergence       = 2
	convergencePasses = 8
	finishing         = 1
)

// timing is the work of a search from where one can say what is left of it.
type timing struct {
	limit int     // the most evaluations with as many rows
	spent float64 // on evaluations that are over
	under [2]int  // level and number of the one under way
	whole float64 // what that takes
	over  bool    // the search is
}

// work is about what an evaluation with so many rows and points takes, up to a constant.
func work(rows, points int) float64 { return float64(rows) * float64(points) * float64(points) }

// wide is how many evaluations there will be with all points after those with fewer.
func (s *induction) wide() int {
	switch {
	case !s.at.Fewer || s.at.Level < len(s.levels)-1:
		return 0
	case s.opt.Fixed:
		return 1
	}
	return fewEvaluations
}

// done is the share of the work that is over in a pass of the given evaluation with as many
// rows, if all are needed. It is zero until the search looks at the most rows of a search, from
// points that were chosen by what is known of the terms: how many points that takes is the most of
// what it costs, and not known before. How many passes there will be is not known either; the next
// is taken to be nearer to the last one the more there were.
func (s *induction) done(evaluation, pass int) float64 {
	level, last := s.at.Level, len(s.levels)-1
	if level == 0 && s.round == 0 || level < last && !s.held(level+1) || s.opt.Fixed && level < last {
		return 0
	}
	if s.over {
		evaluation++
	}
	if at := [2]int{level, evaluation}; at != s.under {
		s.spent, s.under = s.spent+s.whole, at
	}
	rows, points := s.levels[level], len(s.at.Points)
	each := work(rows, points)
	switch {
	case s.over:
		s.whole = finishing * each
	case s.held(level) || evaluation == 1: // of sites that converge from nothing
		s.whole = convergence * each
	default:
		s.whole = each
	}
	done := s.whole * float64(pass) / (float64(pass) + convergencePasses/2)
	left := s.whole - done
	if !s.over {
		most := points
		if s.at.Fewer {
			most = s.most(rows)
		}
		wide := s.wide()
		left += each*float64(max(0, s.limit-evaluation-wide)) + work(rows, most)*float64(wide)
		if level < last {
			left += convergence * work(s.levels[last], most)
		}
		left += finishing * work(s.levels[last], most)
	}
	done += s.spent
	return done / (done + left)
}

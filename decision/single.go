package decision

import (
	"slices"

	"github.com/lossep/lossep/factor"
)

// Term implements factor.Single. The utility of a single point is a step of its
// latent value when the outcome is that a threshold is exceeded.
func (u *Utility) Term(actions []int, floor float64) (t factor.Factor, raised float64, ok bool) {
	if u.Len() != 1 {
		return nil, 0, false
	}
	above, ok := u.outcome[1].(factor.Step)
	if !ok || !slices.Equal(u.outcome, Exceeds(above.T)) {
		return nil, 0, false
	}
	row := u.Table(0)[actions[0]]
	if min(row[0], row[1]) == 0 {
		raised = floor * max(row[0], row[1])
	}
	return factor.Step{T: above.T, Below: row[0] + raised, Above: row[1] + raised}, raised, true
}

var _ factor.Single = (*Utility)(nil)

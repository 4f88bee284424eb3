package audit

import "testing"

// Sums of the same costs in another order are no difference.
func TestCheaper(t *testing.T) {
	own, tie, less := Score{MeanCost: 0.1 + 0.2}, Score{MeanCost: 0.3}, Score{MeanCost: 0.2999}
	if tie.Cheaper(&own) || own.Cheaper(&tie) || !less.Cheaper(&own) || own.Cheaper(&less) {
		t.Error("a tie is a difference, or a difference is none")
	}
}

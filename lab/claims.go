package lab

import (
	"fmt"
	"math"
	"strconv"
)

// ClaimOutcome is what the numbers say of a claim.
type ClaimOutcome string

// Outcomes of claims.
const (
	Holds       ClaimOutcome = "holds"
	HoldsInPart ClaimOutcome = "holds in part"
	DoesNotHold ClaimOutcome = "does not hold"
)

// Claim is a statement with what was measured.
type Claim struct {
	Statement string       `json:"statement"`
	Outcome   ClaimOutcome `json:"outcome"`
	Finding   string       `json:"finding"`
	// Beyond says that the claim is not one of the paper's.
	Beyond bool `json:"beyond"`
}

// Claims goes through what the paper's results section says, and then through what
// the corrections are to achieve. A statement about cells holds when it is true in
// all it speaks of, holds in part when it is true in some, and otherwise does not
// hold. A statement that something never occurs does not hold if it occurs once.
func (t *Table1) Claims() []Claim {
	return []Claim{
		t.epAhead(), t.epFarAhead(), t.lossVINeverAhead(), t.lossEPAhead(), t.nothingSignificant(),
		t.correctedAhead("factorised", "corrected"), t.correctedAhead("paired", "paired"), t.correctedFarAhead(),
	}
}

// share judges how many cells out of n a statement is true in.
func share(k, n int) ClaimOutcome {
	switch k {
	case n:
		return Holds
	case 0:
		return DoesNotHold
	}
	return HoldsInPart
}

// never judges a statement that something does not occur, which it did k times.
func never(k int) ClaimOutcome {
	if k == 0 {
		return Holds
	}
	return DoesNotHold
}

// ratio of two means; a mean of zero is infinitely better than one that is not.
func ratio(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}

// spread is the smallest, the middle (geometric mean) and the largest of ratios.
func spread(ratios []float64) (low, middle, high float64) {
	low, high = math.Inf(1), 0
	finite, sum := 0, 0.0
	for _, r := range ratios {
		low, high = min(low, r), max(high, r)
		if r > 0 && !math.IsInf(r, 1) {
			sum += math.Log(r)
			finite++
		}
	}
	if finite == 0 {
		return low, high, high
	}
	return low, math.Exp(sum / float64(finite)), high
}

// times writes a ratio. One to a regret of zero has no number.
func times(r float64, digits int) string {
	if math.IsInf(r, 1) {
		return "∞"
	}
	return strconv.FormatFloat(r, 'g', digits, 64)
}

func (t *Table1) ratios(a, b string) []float64 {
	var r []float64
	for i := range t.Cells {
		r = append(r, ratio(t.Cells[i].Score(a).Mean, t.Cells[i].Score(b).Mean))
	}
	return r
}

func (t *Table1) epAhead() Claim {
	ahead := 0
	for i := range t.Cells {
		if t.Cells[i].Score("ep").Mean < t.Cells[i].Score("vi").Mean {
			ahead++
		}
	}
	return Claim{
		Statement: "EP decides better than VI.",
		Outcome:   share(ahead, len(t.Cells)),
		Finding:   fmt.Sprintf("EP's mean regret is below VI's in %d of %d cells%s.", ahead, len(t.Cells), t.where("not at u10 = ", "ep", "vi")),
	}
}

// where lists the utilities at which a is not below b under some shift.
func (t *Table1) where(prefix, a, b string) string {
	list := ""
	last := math.NaN()
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.Score(a).Mean < c.Score(b).Mean || c.U10 == last {
			continue
		}
		if list != "" {
			list += ", "
		}
		list += fmt.Sprint(c.U10)
		last = c.U10
	}
	if list == "" {
		return ""
	}
	return " (" + prefix + list + ")"
}

func (t *Table1) epFarAhead() Claim {
	const several = 100 // two orders of magnitude are the fewest that are several
	ratios := t.ratios("vi", "ep")
	far := 0
	for _, r := range ratios {
		if r >= several {
			far++
		}
	}
	low, middle, high := spread(ratios)
	return Claim{
		Statement: "EP is ahead of VI by several orders of magnitude.",
		Outcome:   share(far, len(ratios)),
		Finding: fmt.Sprintf("VI's mean regret is %s times EP's (geometric mean over cells; from %s to %s). It is at least %d times EP's in %d of %d cells.",
			times(middle, 2), times(low, 2), times(high, 2), several, far, len(ratios)),
	}
}

func (t *Table1) lossVINeverAhead() Claim {
	ahead, behind := 0, 0
	for i := range t.Cells {
		switch l, v := t.Cells[i].Score("loss-vi").Mean, t.Cells[i].Score("vi").Mean; {
		case l < v:
			ahead++
		case l > v:
			behind++
		}
	}
	n := len(t.Cells)
	return Claim{
		Statement: "Loss-VI is never ahead of VI.",
		Outcome:   never(ahead),
		Finding: fmt.Sprintf("Loss-VI's mean regret is below VI's in %d, equal in %d and above in %d of %d cells; after Holm's correction %d of these differences are significant.",
			ahead, n-ahead-behind, behind, n, t.significant(Calibration, "loss-vi")),
	}
}

// lossEPAhead reads "moderate asymmetry and small shift" as u10 between 0.25 and
// 0.75 without a shift.
func (t *Table1) lossEPAhead() Claim {
	ahead, cells, elsewhere, others := 0, 0, 0, 0
	var ratios []float64
	for i := range t.Cells {
		c := &t.Cells[i]
		better := c.Score("loss-ep").Mean < c.Score("ep").Mean
		if c.Shift == 0 && c.U10 > 0 && c.U10 < 0.9 {
			cells++
			ratios = append(ratios, ratio(c.Score("loss-ep").Mean, c.Score("ep").Mean))
			if better {
				ahead++
			}
			continue
		}
		others++
		if better {
			elsewhere++
		}
	}
	low, middle, high := spread(ratios)
	return Claim{
		Statement: "Loss-EP is ahead of EP at moderate asymmetry and small shift.",
		Outcome:   share(ahead, cells),
		Finding: fmt.Sprintf("At u10 from 0.25 to 0.75 without a shift Loss-EP's mean regret is below EP's in %d of %d cells, %s times EP's on geometric average (from %s to %s); elsewhere in %d of %d.",
			ahead, cells, times(middle, 2), times(low, 2), times(high, 2), elsewhere, others),
	}
}

func (t *Table1) nothingSignificant() Claim {
	tests, raw := 0, 0
	lowest := 1.0
	t.each(Calibration, func(c *PairTest) {
		tests++
		if c.P < SignificanceLevel {
			raw++
		}
		lowest = min(lowest, c.Adjusted)
	})
	k := t.significant(Calibration, "")
	return Claim{
		Statement: "No difference between a calibrated method and its plain sibling is significant.",
		Outcome:   never(k),
		Finding: fmt.Sprintf("Of %d signed-rank tests (EP with Loss-EP and VI with Loss-VI in every cell, %d data sets) %d fall below %v by themselves and %d after Holm's correction; the smallest corrected p is %.2g.",
			tests, t.DataSets, raw, SignificanceLevel, k, lowest),
	}
}

// significant counts the tests of a family, against the method b unless it is empty,
// that remain significant.
func (t *Table1) significant(family, b string) (k int) {
	t.each(family, func(c *PairTest) {
		if c.Adjusted < SignificanceLevel && (b == "" || c.B == b) {
			k++
		}
	})
	return k
}

func (t *Table1) correctedAhead(name, method string) Claim {
	ahead := 0
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.Score(method).Mean < min(c.Score("ep").Mean, c.Score("loss-ep").Mean) {
			ahead++
		}
	}
	_, overEP, _ := spread(t.ratios("ep", method))
	_, overLossEP, _ := spread(t.ratios("loss-ep", method))
	return Claim{
		Statement: fmt.Sprintf("The %s correction decides better than EP and Loss-EP.", name),
		Outcome:   share(ahead, len(t.Cells)),
		Finding: fmt.Sprintf("Its mean regret is below both in %d of %d cells%s. EP's is %s and Loss-EP's %s times as large on geometric average, and %d of %d tests against Loss-EP remain significant after Holm's correction.",
			ahead, len(t.Cells), t.where("not below Loss-EP at u10 = ", method, "loss-ep"), times(overEP, 2), times(overLossEP, 2), t.significant(Correction, method), len(t.Cells)),
		Beyond: true,
	}
}

func (t *Table1) correctedFarAhead() Claim {
	const factor = 20
	far, cells := 0, 0
	smallest := math.Inf(1)
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.U10 != 0.95 {
			continue
		}
		cells++
		r := ratio(min(c.Score("ep").Mean, c.Score("loss-ep").Mean), c.Score("corrected").Mean)
		smallest = min(smallest, r)
		if r >= factor {
			far++
		}
	}
	return Claim{
		Statement: "At u10 = 0.95 the regret of the factorised correction is at most a twentieth of EP's and Loss-EP's.",
		Outcome:   share(far, cells),
		Finding:   fmt.Sprintf("True under %d of %d shifts; the smallest ratio is %s.", far, cells, times(smallest, 3)),
		Beyond:    true,
	}
}

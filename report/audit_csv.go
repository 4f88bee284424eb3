package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/lossep/lossep/audit"
)

// writeFolds writes the cost of every method in every fold.
func (r *Audit) writeFolds(w io.Writer) error {
	type key struct {
		repeat, fold int
		method       string
	}
	sums, weights, counts := make(map[key]float64), make(map[key]float64), make(map[key]int)
	var order []key
	for _, d := range r.Decisions {
		k := key{d.Repeat, d.Fold, d.Method}
		if counts[k] == 0 {
			order = append(order, k)
		}
		sums[k] += d.Weight * d.Cost
		weights[k] += d.Weight
		counts[k]++
	}
	c := csv.NewWriter(w)
	rows := [][]string{{"repeat", "fold", "method", "cases", "mean_" + r.noun()}}
	for _, k := range order {
		rows = append(rows, []string{strconv.Itoa(k.repeat), strconv.Itoa(k.fold), k.method, strconv.Itoa(counts[k]), exactly(r.Stated(audit.Measure{Value: sums[k] / weights[k]}).Value)})
	}
	return c.WriteAll(rows)
}

// writeDecisions writes every decision.
func (r *Audit) writeDecisions(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"row", "line"}
	if r.ID != "" {
		head = append(head, r.ID)
	}
	head = append(head, "repeat", "fold", "outcome", "method")
	if r.several() {
		for _, outcome := range r.Outcomes {
			head = append(head, "probability_"+outcome)
		}
	} else {
		head = append(head, "probability")
	}
	rows := [][]string{append(head, "action", r.noun())}
	for _, d := range r.Decisions {
		rows = append(rows, r.decisionCells(d))
	}
	return c.WriteAll(rows)
}

// decisionCells are those of a decision: of two outcomes with the probability of the positive
// one, of more with that of each, and with none where the action is constant.
func (r *Audit) decisionCells(d audit.Decided) []string {
	cells := []string{strconv.Itoa(d.Row), strconv.Itoa(d.Line)}
	if r.ID != "" {
		cells = append(cells, d.ID)
	}
	cells = append(cells, strconv.Itoa(d.Repeat), strconv.Itoa(d.Fold), r.Outcomes[d.Outcome], d.Method)
	for y := range r.Outcomes {
		switch {
		case y == 0 && !r.several():
		case d.Probabilities == nil:
			cells = append(cells, "")
		default:
			cells = append(cells, exactly(d.Probabilities[y]))
		}
	}
	return append(cells, r.Actions[d.Action], exactly(r.Stated(audit.Measure{Value: d.Cost}).Value))
}

func (r *Audit) writeImportances(w io.Writer) error {
	rows := [][]string{{"column", "cost", "cost_low", "cost_high", "p_corrected", "changed"}}
	for _, i := range r.Importances {
		rows = append(rows, append(append([]string{i.Column}, measured(&i.Cost)...), exactly(i.P), exactly(i.Changed)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeParts writes the same.
func (r *Audit) writeParts(w io.Writer) error {
	rows := [][]string{{"value", "cases", "positive", r.noun(), r.noun() + "_low", r.noun() + "_high", "difference", "difference_low", "difference_high", "p_corrected", "excess", "excess_low", "excess_high"}}
	for _, part := range r.Parts {
		row := append([]string{part.Value, strconv.Itoa(part.Cases), strconv.Itoa(part.Positive)}, r.worth(part.Cost)...)
		row = append(append(row, r.worth(part.Difference)...), exactly(part.P))
		rows = append(rows, append(row, measured(part.Excess)...))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeCounts writes the confusion matrix of everything that decides.
func (r *Audit) writeCounts(w io.Writer) error {
	rows := [][]string{{"method", "action", "outcome", "cases", "of_outcome", "of_outcome_low", "of_outcome_high", "of_action", "of_action_low", "of_action_high"}}
	for _, s := range r.Methods {
		for _, c := range s.Counts {
			row := []string{s.Method, r.Actions[c.Action], r.Outcomes[c.Outcome], exactly(c.Cases)}
			rows = append(rows, append(append(row, measured(c.OfOutcome)...), measured(c.OfAction)...))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// writeQuality writes what everything costs, and the measures of probabilities.
func (r *Audit) writeQuality(w io.Writer) error {
	rows := [][]string{{"method", "measure", "value", "low", "high"}}
	for _, s := range r.Methods {
		add := func(name string, m *audit.Measure) {
			rows = append(rows, append([]string{s.Method, name}, measured(m)...))
		}
		m := r.Stated(cost(s))
		add(r.noun(), &m)
		if q := s.Quality; q != nil {
			add("auc", q.Area)
			add("average_precision", q.Precision)
			add("brier", q.Brier)
			add("log_loss", q.LogLoss)
			add("accuracy", q.Accuracy)
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func (r *Audit) writeCuts(w io.Writer) error {
	rows := [][]string{{"threshold", "given", r.noun(), r.noun() + "_low", r.noun() + "_high", "true_positive", "false_positive", "false_negative", "true_negative", "sensitivity", "specificity", "net_benefit"}}
	for _, c := range r.Cuts {
		row := append([]string{exactly(c.Threshold), strconv.FormatBool(c.Given)}, r.worth(&c.Cost)...)
		for _, v := range []float64{c.TruePositive, c.FalsePositive, c.FalseNegative, c.TrueNegative, c.Sensitivity, c.Specificity, c.NetBenefit} {
			row = append(row, exactly(v))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func (r *Audit) writeGains(w io.Writer) error {
	rows := [][]string{{"share", "cases", "probability", "found", "of_positive", "of_positive_low", "of_positive_high", "lift"}}
	for _, g := range r.Gains {
		row := []string{exactly(g.Share), exactly(g.Cases), exactly(g.Probability), exactly(g.Found)}
		rows = append(rows, append(append(row, measured(g.OfPositive)...), exactly(g.Lift)))
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// worth is what measured is, of a cost or the utility that it is.
func (r *Audit) worth(m *audit.Measure) []string {
	return measured(r.asStated(m))
}

// measured is a number and its interval, to the last digit; empty where there is none.
func measured(m *audit.Measure) []string {
	if m == nil {
		return []string{"", "", ""}
	}
	return []string{exactly(m.Value), exactly(m.Low), exactly(m.High)}
}

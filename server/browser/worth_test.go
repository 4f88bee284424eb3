package browser

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// What it is worth to know more is on the screen as the library says it, under the costs
// that are on the screen, the rows sorted by what was asked last; rows that lack the column are
// asked about, though they are not decided.
func TestWorth(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/#model?name=loans")
	b.settle()
	m := s.loans
	const part = "[data-panel=model] [data-part=%s]"
	check := func(csv string, ask lossep.Ask, by string, of func(lossep.WorthRow) float64) {
		t.Helper()
		r, err := recipe.NewReader(context.Background(), strings.NewReader(csv), "rows.csv", m.Recipe().WithOpen(ask.Columns...), table.Format{Header: table.HeaderYes})
		if err != nil {
			t.Fatal(err)
		}
		spec := askedOf(t, s, "loans", "value").spec(t, m)
		var want []lossep.WorthRow
		sum := 0.0
		for w, err := range m.Worth(t.Context(), r, spec, ask) {
			if err != nil {
				t.Fatal(err)
			}
			want, sum = append(want, w), sum+w.Outcome
		}
		order := make([]int, len(want))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(of(want[j]), of(want[i])) })
		rows := b.rows(fmt.Sprintf(part, "worth-table") + " tr[data-row]")
		if len(rows) != len(want) {
			t.Fatalf("%d rows, want %d", len(rows), len(want))
		}
		for k, i := range order {
			w, r := want[i], rows[k]
			errs := []error{r.says("action", spec.Actions()[w.Action]), r.holds("probability", w.Probability()), r.holds("worth_outcome", w.Outcome), r.holds(by, of(w))}
			for _, err := range errs {
				if err != nil || r.Data["row"] != strconv.Itoa(i+1) {
					t.Errorf("place %d, row %s, want %d: %v", k+1, r.Data["row"], i+1, err)
				}
			}
		}
		if note := b.inner(fmt.Sprintf(part, "worth-note")); !strings.Contains(note, "would save "+strconv.FormatFloat(sum/float64(len(want)), 'g', 3, 64)) {
			t.Errorf("%q does not say %v", note, sum/float64(len(want)))
		}
	}
	outcome := func(w lossep.WorthRow) float64 { return w.Outcome }
	good := "income,amount,job\n20,4,clerk\n33,9,smith\n10,1,pilot\n26,0.5,baker\n"
	b.act(func() { b.write(rowsField, good) })
	check(good, lossep.Ask{}, "worth_outcome", outcome)

	b.act(func() { b.write(fmt.Sprintf(costField, 0, 1), "3 * amount") })
	check(good, lossep.Ask{}, "worth_outcome", outcome)

	b.act(func() { b.choose(fmt.Sprintf(part, "measure"), "income") })
	b.act(func() { b.choose(fmt.Sprintf(part, "price"), "0.25") })
	less := func(w lossep.WorthRow) float64 { return w.Columns[0] - 0.25 }
	check(good, lossep.Ask{Columns: []string{"income"}}, "worth_column", less)
	if note := b.inner(fmt.Sprintf(part, "worth-note")); !strings.Contains(note, "Measuring income at a cost of 0.25 pays in ") {
		t.Error(note)
	}

	b.act(func() { b.click(fmt.Sprintf(part, "labels")) })
	check(good, lossep.Ask{Columns: []string{"income"}, Labels: true}, "worth_label", func(w lossep.WorthRow) float64 { return w.Label })
	b.picture("model-worth")
	b.act(func() { b.click(fmt.Sprintf(part, "labels")) })

	// Cells that are not known yet.
	b.refused()
	open := "income,amount,job\n20,4,clerk\n,9,smith\n,1,baker\n"
	b.act(func() { b.write(rowsField, open) })
	check(open, lossep.Ask{Columns: []string{"income"}}, "worth_column", less)
	if rows := b.rows("[data-panel=model] [data-part=table] tr[data-row]"); len(rows) != 3 || len(rows[1].field("error")) != 1 {
		t.Errorf("%+v", rows)
	}
}

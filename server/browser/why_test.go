package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// explained is what the library says about a CSV text of one case.
func explained(t *testing.T, m *lossep.Model, csv string) lossep.Decision {
	t.Helper()
	r, err := recipe.NewReader(context.Background(), strings.NewReader(csv), "rows.csv", m.Recipe(), table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range m.Decisions(t.Context(), r, nil, false) {
		if err != nil {
			t.Fatal(err)
		}
		all := []lossep.Decision{d.Decision}
		if err := m.Explain(5, m.Utility().Columns()).Of(t.Context(), mat.NewDense(1, len(d.Row.Features), d.Row.Features), all); err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	t.Fatal("no case")
	return lossep.Decision{}
}

// The page opens with cases of the model's own, shows the reasons for one of them, and decides it
// anew when one of its fields changes.
func TestOneCase(t *testing.T) {
	s := newSite(t)
	b := open(t, s.url+"/#model?name=loans")
	b.settle()
	kept := s.loans.Examples()
	if rows := b.rows("[data-panel=model] [data-part=table] tr[data-row]"); len(rows) != len(kept.Rows) {
		t.Errorf("%d decisions on %d examples", len(rows), len(kept.Rows))
	}
	header := strings.Join(kept.Columns, ",") + "\n"
	check := func(what string, row []string) {
		t.Helper()
		want := explained(t, s.loans, header+strings.Join(row, ",")+"\n")
		reasons := b.rows("[data-panel=model] [data-part=why-table] tr[data-column]")
		if len(reasons) != len(want.Reasons) {
			t.Fatalf("%s: %d reasons, want %d", what, len(reasons), len(want.Reasons))
		}
		for k, r := range want.Reasons {
			got := evaluate[[]any](b, fmt.Sprintf(`(() => {
				const row = document.querySelectorAll("[data-panel=model] [data-part=why-table] tr[data-column]")[%d];
				return [row.dataset.column, row.querySelector("[data-field=value]").textContent, Number(row.querySelector("[data-field=effect]").dataset.value)];
			})()`, k))
			if got[0] != r.Column || got[1] != r.Value || got[2] != r.Effect {
				t.Errorf("%s: reason %d is %v, want %+v", what, k+1, got, r)
			}
		}
		flip := b.inner("[data-panel=model] [data-part=flip]")
		if f := want.Flip; f == nil && !strings.HasPrefix(flip, "No change") || f != nil && !strings.Contains(flip, fmt.Sprintf("With %s %s in place of %s, the action would be %s.", f.Column, f.To, f.From, s.loans.Utility().Actions()[f.Action])) {
			t.Errorf("%s: %q, want %+v", what, flip, f)
		}
	}
	check("the first", kept.Rows[0])
	b.act(func() { b.click("[data-panel=model] [data-key=row-4]") })
	check("the fifth", kept.Rows[4])
	field := "[data-panel=model] [data-part=fields] [data-column=income]"
	if got := evaluate[string](b, fmt.Sprintf("document.querySelector(%q).value", field)); got != kept.Rows[4][0] {
		t.Errorf("the income is %q, not %q", got, kept.Rows[4][0])
	}
	changed := append([]string{"11"}, kept.Rows[4][1:]...)
	b.act(func() { b.write(field, "11"); b.press("\r") })
	check("with another income", changed)
	if job := changed[2]; job != "baker" {
		b.act(func() { b.choose("[data-panel=model] [data-part=fields] [data-column=job]", "baker") })
		changed[2] = "baker"
		check("and another job", changed)
	}
	if short := evaluate[[]string](b, `[...document.querySelectorAll("[data-part=fields] input, .entries input")].filter((f) => f.scrollWidth > f.clientWidth + 1).map((f) => f.value)`); len(short) > 0 {
		t.Errorf("fields too short for what stands in them: %q", short)
	}
	b.picture("one-case")
}

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server"
	"github.com/lossep/lossep/table"
)

// demand is a model of amounts, which is fitted once.
var demand = sync.OnceValues(func() (*numbers.Model, error) {
	var b strings.Builder
	b.WriteString("price,day,sold\n")
	for i := range 40 {
		price := 1 + 4*float64(i*17%40)/40
		fmt.Fprintf(&b, "%.2f,%s,%.1f\n", price, []string{"mon", "sun"}[i%2], 20-3*price+float64(6*(i%2))+2*math.Sin(float64(7*i)))
	}
	t, err := table.Read(background, strings.NewReader(b.String()), "demand.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		return nil, err
	}
	costs, err := decision.ParseNumberCosts("under=15,over=5")
	if err != nil {
		return nil, err
	}
	p, err := numbers.Prepare(t, lossep.Options{Data: recipe.Options{Target: "sold"}, Kernel: "rbf"}, costs)
	if err != nil {
		return nil, err
	}
	return p.Fit(background)
})

// A model of numbers opens with its examples, and what is on the screen is what the library decides:
// under its own costs, after one was moved, and after a case was changed.
func TestNumberModel(t *testing.T) {
	s := newSite(t)
	m, err := demand()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	sold := server.Source{Name: "demand", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }}
	sv, err := server.New(server.Config{Models: []server.Source{sold, source(t, "loans", s.loans, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.note(sv.Handler()))
	t.Cleanup(h.Close)
	b := open(t, h.URL)
	b.settle()
	const part = "[data-panel=number] [data-part=%s]"
	check := func() (sum float64) {
		t.Helper()
		var asked struct {
			Rows    []map[string]any
			Utility *decision.NumberCosts
		}
		if err := json.Unmarshal(s.asking(t, "/v1/models/demand/decide"), &asked); err != nil {
			t.Fatal(err)
		}
		csv := evaluate[string](b, fmt.Sprintf("document.querySelector(%q).value", fmt.Sprintf(part, "rows")))
		want := decideNumbers(t, m, csv, asked.Utility)
		rows := b.rows(fmt.Sprintf(part, "table") + " tr[data-row]")
		if len(rows) != len(want) || len(want) == 0 || len(want) != len(asked.Rows) {
			t.Fatalf("%d rows, want %d", len(rows), len(want))
		}
		for i, r := range rows {
			w := want[i]
			for _, err := range []error{r.holds("action", w.Action), r.holds("cost", w.Expected), r.holds("mean", w.mean)} {
				if err != nil || r.Data["row"] != strconv.Itoa(i+1) {
					t.Errorf("row %d: %v", i+1, err)
				}
			}
			if q := r.field("quantile"); len(q) != 5 {
				t.Errorf("row %d has %d quantiles", i+1, len(q))
			}
			sum += w.Action
		}
		if n := evaluate[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", fmt.Sprintf(part, "chart")+" svg")); n != 2 {
			t.Errorf("%d charts", n)
		}
		return sum
	}
	before := check()
	b.picture("number")
	b.act(func() { b.write("[data-panel=number] .entries input[data-action='0'][data-outcome='0']", "150") })
	if after := check(); !(after > before) {
		t.Errorf("a unit too little costs ten times as much, and actions go from %v to %v", before, after)
	}
	b.act(func() { b.click(fmt.Sprintf(part, "table") + " tr[data-row='3'] button") })
	b.act(func() {
		b.write("[data-panel=number] input[data-column=price]", "4.5")
		b.press("\t")
	})
	check()
	if text := b.inner(fmt.Sprintf(part, "case-verdict")); !strings.HasPrefix(text, "Row 3:") {
		t.Errorf("the case says %q", text)
	}
	b.picture("number-moved")
	b.spoken("number")
	b.readable("light")
	b.fits(360)
	b.picture("number-narrow")
	b.act(func() { b.choose(fmt.Sprintf(part, "name"), "loans") })
	// The address follows a while after the last change.
	b.until("document.querySelector('[data-panel=model]').checkVisibility() && location.hash.startsWith('#model?name=loans')")
}

// decidedNumber is what the library decides about a row.
type decidedNumber struct {
	decision.NumberChoice
	mean float64
}

// decideNumbers decides a CSV text, under the model's own costs if there are no others.
func decideNumbers(t *testing.T, m *numbers.Model, csv string, costs *decision.NumberCosts) (all []decidedNumber) {
	t.Helper()
	if costs == nil {
		costs = m.Costs()
	}
	r, err := recipe.NewReader(context.Background(), strings.NewReader(csv), "rows.csv", m.Recipe(), table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Each(t.Context(), r, func(row numbers.Row) error {
		stake, err := row.Bind(costs)
		all = append(all, decidedNumber{stake.Choose(row.Distribution), row.Mean()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

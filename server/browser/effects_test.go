package browser

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server"
	"github.com/lossep/lossep/table"
)

// A model with effects has a fold with a figure of each family, of which names of columns and categories are
// nothing but text; other models have none.
func TestEffects(t *testing.T) {
	s := newSite(t)
	var rows strings.Builder
	rows.WriteString("job<b>,hour,late\n")
	for i := range 240 {
		job := []string{"<script>alert(1)</script>", "baker", `clerk & "son"`, "smith"}[i%4]
		fmt.Fprintf(&rows, "%q,%d,%s\n", job, i%24, []string{"no", "yes"}[(i%4*i%7+i%24/12)%2])
	}
	cases, err := table.Read(background, strings.NewReader(strings.ReplaceAll(rows.String(), `\"`, `""`)), "cases.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(background, cases, lossep.Options{
		Data: recipe.Options{Target: "late", Positive: "yes"}, Kernel: "constant + effects(job<b>) + effects(hour/8) + effects(job<b>, hour/4)",
	})
	if err != nil {
		t.Fatal(err)
	}
	sv, err := server.New(server.Config{Models: []server.Source{source(t, "cases", m, nil), source(t, "loans", s.loans, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(sv.Handler())
	t.Cleanup(h.Close)
	b := open(t, h.URL+"/#model?name=cases")
	b.settle()
	fold := `document.querySelector("[data-panel=model] [data-part=effects]")`
	b.act(func() { evaluate[bool](b, fold+".open = true") })
	images := fold + `.querySelectorAll("img")`
	b.until(fmt.Sprintf(`%[1]s.length === %[2]d && [...%[1]s].every((image) => image.naturalWidth > 0)`, images, len(m.EffectFamilies())))
	first := m.EffectFamilies()[0]
	if got := evaluate[string](b, images+"[0].alt"); len(m.EffectFamilies()) != 3 || !strings.HasPrefix(got, strings.TrimSuffix(strings.TrimPrefix(first.Term, "effects("), ")")+": ") {
		t.Errorf("of %d families the first is %q, want %s", len(m.EffectFamilies()), got, first.Term)
	}
	b.picture("effects")
	b.act(func() { b.choose("[data-panel=model] [data-part=name]", "loans") })
	if !evaluate[bool](b, fold+".hidden && "+images+".length === 0") {
		t.Error("a model without effects has figures of some")
	}
}

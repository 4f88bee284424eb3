package numbers_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/table"
)

// lines are n rows of a, b, g and y, of which each comes so many times, with g its number and outcomes that differ by noise.
func lines(n, times int, noise float64, mean func(a, b float64) float64) (rows []string) {
	rng := rand.New(rand.NewPCG(5, 1))
	for g := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		y := mean(a, b) + rng.NormFloat64()
		for range times {
			rows = append(rows, fmt.Sprintf("%.4f,%.4f,g%d,%.4f", a, b, g, y+noise*rng.NormFloat64()))
		}
	}
	return rows
}

func tableOf(t *testing.T, rows []string) *table.Table {
	t.Helper()
	read, err := table.Read(context.Background(), strings.NewReader("a,b,g,y\n"+strings.Join(rows, "\n")+"\n"), "rows.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func pureNoise(_, _ float64) float64 { return 0 }

func absolute(t *testing.T) *decision.NumberCosts {
	t.Helper()
	costs, err := decision.ParseNumberCosts("under=1,over=1")
	if err != nil {
		t.Fatal(err)
	}
	return costs
}

// Nothing can be known of noise that depends on no column: where every row comes three times, neither an audit nor rows left out
// cost less than one action for all, and the copies of a row are one case.
func TestCopiesTellNothing(t *testing.T) {
	data := tableOf(t, lines(50, 3, 0, pureNoise))
	for _, groups := range []string{"", "g"} {
		o := lossep.Options{Kernel: "rbf + constant", Seed: 1}
		o.Data.Target, o.Data.Groups, o.Data.Drop = "y", groups, []string{"g"}
		a, err := numbers.RunAudit(t.Context(), data, o, absolute(t), numbers.AuditOptions{Folds: 5})
		if err != nil {
			t.Fatal(err)
		}
		if constant := a.Methods[1]; constant.SavedLow > 0 || a.Independent != 50 {
			t.Errorf("groups %q: %v saved at least, %d independent cases", groups, constant.SavedLow, a.Independent)
		}
		if told := slices.ContainsFunc(a.Notes, func(s string) bool { return strings.HasPrefix(s, "100 of 150 rows are copies") }); told != (groups == "") {
			t.Errorf("groups %q: %q", groups, a.Notes)
		}
		p, err := numbers.Prepare(data, o, absolute(t))
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if l := m.Summary().LeaveOneOut; !(l.Cost > 0.9*l.Constant) {
			t.Errorf("groups %q: rows left out cost %v, and %v with one action for all", groups, l.Cost, l.Constant)
		}
	}
}

// Rows that belong together are left out together: what is predicted is exact regression on all others, after an update, too.
func TestUnitsAreLeftOutTogether(t *testing.T) {
	rows := lines(40, 2, 0.5, func(a, b float64) float64 { return 3 * smooth(a, b) })
	o := lossep.Options{Kernel: "rbf + constant", Seed: 1}
	o.Data.Target, o.Data.Drop = "y", []string{"g"}
	p, err := numbers.Prepare(tableOf(t, rows[:60]), o, absolute(t))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Fit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	joining := tableOf(t, rows[60:])
	more, err := m.Update(t.Context(), joining, lossep.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := joining.Floats("y")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(p.Values, joined)
	for _, m := range []*numbers.Model{m, more} {
		x, accounts, err := m.LeftOut(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		values := all[:len(accounts)]
		sum := 0.0
		for i, own := range values {
			var rest []int
			for j := range values {
				if !slices.Equal(x.RawRowView(i), x.RawRowView(j)) {
					rest = append(rest, j)
				}
			}
			var others []float64
			for _, j := range rest {
				others = append(others, values[j])
			}
			mean, _ := regression(t, m, gp.RowsOf(x, rest), others, nil, gp.RowsOf(x, []int{i}))
			if got := accounts[i].Action; math.Abs(got-mean[0]) > 1e-5 {
				t.Errorf("row %d is decided by %v without it and its copy, and the mean given the others is %v", i, got, mean[0])
			}
			sum += math.Abs(own-mean[0]) / float64(len(values))
		}
		if l := m.Summary().LeaveOneOut; math.Abs(l.Cost-sum) > 1e-5 {
			t.Errorf("rows left out cost %v; want %v", l.Cost, sum)
		}
	}
}

// With inducing points rows are left out one by one, which is said.
func TestCopiesWithInducingPointsAreNamed(t *testing.T) {
	data := tableOf(t, lines(50, 2, 0.1, smooth))
	for groups, want := range map[string]string{"": "copies flatter it", "g": `those of the same "g" flatter it`} {
		o := lossep.Options{Kernel: "rbf + constant", Seed: 1, Inducing: 10}
		o.Data.Target, o.Data.Groups, o.Data.Drop = "y", groups, []string{"g"}
		p, err := numbers.Prepare(data, o, absolute(t))
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(m.Results(), "\n"); !strings.Contains(all, want) {
			t.Errorf("groups %q: %s", groups, all)
		}
	}
}

// An audit depends on what rows hold, and not on the order in which they stand: neither with groups or copies, nor with costs that
// are in a column and not among the features.
func TestAuditDoesNotDependOnOrder(t *testing.T) {
	for name, c := range map[string]struct {
		times  int
		groups string
		costs  string
	}{"rows": {1, "", "under=1,over=1"}, "copies": {2, "", "under=1,over=1"}, "groups": {2, "g", "under=1,over=1"}, "columns": {2, "g", "under=1+b*b,over=1"}} {
		rows := lines(30, c.times, 0.3, smooth)
		costs, err := decision.ParseNumberCosts(c.costs)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for range 2 {
			o := lossep.Options{Kernel: "linear + constant", Seed: 1}
			o.Data.Target, o.Data.Groups, o.Data.Drop = "y", c.groups, []string{"g", "b"}
			a, err := numbers.RunAudit(t.Context(), tableOf(t, rows), o, costs, numbers.AuditOptions{Folds: 3})
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%.6g", a.Scores.CRPS)
			for _, m := range a.Methods {
				text += fmt.Sprintf(" %.6g %.6g %.6g %.6g", m.Cost, m.Low, m.High, m.P)
			}
			found = append(found, text)
			slices.Reverse(rows)
		}
		if found[0] != found[1] {
			t.Errorf("%s: %s, and in the other order %s", name, found[0], found[1])
		}
	}
}

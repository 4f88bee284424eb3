package advise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Many categories of few rows each may be customers, which is asked unless groups are known.
func TestCategoriesThatMayBeGroups(t *testing.T) {
	for _, c := range []struct {
		name, groups     string
		rows, categories int
		want             bool
	}{
		{"who", "", 120, 40, true},
		{"who", "g", 120, 40, false},
		{"who", "", 400, 40, false},
		{"who", "", 120, 20, false},
		{"customer", "", 120, 40, false}, // which has its own question
	} {
		text := c.name + ",a,g,y\n"
		for i := range c.rows {
			text += fmt.Sprintf("k%d,%d,h%d,%d\n", i%c.categories, i*i%17, i%7, i%3/2)
		}
		l, err := learn(mustRead(t, text, table.HeaderYes), recipe.Options{Target: "y", Groups: c.groups})
		if err != nil {
			t.Fatal(err)
		}
		asked := strings.Contains(strings.Join(l.Notes, "\n"), "such as those of a customer, give it as groups")
		if asked != c.want {
			t.Errorf("%+v: %q", c, l.Notes)
		}
	}
}

func TestCountsAreAskedAbout(t *testing.T) {
	for _, c := range []struct {
		name, rows string
		asked      bool
	}{
		{"Freq", "m,a,12,no\nm,a,3,yes\nf,a,8,no\nf,a,9,yes\nm,b,1,no\nf,b,2,yes", true},
		{"n", "m,a,12,7\nm,a,3,8.5\nf,a,8,7\nf,a,9,9\nm,b,1,7\nf,b,2,8.5", true},          // of an outcome that is a number
		{"n", "m,a,12,7\nm,a,3,7\nf,a,8,7\nf,a,9,9\nm,b,1,7\nf,b,2,8.5", false},           // a row comes twice
		{"size", "m,a,12,no\nm,a,3,yes\nf,a,8,no\nf,a,9,yes\nm,b,1,no\nf,b,2,yes", false}, // not called so
		{"n", "m,a,12.5,no\nm,a,3,yes\nf,a,8,no\nf,a,9,yes\nm,b,1,no\nf,b,2,yes", false},  // not whole
		{"n", "m,a,12,no\nm,a,3,no\nf,a,8,no\nf,a,9,yes\nm,b,1,no\nf,b,2,yes", false},     // a row comes twice
		{"n", "m,a,12,no\nm,b,3,yes\nf,a,8,no\nf,b,9,yes\nm,c,1,no\nf,c,2,yes", false},    // all rows differ besides
	} {
		l, err := learn(mustRead(t, "sex,job,"+c.name+",y\n"+c.rows+"\n", table.HeaderYes), recipe.Options{Number: strings.Contains(c.rows, "8.5")})
		if err != nil {
			t.Fatal(err)
		}
		if asked := strings.Contains(strings.Join(l.Notes, "\n"), "looks like counts"); asked != c.asked {
			t.Errorf("%s of %q: asked about: %v", c.name, c.rows, asked)
		}
	}
}

// A column named like an identifier whose values come again gives a warning.
func TestIdentifiersThatComeAgain(t *testing.T) {
	note := func(name string, o recipe.Options) bool {
		t.Helper()
		l, err := learn(mustRead(t, manyRows(60, name+",a", func(i int) string { return fmt.Sprint(i / 3) }, amount), table.HeaderYes), o)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(l.Notes, func(n string) bool {
			return strings.Contains(n, "named like an identifier and has repeated values")
		})
	}
	if !note("patient_id", recipe.Options{}) || !note("subject", recipe.Options{}) {
		t.Error("nothing is said")
	}
	if note("row", recipe.Options{}) || note("patient_id", recipe.Options{Groups: "patient_id"}) {
		t.Error("it is said of what is none")
	}
}

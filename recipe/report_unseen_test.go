package recipe

import (
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

// What becomes of a word that an order does not have is said as it is.
func TestUnseenPlacesAreNamed(t *testing.T) {
	const rows = "size,y\nS,a\nM,b\nL,a\nL,b\n"
	for keep, want := range map[bool]string{false: "taken for the mean place in its order", true: "taken for the first of its order"} {
		l, err := Learn(mustRead(t, rows, table.HeaderYes), Options{Target: "y", Positive: "b", KeepScale: keep, Ordered: []OrderedSet{{"size", []string{"S", "M", "L"}}}})
		if err != nil {
			t.Fatal(err)
		}
		x, report, err := l.Recipe.Apply(mustRead(t, "size\nXL\nS\n", table.HeaderYes))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(report.Lines(), "\n"); !strings.Contains(said, want) || x.At(0, 0) != 0 || keep != (x.At(1, 0) == 0) {
			t.Errorf("%q, %v", said, x)
		}
	}
}

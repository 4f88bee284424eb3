package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lossep/lossep"
)

// Which numbers are codes is decided by the training rows of each fold, and said.
func TestCodesAreDecidedInEachFold(t *testing.T) {
	var b strings.Builder
	b.WriteString("code,x,y\n")
	for i := range 120 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i%4, i*i%97, (i+i%11/10)%2)
	}
	a, err := New(t.Context(), tableOf(t, b.String()), Options{
		Folds: 2, Methods: []lossep.Method{lossep.EP},
		Fit: lossep.Options{Method: lossep.EP, Kernel: testKernel, Fixed: true, Utility: costsOf(t, "fn=5,fp=1"), DecideCodes: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	folds := run(t, a)
	for _, f := range folds {
		if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "treated as categorical by the evidence on 60 rows") || !strings.Contains(notes, ": code") {
			t.Errorf("fold %d: %q", f.Number, notes)
		}
	}
	r, err := a.Summarise(folds)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Importances) != 2 {
		t.Errorf("importances %+v", r.Importances)
	}
}

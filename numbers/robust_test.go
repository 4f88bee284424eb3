package numbers

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/table"
)

// A shape whose search ended where expectation propagation has no result is taken only if there is no other, and named.
func TestDroppedShapes(t *testing.T) {
	plain, degenerate, better := Shape{Noise: "normal", Rows: 9, Transform: Transform{Name: "none"}}, Shape{Noise: "student", Evidence: 600, Dropped: true, Transform: Transform{Name: "none"}}, Shape{Noise: "normal", Evidence: 10, Transform: Transform{Name: "log"}}
	for _, c := range []struct {
		tried      []Shape
		best, says string
	}{
		{[]Shape{plain, degenerate}, "none normal", "the simplest transformation and noise"},
		{[]Shape{degenerate, plain}, "none normal", "dropped, as expectation propagation did not converge where their evidence rises to: as it is with student noise"},
		{[]Shape{plain, degenerate, better}, "log normal", "10 higher than for as it is with normal noise"},
		{[]Shape{degenerate}, "none student", "the simplest"},
	} {
		var m Model
		for _, s := range c.tried {
			m.summary.Shapes = m.shape.prefer(s, m.summary.Shapes)
		}
		if got := m.shape.Transform.Name + " " + m.shape.Noise; got != c.best || !strings.Contains(m.reason(), c.says) {
			t.Errorf("%+v: %s, %s", c.tried, got, m.reason())
		}
	}
}

// What is far from converged is warned of wherever the model is used, and what only rounding keeps from it is not.
func TestUnconvergedWarnings(t *testing.T) {
	for residual, want := range map[float64]bool{19: true, math.Inf(1): true, math.NaN(): true, 4e-9: false} {
		var m Model
		m.summary.status(infer.Status{Residual: residual})
		if got := len(m.Warnings()) == 1; got != want || !(m.summary.Residual <= math.MaxFloat64) {
			t.Errorf("residual %v: %q", residual, m.Warnings())
		}
	}
}

// One row that outweighs all others is warned of.
func TestDominantRow(t *testing.T) {
	m := new(Model)
	m.summary.LeaveOneOut = &LeaveOneOut{Coverage: 0.9, Rows: 100, Cost: 1.4e7, Expected: 1.2e7, Error: 1e7, Dominant: 0.97}
	if got := strings.Join(m.Warnings(), ""); !strings.Contains(got, "one row carries 97 %") {
		t.Errorf("warned of %q", got)
	}
}

// A file may say what it likes; what no fit gives is refused.
func TestSummariesOfNoFit(t *testing.T) {
	for _, c := range []Transform{{Name: "none", Scale: 1, Mean: 1e308}, {Name: "none", Scale: 1e308}, {Name: "log", Scale: 1, Unit: 1e300}, {Name: "none", Scale: 1, Mean: math.NaN()}} {
		if c.check() == nil {
			t.Errorf("%+v passes", c)
		}
	}
	if (&LeaveOneOut{Coverage: 1e308}).check() == nil || (&LeaveOneOut{Coverage: -0.1}).check() == nil || (&LeaveOneOut{Coverage: 0.9}).check() != nil {
		t.Error("a share is no share")
	}
}

// A count beyond what costs can be made of is refused in its line, and not after a search.
func TestCountBeyondAll(t *testing.T) {
	data, err := table.Read(context.Background(), strings.NewReader("x,y\n1,3\n2,4\n3,1e15\n4,2\n5,7\n"), "counts.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	o := lossep.Options{}
	o.Data.Target, o.Data.Count = "y", true
	_, err = Prepare(data, o, nil)
	var at *table.Error
	if !errors.As(err, &at) || at.Line != 4 || !strings.Contains(err.Error(), "1e+15") {
		t.Errorf("%v", err)
	}
}

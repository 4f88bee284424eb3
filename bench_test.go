package lossep_test

import (
	"context"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/example"
)

// BenchmarkDecide decides the 189 held-out rows of the example, with the second
// opinions, by a model of 380 rows.
func BenchmarkDecide(b *testing.B) {
	p, err := lossep.Prepare(example.Training(), lossep.Options{
		Data:    data.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(b, example.Costs), Kernel: "rbf(variance=80, lengthscale=11)", Fixed: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	l, err := p.Learn(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	x, _, err := p.Recipe.Apply(example.HeldOut())
	if err != nil {
		b.Fatal(err)
	}
	for _, method := range []lossep.Method{lossep.EP, lossep.Corrected} {
		m, err := l.Model(context.Background(), method)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(method), func(b *testing.B) {
			for b.Loop() {
				m.Decide(x, nil)
			}
		})
	}
}

// BenchmarkFit finds the kernel for 380 rows of 30 columns.
func BenchmarkFit(b *testing.B) {
	rows := example.Training()
	o := lossep.Options{
		Data:    data.Options{Target: example.Target, Positive: example.Positive},
		Utility: costs(b, example.Costs),
	}
	for b.Loop() {
		if _, err := lossep.Fit(context.Background(), rows, o); err != nil {
			b.Fatal(err)
		}
	}
}

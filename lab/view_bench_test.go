package lab_test

import (
	"context"
	"testing"

	"github.com/lossep/lossep/lab"
)

// solve is a benchmark of anything that can be solved.
func solve[T any](b *testing.B, request interface {
	Solve(context.Context) (T, error)
},
) {
	b.Helper()
	for b.Loop() {
		if _, err := request.Solve(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReactor is the reactor of the paper's Figure 1.
func BenchmarkReactor(b *testing.B) {
	solve(b, figure1())
}

// BenchmarkReactorFull has as many measurements as are allowed.
func BenchmarkReactorFull(b *testing.B) {
	r := figure1()
	r.Data = randomReactor(1, lab.MaxMeasurements).Data
	solve(b, r)
}

// BenchmarkClassifier has 30 points in the plane and a grid of 41 by 41.
func BenchmarkClassifier(b *testing.B) {
	c := randomClassifier(1, 30, 2)
	solve(b, c)
}

// BenchmarkClassifierLine has 15 points and a grid of 201, as in the paper.
func BenchmarkClassifierLine(b *testing.B) {
	c := randomClassifier(1, 15, 1)
	solve(b, c)
}

// BenchmarkClassifierFull has as much of everything as is allowed.
func BenchmarkClassifierFull(b *testing.B) {
	c := randomClassifier(1, lab.MaxPoints, 2)
	c.Grid.Points = []int{lab.MaxPlane, lab.MaxPlane}
	solve(b, c)
}

package corrected_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/infer/corrected"
	"github.com/lossep/lossep/internal/problems"
)

// counted is a context that ends when it has been asked so often.
type counted struct {
	context.Context
	left atomic.Int64
}

func (c *counted) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Answers that take an inference each are given up when the context ends, before the
// first and in between; what is missing is the Gaussian's, and no failure.
func TestEvidenceCanBeInterrupted(t *testing.T) {
	const n = 60
	p, labels := problems.Process(t, 15, 1)
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	r := problems.FitEP(t, m)
	e := corrected.NewEvidence(m, r)
	var value, stderr, plain [n]float64
	views := p.At(line(n))
	infer.Gaussian{Gaussian: r.Q}.Expect(views, positive, plain[:], stderr[:])
	for _, times := range []int64{0, 20} {
		c := &counted{Context: context.Background()}
		c.left.Store(times)
		if err := e.ExpectContext(c, views, positive, value[:], stderr[:]); !errors.Is(err, context.Canceled) {
			t.Errorf("asked %d times: %v", times, err)
		}
		missing := 0
		for j := range value {
			if value[j] == plain[j] {
				missing++
			}
		}
		if missing == 0 || (missing == n) != (times == 0) || e.Failures() > 0 {
			t.Errorf("asked %d times: %d of %d answers are missing, %d failures", times, missing, n, e.Failures())
		}
	}
}

// A fit whose cavities are improper has no evidence to walk from: every answer then is an
// inference of its own, and none is given from a number that is not there.
func TestEvidenceWithoutAWalk(t *testing.T) {
	const n = 5
	p, labels := problems.Process(t, 15, 1)
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	r := problems.FitEP(t, m)
	views := p.At(line(n))
	var want, got, stderr [n]float64
	corrected.NewEvidence(m, r).Expect(views, positive, want[:], stderr[:])
	improper := *r
	improper.Sites.Terms = slices.Clone(r.Sites.Terms)
	improper.Sites.Terms[3].Tau += 1e3 // which q does not have
	e := corrected.NewEvidence(m, &improper)
	e.Expect(views, positive, got[:], stderr[:])
	for j := range want {
		// Both are stationary at a tolerance of 1e-4.
		if !(math.Abs(got[j]-want[j]) < 1e-6) {
			t.Errorf("%d: %v, want %v", j, got[j], want[j])
		}
	}
	if e.Failures() > 0 {
		t.Errorf("%d failures", e.Failures())
	}
}

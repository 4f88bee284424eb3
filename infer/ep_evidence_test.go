package infer_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/lossep/lossep/infer"
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
	p, labels := process(t, 15, 1)
	m, err := p.Classify(labels)
	if err != nil {
		t.Fatal(err)
	}
	r := fitEP(t, m)
	e := infer.NewEvidence(m, r)
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

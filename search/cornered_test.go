package search

import (
	"context"
	"errors"
	"testing"

	"github.com/lossep/lossep/kernel"
)

// cliff is evidence that rises steadily up to where expectation propagation fails.
type cliff struct{ kernel kernel.Kernel }

type onCliff struct {
	kernel kernel.Kernel
	at     float64
}

func (cliff) rows() int { return 1 }

func (c cliff) converge(_ context.Context, k kernel.Kernel, logs []float64, _ *point, _ float64) (fitted, error) {
	if logs[0] > 0.3 {
		return nil, errors.New("nothing converges")
	}
	return onCliff{k, logs[0]}, nil
}

func (cliff) refine(_ context.Context, f fitted, _ float64) (fitted, error) { return f, nil }

func (f onCliff) kernelOf() kernel.Kernel                     { return f.kernel }
func (f onCliff) logEvidence() float64                        { return 10 * f.at }
func (onCliff) sweeps() int                                   { return 1 }
func (f onCliff) gradient(context.Context) ([]float64, error) { return []float64{10, 0}, nil }

// A climb whose evaluations fail again and again ends after few of them, at the highest point that has a value.
func TestClimbEndsAtCliff(t *testing.T) {
	k := kernel.RBF(1, 1)
	o := &objective{kernel: k, evidence: cliff{k}, prior: prior{mean: []float64{0, 0}, sd: []float64{100, 100}}, pace: steady}
	at, err := o.at(context.Background(), []float64{0, 0}, nil, 1e-4)
	if err != nil || at == nil {
		t.Fatal(at, err)
	}
	if ok, err := o.differentiate(context.Background(), at); !ok {
		t.Fatal(err)
	}
	end, stop, err := o.ascent(1e-6, Options{MaxEvaluations: 1000}).climb(context.Background(), at, new(memory))
	if err != nil || stop != Cornered || o.failed != mostFailures || end.logs[0] <= 0 {
		t.Errorf("%v after %d failures of %d evaluations, at %v: %v", stop, o.failed, o.evaluations, end.logs, err)
	}
}

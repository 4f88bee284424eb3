package nuts

import (
	"context"

	"github.com/lossep/lossep/internal/tasks"
)

// Sample draws from the density that newTarget's targets compute. It calls
// newTarget once per chain, one after the other, before any chain starts; all
// targets must be the same density.
//
// The result is the same to the last bit for the same options, whatever
// GOMAXPROCS is. Doubts about it are in Result.Warnings, not in the error.
// Errors are *OptionError, *InitError, *StepSizeError, or the context's, which
// ends the run within a few dozen gradients.
func Sample(ctx context.Context, newTarget func() Target, opt Options) (*Result, error) {
	first := newTarget()
	if first.Dim() < 1 {
		panic("nuts: target without dimensions")
	}
	opt, err := opt.withDefaults(first.Dim())
	if err != nil {
		return nil, err
	}
	chains := make([]*chain, opt.Chains)
	for k := range chains {
		target := first
		if k > 0 {
			target = newTarget()
		}
		if chains[k], err = newChain(target, k, opt); err != nil {
			return nil, err
		}
	}

	result := &Result{Chains: make([]Chain, opt.Chains)}
	failures := make([]error, opt.Chains)
	tasks.For(len(chains), func(k int) { result.Chains[k], failures[k] = chains[k].run(ctx, opt) })
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	result.diagnose()
	return result, nil
}

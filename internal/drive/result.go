package drive

import (
	"math"
	"slices"
	"time"
)

// Result is what came back.
type Result struct {
	// Latencies are the times from the first byte written to the last byte read of all
	// complete answers, from the shortest to the longest.
	Latencies []time.Duration
	// Dropped counts requests without a complete answer, and connections that could not
	// be opened; Wrong counts answers that are not the ones wanted.
	Dropped, Wrong int
	// Messages are the first of each kind of error, a few of them.
	Messages []string
	// Elapsed is the time from the first request to the last answer.
	Elapsed time.Duration
}

// messageLimit is how many different errors are kept: one is a cause, a thousand are not.
const messageLimit = 5

// newResult leaves room for a minute of single rows, so that nothing is allocated
// while it is measured.
func newResult() *Result { return &Result{Latencies: make([]time.Duration, 0, 1<<14)} }

func (r *Result) answered(d time.Duration) { r.Latencies = append(r.Latencies, d) }

func (r *Result) dropped(err error) {
	r.Dropped++
	r.note(err.Error())
}

func (r *Result) wrong(err error) {
	r.Wrong++
	r.note(err.Error())
}

func (r *Result) note(message string) {
	if len(r.Messages) < messageLimit && !slices.Contains(r.Messages, message) {
		r.Messages = append(r.Messages, message)
	}
}

// Errors is how many requests did not get the answer wanted.
func (r *Result) Errors() int { return r.Dropped + r.Wrong }

// Percentile is the shortest latency that p per cent of the answers did not exceed:
// with n answers the ⌈pn/100⌉-th, always one that was measured. Without answers it is 0.
func (r *Result) Percentile(p float64) time.Duration {
	n := len(r.Latencies)
	if n == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(n) / 100))
	return r.Latencies[min(max(rank, 1), n)-1]
}

// merge puts together what the connections have seen.
func merge(parts []*Result, elapsed time.Duration) *Result {
	all := &Result{Elapsed: elapsed}
	n := 0
	for _, p := range parts {
		n += len(p.Latencies)
	}
	all.Latencies = make([]time.Duration, 0, n)
	for _, p := range parts {
		all.Latencies = append(all.Latencies, p.Latencies...)
		all.Dropped += p.Dropped
		all.Wrong += p.Wrong
		for _, m := range p.Messages {
			all.note(m)
		}
	}
	slices.Sort(all.Latencies)
	return all
}

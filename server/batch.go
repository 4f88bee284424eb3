package server

import (
	"context"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/tasks"
)

// batchRows is how many rows are predicted together at most. The cost per row hardly
// falls beyond it, and a request that comes meanwhile waits for no longer than that
// many rows take.
const batchRows = 256

// batcher predicts the rows of requests, those of several together where they come
// faster than they can be predicted. Nothing waits for company: a request that finds a
// free place is predicted at once, and those that come meanwhile make the next batch.
type batcher struct {
	predict func(*mat.Dense) []lossep.Prediction
	columns int

	mu      sync.Mutex
	waiting []*job
	running int // batches under way
	places  int // how many there may be
}

// job is one request's rows, at most batchRows of them.
type job struct {
	ctx         context.Context // of the request
	features    []float64
	predictions []lossep.Prediction
	failure     *tasks.Panic
	done        chan struct{}
}

func newBatcher(m *lossep.Model) *batcher {
	return &batcher{predict: m.Predict, columns: m.Recipe().Dim(), places: runtime.GOMAXPROCS(0)}
}

// Predict predicts rows of features. Those of a large request go in parts, as many at
// a time as there are places, so that small requests get their turn between them. The
// result of a row does not depend on its company. The error is that of the context: a
// request that ends early has no further rows predicted.
func (b *batcher) Predict(ctx context.Context, features []float64) ([]lossep.Prediction, error) {
	part := batchRows * b.columns
	if len(features) <= part {
		return b.submit(ctx, features).wait()
	}
	all := make([]lossep.Prediction, 0, len(features)/b.columns)
	for len(features) > 0 {
		var parts []*job
		for len(parts) < b.places && len(features) > 0 {
			n := min(part, len(features))
			parts = append(parts, b.submit(ctx, features[:n]))
			features = features[n:]
		}
		for _, j := range parts {
			predictions, err := j.wait()
			if err != nil {
				return nil, err
			}
			all = append(all, predictions...)
		}
	}
	return all, nil
}

// submit queues rows.
func (b *batcher) submit(ctx context.Context, features []float64) *job {
	j := &job{ctx: ctx, features: features, done: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, j)
	if b.running < b.places {
		b.running++
		go b.run()
	}
	return j
}

// wait waits until the rows are predicted, or nobody wants them any more.
func (j *job) wait() ([]lossep.Prediction, error) {
	select {
	case <-j.done:
	case <-j.ctx.Done():
		return nil, j.ctx.Err()
	}
	if j.failure != nil {
		panic(j.failure)
	}
	return j.predictions, nil
}

// run predicts batches until nobody waits.
func (b *batcher) run() {
	for {
		// Requests that are read by now come first: without this they would wait for a
		// batch of one, and with 64 connections a third of the requests were answered.
		runtime.Gosched()
		b.mu.Lock()
		jobs := b.next()
		if len(jobs) == 0 {
			b.running--
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		b.finish(jobs)
	}
}

// next takes the jobs of one batch from those that wait, oldest first, and those whose
// request has ended out of the queue.
func (b *batcher) next() []*job {
	size, n := 0, 0
	var jobs []*job
	for ; n < len(b.waiting); n++ {
		j := b.waiting[n]
		if j.ctx.Err() != nil {
			continue
		}
		if jobs != nil && size+len(j.features) > batchRows*b.columns {
			break
		}
		size += len(j.features)
		jobs = append(jobs, j)
	}
	b.waiting = append(b.waiting[:0], b.waiting[n:]...)
	clear(b.waiting[len(b.waiting):cap(b.waiting)]) // lets go of their rows
	return jobs
}

// finish predicts the rows of the jobs and hands the predictions out. A panic is the
// jobs' and not the process's.
func (b *batcher) finish(jobs []*job) {
	defer func() {
		var failure *tasks.Panic
		if cause := recover(); cause != nil {
			failure = tasks.NewPanic(cause)
		}
		for _, j := range jobs {
			j.failure = failure
			close(j.done)
		}
	}()
	features := jobs[0].features
	if len(jobs) > 1 {
		features = nil
		for _, j := range jobs {
			features = append(features, j.features...)
		}
	}
	predictions := b.predict(mat.NewDense(len(features)/b.columns, b.columns, features))
	for _, j := range jobs {
		n := len(j.features) / b.columns
		j.predictions, predictions = predictions[:n:n], predictions[n:]
	}
}

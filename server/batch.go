package server

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/tasks"
)

// batchRows is how many rows are predicted together at most. The cost per row hardly
// falls beyond it.
const batchRows = 256

const (
	// batchTime is how long a part of a large request may take, by what rows took before:
	// a request that comes meanwhile waits for no longer. Rows of a model that corrects
	// every marginal take a millisecond each, and those of others a few microseconds.
	batchTime = 5 * time.Millisecond
	// largeTurn is that after so many batches of small requests one part of a large
	// request is predicted, if any waits.
	largeTurn = 8
)

// batcher predicts the rows of requests, those of several together where they come
// faster than they can be predicted. Nothing waits for company: a request that finds a
// free place is predicted at once, and those that come meanwhile make the next batch.
// Requests that fit into a batch go before the parts of those that do not.
type batcher struct {
	predict func(*mat.Dense) ([]lossep.Prediction, error)
	columns int
	perRow  atomic.Int64 // ns that a row of a large request took lately

	mu           sync.Mutex
	small, large []*job // that wait
	sinceLarge   int    // batches of small ones
	running      int    // batches under way
	places       int    // how many there may be
}

// job is one request's rows, or a part of them, at most batchRows.
type job struct {
	ctx         context.Context // of the request
	features    []float64
	large       bool // one of several of a request
	predictions []lossep.Prediction
	err         error
	done        chan struct{}
}

func newBatcher(m *lossep.Model) *batcher {
	return &batcher{predict: m.Predict, columns: m.Recipe().Dim(), places: runtime.GOMAXPROCS(0)}
}

// Predict predicts rows of features. Those of a large request go in parts, as many at
// a time as there are places, so that small requests get their turn between them. The
// result of a row does not depend on its company. The error is that of the model, or of
// the context: a request that ends early has no further rows predicted.
func (b *batcher) Predict(ctx context.Context, features []float64) ([]lossep.Prediction, error) {
	if len(features) <= b.partRows()*b.columns {
		return b.submit(ctx, features, false).wait()
	}
	all := make([]lossep.Prediction, 0, len(features)/b.columns)
	for len(features) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := b.partRows() * b.columns
		var parts []*job
		for len(parts) < b.places && len(features) > 0 {
			n := min(part, len(features))
			parts = append(parts, b.submit(ctx, features[:n], true))
			features = features[n:]
		}
		for _, j := range parts {
			predictions, err := j.wait()
			if far := (*lossep.FarError)(nil); errors.As(err, &far) {
				here := *far
				here.Row += len(all)
				err = &here
			}
			if err != nil {
				return nil, err
			}
			all = append(all, predictions...)
		}
	}
	return all, nil
}

// partRows is how many rows of a large request are predicted at a time.
func (b *batcher) partRows() int {
	perRow := b.perRow.Load()
	if perRow == 0 {
		return batchRows
	}
	return int(max(1, min(batchRows, batchTime.Nanoseconds()/perRow)))
}

// submit queues rows.
func (b *batcher) submit(ctx context.Context, features []float64, large bool) *job {
	j := &job{ctx: ctx, features: features, large: large, done: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	if large {
		b.large = append(b.large, j)
	} else {
		b.small = append(b.small, j)
	}
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
	return j.predictions, j.err
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

// next takes the jobs of one batch from those that wait.
func (b *batcher) next() []*job {
	if b.sinceLarge >= largeTurn || len(b.small) == 0 {
		if jobs := b.take(&b.large); jobs != nil {
			b.sinceLarge = 0
			return jobs
		}
	}
	b.sinceLarge++
	return b.take(&b.small)
}

// take takes the jobs of one batch from a queue, oldest first, and those whose request
// has ended out of it. Parts of large requests stay alone: they are as long as they
// should be.
func (b *batcher) take(queue *[]*job) []*job {
	size, n := 0, 0
	var jobs []*job
	for ; n < len(*queue); n++ {
		j := (*queue)[n]
		if ended(j.ctx) {
			continue
		}
		if jobs != nil && (j.large || size+len(j.features) > batchRows*b.columns) {
			break
		}
		size += len(j.features)
		jobs = append(jobs, j)
	}
	*queue = append((*queue)[:0], (*queue)[n:]...)
	clear((*queue)[len(*queue):cap(*queue)]) // lets go of their rows
	return jobs
}

// ended tells whether a context has, without asking its Err, which may wait.
func ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// finish predicts the rows of the jobs and hands the predictions out. Where that fails,
// or panics, each is predicted by itself: the failure of one is not that of the others.
func (b *batcher) finish(jobs []*job) {
	err := tasks.Try(func() error { return b.together(jobs) })
	for _, j := range jobs {
		if j.err = err; err != nil && len(jobs) > 1 {
			j.err = tasks.Try(func() error { return b.together([]*job{j}) })
		}
		close(j.done)
	}
}

// together predicts the rows of several jobs at once.
func (b *batcher) together(jobs []*job) error {
	features := jobs[0].features
	if len(jobs) > 1 {
		features = nil
		for _, j := range jobs {
			features = append(features, j.features...)
		}
	}
	begin := time.Now()
	predictions, err := b.predict(mat.NewDense(len(features)/b.columns, b.columns, features))
	if err != nil {
		return err
	}
	if jobs[0].large {
		b.perRow.Store(max(1, time.Since(begin).Nanoseconds()/int64(len(predictions))))
	}
	for _, j := range jobs {
		n := len(j.features) / b.columns
		j.predictions, predictions = predictions[:n:n], predictions[n:]
	}
	return nil
}

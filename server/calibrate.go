package server

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/server/problem"
)

// keptCalibrations is how many calibrated models are kept of each model at most. Each takes
// as much memory as the model.
const keptCalibrations = 4

// calibrations are a model's calibrations to other utilities than its own: those kept,
// and those under way. Requests for the same one share it.
type calibrations struct {
	server *Server
	of     *served
	own    string // the utility of the model itself

	mu   sync.Mutex
	all  map[string]*calibration // by utility
	kept []string                // those that are finished, the last used at the end
	most int                     // to be kept

	refusal string // why there are none; empty if there are
}

// allow settles why there is no memory for calibrations, if there is not, and how many are
// kept.
func (c *calibrations) allow(refusal string, kept int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal, c.most = refusal, max(0, min(kept, keptCalibrations))
	c.drop()
}

// drop forgets those that are more than are kept, the last used last.
func (c *calibrations) drop() {
	for len(c.kept) > c.most {
		delete(c.all, c.kept[0])
		c.kept = slices.Delete(c.kept, 0, 1)
	}
}

// calibration is one of them.
type calibration struct {
	done    chan struct{}
	model   *served // once done
	err     error
	waiting int // requests that want it
	cancel  context.CancelFunc
}

func newCalibrations(s *Server, of *served) (*calibrations, error) {
	own, err := json.Marshal(of.model.Utility())
	return &calibrations{server: s, of: of, own: string(own), all: make(map[string]*calibration)}, err
}

// get is the model calibrated to a utility. The calibration goes on while anybody waits
// for it, and for no longer than the deadline.
func (c *calibrations) get(ctx context.Context, s *decision.Spec) (*served, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	key := string(text)
	if c.of.model.Method() == lossep.LossEP && key == c.own {
		return c.of, nil
	}
	c.mu.Lock()
	if refusal := c.refusal; refusal != "" {
		c.mu.Unlock()
		return nil, problem.Wrong("calibrate", "%s", refusal)
	}
	one := c.all[key]
	if one == nil {
		one = &calibration{done: make(chan struct{})}
		var work context.Context
		work, one.cancel = context.WithTimeout(context.WithoutCancel(ctx), c.server.config.Deadline)
		c.all[key] = one
		go c.run(c.server.courtesy.long(work), key, one, s)
	}
	one.waiting++
	c.use(key)
	c.mu.Unlock()

	select {
	case <-one.done:
		err = one.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.waiting--; one.waiting == 0 {
		one.cancel()
		if err != nil && c.all[key] == one && !slices.Contains(c.kept, key) {
			delete(c.all, key) // nobody is to join what is being given up
		}
	}
	if err != nil {
		return nil, problem.Late(ctx, err)
	}
	return one.model, nil
}

// use moves a finished calibration to the end of those to be kept.
func (c *calibrations) use(key string) {
	if k := slices.Index(c.kept, key); k >= 0 {
		c.kept = append(slices.Delete(c.kept, k, k+1), key)
	}
}

// run calibrates and keeps the result, or forgets the attempt.
func (c *calibrations) run(ctx context.Context, key string, one *calibration, s *decision.Spec) {
	defer one.cancel()
	one.err = tasks.Try(func() (err error) {
		one.model, err = c.calibrate(ctx, s)
		return err
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(one.done)
	switch {
	case c.all[key] != one: // given up
		return
	case one.err != nil:
		delete(c.all, key)
		return
	}
	c.kept = append(c.kept, key)
	c.drop()
}

func (c *calibrations) calibrate(ctx context.Context, s *decision.Spec) (*served, error) {
	result := "failed"
	defer func() {
		c.server.metrics.calibrations.WithLabelValues(c.of.name, result).Inc()
	}()
	gate := c.server.calibrating
	if err := gate.enter(ctx); err != nil {
		result = "refused"
		return nil, err
	}
	defer gate.leave()
	model, err := c.of.model.Calibrate(ctx, s)
	if err != nil {
		return nil, calibrationProblem(err)
	}
	result = "ok"
	calibrated := *c.of
	calibrated.held, calibrated.model, calibrated.batcher, calibrated.schema = model, model, newBatcher(model), nil
	return &calibrated, nil
}

// calibrationProblem says what a client can do about a calibration that came to
// nothing.
func calibrationProblem(err error) error {
	var improper *infer.ImproperError
	if errors.As(err, &improper) {
		return problem.Wrong("calibrate", "no approximation that is calibrated to this utility exists; decide without calibrating")
	}
	return utilityProblem(err)
}

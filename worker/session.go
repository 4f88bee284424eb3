package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/table"
)

// Config is what the command gives a worker.
type Config struct {
	// MaxMemory is how many bytes all requests and models may take together; see memory.
	MaxMemory int64
	// Origin is what audits name as their maker.
	Origin report.Origin
}

// Hello is the first frame of a worker.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
}

// Kind is that of an error.
type Kind string

// The kinds of errors.
const (
	Input     Kind = "input"     // what was given cannot be used; the text says why and what to do
	Failed    Kind = "failed"    // it could be used, and there is no result
	Forgotten Kind = "forgotten" // there is no such model
	Busy      Kind = "busy"      // there is no memory for it while others are under way
	Cancelled Kind = "cancelled"
	Internal  Kind = "internal" // a mistake in this program
	Protocol  Kind = "protocol" // a mistake in the other
)

type failure struct {
	Kind  Kind   `json:"kind"`
	Text  string `json:"text"`
	Stack string `json:"stack,omitempty"`
}

// request is the header of one.
type request struct {
	ID      uint64         `json:"id"`
	Do      string         `json:"do"`
	Cancel  uint64         `json:"cancel"`
	Forget  []uint64       `json:"forget"` // models
	Model   uint64         `json:"model"`
	Options map[string]any `json:"options"`
	Columns []column       `json:"columns"`
	Utility *utility       `json:"utility"`
	Taken   bool           `json:"taken"`  // the rows are to be taken away from the model
	Unseen  bool           `json:"unseen"` // allow columns of which no category is known
	Name    string         `json:"name"`   // of a table
	// Outcomes are the names of the classes, where there is no model.
	Outcomes []string `json:"outcomes"`
	// Unsettled: the positive one of two outcomes is named for an order alone.
	Unsettled bool     `json:"unsettled"`
	Tensors   []Tensor `json:"tensors"` // of the payload
}

// answer is the header of one.
type answer struct {
	ID       uint64   `json:"id"`
	Result   any      `json:"result,omitempty"`
	Progress any      `json:"progress,omitempty"`
	Error    *failure `json:"error,omitempty"`
}

// session is one run of a worker.
type session struct {
	Config
	out         *writer
	memory      *memory
	models      *shelf
	calibration chan struct{} // one calibration at a time keeps its model while it waits for memory

	mu      sync.Mutex
	cancels map[uint64]context.CancelFunc // of the requests under way
}

// Serve answers the requests that come from in until it ends, which is no error.
func Serve(ctx context.Context, in io.Reader, out io.Writer, c Config) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	memory := newMemory(c.MaxMemory)
	s := &session{
		Config: c, out: &writer{to: out}, memory: memory, models: newShelf(c.MaxMemory/2, &memory.work),
		calibration: make(chan struct{}, 1), cancels: make(map[uint64]context.CancelFunc),
	}
	if err := s.out.write(Hello{Version, lossep.Version}); err != nil {
		return err
	}
	for {
		r, share := new(request), &budget.Share{Budget: &memory.requests}
		f, err := readFrame(in, func(header []byte, payload uint64) error { return s.admit(share, r, header, payload) })
		switch {
		case err == nil:
			err = s.begin(ctx, r, f, share)
		case f != nil:
			s.models.forget(r.Forget)
			share.Release()
			err = s.answer(r.ID, nil, nil, err)
		case err == io.EOF:
			return nil
		default:
			if errors.Is(err, errFrame) {
				_ = s.out.write(answer{Error: &failure{Kind: Protocol, Text: err.Error()}})
			}
			return err
		}
		if err != nil {
			return err
		}
	}
}

// begin starts work on a request, which has its share of the memory, or does what needs none.
func (s *session) begin(ctx context.Context, r *request, f *Frame, share *budget.Share) error {
	s.models.forget(r.Forget)
	if r.Cancel != 0 {
		s.mu.Lock()
		cancel := s.cancels[r.Cancel]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
	if r.Do == "" {
		share.Release()
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	_, twice := s.cancels[r.ID]
	if !twice && r.ID != 0 {
		s.cancels[r.ID] = cancel
	}
	s.mu.Unlock()
	if twice || r.ID == 0 {
		cancel()
		share.Release()
		return s.out.write(answer{ID: r.ID, Error: &failure{Kind: Protocol, Text: fmt.Sprintf("a request needs a number of its own, and has %d", r.ID)}})
	}
	go func() {
		var result any
		var tensors []Tensor
		err := tasks.Try(func() (err error) {
			result, tensors, err = (&job{session: s, request: r, frame: f, share: share, start: time.Now()}).do(ctx)
			return err
		})
		f = nil
		cancel()
		s.mu.Lock()
		delete(s.cancels, r.ID)
		s.mu.Unlock()
		_ = s.answer(r.ID, result, tensors, err) // whom nobody reads any more: the input ends as well
		share.Release()
	}()
	return nil
}

// job is a request under way, with what most of them begin with.
type job struct {
	*session
	*request
	frame *Frame
	share *budget.Share // of the memory
	start time.Time

	spec   *decision.Spec // of the utility; nil if there is none
	model  *lossep.Model  // if the verb is about one of categories
	number *numbers.Model // if it is about one whose outcome is a number
	rows   *table.Table   // if the verb is about some
}

// verb is something to do.
type verb struct {
	model, rows bool
	do          func(*job, context.Context) (any, []Tensor, error)
	number      func(*job, context.Context) (any, []Tensor, error) // with a model whose outcome is a number, nil if it cannot be done
}

var verbs = map[string]verb{
	"fit":       {rows: true, do: (*job).fit, number: (*job).fitNumbers},
	"load":      {do: (*job).load},
	"predict":   {model: true, rows: true, do: (*job).predict, number: (*job).predictNumbers},
	"decide":    {model: true, rows: true, do: (*job).decide, number: (*job).decideNumbers},
	"value":     {model: true, rows: true, do: (*job).value, number: (*job).valueNumbers},
	"calibrate": {do: (*job).calibrate},
	"update":    {model: true, rows: true, do: (*job).update, number: (*job).updateNumbers},
	"monitor":   {model: true, rows: true, do: (*job).monitor, number: (*job).monitorNumbers},
	"effects":   {model: true, do: (*job).effects, number: (*job).effects},
	"positive":  {do: (*job).positive},
	"audit":     {rows: true, do: (*job).audit},
}

// do is the work.
func (j *job) do(ctx context.Context) (any, []Tensor, error) {
	v, known := verbs[j.Do]
	if !known {
		return nil, nil, &malformed{fmt.Sprintf("there is nothing called %q to do", j.Do)}
	}
	if j.Do == "decide" && j.Model == 0 {
		v = verb{do: (*job).decideGiven}
	}
	if v.model {
		done, err := j.use()
		if err != nil {
			return nil, nil, err
		}
		defer done()
	}
	if v.rows {
		var err error
		if j.rows, err = j.table(j.frame); err != nil {
			return nil, nil, err
		}
	}
	numeric, err := j.numeric()
	switch {
	case err != nil:
		return nil, nil, err
	case numeric && v.number != nil:
		return v.number(j, ctx)
	case numeric:
		return nil, nil, errNumber
	}
	if j.spec, err = j.Utility.spec(); err != nil {
		return nil, nil, err
	}
	return v.do(j, ctx)
}

// errNumber refuses what models of categories alone can do.
var errNumber = &inputError{errors.New("the outcome of this model is a number, and this is for outcomes that are categories")}

// numeric tells whether the outcome is a number: that of the model, or of the one to be fitted.
func (j *job) numeric() (bool, error) {
	if j.Do != "fit" {
		return j.number != nil, nil
	}
	_, kind, err := fitOptions(j.Options)
	return kind.Numeric(), err
}

// use takes the model of the request, until done is called.
func (j *job) use() (done func(), err error) {
	m, done, err := j.models.use(j.Model)
	switch m := m.(type) {
	case *lossep.Model:
		j.model = m
	case *numbers.Model:
		j.number = m
	}
	return done, err
}

// tell sends progress.
func (j *job) tell(progress any) {
	_ = j.out.write(answer{ID: j.ID, Progress: progress}) // as answers are
}

// inputError is one that the request caused.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// answer sends a result, or what went wrong.
func (s *session) answer(id uint64, result any, tensors []Tensor, err error) error {
	if err == nil {
		if err = s.out.write(answer{ID: id, Result: result}, tensors...); err == nil {
			return nil
		}
		var unsupported *json.UnsupportedValueError
		if !errors.As(err, &unsupported) {
			return err
		}
		// A number that is none, which nothing should have let pass: say so.
	}
	return s.out.write(answer{ID: id, Error: s.failureOf(err)})
}

func (s *session) failureOf(err error) *failure {
	var panicked *tasks.Panic
	var given *inputError
	var wrong *malformed
	switch {
	case errors.As(err, &panicked):
		return &failure{Internal, "this is a mistake in lossep and not in what it was given; please report it: " + err.Error(), string(panicked.Stack)}
	case errors.Is(err, context.Canceled):
		return &failure{Kind: Cancelled, Text: "cancelled"}
	case errors.Is(err, budget.ErrBusy):
		return &failure{Kind: Busy, Text: err.Error()}
	case errors.Is(err, errForgotten):
		return &failure{Kind: Forgotten, Text: err.Error()}
	case errors.As(err, &wrong):
		return &failure{Kind: Protocol, Text: err.Error()}
	case errors.As(err, &given):
		return &failure{Kind: Input, Text: err.Error()}
	}
	if text, ok := explain(err); ok {
		return &failure{Kind: Input, Text: text}
	}
	return &failure{Kind: Failed, Text: err.Error()}
}

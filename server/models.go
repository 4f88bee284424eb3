package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/record"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
)

// Source is where a model comes from.
type Source struct {
	// Name is what requests call the model.
	Name string
	// Open opens the model file, when the server is made and on every Reload, once or
	// twice.
	Open func() (io.ReadCloser, error)
	// Examples are rows to try the model with, which are part of its description, in place of
	// those that the model keeps.
	Examples []map[string]any
}

// served is a model and what is made once to answer for it. All of it stays as it is
// until the model is replaced.
type served struct {
	name   string
	digest string // SHA-256 of the model file
	held
	model   *lossep.Model  // nil where the outcome is a number
	numbers *numbers.Model // nil where it is one of several categories
	*batcher

	description *ModelDescription
	figures     func() (*report.EffectFigures, error) // of its effects, drawn once
	readers     *sync.Pool                            // of *rowReader
	calibrated  *calibrations
	schema      *record.Schema // of decisions by its own utility, if they are recorded
}

// held is a model of any kind of outcome.
type held interface {
	Method() lossep.Method
	Bytes() float64
	Recipe() *recipe.Recipe
	Examples() *lossep.Examples
	EffectFamilies() []lossep.EffectFamily
}

// open reads a model from its source, in so many bytes of memory. A file that has not
// changed gives the model there is already.
func (s *Server) open(source Source, old *served, room int64) (*served, error) {
	if old != nil {
		digest, err := s.digested(source, func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if err != nil {
			return nil, err
		}
		if digest == old.digest {
			return old, nil
		}
	}
	var model *lossep.Model
	digest, err := s.digested(source, func(r io.Reader) (err error) {
		model, err = lossep.ReadWithin(r, room)
		return err
	})
	if errors.Is(err, modelfile.ErrNumbers) {
		return s.openNumbers(source, room)
	}
	if err != nil {
		return nil, err
	}
	if _, err := model.Utility().Within(s.config.Capacity); err != nil {
		return nil, err
	}
	m := &served{
		name: source.Name, digest: digest, held: model, model: model, batcher: newBatcher(model),
		readers: s.newReaders(model.Recipe()), figures: figuresOf(model),
	}
	if s.config.Record != nil {
		m.schema = s.underSpec(m, model.Utility())
	}
	if m.calibrated, err = newCalibrations(s, m); err != nil {
		return nil, err
	}
	m.description, err = describe(m, source.Examples)
	return m, err
}

// figuresOf draws the effects of a model when they are first asked for.
func figuresOf(m held) func() (*report.EffectFigures, error) {
	return sync.OnceValues(func() (*report.EffectFigures, error) { return report.EffectsOf(m.EffectFamilies(), &m.Recipe().Target) })
}

// newReaders is a pool of readers of rows.
func (s *Server) newReaders(r *recipe.Recipe) *sync.Pool {
	return &sync.Pool{New: func() any { return rows.NewReader(r, s.config.MaxRows) }}
}

// digested opens a source, has it read to its end, and returns the SHA-256 of what was
// read. It has no more bytes than models may take.
func (s *Server) digested(source Source, read func(io.Reader) error) (string, error) {
	file, err := source.Open()
	if err != nil {
		return "", err
	}
	defer file.Close() // nothing was written
	hash := sha256.New()
	bounded := &io.LimitedReader{R: io.TeeReader(file, hash), N: s.config.MaxModels + 1}
	err = read(bounded)
	if bounded.N == 0 {
		err = fmt.Errorf("the file has more bytes than models may take, %d", s.config.MaxModels)
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}

// catalogue is the models being served, by name. It never changes: a reload makes
// another.
type catalogue map[string]*served

// shareRoom settles which models can be calibrated, how many calibrations are under way at
// a time, of those wanted, and how many of each model are kept, by what the models leave of
// the memory for them. First comes what the calibrations under way take, whatever models
// they are of: each as much as the largest that there is room for. The models share the
// rest, for what is kept. It returns how many at a time that makes.
func (c catalogue) shareRoom(most int64, wanted int) int {
	room := float64(most)
	for _, m := range c {
		room -= m.Bytes()
	}
	room = max(0, room)
	largest := 0.0
	for _, m := range c.calibratable() {
		if need := m.model.CalibrationBytes(); need <= room {
			largest = max(largest, need)
		}
	}
	places := wanted
	if largest > 0 {
		places = int(min(float64(wanted), room/largest))
	}
	rest := (room - float64(places)*largest) / float64(len(c))
	for _, m := range c.calibratable() {
		refusal := ""
		if need := m.model.CalibrationBytes(); need > room {
			refusal = fmt.Sprintf("calibrating this model, of %d training rows, takes about %.0f MB of memory, and the models that are served leave %.0f MB of %.0f MB; decide without calibrating, or serve it where models may take more memory",
				m.model.Provenance().Rows, math.Ceil(need/1e6), math.Floor(room/1e6), float64(most)/1e6)
		}
		m.calibrated.allow(refusal, int(rest/m.Bytes()))
	}
	return places
}

// calibratable are the models of categories.
func (c catalogue) calibratable() (all []*served) {
	for _, m := range c {
		if m.model != nil {
			all = append(all, m)
		}
	}
	return all
}

// names are those of the models in order.
func (c catalogue) names() []string { return slices.Sorted(maps.Keys(c)) }

// Reload reads all models anew. Requests under way finish with the model they began
// with; a source that cannot be read leaves the model that it gave before, and is part
// of the error.
func (s *Server) Reload() error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	old := *s.models.Load()
	next := make(catalogue, len(s.config.Models))
	var failures []error
	taken := make(map[*served]bool) // old models, which stay until all are read, and new ones
	for _, m := range old {
		taken[m] = true
	}
	for _, source := range s.config.Models {
		room := s.config.MaxModels
		for m := range taken {
			room -= int64(m.Bytes())
		}
		var m *served
		err := tasks.Try(func() (err error) {
			m, err = s.open(source, old[source.Name], max(0, room))
			return err
		})
		if err != nil {
			failures = append(failures, fmt.Errorf("model %q: %w", source.Name, err))
			s.metrics.reloads.WithLabelValues("failed").Inc()
			what := "model not reloaded"
			if m = old[source.Name]; m == nil {
				what = "model not loaded"
			}
			s.log.LogAttrs(context.Background(), slog.LevelError, what, slog.String("model", source.Name), slog.Any("error", err))
			if m == nil {
				continue
			}
		} else {
			s.log.LogAttrs(context.Background(), slog.LevelInfo, "model loaded", slog.String("model", m.name),
				slog.String("digest", m.digest), slog.String("method", m.description.Method), slog.Bool("changed", m != old[source.Name]))
			s.metrics.reloads.WithLabelValues("ok").Inc()
		}
		next[source.Name] = m
		taken[m] = true
	}
	places := next.shareRoom(s.config.MaxModels, s.config.MaxCalibrations)
	s.models.Store(&next)
	s.metrics.models.Set(float64(len(next)))
	s.calibrating.limit(places)
	return errors.Join(failures...)
}

// modelOf finds the model that a request names in its path; one that names none is about the only one.
func (s *Server) modelOf(x *exchange) (*served, error) {
	all, name := *s.models.Load(), x.request.PathValue("name")
	m := all[name]
	if name == "" {
		if len(all) != 1 {
			return nil, problem.New(http.StatusNotFound, "this server has %d models; name one in the path, as in /v1/models/NAME/outcomes: GET /v1/models lists them", len(all))
		}
		for _, m = range all {
		}
	}
	if m == nil {
		return nil, problem.New(http.StatusNotFound, "there is no model of that name; GET /v1/models lists them")
	}
	x.model = m.name
	return m, nil
}

// answering answers a question about rows of a model.
type answering func(ctx context.Context, x *exchange, m *served, b *body) error

// about makes a handler of what answers a question about a model's rows, by the kind of its
// outcome: it finds the model, reads the body, and bounds the time of the answer. Either may be nil.
func (s *Server) about(categories, number answering) func(*exchange) error {
	return func(x *exchange) error {
		m, err := s.modelOf(x)
		if err != nil {
			return err
		}
		answer, kind := categories, "one of several categories"
		if m.numbers != nil {
			answer, kind = number, "a number"
		}
		if answer == nil {
			return problem.New(http.StatusNotFound, "the outcome of this model is %s, for which there is nothing under this path", kind)
		}
		return s.withBody(x, func(ctx context.Context, b *body) error { return answer(ctx, x, m, b) }, "application/json")
	}
}

// withBody answers a request by its body, of one of the types accepted, when it is its
// turn and as long as there is time.
func (s *Server) withBody(x *exchange, answer func(ctx context.Context, b *body) error, accepted ...string) error {
	b, err := s.readBody(x, s.config.MaxBody, accepted...)
	if err != nil {
		return err
	}
	defer b.free()
	ctx, cancel := s.deadline(x)
	defer cancel()
	ctx, done, err := s.turnOf(ctx, x, b)
	if err != nil {
		return err
	}
	defer done()
	return answer(ctx, b)
}

// shortBody is the length of a body in bytes up to which a request is one of the short
// ones, which come first: some tens of rows.
const shortBody = 32 << 10

// turnOf has a request with a short body come first, and those with others wait for one
// of a few places. The function it returns ends that.
func (s *Server) turnOf(ctx context.Context, x *exchange, b *body) (context.Context, func(), error) {
	if b.Len() <= shortBody {
		s.courtesy.enter(x)
		return ctx, func() { s.courtesy.leave(x) }, nil
	}
	if err := s.bulk.enter(ctx); err != nil {
		return nil, nil, problem.Late(ctx, err)
	}
	return s.long(ctx, x), s.bulk.leave, nil
}

// readPlainRows reads the rows of a body that has nothing else.
func (m *served) readPlainRows(ctx context.Context, b *body) (*rows.Rows, error) {
	reader := m.readers.Get().(*rows.Reader)
	defer m.readers.Put(reader)
	reader.Memory = &b.share
	return reader.Read(ctx, b.Bytes(), nil, nil, false)
}

// readRows reads the rows of a body and the utility to decide them by: the one in the
// body, or the model's own. The fields are the further ones that the body may have.
func (m *served) readRows(ctx context.Context, b *body, fields rows.Fields, labels bool) (*rows.Rows, *decision.Spec, error) {
	reader := m.readers.Get().(*rows.Reader)
	defer m.readers.Put(reader)
	return m.readRowsBy(ctx, reader, b, fields, labels)
}

// readRowsBy is readRows by a reader of its own.
func (m *served) readRowsBy(ctx context.Context, reader *rows.Reader, b *body, fields rows.Fields, labels bool) (*rows.Rows, *decision.Spec, error) {
	reader.Memory = &b.share
	spec := m.model.Utility()
	fields["utility"] = func(value []byte) (err error) {
		spec, err = parseUtility(m.model, value)
		return err
	}
	kept := spec.AllColumns()
	// The utility may stand behind the rows, and tells which of their columns to keep. What
	// is wrong with it is found when the body is read.
	if value := reader.Field(b.Bytes(), "utility"); value != nil {
		if given, err := parseUtility(m.model, value); err == nil {
			kept = given.AllColumns()
		}
	}
	r, err := reader.Read(ctx, b.Bytes(), fields, kept, labels)
	return r, spec, err
}

// predictRows predicts rows, and refuses those for which the model has no number.
func (m *served) predictRows(ctx context.Context, r *rows.Rows) ([]lossep.Prediction, error) {
	const bytes = 256 // of a prediction, and of what is written about it
	if err := r.Memory.Take(int64(r.N) * bytes); err != nil {
		return nil, err
	}
	predictions, err := m.Predict(ctx, r.Features)
	return predictions, rowProblem(ctx, err, 0)
}

// rowProblem names the row, counted from the first of those asked for, that a model has no number for. Other errors are
// those of time, or stay what they are.
func rowProblem(ctx context.Context, err error, first int) error {
	var far *lossep.FarError
	if errors.As(err, &far) {
		return problem.Wrong(rows.Location(first+far.Row, far.Column), "%s; %s", far.Problem(), far.Fix())
	}
	return problem.Late(ctx, err)
}

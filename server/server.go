package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/internal/budget"
	"github.com/lossep/lossep/internal/record"
	"github.com/lossep/lossep/table"
)

// Config says what to serve. Only Models has to be given; of the others, zero stands
// for a default.
type Config struct {
	// Models are those to serve, with different names.
	Models []Source
	// Tokens, if any, are what requests must have one of, as a bearer token. The page,
	// the description of the interface and the health of the server need none.
	Tokens []string

	// Capacity, if any, is how often actions can be taken, or how much there is of what they take, in each
	// period Per, by the clock of the process: cases share it as they arrive.
	Capacity []decision.Capacity
	Per      table.Period

	MaxBody         int64         // bytes of a request's body; 8 MiB
	MaxMemory       int64         // bytes of all requests under way: bodies, rows and answers; 256 MiB
	MaxModels       int64         // bytes of all models, and of their calibrations; 1 GB
	MaxRows         int           // rows of a request; 10,000
	MaxCalibrations int           // calibrations at a time, and fewer where MaxModels has no room for so many; 1. Eight times as many may wait
	Deadline        time.Duration // of one request's computations; 1 minute
	ExploreDeadline time.Duration // of an exploration, from when it begins; 10 s

	HeaderTimeout time.Duration // to read the header of a request; 5 s
	ReadTimeout   time.Duration // to read all of it; 30 s
	IdleTimeout   time.Duration // to keep a connection that nothing comes over; 2 minutes
	Drain         time.Duration // to finish requests when Serve is to end; 30 s

	// Record, if set, records the decisions of /v1 and takes outcomes. Who made it closes it.
	Record *record.Recorder

	// Logger takes a line for each request and each model read. Nil stands for none.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.MaxBody = cmp.Or(c.MaxBody, 8<<20)
	c.MaxMemory = cmp.Or(c.MaxMemory, 256<<20)
	c.MaxModels = cmp.Or(c.MaxModels, 1_000_000_000)
	c.MaxRows = cmp.Or(c.MaxRows, 10_000)
	c.MaxCalibrations = cmp.Or(c.MaxCalibrations, 1)
	c.Deadline = cmp.Or(c.Deadline, time.Minute)
	c.ExploreDeadline = cmp.Or(c.ExploreDeadline, 10*time.Second)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 5*time.Second)
	c.ReadTimeout = cmp.Or(c.ReadTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// check refuses what cannot be served.
func (c Config) check() error {
	names := make(map[string]bool)
	for _, source := range c.Models {
		switch {
		case !plainPath("/"+source.Name) || source.Name == "" || strings.Contains(source.Name, "/") || !utf8.ValidString(source.Name):
			return fmt.Errorf("a model cannot be called %q: the name has to be a part of a path", source.Name)
		case names[source.Name]:
			return fmt.Errorf("two models are called %q", source.Name)
		}
		names[source.Name] = true
	}
	if slices.Contains(c.Tokens, "") {
		return errors.New("a token is empty")
	}
	if c.MaxBody < 0 || c.MaxMemory < 0 || c.MaxModels < 0 || c.MaxRows < 0 || c.MaxCalibrations < 0 || min(c.Deadline, c.ExploreDeadline, c.HeaderTimeout, c.ReadTimeout, c.IdleTimeout, c.Drain) < 0 {
		return errors.New("a limit is negative")
	}
	if len(c.Models) == 0 {
		return errors.New("there is no model to serve")
	}
	return c.checkCapacity()
}

// Server answers for models over HTTP. It is safe for concurrent use.
type Server struct {
	config    Config
	tokens    tokens
	origins   http.CrossOriginProtection
	log       *slog.Logger
	metrics   *metrics
	handler   http.Handler
	document  []byte // the description of the interface
	models    atomic.Pointer[catalogue]
	reloading sync.Mutex
	draining  atomic.Bool
	memory    budget.Budget    // of all requests under way
	paces     map[string]*pace // by model; nil without a capacity

	courtesy     courtesy
	calibrating  *gate // calibrations
	computations *gate // cost curves and second opinions
	exploring    *gate // explorations
	bulk         *gate // requests with many rows
}

// New makes a server and reads its models. The error of a model that cannot be read is
// that of its source, or a *lossep.FileError.
func New(c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	s := &Server{
		config: c, paces: newPaces(c), tokens: newTokens(c.Tokens), log: c.Logger, metrics: newMetrics(),
		calibrating:  newGate(c.MaxCalibrations, 8*c.MaxCalibrations, "calibrations"),
		computations: newGate(runtime.GOMAXPROCS(0), 32*runtime.GOMAXPROCS(0), "computations"),
		exploring:    newGate(1, 16, "explorations"), // each of which keeps all processors busy
		bulk:         newGate(runtime.GOMAXPROCS(0), 32*runtime.GOMAXPROCS(0), "many rows"),
	}
	if c.Record != nil {
		s.metrics.countDropped(c.Record.Dropped)
	}
	s.memory.Total, s.memory.Reserved = c.MaxMemory, c.MaxMemory/smallPart
	s.models.Store(&catalogue{})
	if err := s.Reload(); err != nil {
		return nil, err
	}
	if err := s.checkWithout(); err != nil {
		return nil, err
	}
	var err error
	s.handler, err = s.routes()
	return s, err
}

// Handler answers requests. Reading them is bounded by whoever serves it; Serve does
// so.
func (s *Server) Handler() http.Handler { return s.handler }

// ready tells whether requests should be sent here.
func (s *Server) ready() bool { return !s.draining.Load() }

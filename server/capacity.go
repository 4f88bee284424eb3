package server

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/server/rows"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// pace shares the capacity of the server out to the cases of a model as they arrive.
type pace struct {
	mu sync.Mutex
	*decision.Pace
	capacity service.Capacity
}

// newPaces are those of the models by name; nil if the server has no capacity.
func newPaces(c Config) map[string]*pace {
	if len(c.Capacity) == 0 {
		return nil
	}
	paces := make(map[string]*pace)
	for _, source := range c.Models {
		paces[source.Name] = &pace{
			Pace: decision.NewPace(c.Capacity, func(now time.Time) (begin, end time.Time) {
				begin = c.Per.Begin(now)
				return begin, c.Per.Next(begin)
			}),
			capacity: service.Capacity{Limits: c.Capacity},
		}
	}
	return paces
}

// Pacing is how far a capacity of the server is used.
type Pacing struct {
	Until  time.Time     `json:"until" doc:"when the period ends"`
	Limits []PacingLimit `json:"limits"`
}

// PacingLimit is one of the limits.
type PacingLimit struct {
	Name  string  `json:"name"`
	Most  float64 `json:"limit" doc:"in the period"`
	Used  float64 `json:"used" doc:"since the period began, with the cases of this response"`
	Price float64 `json:"price" doc:"of one unit: actions are taken by their expected cost and what they take at this price"`
}

// limit decides within a capacity, if there is one: that of the request, among its rows, or that of the
// server, one row after another, unless it is a trial.
func (s *Server) limit(x *exchange, d *decided) error {
	paced := s.paces[d.m.name]
	if x.trial() {
		paced = nil
	}
	capacity := d.Capacity
	switch {
	case paced != nil && len(d.Limits) > 0:
		return problem.Wrong("capacity", "the server has a capacity of its own, which cases share as they arrive; leave this out")
	case paced != nil:
		capacity = paced.capacity
	case len(d.Limits) == 0:
		return nil
	}
	if err := d.CheckCapacity(); err != nil {
		return optionProblem(err)
	}
	var err error
	if d.limits, err = capacity.Within(d.spec); err != nil {
		return optionProblem(err)
	}
	if d.Baseline == "" {
		d.baseline = d.limits.Idle()
	}
	if err := d.rows.Memory.Take(int64(d.rows.N) * d.limits.Bytes()); err != nil {
		return err
	}
	efforts := make([][][]float64, d.rows.N)
	for i := range efforts {
		if efforts[i], err = d.limits.Efforts(func(column string) (float64, error) { return d.rows.Value(i, column) }); err != nil {
			if refused := (*problem.Problem)(nil); errors.As(err, &refused) {
				return refused
			}
			return problem.Wrong(rows.Location(i, ""), "%s", err)
		}
	}
	if paced != nil {
		return s.paceRows(paced, d, efforts)
	}
	decisions := make([]*lossep.Decision, len(d.decisions))
	for i := range decisions {
		decisions[i] = &d.decisions[i]
	}
	d.limited, d.shortage, err = d.limits.Allocate(decisions, efforts, nil)
	return optionProblem(err)
}

// paceRows decides rows one after another within the capacity of the server.
func (s *Server) paceRows(p *pace, d *decided, efforts [][][]float64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	costs := make([]float64, len(d.spec.Actions()))
	for i := range d.decisions {
		one := &d.decisions[i]
		for a, x := range one.Expected {
			if costs[a] = x; !d.spec.Costs() {
				costs[a] = -x
			}
		}
		free := one.Choice
		a, ok := p.Decide(now, costs, efforts[i])
		if !ok {
			return problem.New(http.StatusServiceUnavailable, "the capacity of this %s is used up, and every action takes some of it", s.config.Per)
		}
		d.limited = append(d.limited, d.limits.Case(one, free, a, efforts[i]))
	}
	used, prices, until := p.Used(now)
	d.pacing = &Pacing{Until: until}
	for l, c := range p.capacity.Limits {
		d.pacing.Limits = append(d.pacing.Limits, PacingLimit{c.Name, c.Most, used[l], prices[l]})
		s.metrics.capacityUsed.WithLabelValues(d.m.name, c.Name).Set(used[l])
		s.metrics.capacityPrice.WithLabelValues(d.m.name, c.Name).Set(prices[l])
	}
	return nil
}

// checkCapacity refuses a capacity without a period, or one without the other.
func (c Config) checkCapacity() error {
	periods := false
	for _, p := range table.Periods() {
		periods = periods || p == c.Per
	}
	switch {
	case len(c.Capacity) > 0 && !periods:
		return errors.New("a capacity of a server is one of every hour, day, week or month")
	case len(c.Capacity) == 0 && c.Per != "":
		return errors.New("there is a period, and no capacity")
	}
	return nil
}

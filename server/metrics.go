package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/service"
)

// metrics count what the server does. No label takes a value that clients can make up.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	latency      *prometheus.HistogramVec
	inFlight     prometheus.Gauge
	rows         *prometheus.CounterVec
	decisions    *prometheus.CounterVec
	expected     *prometheus.SummaryVec
	outcomes     *prometheus.CounterVec
	models       prometheus.Gauge
	reloads      *prometheus.CounterVec
	calibrations *prometheus.CounterVec

	capacityUsed, capacityPrice *prometheus.GaugeVec
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	gauges := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"model", "limit"})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("lossep_http_requests_total", "Requests by route, method and status.", "route", "method", "status"),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lossep_http_request_duration_seconds", Help: "Time from the header of a request to the end of its response.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
		}, []string{"route"}),
		inFlight:  gauge("lossep_http_requests_in_flight", "Requests being answered."),
		rows:      counter("lossep_rows_total", "Rows predicted or decided, by model and route.", "model", "route"),
		decisions: counter("lossep_decisions_total", "Decisions by model and action; other is an action that the model itself does not have.", "model", "action"),
		expected: prometheus.NewSummaryVec(prometheus.SummaryOpts{
			Name: "lossep_expected_cost", Help: "Expected cost (or utility) of decisions by the costs of the model: their sum and number.",
		}, []string{"model"}),
		outcomes:     counter("lossep_outcomes_total", "Outcomes recorded, by model and outcome.", "model", "outcome"),
		models:       gauge("lossep_models_loaded", "Models being served."),
		reloads:      counter("lossep_model_loads_total", "Models read from their source, by result.", "result"),
		calibrations: counter("lossep_calibrations_total", "Calibrations by model and result.", "model", "result"),

		capacityUsed:  gauges("lossep_capacity_used", "How much of a capacity was used in this period when the last case was decided."),
		capacityPrice: gauges("lossep_capacity_price", "The price of one unit of a capacity when the last case was decided."),
	}
	m.registry.MustRegister(m.requests, m.latency, m.inFlight, m.rows, m.decisions, m.expected, m.outcomes, m.models, m.reloads, m.calibrations, m.capacityUsed, m.capacityPrice,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// countDropped counts decisions that were not recorded.
func (m *metrics) countDropped(dropped func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "lossep_record_dropped_total", Help: "Decisions that were not recorded, as the queue was full or the disk failed.",
	}, func() float64 { return float64(dropped()) }))
}

// handler writes the metrics in the formats of Prometheus.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// observe counts a finished exchange.
func (m *metrics) observe(x *exchange, took time.Duration) {
	m.requests.WithLabelValues(x.route, knownMethod(x.request.Method), strconv.Itoa(x.status)).Inc()
	m.latency.WithLabelValues(x.route).Observe(took.Seconds())
}

// count counts rows of an exchange.
func (m *metrics) count(x *exchange, rows int) {
	x.rows = rows
	m.rows.WithLabelValues(x.model, x.route).Add(float64(rows))
}

// sumNumbers sums what decisions on a number are expected to cost by the model's own costs.
func (m *metrics) sumNumbers(of *served, costs *decision.NumberCosts, cases []service.NumberCase) {
	if costs != of.numbers.Costs() {
		return
	}
	sums := m.expected.WithLabelValues(of.name)
	for i := range cases {
		sums.Observe(cases[i].Choice.Expected)
	}
}

// countActions counts decisions by action. Requests may bring actions of their own,
// whose names are not for labels.
func (m *metrics) countActions(of *served, s *decision.Spec, decisions []lossep.Decision) {
	own := of.model.Utility().Actions()
	if s == of.model.Utility() {
		sums := m.expected.WithLabelValues(of.name)
		for i := range decisions {
			sums.Observe(decisions[i].Expected[decisions[i].Action])
		}
	}
	counts := make([]int, len(s.Actions()))
	for i := range decisions {
		counts[decisions[i].Action]++
	}
	for a, name := range s.Actions() {
		if !slices.Contains(own, name) {
			name = "other"
		}
		if counts[a] > 0 {
			m.decisions.WithLabelValues(of.name, name).Add(float64(counts[a]))
		}
	}
}

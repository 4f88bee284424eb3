package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/lossep/lossep/internal/load/drive"
)

// report is what the program prints.
type report struct {
	Endpoint    string  `json:"endpoint"`
	Connections int     `json:"connections"`
	RowsEach    int     `json:"rows_per_request"`
	Seconds     float64 `json:"seconds"`
	Requests    int     `json:"requests"` // answered
	PerSecond   float64 `json:"requests_per_second"`
	RowsPerSec  float64 `json:"rows_per_second"`

	Milliseconds struct {
		P50 float64 `json:"p50"`
		P90 float64 `json:"p90"`
		P99 float64 `json:"p99"`
		Max float64 `json:"max"`
	} `json:"latency_ms"`

	Errors struct {
		Dropped  int      `json:"dropped"` // no complete answer
		Wrong    int      `json:"wrong"`   // another answer than the one wanted
		Messages []string `json:"messages,omitempty"`
	} `json:"errors"`

	// Memory is that of the server's process in bytes, once a second.
	Memory []float64 `json:"memory_bytes,omitempty"`
}

func newReport(o *options, r *drive.Result, memory []float64) *report {
	p := &report{
		Endpoint: o.endpoint, Connections: o.connections, RowsEach: o.rows,
		Seconds: r.Elapsed.Seconds(), Requests: len(r.Latencies), Memory: memory,
	}
	p.PerSecond = float64(p.Requests) / p.Seconds
	p.RowsPerSec = float64(p.Requests-r.Wrong) * float64(o.rows) / p.Seconds
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	p.Milliseconds.P50, p.Milliseconds.P90 = ms(r.Percentile(50)), ms(r.Percentile(90))
	p.Milliseconds.P99, p.Milliseconds.Max = ms(r.Percentile(99)), ms(r.Percentile(100))
	p.Errors.Dropped, p.Errors.Wrong, p.Errors.Messages = r.Dropped, r.Wrong, r.Messages
	return p
}

func (p *report) writeText(w io.Writer) error {
	var b bytes.Buffer
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("load", "%s, %d connections, %d rows a request, %.1f s", p.Endpoint, p.Connections, p.RowsEach, p.Seconds)
	line("requests", "%d answered, %.0f a second", p.Requests, p.PerSecond)
	line("rows", "%.0f a second", p.RowsPerSec)
	m := p.Milliseconds
	line("latency", "p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, longest %.2f ms", m.P50, m.P90, m.P99, m.Max)
	line("errors", "%d dropped, %d wrong", p.Errors.Dropped, p.Errors.Wrong)
	for _, message := range p.Errors.Messages {
		line("", "%s", message)
	}
	if n := len(p.Memory); n > 0 {
		const mb = 1 << 20
		line("memory", "%.1f MB at first, %.1f MB half-way, %.1f MB at last, %.1f MB at most (%d samples)",
			p.Memory[0]/mb, p.Memory[n/2]/mb, p.Memory[n-1]/mb, slices.Max(p.Memory)/mb, n)
	}
	_, err := b.WriteTo(w)
	return err
}

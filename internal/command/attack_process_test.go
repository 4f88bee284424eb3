//go:build linux

package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lossep/lossep"
)

var attack = flag.Duration("attack", 0, "how long to attack a server, to measure what that does to others (make attack)")

// attackTable is past cases with so many rows, numbers in ten columns.
func attackTable(rows int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for k := range 10 {
		fmt.Fprintf(&b, "x%d,", k)
	}
	b.WriteString("class\n")
	for range rows {
		sum := r.NormFloat64()
		for range 10 {
			x := math.Round(1e4*r.NormFloat64()) / 1e4
			sum += x / 3
			fmt.Fprintf(&b, "%v,", x)
		}
		fmt.Fprintf(&b, "%s\n", map[bool]string{true: "bad", false: "good"}[sum > 0])
	}
	return b.String()
}

// attackRows are so many cases as JSON, the first of which is this far from the others.
func attackRows(n int, far float64, more string) string {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	rows := make([]string, n)
	for i := range rows {
		var cells []string
		for k := range 10 {
			x := r.NormFloat64()
			if i == 0 && k == 0 && far != 0 {
				x = far
			}
			cells = append(cells, fmt.Sprintf(`"x%d":%v`, k, x))
		}
		rows[i] = "{" + strings.Join(cells, ",") + "}"
	}
	return `{"rows":[` + strings.Join(rows, ",") + "]" + more + "}"
}

// attacks are what clients do that are no friends of the others, by name: how many of them
// do it, and what each asks, again and again.
func attacks() map[string]struct {
	clients  int
	path     string
	requests []string
} {
	numbers := func(n int, scale float64) string {
		r := rand.New(rand.NewPCG(4, uint64(n)))
		var all []string
		for range n {
			all = append(all, fmt.Sprint(scale*r.NormFloat64()))
		}
		return strings.Join(all, ",")
	}
	points, labels := []string{}, []string{}
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		points = append(points, fmt.Sprintf("[%v,%v]", r.NormFloat64(), r.NormFloat64()))
		labels = append(labels, fmt.Sprint(1-2*r.IntN(2)))
	}
	var far, calibrations []string
	for k := 0; k <= 300; k += 10 {
		far = append(far, attackRows(2, math.Pow10(k), ""))
	}
	for k := range 50 {
		calibrations = append(calibrations, attackRows(1, 0, fmt.Sprintf(`,"utility":"fn=%d,fp=1","calibrate":true,"second_opinion":true`, k+1)))
	}
	const decide = "/v1/models/cases/decide"
	return map[string]struct {
		clients  int
		path     string
		requests []string
	}{
		"reactor":    {4, "/v1/explore/reactor", []string{`{"data":[` + numbers(40, 5) + `],"utility":[[4,1],[0,3]],"threshold":1}`, `{"data":[` + numbers(40, 5) + `],"utility":[[4,1],[0,3]],"threshold":1,"noise_variance":0.01,"prior_variance":10000}`}},
		"classifier": {4, "/v1/explore/classifier", []string{`{"x":[` + strings.Join(points, ",") + `],"labels":[` + strings.Join(labels, ",") + `],"utility":[[4,1],[0,3]],"grid":{"from":[-3,-3],"to":[3,3],"points":[61,61]}}`}},
		"far rows":   {4, decide, far},
		"many rows":  {4, decide, []string{attackRows(10_000, 0, "")}},
		"curves":     {2, "/v1/models/cases/curve", []string{attackRows(2000, 0, `,"vary":{"action":"negative","outcome":"bad"},"from":1,"to":9,"steps":501`)}},
		"calibrate":  {2, decide, calibrations},
	}
}

// Sixty-four clients decide while others do their worst. Every decision has the answer it
// has alone, or is refused with 503. How long they took is measured on request only: a
// test is run on machines that do other things.
func TestDecisionsUnderAttack(t *testing.T) {
	duration, patient := 3*time.Second, 2*patience
	if *attack > 0 {
		duration = *attack
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "cases.lossep")
	write(t, filepath.Join(dir, "cases.csv"), attackTable(1000))
	if out, code, _ := spend(t, nil, "fit", filepath.Join(dir, "cases.csv"), "--target", "class", "--positive", "bad", "--cost", "fn=5,fp=1", "--method", string(lossep.EP), "--kernel", "rbf(variance=2, lengthscale=4)", "--fixed", "-o", path); code != 0 {
		t.Fatal(out)
	}
	p := serve(t, path)
	var requests [][]byte
	var want []string
	for k := range 32 {
		body := attackRows(1, float64(k)/16-1, "")
		requests = append(requests, postRequest(p.address, "/v1/models/cases/decide", "", []byte(body)))
		want = append(want, p.ask("/v1/models/cases/decide", body))
	}
	decide := func() (*loadResult, int64) {
		var busy atomic.Int64
		r, err := runLoad(t.Context(), loadOptions{
			Requests: requests, Address: p.address, Connections: 64, Duration: duration, Timeout: patient,
			Check: func(i, status int, body []byte) error {
				switch {
				case status == http.StatusServiceUnavailable:
					busy.Add(1)
					return nil
				case status != http.StatusOK:
					return statusError(status, body)
				case string(body) != want[i]:
					return fmt.Errorf("answer %s, alone it was %s", body, want[i])
				}
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return r, busy.Load()
	}
	report := func(name string, r *loadResult, busy int64) {
		t.Logf("%-14s %6.0f decisions a second, p50 %v, p99 %v, longest %v; %d refused with 503, %d wrong, %d dropped %q",
			name, float64(len(r.Latencies))/r.Elapsed.Seconds(), r.Percentile(50), r.Percentile(99), r.Percentile(100), busy, r.Wrong, r.Dropped, r.Messages)
	}
	if *attack > 0 {
		r, busy := decide()
		report("alone", r, busy)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var attackers sync.WaitGroup
	answers := new(sync.Map) // of the attackers: how many had a status, by attack
	for name, a := range attacks() {
		for c := range a.clients {
			attackers.Go(func() { p.attack(ctx, name, a.path, a.requests, c, answers) })
		}
	}
	for range 8 {
		attackers.Go(func() { p.dribble(ctx) })
	}
	r, busy := decide()
	cancel()
	attackers.Wait()
	report("under attack", r, busy)
	answers.Range(func(what, n any) bool { t.Logf("%-24s %d", what, n.(*atomic.Int64).Load()); return true })
	if r.Errors() > 0 || len(r.Latencies) == 0 {
		t.Errorf("%d decisions, %d dropped, %d wrong: %q", len(r.Latencies), r.Dropped, r.Wrong, r.Messages)
	}
	if p99 := r.Percentile(99); *attack > 0 && p99 > 50*time.Millisecond {
		t.Errorf("p99 of decisions is %v under attack", p99)
	}
	if got := p.ask("/v1/models/cases/decide", attackRows(1, -1, "")); got != want[0] {
		t.Errorf("afterwards the answer is %s", got)
	}
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.said())
	}
}

// attack asks one thing after the other, and counts what comes of it.
func (p *process) attack(ctx context.Context, name, path string, requests []string, first int, answers *sync.Map) {
	client := &http.Client{Timeout: 2 * patience, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for k := first; ctx.Err() == nil; k++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+path, strings.NewReader(requests[k%len(requests)]))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Content-Type", "application/json")
		what := name + " "
		if a, err := client.Do(r); err != nil {
			what += "no answer"
		} else {
			_, _ = io.Copy(io.Discard, a.Body)
			a.Body.Close()
			what += a.Status
			if a.StatusCode == http.StatusServiceUnavailable {
				time.Sleep(10 * time.Millisecond) // far sooner than it may
			}
		}
		n, _ := answers.LoadOrStore(what, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
	}
}

// dribble sends a body that never ends, a byte at a time.
func (p *process) dribble(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			return
		}
		_, err = io.WriteString(conn, "POST /v1/models/cases/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
		for err == nil && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
			_, err = io.WriteString(conn, " ")
		}
		conn.Close()
	}
}

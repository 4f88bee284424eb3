//go:build unix

package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// What a server promises as a process: signals, and what is left after it was killed.

// patience is how long a process may take to do what it was asked.
const patience = 30 * time.Second

// loans are past cases to fit to; small, so that the tests are about the process.
const loans = `income,job,class
12,clerk,bad
30,smith,good
25,clerk,good
9,baker,bad
41,smith,good
14,baker,bad
22,clerk,bad
35,baker,good
`

// newLoan is a case to decide.
const newLoan = `{"rows":[{"income":20,"job":"clerk"}]}`

// fitLoans fits a model with a kernel of the given length scale, which tells models apart.
func fitLoans(t *testing.T, lengthscale float64) *lossep.Model {
	t.Helper()
	table, err := table.Read(context.Background(), strings.NewReader(loans), "loans.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		t.Fatal(err)
	}
	m, err := lossep.Fit(t.Context(), table, lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: costs, Method: lossep.EP,
		Kernel: fmt.Sprintf("rbf(variance=4, lengthscale=%g)", lengthscale), Fixed: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func save(t *testing.T, m *lossep.Model, path string) {
	t.Helper()
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
}

// probability is what the library says about newLoan.
func probability(t *testing.T, m *lossep.Model) float64 {
	t.Helper()
	table, err := table.Read(context.Background(), strings.NewReader("income,job\n20,clerk\n"), "new.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := m.Recipe().Apply(table)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := m.Decide(x)
	if err != nil {
		t.Fatal(err)
	}
	return decisions[0].Probability()
}

// process is a server that runs beside the test.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	found   chan string // the address, when it is known
	exited  chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

// listens finds the address in what the server says when it starts.
var listens = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serve starts "lossep serve" on a free port, and waits until it listens.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	p := start(t, args...)
	p.listening()
	return p
}

// start starts "lossep serve" on a free port.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{
		t: t, found: make(chan string, 1), exited: make(chan struct{}),
		cmd: exec.Command("lossep", append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...),
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go p.read(r)
	go func() {
		p.cmd.Wait() // how it ended is in its ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill() // fails if it has ended, which is as well
		<-p.exited
	})
	return p
}

// listening waits until the server says its address.
func (p *process) listening() {
	p.t.Helper()
	select {
	case p.address = <-p.found:
	case <-p.exited:
		p.t.Fatalf("the server ended: %v\n%s", p.cmd.ProcessState, p.said())
	case <-time.After(patience):
		p.t.Fatalf("the server does not say where it listens:\n%s", p.said())
	}
}

// read keeps what the server says, but for the requests, of which there are thousands.
func (p *process) read(r io.Reader) {
	known := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if strings.Contains(lines.Text(), "msg=request") {
			continue
		}
		p.mu.Lock()
		p.log.WriteString(lines.Text() + "\n")
		p.mu.Unlock()
		if a := listens.FindString(lines.Text()); a != "" && !known {
			p.found <- a
			known = true
		}
	}
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// end waits for the process, and returns its exit code, or -1 if a signal killed it.
func (p *process) end() int {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.t.Fatalf("the server does not end:\n%s", p.said())
	}
	return p.cmd.ProcessState.ExitCode()
}

// ask posts a body, or gets if there is none, and returns the answer.
func (p *process) ask(path, body string) string {
	p.t.Helper()
	var r *http.Response
	var err error
	if body == "" {
		r, err = http.Get("http://" + p.address + path)
	} else {
		r, err = http.Post("http://"+p.address+path, "application/json", strings.NewReader(body))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s, %v\n%s", path, r.Status, err, b)
	}
	return string(b)
}

// until waits for something to become true.
func (p *process) until(what string, ok func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("not within %v: %s\n%s", patience, what, p.said())
		}
	}
}

// underLoad decides newLoan on sixteen connections until stop is called or the server
// closes them, and returns what came back. Answers that are not allowed are wrong.
func (p *process) underLoad(untilClosed bool, allowed func(answer string) bool) (count *atomic.Int64, stop func() *loadResult) {
	ctx, cancel := context.WithCancel(p.t.Context())
	count = new(atomic.Int64)
	done := make(chan *loadResult, 1)
	go func() {
		r, err := runLoad(ctx, loadOptions{
			Requests: [][]byte{postRequest(p.address, "/v1/models/loans/decide", "", []byte(newLoan))},
			Address:  p.address, Connections: 16, Duration: 2 * patience, UntilClosed: untilClosed,
			Check: func(_, status int, body []byte) error {
				count.Add(1)
				if status != http.StatusOK {
					return statusError(status, body)
				}
				if !allowed(string(body)) {
					return fmt.Errorf("answer %s", body)
				}
				return nil
			},
		})
		if err != nil {
			p.t.Error(err)
		}
		done <- r
	}()
	return count, func() *loadResult {
		if !untilClosed {
			cancel()
		}
		defer cancel()
		return <-done
	}
}

// decided is the probability in an answer of decide.
func decided(t *testing.T, answer string) float64 {
	t.Helper()
	var a struct {
		Decisions []struct {
			Probability float64 `json:"probability"`
		} `json:"decisions"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil || len(a.Decisions) != 1 {
		t.Fatalf("%v in %s", err, answer)
	}
	return a.Decisions[0].Probability
}

// A new file is served after SIGHUP and a bad one is not, while requests go on: every
// one of them is answered by a model that is whole.
func TestServeReloadsUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loans.lossep")
	first, second := fitLoans(t, 2), fitLoans(t, 0.5)
	save(t, first, path)
	p := serve(t, path)
	const decide = "/v1/models/loans/decide"
	old := p.ask(decide, newLoan)

	var next atomic.Pointer[string] // the answer of the second model, once it is known
	count, stop := p.underLoad(false, func(answer string) bool {
		if answer == old {
			return true
		}
		next.CompareAndSwap(nil, &answer)
		return answer == *next.Load()
	})
	p.until("answers under load", func() bool { return count.Load() > 100 })
	save(t, second, path)
	p.signal(syscall.SIGHUP)
	p.until("another model after SIGHUP", func() bool { return p.ask(decide, newLoan) != old })

	// Nothing that is in the file now can be served.
	if err := os.WriteFile(path, []byte("not a model"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGHUP)
	p.until("word of a file that is refused", func() bool { return strings.Contains(p.said(), "model not reloaded") })
	now := p.ask(decide, newLoan)

	save(t, first, path)
	p.signal(syscall.SIGHUP)
	p.until("the first model again", func() bool { return p.ask(decide, newLoan) == old })

	r := stop()
	if len(r.Latencies) == 0 || r.Errors() != 0 {
		t.Errorf("%d answers, %d dropped, %d wrong: %q", len(r.Latencies), r.Dropped, r.Wrong, r.Messages)
	}
	if got := next.Load(); got == nil || *got != now {
		t.Errorf("under load the second model answered %v, and after a bad file the server %s", got, now)
	}
	// JSON keeps every bit of a float64.
	if a, b := probability(t, first), probability(t, second); decided(t, old) != a || decided(t, now) != b || math.Abs(a-b) < 0.01 {
		t.Errorf("served %v and %v, the library says %v and %v", decided(t, old), decided(t, now), a, b)
	}
}

// SIGTERM ends the server only after every request that it was sent has its answer.
func TestServeEndsUnderLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loans.lossep")
	save(t, fitLoans(t, 2), path)
	p := serve(t, path)
	const decide = "/v1/models/loans/decide"
	want := p.ask(decide, newLoan)

	// One client is slow: half of its request is there when the signal comes.
	slow, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	request := postRequest(p.address, decide, "", []byte(newLoan))
	if _, err := slow.Write(request[:len(request)-10]); err != nil {
		t.Fatal(err)
	}
	count, stop := p.underLoad(true, func(answer string) bool { return answer == want })
	p.until("answers under load", func() bool { return count.Load() > 100 })
	p.signal(syscall.SIGTERM)
	r := stop()
	if len(r.Latencies) == 0 || r.Errors() != 0 {
		t.Errorf("%d answers, %d dropped, %d wrong: %q", len(r.Latencies), r.Dropped, r.Wrong, r.Messages)
	}

	if _, err := slow.Write(request[len(request)-10:]); err != nil {
		t.Fatal(err)
	}
	slow.SetReadDeadline(time.Now().Add(patience))
	a, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatalf("the slow client has no answer: %v", err)
	}
	if body, err := io.ReadAll(a.Body); err != nil || string(body) != want || !a.Close {
		t.Errorf("the slow client was answered %s, %v, with the connection to be closed: %v", body, err, a.Close)
	}
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.said())
	}
	if _, err := net.Dial("tcp", p.address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after its end: %v", err)
	}
}

// A hangup while the models are still being read does not end the server; it has them
// read once more.
func TestServeHangupAtStart(t *testing.T) {
	const models = 300 // of one file, for reading them to take a while
	path := filepath.Join(t.TempDir(), "loans.lossep")
	save(t, fitLoans(t, 2), path)
	args := []string{path}
	for k := range models - 1 {
		args = append(args, fmt.Sprintf("m%d=%s", k, path))
	}
	p := start(t, args...)
	p.until("the first model", func() bool { return strings.Contains(p.said(), "model loaded") })
	p.signal(syscall.SIGHUP)
	p.listening()
	p.until("all models read twice", func() bool { return strings.Count(p.said(), "model loaded") == 2*models })
	p.ask("/v1/models/loans/decide", newLoan)
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.said())
	}
}

// A model's path that comes to name a pipe, a device without an end or a file that is too
// large is refused like any other that is no model, and whoever takes a token back while
// it stands there has it taken back.
func TestServeReloadsTokensWhateverModelsAre(t *testing.T) {
	dir := t.TempDir()
	path, tokens := filepath.Join(dir, "loans.lossep"), filepath.Join(dir, "tokens")
	save(t, fitLoans(t, 2), path)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	p := serve(t, path, "--tokens", tokens)
	status := func(token string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, "http://"+p.address+"/v1/models/loans/decide", strings.NewReader(newLoan))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		return a.StatusCode
	}
	if got := status("first"); got != http.StatusOK {
		t.Fatalf("status %d with a token that counts", got)
	}
	known := "first"
	for k, become := range []func() error{
		func() error { return syscall.Mkfifo(path, 0o600) },
		func() error { return os.Symlink("/dev/zero", path) },
		func() error { return os.Symlink("/dev/full", path) },
		func() error { return os.Mkdir(path, 0o700) },
		func() error { return os.WriteFile(path, make([]byte, 1<<20), 0o600) },
	} {
		if err := errors.Join(os.Remove(path), become()); err != nil {
			t.Fatal(err)
		}
		next := fmt.Sprintf("token%d", k)
		write(next + "\n")
		p.signal(syscall.SIGHUP)
		p.until("word that the model is refused", func() bool { return strings.Count(p.said(), "model not reloaded") == k+1 })
		p.until("the new token", func() bool { return status(next) == http.StatusOK })
		if got := status(known); got != http.StatusUnauthorized {
			t.Errorf("status %d with a token that was taken back", got)
		}
		known = next
	}
	// A pipe in place of the tokens leaves those there were.
	if err := errors.Join(os.Remove(tokens), syscall.Mkfifo(tokens, 0o600), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	save(t, fitLoans(t, 2), path)
	p.signal(syscall.SIGHUP)
	p.until("word that the tokens are refused", func() bool { return strings.Contains(p.said(), "tokens not reloaded") })
	p.until("the model again", func() bool { return strings.Count(p.said(), "model loaded") == 2 })
	if got := status(known); got != http.StatusOK {
		t.Errorf("status %d with the last token that counted", got)
	}
}

// Something to be read anew that never comes to an end keeps nothing else from it.
func TestReloadsAreIndependent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangup, done := make(chan os.Signal, 1), make(chan int)
	stuck := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		reloadOn(ctx, hangup, slog.New(slog.DiscardHandler), []func(){func() { <-stuck }, func() { done <- 1 }})
	}()
	for range 3 {
		hangup <- syscall.SIGHUP
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatal("one reload waits for another")
		}
	}
	cancel()
	<-ended
	close(stuck)
}

// A second signal does not wait for a request that the first one waits for.
func TestServeEndsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loans.lossep")
	save(t, fitLoans(t, 2), path)
	p := serve(t, path, "--drain", "1h")
	slow, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := io.WriteString(slow, "POST /v1/models/loans/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	p.until("the request", func() bool { return strings.Contains(p.ask("/metrics", ""), "lossep_http_requests_in_flight 2") })
	p.signal(syscall.SIGTERM)
	p.until("the drain", func() bool { return strings.Contains(p.said(), "draining") })
	time.Sleep(50 * time.Millisecond) // signals have their usual effect again very soon
	begin := time.Now()
	p.signal(syscall.SIGTERM)
	// The request would be refused for its slowness after 30 s.
	if code := p.end(); code != -1 || time.Since(begin) > 10*time.Second {
		t.Errorf("exit code %d after %v\n%s", code, time.Since(begin), p.said())
	}
}

// A server keeps nothing that a kill could lose: another one started from the same file
// answers the same bytes.
func TestServeAfterKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loans.lossep")
	save(t, fitLoans(t, 2), path)
	const model = "/v1/models/loans"
	other := strings.TrimSuffix(newLoan, "}") + `,"utility":"fn=1,fp=9","calibrate":true,"second_opinion":true}`
	var answers [2][]string
	for i := range answers {
		p := serve(t, path)
		count, stop := p.underLoad(true, func(string) bool { return true })
		p.until("answers under load", func() bool { return count.Load() > 100 })
		answers[i] = []string{
			p.ask("/v1/models", ""), p.ask(model, ""), p.ask(model+"/predict", newLoan),
			p.ask(model+"/decide", newLoan), p.ask(model+"/decide", other),
		}
		p.signal(syscall.SIGKILL)
		if code := p.end(); code != -1 {
			t.Errorf("exit code %d of a server that was killed", code)
		}
		stop()
	}
	for k, a := range answers[0] {
		if b := answers[1][k]; a != b {
			t.Errorf("before the kill\n%s\nand after it\n%s", a, b)
		}
	}
}

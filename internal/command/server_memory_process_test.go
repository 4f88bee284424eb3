//go:build linux

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// peak is the most memory that a process has had.
func (p *process) peak() int64 {
	p.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return kB << 10
		}
	}
	p.t.Skip("the system does not tell the most memory of a process")
	return 0
}

// greedy is a request that is to take more memory than it should.
type greedy struct {
	path, body string
	header     map[string]string
}

// greedyRequests are requests as large as they may be, or that promise to be, by name.
func greedyRequests() map[string][]greedy {
	const largest = 8 << 20 // of a body, as the server has it
	fill := func(before, element, after string) string {
		return before + strings.Repeat(element, (largest-len(before)-len(after))/len(element)) + after
	}
	const decide, infer = "/v1/models/cases/decide", "/v2/models/cases/infer"
	row := `{"x0":1,"x1":1,"x2":1,"x3":1,"x4":1,"x5":1,"x6":1,"x7":1,"x8":1,"x9":1}`
	rows := func(n int) string { return `{"rows":[` + strings.Repeat(row+",", n-1) + row + `]` }
	var actions []string
	for k := range 64 {
		actions = append(actions, fmt.Sprintf(`"%099d":{"good":%d,"bad":%d}`, k, k, 64-k))
	}
	many := `,"utility":{"outcomes":["good","bad"],"costs":{` + strings.Join(actions, ",") + `}}`
	deep := strings.Repeat("(", 15_000) + "x0" + strings.Repeat(")", 15_000)
	all := map[string][]greedy{
		"bodies": {
			{path: decide, body: fill(`{"rows":[`, `{},`, `{}]}`)},
			{path: decide, body: fill(`{"rows":[{"x0":`, `[`, `]}]}`)},
			{path: decide, body: fill(`{"rows":`, `[`, ``)},
			{path: decide, body: fill(``, `{"a":`, `1`)},
			{path: decide, body: fill(`{"rows":[{"x0":"`, `\u0000`, `"}]}`)},
			{path: decide, body: fill(`{"rows":[{"x0":1`, `0`, `}]}`)},
			{path: decide, body: fill(`{"rows":[{`, `"x0":1,`, `"x0":1}]}`)},
			{path: decide, body: fill(`{"rows":[{"`, `x`, `":1}]}`)},
			{path: decide, body: fill(`{"rows":[`+row, `,1`, `]}`)},
			{path: decide, body: fill(``, ` `, `{"rows":[]}`)},
			{path: decide, body: fill(`{"utility":"`, `fn=5,`, `"}`)},
			{path: decide, body: fill(`{"utility":`, `[`, `}`)},
			{path: decide, body: rows(1) + `,"utility":{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":"` + deep + `"},"b":{"good":1,"bad":0}}}}`},
			{path: "/v1/explore/reactor", body: fill(`{"data":[`, `1,`, `1]}`)},
			{path: "/v1/explore/classifier", body: fill(`{"x":[`, `[1,1],`, `[1,1]]}`)},
			{path: infer, body: fill(`{"inputs":[`, `{},`, `{}]}`)},
			{path: infer, body: fill(`{"inputs":[{"name":"x0","datatype":"FP64","shape":[1],"data":[`, `[],`, `1]}]}`)},
		},
		"tensors": {
			{path: infer, body: `{"inputs":[{"name":"x0","datatype":"FP64","shape":[9223372036854775807],"data":[1]}]}`},
			{path: infer, body: `{"inputs":[{"name":"x0","datatype":"FP64","shape":[4294967296,4294967296],"data":[1]}]}`},
			{path: infer, body: `{"inputs":[{"name":"x0","datatype":"BYTES","shape":[1000000000000],"data":[""]}]}`},
			{
				path: infer, header: map[string]string{"Inference-Header-Content-Length": "101", "Content-Type": "application/octet-stream"},
				body: fmt.Sprintf("%-101s", `{"inputs":[{"name":"x0","datatype":"FP64","shape":[1000000000],"parameters":{"binary_data_size":8}}]}`) + "12345678",
			},
			{
				path: infer, header: map[string]string{"Inference-Header-Content-Length": "9223372036854775807", "Content-Type": "application/octet-stream"},
				body: fill(`{"inputs":[]}`, "x", ""),
			},
		},
		"rows":         {{path: decide, body: rows(10_000) + `}`}, {path: "/v1/models/cases/predict", body: rows(10_000) + `}`}, {path: "/v1/models/points/decide", body: rows(10_000) + `}`}},
		"many actions": {{path: decide, body: rows(10_000) + many + `}`}, {path: decide, body: rows(5000) + many + `,"second_opinion":true}`}},
		"compressed":   {{path: decide, body: fill("", "\x1f\x8b", ""), header: map[string]string{"Content-Encoding": "gzip"}}},
		"headers":      {{path: decide, body: rows(1) + `}`, header: map[string]string{"X-Long": strings.Repeat("x", 900<<10)}}},
	}
	for name, a := range attacks() {
		for _, body := range a.requests {
			all[name] = append(all[name], greedy{path: a.path, body: body})
		}
	}
	return all
}

// However much is asked at once of a server, and however large, its memory stays below
// what it was given, and it answers as before.
func TestMemoryOfServer(t *testing.T) {
	skipUnderRaceDetector(t)
	const given = 500e6
	dir := t.TempDir()
	write(t, filepath.Join(dir, "cases.csv"), attackTable(700))
	var models []string
	for name, flags := range map[string]string{"cases": "", "points": "--inducing 50"} {
		path := filepath.Join(dir, name+".lossep")
		fit := "fit " + filepath.Join(dir, "cases.csv") + " --target class --positive bad --cost fn=5,fp=1 --method ep --kernel rbf(variance=2,lengthscale=4) --fixed -o " + path + " " + flags
		if out, code, _ := spend(t, nil, strings.Fields(fit)...); code != 0 {
			t.Fatal(out)
		}
		models = append(models, path)
	}
	p := serve(t, append(models, "--max-memory", "500MB")...)
	want := p.ask("/v1/models/cases/decide", attackRows(1, 0.5, ""))
	// Each kind is asked by eight clients, who ask again if there is no room; what they
	// would take together is far more than there is.
	answers := new(sync.Map)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var clients sync.WaitGroup
	for name, requests := range greedyRequests() {
		for c := range 8 {
			clients.Go(func() {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for k := 0; k < min(len(requests), 20) && ctx.Err() == nil; k++ {
					for again := range 10 {
						status := p.greedy(ctx, client, requests[(k+3*c)%len(requests)])
						n, _ := answers.LoadOrStore(name+" "+status, new(atomic.Int64))
						n.(*atomic.Int64).Add(1)
						if !strings.HasPrefix(status, "503") {
							break
						}
						time.Sleep(time.Duration(again) * 20 * time.Millisecond)
					}
				}
			})
		}
	}
	// Bodies that are begun and not ended take what has come of them.
	for range 100 {
		conn, err := net.Dial("tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))
		clients.Go(func() {
			// The server may refuse, and close the connection, at any point.
			_, _ = io.WriteString(conn, "POST /v1/models/cases/decide HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8388608\r\n\r\n")
			_, _ = conn.Write(bytes.Repeat([]byte(" "), 4<<20))
		})
	}
	asBefore := func() bool {
		r, err := http.Post("http://"+p.address+"/v1/models/cases/decide", "application/json", strings.NewReader(attackRows(1, 0.5, "")))
		if err != nil {
			t.Error(err)
			return true
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		return err == nil && string(b) == want
	}
	p.until("a decision as before among greedy requests", asBefore)
	clients.Wait()
	answers.Range(func(what, n any) bool { t.Logf("%-24s %d", what, n.(*atomic.Int64).Load()); return true })
	rss := p.peak()
	t.Logf("%d MB of %d", rss/1e6, int(given/1e6))
	// On a machine under load more is allocated while garbage is collected.
	const spared = 0.05
	if float64(rss) > (1-spared)*given {
		t.Errorf("it had %d MB, and was given %d", rss/1e6, int(given/1e6))
	}
	p.until("a decision as before afterwards", asBefore)
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.said())
	}
}

// greedy asks, and tells the status of the answer, which is never that of a failure.
func (p *process) greedy(ctx context.Context, client *http.Client, g greedy) string {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+g.path, strings.NewReader(g.body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range g.header {
		r.Header.Set(name, value)
	}
	a, err := client.Do(r)
	if err != nil {
		return "no answer" // it is refused while it is sent
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if a.StatusCode == http.StatusInternalServerError || err != nil && ctx.Err() == nil {
		p.t.Errorf("%s of %.100s: %s, %v\n%.300s", g.path, g.body, a.Status, err, b)
	}
	return a.Status
}

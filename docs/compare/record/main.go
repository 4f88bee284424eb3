// Command record asks two servers of the same model, of which one records, for decisions at a steady rate, in turns,
// and says how long it took and what processor time the servers spent.
//
//	lossep serve model.lossep --addr 127.0.0.1:8080
//	lossep serve model.lossep --addr 127.0.0.1:8081 --record DIR
//	go run ./record -path /v1/models/NAME/decide -rows rows.json [-rate 1000] [-seconds 9] [-turns 5]
//
// At 10,000 decisions a second a server makes a Parquet file every 20 seconds: turns of 9 seconds have some within
// those of the server that records.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}

func main() {
	without, with := flag.String("without", "http://127.0.0.1:8080", "the server that does not record"), flag.String("with", "http://127.0.0.1:8081", "the one that does")
	path, file := flag.String("path", "", "what to ask"), flag.String("rows", "", "the body of a request, in a file")
	rate, seconds := flag.Int("rate", 1000, "requests a second"), flag.Int("seconds", 9, "of a turn")
	turns := flag.Int("turns", 5, "of each server")
	flag.Parse()
	servers := []string{*without, *with}
	body, err := os.ReadFile(*file)
	if err != nil {
		panic(err)
	}
	var all [2][]time.Duration
	var slow [2][]time.Duration // the 99 % quantiles of turns
	var spent [2]float64
	for turn := range 2 * *turns {
		k := (turn + turn/2) % 2 // without, with, with, without, …
		before := processor(servers[k])
		took, failed := ask(servers[k]+*path, body, *rate, *seconds)
		spent[k] += processor(servers[k]) - before
		all[k] = append(all[k], took...)
		say([]string{"without", "with   "}[k], took)
		slow[k] = append(slow[k], took[len(took)*99/100])
		if failed > 0 {
			fmt.Printf("  %d failed", failed)
		}
		fmt.Println()
	}
	for k, name := range []string{"all without", "all with   "} {
		say(name, all[k])
		slices.Sort(slow[k])
		fmt.Printf("; median of turns at 99 %% %v; %.1f µs of processor time a request\n", slow[k][*turns/2].Round(10*time.Microsecond), 1e6*spent[k]/float64(len(all[k])))
	}
}

// say states quantiles.
func say(name string, took []time.Duration) {
	slices.Sort(took)
	at := func(q int) time.Duration { return took[len(took)*q/1000].Round(10 * time.Microsecond) }
	fmt.Printf("%s: %d requests; median %v, 90 %% %v, 99 %% %v, 99.9 %% %v", name, len(took), at(500), at(900), at(990), at(999))
}

// ask is how long requests at a rate took, each from when it was due, so that waiting counts.
func ask(url string, body []byte, rate, seconds int) (took []time.Duration, failed int64) {
	n := rate * seconds
	took = make([]time.Duration, n)
	var bad atomic.Int64
	var all sync.WaitGroup
	next := make(chan int, n)
	start := time.Now()
	due := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second / time.Duration(rate)) }
	for range 64 {
		all.Go(func() {
			for i := range next {
				r, err := client.Post(url, "application/json", bytes.NewReader(body))
				if err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					_ = r.Body.Close()
				}
				took[i] = time.Since(due(i))
				if err != nil || r.StatusCode != http.StatusOK {
					bad.Add(1)
				}
			}
		})
	}
	for i := range n {
		time.Sleep(time.Until(due(i)))
		next <- i
	}
	close(next)
	all.Wait()
	return took, bad.Load()
}

// processor is the processor time that a server spent so far, in seconds.
func processor(server string) (seconds float64) {
	r, err := client.Get(server + "/metrics")
	if err != nil {
		panic(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "process_cpu_seconds_total "); is {
			_, _ = fmt.Sscan(rest, &seconds)
		}
	}
	return seconds
}

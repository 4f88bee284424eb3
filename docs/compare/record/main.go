// Command record asks a server for decisions at a steady rate and says how long it took: with and without
// --record the times are to be alike.
//
//	lossep serve model.lossep [--record DIR]
//	go run ./record -url http://127.0.0.1:8080/v1/models/NAME/decide -rows rows.json [-rate 1000] [-seconds 10]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

func main() {
	url, file := flag.String("url", "", "what to ask"), flag.String("rows", "", "the body of a request, in a file")
	rate, seconds := flag.Int("rate", 1000, "requests a second"), flag.Int("seconds", 10, "for how long")
	flag.Parse()
	body, err := os.ReadFile(*file)
	if err != nil {
		panic(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}}
	n := *rate * *seconds
	took, failed := make([]time.Duration, n), 0
	var mu sync.Mutex
	var all sync.WaitGroup
	next := make(chan int, n)
	start := time.Now()
	due := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second / time.Duration(*rate)) }
	for range 64 {
		all.Go(func() {
			for i := range next {
				r, err := client.Post(*url, "application/json", bytes.NewReader(body))
				ok := err == nil && r.StatusCode == http.StatusOK
				if err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					_ = r.Body.Close()
				}
				took[i] = time.Since(due(i)) // from when it was due, so that waiting counts
				if !ok {
					mu.Lock()
					failed++
					mu.Unlock()
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
	slices.Sort(took)
	fmt.Printf("%d requests in %.1f s, %d failed; median %v, 99 %% %v\n", n, time.Since(start).Seconds(), failed, took[n/2].Round(10*time.Microsecond), took[n*99/100].Round(10*time.Microsecond))
}

// Command corrected measures what the corrected method gains over EP, and what it costs, by
// the number of training rows: log loss, mean cost under fn=5, fp=1 and decisions that are
// others on the rows left out, processor time of a prediction relative to EP's, and memory.
//
//	go run -C docs/compare ./corrected german.csv:2 mammography.csv:"'1'" clean noisy
//
// A file is given with its positive outcome. clean and noisy are generated: twenty columns, of
// which a smooth function, alone or with noise, decides the outcome.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

func main() {
	fmt.Println("table | rows | log loss EP | corrected | cost EP | corrected | others of | times EP | first s | MB")
	for _, arg := range os.Args[1:] {
		if err := measure(arg); err != nil {
			log.Fatal(err)
		}
	}
}

// generated is a table of n rows.
func generated(n int, noise float64) string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	var text strings.Builder
	const columns = 20
	for k := range columns {
		fmt.Fprintf(&text, "x%d,", k)
	}
	text.WriteString("y\n")
	for range n {
		var x [columns]float64
		for k := range x {
			x[k] = rng.NormFloat64()
			fmt.Fprintf(&text, "%.6f,", x[k])
		}
		f := math.Sin(2*x[0]) + x[1]*x[2] + 0.5*x[3] - 0.5 + noise*rng.NormFloat64()
		fmt.Fprintf(&text, "%d\n", int(math.Copysign(0.5, f)+0.5))
	}
	return text.String()
}

func read(arg string) (t *table.Table, positive string, err error) {
	ctx := context.Background()
	switch arg {
	case "clean":
		t, err = table.Read(ctx, strings.NewReader(generated(4000, 0)), arg, table.Format{})
		return t, "1", err
	case "noisy":
		t, err = table.Read(ctx, strings.NewReader(generated(4000, 1)), arg, table.Format{})
		return t, "1", err
	}
	file, positive, _ := strings.Cut(arg, ":")
	f, err := os.Open(file)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	t, err = table.Read(ctx, f, file, table.Format{})
	return t, positive, err
}

func measure(arg string) error {
	whole, positive, err := read(arg)
	if err != nil {
		return err
	}
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		return err
	}
	for _, rows := range []int{300, 500, 700, 1000, 2000} {
		if rows > whole.Len()*3/4 {
			break
		}
		// Every so-many-th row is learned from, and up to 3,000 of the others are decided.
		var train, rest []int
		for i := range whole.Len() {
			if i*rows/whole.Len() != (i+1)*rows/whole.Len() {
				train = append(train, i)
			} else if len(rest) < 3000 {
				rest = append(rest, i)
			}
		}
		fit := func(m lossep.Method, kernel string, fixed bool) (*lossep.Model, error) {
			return lossep.Fit(context.Background(), whole.Subset(train), lossep.Options{
				Data: recipe.Options{Positive: positive}, Utility: costs, Method: m,
				Kernel: kernel, Fixed: fixed, Inducing: lossep.NoInducing,
			})
		}
		ep, err := fit(lossep.EP, "matern32 + constant", false)
		if err != nil {
			return err
		}
		corrected, err := fit(lossep.Corrected, ep.Kernel().String(), true)
		if err != nil {
			return err
		}
		x, _, err := ep.Recipe().Apply(whole.Subset(rest))
		if err != nil {
			return err
		}
		y, err := ep.Recipe().Labels(whole.Subset(rest))
		if err != nil {
			return err
		}
		p, plain, _, err := predict(ep, x)
		if err != nil {
			return err
		}
		c, full, first, err := predict(corrected, x)
		if err != nil {
			return err
		}
		others := 0
		var loss, cost [2]float64
		for i, label := range y {
			for k, q := range []float64{p[i], c[i]} {
				acts := q > 1.0/6
				if label == 1 {
					loss[k] -= math.Log(q)
					if !acts {
						cost[k] += 5
					}
				} else {
					loss[k] -= math.Log1p(-q)
					if acts {
						cost[k]++
					}
				}
			}
			if (p[i] > 1.0/6) != (c[i] > 1.0/6) {
				others++
			}
		}
		n := float64(len(y))
		fmt.Printf("%s | %d | %.4f | %.4f | %.4f | %.4f | %d of %d | %.1f | %.2f | %.0f\n", arg, rows,
			loss[0]/n, loss[1]/n, cost[0]/n, cost[1]/n, others, len(y), full/plain, first, corrected.Bytes()/(1<<20))
	}
	return nil
}

// predict are the probabilities, and the processor time of a prediction and of making tables.
func predict(m *lossep.Model, x *mat.Dense) (p []float64, seconds, first float64, err error) {
	const times = 3
	for k := range times + 1 {
		start := processorTime()
		predictions, err := m.Predict(x)
		if err != nil {
			return nil, 0, 0, err
		}
		took := processorTime() - start
		if k == 0 {
			first = took
			p = make([]float64, len(predictions))
			for i := range p {
				p[i] = predictions[i].Probability()
			}
			continue
		}
		seconds += took / times
	}
	return p, seconds, first - seconds, nil
}

func processorTime() float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		log.Fatal(err)
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) * 1e-9
}

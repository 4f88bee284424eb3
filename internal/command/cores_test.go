package command

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/internal/tasks"
)

var coresData = flag.String("data", "", "folder with mammography.csv, credit.csv and flights.csv, for BenchmarkExpectedSpeedup")

// BenchmarkExpectedSpeedup says how many times faster commands are to be expected on several cores
// than on one: by the durations of all tasks, as they are on one core, scheduled on more that slow
// each other. Beside it are the seconds on one core, those of them outside of all tasks, the
// share of sixteen cores' time that they wait, and the places in the code that they wait for most.
func BenchmarkExpectedSpeedup(b *testing.B) {
	const most = 64
	for _, c := range []struct {
		name, table string
		args        []string
	}{
		{"fit-mammography", "mammography.csv", []string{"fit", "TABLE", "--target", "y", "--positive", "1", "--cost", "fn=50,fp=1", "-o", "OUT"}},
		{"fit-credit", "credit.csv", []string{"fit", "TABLE", "--target", "SeriousDlqin2yrs", "--positive", "1", "--missing", "impute", "--cost", "fn=5,fp=1", "-o", "OUT"}},
		{"fit-flights", "flights.csv", []string{"fit", "TABLE", "--target", "late", "--positive", "1", "--cost", "fn=5,fp=1", "-o", "OUT"}},
		{"audit-example", "", []string{"audit", "--example", "--out", "OUT"}},
		{"paper", "", []string{"paper", "--out", "OUT"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			table := filepath.Join(*coresData, c.table)
			if _, err := os.Stat(table); c.table != "" && (*coresData == "" || err != nil) {
				b.Skipf("give the folder that has %s by -data", c.table)
			}
			for b.Loop() {
				args := []string{}
				for _, a := range c.args {
					switch a {
					case "TABLE":
						a = table
					case "OUT":
						a = filepath.Join(b.TempDir(), "out")
					}
					args = append(args, a)
				}
				var out, errs bytes.Buffer
				code := 0
				work := tasks.Record(most, func() { code = run(b.Context(), args, nil, &out, &errs) })
				if code != 0 {
					b.Fatalf("%d: %s", code, errs.String())
				}
				one := work.On(1).Seconds()
				b.ReportMetric(one, "one-core-s")
				b.ReportMetric(work.Outside().Seconds(), "alone-s")
				for cores, unit := range map[int]string{2: "times-at-2", 4: "times-at-4", 16: "times-at-16", most: "times-at-64"} {
					b.ReportMetric(one/work.On(cores).Seconds()*tasks.Speed(cores), unit)
				}
				b.ReportMetric(100*(1-one/(16*work.On(16).Seconds())), "%waiting-at-16")
				waits := work.Waits(16)
				const lines = 9 // of a log benchmarks print ten
				places := slices.SortedFunc(maps.Keys(waits), func(a, b string) int { return cmp.Compare(waits[b], waits[a]) })
				var list strings.Builder
				for _, place := range places[:min(len(places), lines)] {
					fmt.Fprintf(&list, "\n%8.2f s %s", waits[place].Seconds(), place)
				}
				b.Logf("sixteen cores wait for%s", &list)
			}
			b.ReportMetric(0, "ns/op") // the time of the benchmark itself says nothing
		})
	}
}

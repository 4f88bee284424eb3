package decision

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPaceAgainstKnowingTheDay: cases come by day, more before noon and none at night, 600 or 200 of
// them, and 60 can be visited a day. Never are more than 60; and after the first week visits save at least
// 95 % of what they would if all cases of a day were known before the first is decided. Taking the first 60
// that are worth it saves little more than a third.
func TestPaceAgainstKnowingTheDay(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 13))
	const most, days = 60, 35
	day := func(now time.Time) (time.Time, time.Time) {
		begin := now.Truncate(24 * time.Hour)
		return begin, begin.Add(24 * time.Hour)
	}
	p := NewPace([]Capacity{{"visit", most}}, day)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	effort := [][]float64{{0, 1}}
	saved, known, first := 0.0, 0.0, 0.0
	for d := range days {
		cases := 600
		if d%7 >= 5 {
			cases = 200
		}
		var costs [][]float64
		limit := Limit{Name: "visit", Most: most}
		visits, made, early := 0, 0.0, 0
		for n := range cases {
			x := (float64(n) + 0.5) / float64(cases)
			now := midnight.AddDate(0, 0, d).Add(time.Duration((6 + 14*x*math.Sqrt(x)) * float64(time.Hour)))
			c := []float64{4 * rng.ExpFloat64(), 1}
			costs, limit.Efforts = append(costs, c), append(limit.Efforts, effort[0])
			a, ok := p.Decide(now, c, effort)
			if !ok {
				t.Fatal("no action, and to leave takes nothing")
			}
			if a == 1 {
				visits++
				made += c[0] - 1
			}
			if c[0] > 1 && early < most && d >= 7 {
				early++
				first += c[0] - 1
			}
		}
		if visits > most {
			t.Errorf("day %d: %d visits", d, visits)
		}
		best, err := Allocate(costs, []Limit{limit})
		if err != nil {
			t.Fatal(err)
		}
		if d >= 7 {
			saved += made
			for n, a := range best.Actions {
				known += costs[n][0] - costs[n][a]
			}
		}
	}
	t.Logf("%.1f %% of what is saved when the day is known; first come, first served %.1f %%", 100*saved/known, 100*first/known)
	if saved < 0.95*known {
		t.Errorf("%v saved, %v if days were known", saved, known)
	}
}

// TestPaceStops: with no action that takes nothing, cases beyond the capacity get none.
func TestPaceStops(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	p := NewPace([]Capacity{{"hours", 3}}, func(now time.Time) (time.Time, time.Time) {
		begin := now.Truncate(24 * time.Hour)
		return begin, begin.Add(24 * time.Hour)
	})
	decided := 0
	for range 5 {
		if _, ok := p.Decide(now, []float64{5, 1}, [][]float64{{1, 2}}); ok {
			decided++
		}
	}
	if used, _, _ := p.Used(now); used[0] > 3 || decided > 3 || decided < 1 {
		t.Errorf("%d decided, %v hours used", decided, used)
	}
	if used, _, end := p.Used(now.AddDate(0, 0, 1)); used[0] != 0 || !end.Equal(time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the next day: %v used, until %v", used, end)
	}
}

// TestPaceBegunInTheEvening: a server that begins at 20:00 with a case a minute has 240 cases until midnight, and
// 24 visits are for a tenth of them, not for the first; the next day has 1440, of which as many a minute.
func TestPaceBegunInTheEvening(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 13))
	p := NewPace([]Capacity{{"visit", 24}}, func(now time.Time) (time.Time, time.Time) {
		begin := now.Truncate(24 * time.Hour)
		return begin, begin.Add(24 * time.Hour)
	})
	start := time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC)
	visits := make(map[int]int) // by hour
	for minute := range (4 + 24) * 60 {
		a, ok := p.Decide(start.Add(time.Duration(minute)*time.Minute), []float64{rng.ExpFloat64(), 0}, [][]float64{{0, 1}})
		if !ok {
			t.Fatal("to leave takes nothing")
		}
		visits[minute/60] += a
	}
	late, early, all := visits[2]+visits[3], 0, 0
	for hour := range 24 {
		if all += visits[4+hour]; hour < 8 {
			early += visits[4+hour]
		}
	}
	// Of independent visits with probability a tenth, 12 and 8 are expected, with standard deviations of 3.3 and 2.8.
	if late < 4 || early > 16 || all < 22 {
		t.Errorf("%d visits after 22:00, %d of the next day before 8:00, %d in all", late, early, all)
	}
}

// TestPaceAfterABurst: on its first day a server gets 1,000 cases within two seconds, as when a queue is worked off, and then
// one a minute. Of 100 visits most are for those, of which the best tenth is worth them.
func TestPaceAfterABurst(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 13))
	const most = 100
	p := NewPace([]Capacity{{"visit", most}}, func(now time.Time) (time.Time, time.Time) {
		begin := now.Truncate(24 * time.Hour)
		return begin, begin.Add(24 * time.Hour)
	})
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	first, saved := 0, 0.0
	var costs [][]float64
	limit := Limit{Name: "visit"}
	for n := range 1000 + 1439 {
		now := midnight.Add(time.Duration(2*n) * time.Millisecond)
		if n >= 1000 {
			now = midnight.Add(time.Duration(n-999) * time.Minute)
		}
		c := []float64{rng.ExpFloat64(), 0}
		a, ok := p.Decide(now, c, [][]float64{{0, 1}})
		if !ok {
			t.Fatal("to leave takes nothing")
		}
		if n < 1000 {
			first += a
			continue
		}
		if costs, limit.Efforts = append(costs, c), append(limit.Efforts, []float64{0, 1}); a == 1 {
			saved += c[0]
		}
	}
	limit.Most = float64(most - first)
	best, err := Allocate(costs, []Limit{limit})
	if err != nil {
		t.Fatal(err)
	}
	known := 0.0
	for n, a := range best.Actions {
		known += costs[n][0] - costs[n][a]
	}
	t.Logf("%d visits of the burst; then %.2f saved, %.2f if the day were known", first, saved, known)
	if first > most/2 || saved < 0.9*known {
		t.Errorf("%d visits of the burst; then %v saved, %v if the day were known", first, saved, known)
	}
}

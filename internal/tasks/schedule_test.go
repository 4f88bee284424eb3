package tasks_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lossep/lossep/internal/tasks"
)

const second = time.Second

func alone(d ...time.Duration) tasks.Work { return tasks.Work{Alone: d} }

// Schedules that can be worked out by hand. A core that sleeps takes 60 µs to wake.
func TestSchedule(t *testing.T) {
	even := make([]tasks.Work, 16)
	for k := range even {
		even[k] = alone(second)
	}
	nested := tasks.Work{Alone: []time.Duration{second, second}, Sections: []tasks.Section{{Tasks: even}}}
	for name, c := range map[string]struct {
		work     tasks.Work
		cores    int
		want     time.Duration
		wakings  int // at most
		outside  time.Duration
		timesOne int // seconds
	}{
		"one core":               {nested, 1, 18 * second, 0, 2 * second, 18},
		"an even section":        {nested, 4, 6 * second, 1, 2 * second, 18},
		"more cores than tasks":  {nested, 64, 3 * second, 1, 2 * second, 18},
		"no more than two":       {tasks.Work{Alone: []time.Duration{0, 0}, Sections: []tasks.Section{{Tasks: even, Most: 2}}}, 16, 8 * second, 1, 0, 16},
		"the longest comes last": {tasks.Work{Alone: []time.Duration{0, 0}, Sections: []tasks.Section{{Tasks: []tasks.Work{alone(second), alone(second), alone(4 * second)}}}}, 2, 5 * second, 1, 0, 6},
		// Two tasks, of which one divides once more: the core that is free after two seconds helps.
		"a section in a task": {tasks.Work{Alone: []time.Duration{0, 0}, Sections: []tasks.Section{{Tasks: []tasks.Work{nested, alone(2 * second)}}}}, 2, 11 * second, 1, 0, 20},
	} {
		got := c.work.On(c.cores)
		if over := got - c.want; over < 0 || over > time.Duration(c.wakings)*60*time.Microsecond {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.work.Outside() != c.outside || c.work.Total() != time.Duration(c.timesOne)*second {
			t.Errorf("%s: %v of %v are outside of tasks", name, c.work.Outside(), c.work.Total())
		}
	}
}

// Four cores have a task each, then two of them, 50 µs twice, then all again: where they were shown what the two do
// the others are still awake, and sleep where not.
func TestShownSectionsKeepCoresAwake(t *testing.T) {
	const short, waking = 50 * time.Microsecond, 60 * time.Microsecond
	tasksOf := func(n int) []tasks.Work {
		all := make([]tasks.Work, n)
		for k := range all {
			all[k] = alone(short)
		}
		return all
	}
	for shown, want := range map[bool]time.Duration{true: 4*short + waking, false: 4*short + 2*waking} {
		work := tasks.Work{Alone: []time.Duration{time.Millisecond, 0, 0, 0, 0}}
		for _, n := range []int{4, 2, 2, 4} {
			work.Sections = append(work.Sections, tasks.Section{Tasks: tasksOf(n), Shown: shown})
		}
		if got := work.On(4) - time.Millisecond; got != want {
			t.Errorf("shown %t: %v, want %v", shown, got, want)
		}
	}
}

// What cores wait for: three while one works before and after a section, and one in it for want of tasks.
func TestWaits(t *testing.T) {
	work := tasks.Record(4, func() {
		tasks.For(3, func(int) {
			for start := time.Now(); time.Since(start) < 2*time.Millisecond; {
			}
		})
	})
	var waits time.Duration
	for place, d := range work.Waits(4) {
		if !strings.Contains(place, "tasks_test.TestWaits") && place != "the beginning → the end" {
			t.Errorf("waited for %q", place)
		}
		waits += d
	}
	if want := 4*work.On(4) - work.Total(); waits > want || want-waits > 3*60*time.Microsecond {
		t.Errorf("waited %v of %v", waits, want)
	}
}

// What is recorded is the tree of tasks, and all of the time.
func TestRecord(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	start := time.Now()
	ran := 0
	work := tasks.Record(8, func() {
		if tasks.Workers() != 8 {
			t.Errorf("there are %d workers", tasks.Workers())
		}
		tasks.For(3, func(int) {
			tasks.For(5, func(int) { ran++ })
			tasks.For(1, func(int) { ran++ }) // nothing to share
		})
		_ = tasks.Try(func() error {
			tasks.For(2, func(int) { panic("a fault") })
			return nil
		})
		tasks.For(2, func(int) { ran++ })
	})
	taken := time.Since(start)
	if len(work.Sections) != 3 || len(work.Alone) != 4 || len(work.Sections[0].Tasks) != 3 || ran != 20 {
		t.Fatalf("%d tasks: %+v", ran, work)
	}
	for _, task := range work.Sections[0].Tasks {
		if len(task.Sections) != 1 || len(task.Alone) != 2 || len(task.Sections[0].Tasks) != 5 {
			t.Errorf("a task is %+v", task)
		}
	}
	if total := work.Total(); total <= 0 || total > taken || work.On(1) != total || work.On(64) < work.Outside() {
		t.Errorf("%v in all, %v on one core, taken %v", total, work.On(1), taken)
	}
	if runtime.GOMAXPROCS(0) != before || tasks.Begin(2, 2) != nil || tasks.Workers() != before {
		t.Error("it is still recording")
	}
}

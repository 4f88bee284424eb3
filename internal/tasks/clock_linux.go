package tasks

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock is the processor time of this thread, on which other processes have no bearing.
func clock() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// who tells a goroutine that keeps its thread from all others.
func who() int { return unix.Gettid() }

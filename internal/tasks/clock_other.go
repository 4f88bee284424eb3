//go:build !linux

package tasks

import "time"

var start = time.Now()

// clock is the time: that of a thread alone is had on Linux only.
func clock() time.Duration { return time.Since(start) }

//go:build !linux

package tasks

import (
	"bytes"
	"runtime"
	"strconv"
	"time"
)

var start = time.Now()

// clock is the time: that of a thread alone is had on Linux only.
func clock() time.Duration { return time.Since(start) }

// who tells goroutines apart, by the first words of their stacks.
func who() int {
	var buffer [64]byte
	words := bytes.Fields(buffer[:runtime.Stack(buffer[:], false)])
	n, _ := strconv.Atoi(string(words[1]))
	return n
}

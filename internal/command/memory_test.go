package command

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lossep/lossep"
)

// Half of the least limit that holds for the process is the default: the machine's, that of
// its group or of one around it, in either version of control groups.
func TestUsualMemory(t *testing.T) {
	const machine = "MemTotal:       16000000 kB\nMemFree:         1000000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is given": {nil, lossep.DefaultMaxMemory},
		"no group":         {map[string]string{"proc/meminfo": machine}, 8_000_000 * 1024},
		"no limit":         {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 8_000_000 * 1024},
		"its own":          {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4000000000\n"}, 2_000_000_000},
		"one around it": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4000000000\n", "sys/fs/cgroup/a/memory.max": "1000000000\n",
		}, 500_000_000},
		"a container's root": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "512000000\n"}, 256_000_000},
		"version 1": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "5:cpu,memory:/docker/x\n3:pids:/y\n0::/z\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "3000000000\n",
		}, 1_500_000_000},
		"version 1, no limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "5:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 8_000_000 * 1024},
		"hardly any": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000000\n"}, leastMemory},
		"no numbers": {map[string]string{"proc/meminfo": "MemTotal: many kB\n", "proc/self/cgroup": "0::/\n"}, lossep.DefaultMaxMemory},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := usualMemory(root); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}

// Help says the same on every machine.
func TestHelpOfMemory(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(context.Background(), []string{"fit", "--help-all"}, nil, &out, &errs); code != 0 || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), "(default half of RAM, or 2 GB if unknown)") {
		t.Errorf("exit code %d, %s\n%s", code, errs.String(), out.String())
	}
}

// Garbage is collected before it and the program's file are more than the memory given, with a
// tenth to spare, but not without an end where there is little.
func TestCollected(t *testing.T) {
	for _, c := range []struct{ given, program, want int64 }{
		{500e6, 50e6, 400e6},
		{500e6, 0, 450e6},
		{leastMemory, 50e6, leastMemory / 2},
	} {
		if got := collected(c.given, c.program); got != c.want {
			t.Errorf("%d given, a program of %d: %d, want %d", c.given, c.program, got, c.want)
		}
	}
	if programBytes() < 1e6 {
		t.Errorf("the program has %d bytes", programBytes())
	}
}

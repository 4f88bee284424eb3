package command

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/service"
)

// memory is a number of bytes, the value of --max-memory.
type memory int64

func (m *memory) String() string { return service.SizeText(int64(*m)) }

func (m *memory) Type() string { return "SIZE" }

func (m *memory) Set(text string) error {
	n, err := service.ParseSize(text)
	if err != nil {
		return err
	}
	if n < leastMemory {
		return fmt.Errorf("%q is too little; give at least %v", text, memoryOf(leastMemory))
	}
	*m = memory(n)
	return nil
}

// leastMemory is enough for the program itself and a small model.
const leastMemory = 64_000_000

func memoryOf(bytes float64) *memory {
	m := memory(bytes)
	return &m
}

// addMaxMemory adds the flag to all commands. What help says does not depend on the machine.
func addMaxMemory(flags *pflag.FlagSet) {
	addOwn(flags, service.Options{{
		Name: "max-memory", Group: service.Advanced, Help: "memory limit", Shown: "half of RAM, or 2 GB if unknown", Value: memoryOf(float64(UsualMemory())),
	}})
}

// usualMemory is half of what the machine has, or of what the process may take of it, given
// the root of the file system; lossep.DefaultMaxMemory where the system does not tell.
func usualMemory(root fs.FS) int64 {
	if all := machineMemory(root); all > 0 {
		return max(all/2, leastMemory)
	}
	return lossep.DefaultMaxMemory
}

// machineMemory is the least of what Linux says that the machine has and that the control
// groups of the process are limited to, in bytes; 0 where it says nothing.
func machineMemory(root fs.FS) int64 {
	least := int64(0)
	take := func(text, unit string) {
		n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(text, unit)), 10, 64)
		if unit == "kB" {
			n *= 1024
		}
		// A group without a limit says max, or in version 1 a number beyond any machine.
		if err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	lines := func(name string) []string {
		text, _ := fs.ReadFile(root, name)
		return strings.Split(string(text), "\n")
	}
	for _, line := range lines("proc/meminfo") {
		if kilobytes, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			take(kilobytes, "kB")
		}
	}
	if least == 0 {
		return 0
	}
	for _, line := range lines("proc/self/cgroup") {
		// number:controllers:group, with no controllers in version 2. The limits of groups
		// that contain it hold as well; within a container the group may not be visible by
		// its name, and its limit is that of the root.
		_, rest, _ := strings.Cut(line, ":")
		controllers, group, ok := strings.Cut(rest, ":")
		folder, file := "sys/fs/cgroup", "memory.max"
		if slices.Contains(strings.Split(controllers, ","), "memory") {
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if !ok || controllers != "" {
			continue
		}
		for at := path.Join("/", group); ; at = path.Dir(at) {
			take(lines(path.Join(folder, at, file))[0], "")
			if at == "/" {
				break
			}
		}
	}
	return least
}

// maxMemory is how much a command may use. What it reads and fits is refused if it would
// take more.
func maxMemory(c *cobra.Command) int64 {
	return int64(*c.Flags().Lookup("max-memory").Value.(*service.Option).Value.(*memory))
}

// givenMemory is what --max-memory says, 0 where it is not given.
func givenMemory(c *cobra.Command) int64 {
	if !c.Flags().Changed("max-memory") {
		return 0
	}
	return maxMemory(c)
}

// UsualMemory is what a command may use on this machine where nothing is said.
func UsualMemory() int64 { return usualMemory(os.DirFS("/")) }

// keepWithin has the process collect its garbage before it grows beyond what it may use.
func keepWithin(bytes int64) { debug.SetMemoryLimit(collected(bytes, programBytes())) }

// collected is where garbage is collected at the latest. The collector does not count the
// program's file, whose pages are in memory as well once they are used, and goes beyond its limit
// by what is allocated while it works. Below half of the memory it would do nothing else.
func collected(bytes, program int64) int64 {
	return max(int64(0.9*float64(bytes))-program, bytes/2)
}

// programBytes is the size of the program's file, 0 where the system does not tell.
func programBytes() int64 {
	path, err := os.Executable()
	if err != nil {
		return 0
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

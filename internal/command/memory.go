package command

import (
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lossep/lossep"
)

// memory is a number of bytes, the value of --max-memory.
type memory int64

func (m *memory) String() string {
	x, units := float64(*m), []string{"", "kB", "MB", "GB", "TB"}
	k := 0
	for ; x >= 1000 && k < len(units)-1; k++ {
		x /= 1000
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + units[k]
}

func (m *memory) Type() string { return "size" }

func (m *memory) Set(text string) error {
	const least = 64e6 // the program itself, and a small model
	n, err := parseSize(text)
	if err != nil {
		return err
	}
	if n < least {
		return fmt.Errorf("%q is too little; give at least %v", text, memoryOf(least))
	}
	*m = memory(n)
	return nil
}

func memoryOf(bytes float64) *memory {
	m := memory(bytes)
	return &m
}

// addMaxMemory adds the flag to all commands.
func addMaxMemory(flags *pflag.FlagSet) {
	flags.Var(memoryOf(lossep.DefaultMaxMemory), "max-memory", "how much memory may be used; what would take more is refused")
}

// maxMemory is how much a command may use. What it reads and fits is refused if it would
// take more.
func maxMemory(c *cobra.Command) int64 {
	return int64(*c.Flags().Lookup("max-memory").Value.(*memory))
}

// keepWithin has the process collect its garbage before it grows beyond what it may use.
func keepWithin(bytes int64) { debug.SetMemoryLimit(int64(0.9 * float64(bytes))) }

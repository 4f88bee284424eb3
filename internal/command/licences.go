package command

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/notices"
)

func newLicences() *cobra.Command {
	c := &cobra.Command{
		Use:     "licences",
		Aliases: []string{"licenses"},
		Short:   "Print the licences of what the program contains",
		Long: `Print the notices of everything in this program that others wrote: Go modules, the Go
standard library, the libraries of the page and the fonts of figures. With --format json,
print a list of them with their versions and licences.`,
		Example: "  lossep licences",
		Args:    noArguments,
	}
	format := addFormat(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *format == "json" {
			return writeJSON(c.OutOrStdout(), dependencies())
		}
		_, err := io.WriteString(c.OutOrStdout(), notices.Texts)
		return err
	}
	return c
}

// dependency is something that others wrote.
type dependency struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"` // by SPDX, several joined by +
}

func dependencies() (all []dependency) {
	for line := range strings.Lines(notices.Dependencies) {
		if part := strings.Fields(line); len(part) == 3 {
			all = append(all, dependency{part[0], part[1], part[2]})
		}
	}
	return all
}

package command

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/internal/notices"
	"github.com/lossep/lossep/service"
)

func newShow() *cobra.Command {
	c := &cobra.Command{
		Use:     "show model.lossep",
		Short:   "Describe a model file",
		Long:    "Print what a model file contains: preprocessing, costs, kernel, results of the fit, and provenance.",
		Example: "  lossep show model.lossep",
		Args:    needArguments("the model file"),
	}
	var format format
	addOwn(c.Flags(), service.Options{formatOption(&format, "output format")})
	c.RunE = func(c *cobra.Command, args []string) error {
		m, err := loadAny(c, args[0])
		if err != nil {
			return err
		}
		return format.emit(c.OutOrStdout(), m.Shown(), func(w io.Writer) error {
			_, err := io.WriteString(w, joined(m.Describe()))
			return err
		})
	}
	return c
}

func newLicences() *cobra.Command {
	c := &cobra.Command{
		Use:     "licences",
		Aliases: []string{"licenses"},
		Short:   "Print third-party licences",
		Long: `Print the licence notices of all third-party parts of the program: Go modules, the Go standard
library, JavaScript libraries and fonts. With --format json, print a list with versions and
licences.`,
		Example: "  lossep licences",
		Args:    noArguments,
	}
	var format format
	addOwn(c.Flags(), service.Options{formatOption(&format, "output format")})
	c.RunE = func(c *cobra.Command, _ []string) error {
		if format == "json" {
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

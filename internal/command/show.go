package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/service"
)

func newShow() *cobra.Command {
	c := &cobra.Command{
		Use:     "show model",
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
			return blame(err, "")
		}
		return format.emit(c.OutOrStdout(), m.Shown(), func(w io.Writer) error {
			_, err := io.WriteString(w, joined(m.Describe()))
			return err
		})
	}
	return c
}

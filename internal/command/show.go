package command

import (
	"io"

	"github.com/spf13/cobra"
)

func newShow() *cobra.Command {
	c := &cobra.Command{
		Use:     "show model",
		Short:   "Print what a model file is",
		Long:    "Print what a model file holds: how rows become numbers, what actions cost, the kernel, what the fit found and where it comes from.",
		Example: "  lossep show model.lossep",
		Args:    needArguments("the model file"),
	}
	format := addFormat(c.Flags())
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

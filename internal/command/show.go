package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
)

func newShow() *cobra.Command {
	c := &cobra.Command{
		Use:     "show model",
		Short:   "Describe a model file",
		Long:    "Print what a model file contains: preprocessing, costs, kernel, results of the fit, and provenance.",
		Example: "  lossep show model.lossep",
		Args:    needArguments("the model file"),
	}
	format := addFormat(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		m, err := loadModel(c, args[0])
		if err != nil {
			return blame(err, "")
		}
		return format.emit(c.OutOrStdout(), shown{
			m.Method(), m.Likelihood(), m.Kernel().String(), m.Utility(), m.Summary(), m.Provenance(), m.Recipe(),
		}, func(w io.Writer) error {
			_, err := io.WriteString(w, joined(m.Describe()))
			return err
		})
	}
	return c
}

// shown is a model for programs.
type shown struct {
	Method     lossep.Method     `json:"method"`
	Likelihood lossep.Likelihood `json:"likelihood"`
	Kernel     string            `json:"kernel"`
	Utility    *decision.Spec    `json:"utility"`
	Summary    lossep.Summary    `json:"summary"`
	Provenance lossep.Provenance `json:"provenance"`
	Recipe     *recipe.Recipe    `json:"recipe"`
}

package worker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// fitOptions are those of a fit, by name.
func fitOptions(values map[string]any) (lossep.Options, error) {
	r := service.NewFit()
	err := r.Options.Give(values)
	if err == nil {
		err = r.Complete()
	}
	if err == nil {
		err = r.TakenAsGiven()
	}
	return r.Model, err
}

// auditOptions are those of an audit, by name.
func auditOptions(values map[string]any) (audit.Options, error) {
	r := service.NewAudit()
	err := r.Options.Give(values)
	if err == nil {
		err = r.Complete()
	}
	if err == nil {
		err = r.TakenAsGiven()
	}
	return r.Audit, err
}

// keywords is how Python writes options: as keyword arguments.
func keywords(option, value string) string {
	switch option {
	case "missing-marker":
		option = "missing_markers"
	case "seed":
		option = "random_state"
	case "positive":
		option = "pos_label"
	}
	lists := []string{"categorical", "drop", "features", "missing_markers"}
	if value != "" && slices.Contains(lists, option) {
		return fmt.Sprintf("%s=[%q]", option, value)
	}
	return service.Fields(option, value)
}

// explain is an error in the words of Python, and whether what was given caused it.
func explain(err error) (text string, input bool) {
	if spec := new(decision.SpecError); errors.As(err, &spec) {
		return err.Error(), true // which is not about files to give
	}
	if rows := new(table.Error); errors.As(err, &rows) {
		// Rows of a program are in no file, are named by it, and no option says how.
		short := *rows
		short.File = ""
		short.Ways = slices.DeleteFunc(slices.Clone(rows.Ways), func(w table.Way) bool { return w.Option == table.WayID })
		err = &short
	}
	return service.Explain(err, keywords, "")
}

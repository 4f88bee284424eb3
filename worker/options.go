package worker

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// given gives options their values by name, and then has them checked.
func given(options service.Options, values map[string]any, checks ...func() error) error {
	err := options.Give(values)
	for _, check := range checks {
		if err == nil {
			err = check()
		}
	}
	return err
}

// fitOptions are those of a fit, by name, and the kind of its outcome.
func fitOptions(values map[string]any) (lossep.Options, service.Outcome, error) {
	r := service.NewFit()
	err := given(r.Options, values, r.Complete, r.TakenAsGiven)
	return r.Model, r.Outcome, err
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
	case "score": // which is a method of scikit-learn's estimators
		option = "score_column"
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
	if all := new(table.Problems); errors.As(err, &all) {
		short := &table.Problems{Suggest: all.Suggest}
		for _, e := range all.All {
			short.All = append(short.All, inProgram(e))
		}
		for _, ways := range all.Choices {
			short.Choices = append(short.Choices, inProgram(&table.Error{Ways: ways}).Ways)
		}
		return short.Text(service.Naming(keywords).Way, arguments), true
	}
	if rows := new(table.Error); errors.As(err, &rows) {
		err = inProgram(rows)
	}
	return service.Explain(err, keywords, "")
}

// inProgram is an error about rows of a program: they are in no file, are named by it, and no option
// says how.
func inProgram(rows *table.Error) *table.Error {
	short := *rows
	short.File = ""
	short.Ways = slices.DeleteFunc(slices.Clone(rows.Ways), func(w table.Way) bool { return w.Option == table.WayID })
	return &short
}

// arguments writes options that are given together, each once: the values of a list in one list.
// Columns that would be named as identifiers are left out.
func arguments(all []table.Way) string {
	var texts []string
	place := make(map[string]int)
	for _, w := range all {
		if w.Option == table.WayID {
			w.Option = table.WayDrop
		}
		text := service.Naming(keywords).Way(w)
		name, value, list := strings.Cut(strings.TrimSuffix(text, "]"), "=[")
		if at, begun := place[name]; list && begun {
			texts[at] = strings.TrimSuffix(texts[at], "]") + ", " + value + "]"
			continue
		}
		place[name] = len(texts)
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

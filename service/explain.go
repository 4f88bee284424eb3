package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/expr"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/table"
)

// Explain is an error in the words of a front end, and whether what was given caused it, so
// that whoever gave it can mend it. File is the one that an error about rows is in, if it
// does not know it.
func Explain(err error, n Naming, file string) (text string, input bool) {
	var (
		option *Error
		all    *table.Problems
		rows   *table.Error
		spec   *decision.SpecError
		fit    *lossep.InputError
		syntax *kernel.SyntaxError
		model  *lossep.FileError
		value  *expr.ValueError
		table  *decision.TableError
		sample *compare.SampleError
	)
	text = err.Error()
	switch {
	case errors.As(err, &option):
		return strings.Replace(text, option.Error(), option.Text(n), 1), true
	case errors.As(err, &all):
		return strings.Replace(text, all.Error(), all.Text(n.Way, n.Ways), 1), true
	case errors.As(err, &rows):
		located := *rows
		if located.File == "" {
			located.File = file
		}
		return strings.Replace(text, rows.Error(), located.Text(n.Way), 1), true
	case errors.As(err, &spec):
		if spec.Example != "" {
			text = fmt.Sprintf("%s: %s, or %s\nA file for %s begins with the outcomes, and has a line for each action, such as\n\n%s",
				text, n("cost-matrix", "FILE.csv"), n("utility", "FILE.yaml"), n("cost-matrix", ""), strings.TrimRight(spec.Example, "\n"))
		}
		return text, true
	case errors.As(err, &model):
		return text, true
	case errors.As(err, &syntax):
		return n("kernel", "") + ": " + text, true
	case errors.As(err, &fit):
		if rest, ok := strings.CutPrefix(text, fit.What+":"); ok && optionNames[dashed(fit.What)] {
			text = n(dashed(fit.What), "") + ":" + rest
		}
		return text, true
	case errors.As(err, &value), errors.As(err, &table), errors.As(err, &sample):
		return text, true
	}
	return text, false
}

func dashed(words string) string { return strings.ReplaceAll(words, " ", "-") }

// optionNames are what errors of package lossep may be about.
var optionNames = func() map[string]bool {
	names := map[string]bool{"utility": true, "cost": true, "max-memory": true, "ask": true, "labels": true}
	for _, o := range slices.Concat(NewAudit().Options, NewUpdate().Options, NewMonitor().Options) {
		names[o.Name] = true
	}
	return names
}()

// Way writes a way out of an error about rows.
func (n Naming) Way(w table.Way) string {
	name := optionOf[w.Option]
	value := w.Value
	if w.Option == table.WayImpute {
		value = "impute"
	}
	return n(name, value)
}

// Notes are what is to be said of a table, with the options that settle findings.
func (n Naming) Notes(notes []string, findings table.Findings) []string {
	said := slices.Clone(notes)
	for i, plain := range findings.Texts() {
		if k := slices.Index(said, plain); k >= 0 {
			said[k] = findings[i].Said(n.Way)
		}
	}
	return said
}

// Ways writes options that are given together.
func (n Naming) Ways(all []table.Way) string {
	texts := make([]string, len(all))
	for k, w := range all {
		texts[k] = n.Way(w)
	}
	return strings.Join(texts, " ")
}

// optionOf are the options that stand for those of packages table and recipe.
var optionOf = map[table.Option]string{
	table.WayHeader: "header", table.WaySkip: "skip-lines", table.WaySeparator: "separator", table.WayDecimal: "decimal", table.WayEncoding: "encoding",
	table.WayDates: "dates", table.WayMarkers: "missing-marker", table.WayImpute: "missing", table.WayCategorical: "categorical", table.WayOrdered: "ordered",
	table.WayDrop: "drop", table.WayTime: "time", table.WayCosts: "use-cost-columns", table.WayID: "id", table.WayScaling: "scaling", table.WayTarget: "target", table.WayPositive: "positive",
	table.WayUnseen: "allow-unseen", table.WayLabelled: "skip-unlabelled",
	table.WayBytes: "max-bytes", table.WayRows: "max-rows", table.WayCells: "max-cells", table.WayMemory: "max-memory",
}

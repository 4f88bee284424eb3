package report

import (
	"io"

	"github.com/lossep/lossep/audit"
)

// Audit is what was found about decisions, in the form of Results.
type Audit struct {
	Origin
	Data string `json:"data"` // the name of the table
	*audit.Result
	Split    string    `json:"split"`
	Verdicts []Verdict `json:"verdict"`
	// Recipe is how rows became numbers, in words.
	Recipe []string `json:"-"`
	// Trees is how to bring in the probabilities of programs that learn trees; empty where
	// there is nothing to say about it.
	Trees string `json:"-"`

	called []string // the outcomes as people read them
}

// NewAudit puts the result of an audit of a table into words.
func NewAudit(from Origin, data string, a *audit.Audit, r *audit.Result) *Audit {
	all := &Audit{Origin: from, Data: data, Result: r, Split: splitText(r.Split), Recipe: a.Problem().Recipe.Describe(), called: outcomeNames(r.Target)}
	for _, v := range r.Verdicts {
		all.Verdicts = append(all.Verdicts, all.verdict(v))
	}
	return all
}

// AuditFiles are the names of all files there may be.
func AuditFiles() []string {
	return []string{
		"index.html", "cost.svg", "cost.png", "reliability.svg", "reliability.png", "net_benefit.svg", "net_benefit.png",
		"sensitivity.svg", "sensitivity.png", "pit.svg", "pit.png", "gains.svg", "gains.png",
		"folds.csv", "decisions.csv", "counts.csv", "quality.csv", "thresholds.csv", "gains.csv", "parts.csv", "columns.csv", Results,
	}
}

// Files are the contents of the report's files, by name.
func (r *Audit) Files() (map[string][]byte, error) {
	f := make(files)
	for name, figure := range r.figures() {
		if err := f.figure(name, figure); err != nil {
			return nil, err
		}
	}
	tables := map[string]func(io.Writer) error{
		"index.html": r.page().Write, "folds.csv": r.writeFolds, "decisions.csv": r.writeDecisions,
		"counts.csv": r.writeCounts, "quality.csv": r.writeQuality,
	}
	if !r.several() { // what ranks cases by one probability
		tables["thresholds.csv"], tables["gains.csv"] = r.writeCuts, r.writeGains
	}
	if len(r.Parts) > 0 {
		tables["parts.csv"] = r.writeParts
	}
	if len(r.Importances) > 0 {
		tables["columns.csv"] = r.writeImportances
	}
	for name, write := range tables {
		if err := f.add(name, write); err != nil {
			return nil, err
		}
	}
	return f, f.results(r, "  ")
}

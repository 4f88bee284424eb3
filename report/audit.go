package report

import (
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
		f.figure(name, figure)
	}
	f["index.html"] = r.page().Write
	f["folds.csv"], f["decisions.csv"], f["counts.csv"], f["quality.csv"] = r.writeFolds, r.writeDecisions, r.writeCounts, r.writeQuality
	if !r.several() { // what ranks cases by one probability
		f["thresholds.csv"], f["gains.csv"] = r.writeCuts, r.writeGains
	}
	if len(r.Parts) > 0 {
		f["parts.csv"] = r.writeParts
	}
	if len(r.Importances) > 0 {
		f["columns.csv"] = r.writeImportances
	}
	f.results(r, "  ")
	return f.contents()
}

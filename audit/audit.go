package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/compare"
	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
)

const (
	// DefaultFolds is the number of folds that Options without one stand for.
	DefaultFolds = 10
	// Level is the confidence level of all intervals.
	Level = 0.95
)

// Options say what to audit.
type Options struct {
	// Fit is how models are fitted; its Method is the one whose decisions are audited.
	// Its Recipe is not used.
	Fit lossep.Options
	// Methods are those it is compared with; nil stands for all.
	Methods []lossep.Method
	// Folds is the number of parts of a cross-validation; 0 stands for DefaultFolds.
	Folds int
	// Repeats is how many cross-validations there are; 0 stands for one.
	Repeats int
	// References is on how many folds decisions are compared with those of the exact
	// posterior.
	References int
}

// Audit is a cross-validation that is ready to run.
type Audit struct {
	table   *data.Table
	opt     Options
	problem *lossep.Problem   // of all rows, never fitted
	costs   []decision.Stakes // of every row
	folds   [][][]int         // of every repeat: the test rows of its folds
	cases   *compare.Cases
}

// New checks everything that can be checked without a fit. Errors are those of
// lossep.Prepare, and *lossep.InputError for options that do not fit the rows.
func New(t *data.Table, o Options) (*Audit, error) {
	if o.Folds == 0 {
		o.Folds = DefaultFolds
	}
	if o.Repeats == 0 {
		o.Repeats = 1
	}
	if len(o.Methods) == 0 {
		o.Methods = o.Fit.Methods(t.Len() - t.Len()/o.Folds)
	}
	o.Fit.Recipe = nil
	if o.Fit.Method == "" {
		o.Fit.Method = o.Fit.DefaultMethod(t.Len())
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.withinMemory(t); err != nil {
		return nil, err
	}
	// From here on the audited method is the first of all.
	others := slices.DeleteFunc(slices.Clone(o.Methods), func(m lossep.Method) bool { return m == o.Fit.Method })
	o.Methods = append([]lossep.Method{o.Fit.Method}, others...)
	p, err := lossep.Prepare(t, o.Fit)
	if err != nil {
		return nil, err
	}
	a := &Audit{table: t, opt: o, problem: p, cases: compare.NewCases(p.Len(), nil, nil)}
	for i := range p.Len() {
		a.costs = append(a.costs, costs(p.Stakes(i)))
	}
	for r := range o.Repeats {
		rng := rand.New(rand.NewPCG(o.Fit.Seed, uint64(r)))
		folds, err := compare.StratifiedFolds(p.Labels, o.Folds, rng)
		if err != nil {
			return nil, &lossep.InputError{What: "folds", Msg: err.Error(), Err: err}
		}
		a.folds = append(a.folds, folds)
	}
	return a, nil
}

func (o Options) check() error {
	bad := func(what, format string, args ...any) error {
		return &lossep.InputError{What: what, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case o.Folds < 2:
		return bad("folds", "%d is below 2", o.Folds)
	case o.Repeats < 1:
		return bad("repeats", "%d is below 1", o.Repeats)
	case o.References < 0:
		return bad("references", "%d is below 0", o.References)
	}
	for i, m := range o.Methods {
		if !slices.Contains(lossep.Methods(), m) {
			return bad("methods", "%q is unknown; choose from %v", string(m), lossep.Methods())
		}
		if slices.Contains(o.Methods[:i], m) {
			return bad("methods", "%q is given twice", string(m))
		}
	}
	return nil
}

// withinMemory refuses methods that would take more memory than is allowed.
func (o Options) withinMemory(t *data.Table) error {
	if o.Fit.Induces(t.Len() - t.Len()/o.Folds) {
		return nil
	}
	most := o.Fit.MaxMemory
	if most == 0 {
		most = lossep.DefaultMaxMemory
	}
	n := t.Len() - t.Len()/o.Folds
	for _, m := range o.Methods {
		if need := m.FitBytes(n); need > float64(most) {
			return &lossep.InputError{What: "max memory", Msg: fmt.Sprintf(
				"%s takes about %.2g GB of memory for the %d training rows of a fold, more than %.2g GB: leave it out of the methods, give a sample of the rows, or allow more memory",
				m, need/1e9, n, float64(most)/1e9)}
		}
	}
	return nil
}

// Problem is that of all rows, to be shown; it is never fitted.
func (a *Audit) Problem() *lossep.Problem { return a.problem }

// Len is the number of folds of all repeats.
func (a *Audit) Len() int { return a.opt.Folds * a.opt.Repeats }

// Settings are what the folds depend on. Folds that were computed under the same
// settings can be taken up again.
type Settings struct {
	Version    string            `json:"version"`
	Rows       string            `json:"rows"` // checksum of the table
	Utility    *decision.Spec    `json:"utility"`
	Methods    []lossep.Method   `json:"methods"`
	Likelihood lossep.Likelihood `json:"likelihood"`
	Kernel     string            `json:"kernel"`
	Fixed      bool              `json:"fixed"`
	Restarts   int               `json:"restarts"`
	Folds      int               `json:"folds"`
	Repeats    int               `json:"repeats"`
	References int               `json:"references"`
	Seed       uint64            `json:"seed"`
	Recipe     *data.Recipe      `json:"recipe"`
}

// Settings of the audit.
func (a *Audit) Settings() Settings {
	o := a.opt
	return Settings{
		Version: lossep.Version, Rows: checksum(a.table), Utility: a.problem.Utility, Methods: o.Methods,
		Likelihood: o.Fit.Likelihood, Kernel: a.problem.Kernel.String(), Fixed: o.Fit.Fixed, Restarts: o.Fit.Restarts,
		Folds: o.Folds, Repeats: o.Repeats, References: o.References, Seed: o.Fit.Seed, Recipe: a.problem.Recipe,
	}
}

// checksum is that of the cells, each with its length so that they cannot be confused.
func checksum(t *data.Table) string {
	h := sha256.New()
	var length [8]byte
	add := func(cells []string) {
		for _, c := range cells {
			binary.LittleEndian.PutUint64(length[:], uint64(len(c)))
			h.Write(length[:])
			h.Write([]byte(c))
		}
	}
	add(t.Columns())
	for i := range t.Len() {
		add(t.Row(i))
	}
	return hex.EncodeToString(h.Sum(nil))
}

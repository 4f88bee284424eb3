package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/numbers"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// auditSignature marks results and progress as this command's own.
const auditSignature = "lossep audit"

// auditRequest is what audit is asked.
type auditRequest struct {
	*service.Audit
	utility    service.Costs
	out, test  string
	useExample bool
	format     format
	place      *Place
}

func newAudit(place *Place) *cobra.Command {
	q := &auditRequest{Audit: service.NewAudit(), out: "audit-out", place: place}
	c := &cobra.Command{
		Use:   "audit data.csv --target COLUMN --cost fn=5,fp=1 [--out DIR]",
		Short: "Estimate the cost of decisions by cross-validation",
		Long: `Answer five questions from a table of past cases: what will these decisions cost, is this the
best that can be done, can the probabilities be trusted, does using the costs help, and does
loss calibration matter? If the outcome is a number: what will these actions cost, compared with
constant actions, quantiles and quantile regression, and do predictive intervals have their nominal coverage?

Each case is decided by a model fitted without it (stratified cross-validation; preprocessing and
hyperparameters are refitted on each training fold), and realised costs are compared across
inference methods and baselines. The output folder gets index.html, a self-contained report
whose summary prints on one page, figures (SVG, PNG), tables (CSV) and results.json. An existing
audit in the folder is replaced. After an interruption the same command resumes with the
finished folds.

--groups keeps the rows of one patient or customer in one fold, --time uses forward-chaining
splits, and --test evaluates on a held-out table.

--probability audits probabilities of any other program: it names their columns, the first is
compared with the others, and each is recalibrated by cross-validation. They must be
out-of-sample: out-of-fold, or of a test set.`,
		Example: `  lossep audit loans.csv --target class --positive bad --cost fn=5,fp=1 --out loans-audit
  lossep audit loans.csv --cost fn=5,fp=1 --repeats 3 --kernel 'rbf + linear'
  lossep audit visits.csv --cost fn=20,fp=1 --groups patient --by sex
  lossep audit loans.csv --cost fn=5,fp=1 --test later.csv
  lossep audit scores.csv --target y --cost fn=5,fp=1 --probability p_lightgbm --probability p_logit
  lossep audit --example`,
		Args: needArguments("the table of past cases"),
	}
	flags := c.Flags()
	addOptions(flags, q.utility.Options())
	addOptions(flags, q.Options)
	addOwn(flags, service.Options{
		{Name: "test", Group: service.Testing, Help: "held-out test table", Value: service.TextOf(&q.test, "FILE")},
		{Name: "out", Group: service.Basics, Help: "output folder", Value: service.TextOf(&q.out, "DIR")},
		{Name: "example", Group: service.Basics, Help: "audit the embedded example (breast cancer screening), by default in 5 folds", Value: service.ToggleOf(&q.useExample)},
		basic(formatOption(&q.format, "output format")),
	})
	c.RunE = q.run
	return c
}

func (q *auditRequest) run(c *cobra.Command, args []string) error {
	if err := exampleAlone(q.Options, q.useExample); err != nil {
		return err
	}
	if q.useExample && !q.Options.Given("folds") {
		q.Audit.Audit.Folds = 5 // the first thing to try takes half a minute
	}
	if err := q.Complete(); err != nil {
		return err
	}
	costs, err := q.utility.Numbers(c.Context(), readShort)
	if err != nil {
		return err
	}
	if is, err := q.OfNumbers(&q.utility, costs); err != nil {
		return err
	} else if is && len(args) > 0 {
		return auditNumbers(c, q.place, q.Audit, costs, q.test, args[0], q.out, q.format)
	}
	o, rows := q.Audit.Audit, &pastCases{Rows: &q.Rows}
	if o.Fit.MaxMemory = maxMemory(c); len(o.Probabilities) > 0 && (q.test != "" || q.useExample) {
		return usagef("--probability: nothing is fitted to other cases where it names what to decide by; leave --test and --example out")
	}
	var a *audit.Audit
	var name string
	prepare := func() (err error) {
		a, name, err = prepareAudit(c, rows, &q.utility, o, q.test, args)
		return err
	}
	if err = prepare(); err != nil {
		return settleLines(strings.Join(args, ""), &rows.Table.Format.Skip, err, prepare)
	}
	return runAudit(c, q.place, a, q.out, q.format, report.DescribeAudit(a, described), func(folds []*audit.Fold) (auditReport, error) {
		return summarised(a, name, folds)
	})
}

// auditing is an audit that is going to be made, whatever its outcomes are.
type auditing[F any] interface {
	// Run computes the folds but for those that are known, and hands over each when it is finished.
	Run(ctx context.Context, known []*F, finished func(*F) error) ([]*F, error)
	// Fold computes one of them.
	Fold(ctx context.Context, index int) (*F, error)
	Len() int
	Index(*F) int
	// Fits tells whether a fold that was read is one of this audit.
	Fits(*F) bool
	// Settings are what folds depend on.
	Settings() any
}

// auditReport is what an audit found, in words and files.
type auditReport interface {
	Files() (map[string][]byte, error)
	WriteText(w io.Writer) error
}

// runAudit says how the table was read, computes the folds that are not in the folder yet, and writes the report; or it
// computes the one fold that is asked for.
func runAudit[F any](c *cobra.Command, p *Place, a auditing[F], out string, as format, lines []string, found func(folds []*F) (auditReport, error)) error {
	if asked, ok := c.Context().Value(foldKey{}).(*askedFold); ok {
		fold, err := a.Fold(c.Context(), asked.index)
		if err == nil {
			asked.text, err = json.Marshal(fold)
		}
		return err
	}
	u := unfinished[F]{settings: a.Settings(), total: a.Len(), index: a.Index, fits: a.Fits}
	u.folder, u.what = &resultFolder{path: out, signature: auditSignature, files: report.AuditFiles()}, "folds"
	if err := u.folder.open(); err != nil {
		return err
	}
	defer u.folder.close()
	if err := writeLines(c.ErrOrStderr(), lines); err != nil {
		return err
	}
	folds, err := u.finish(c.Context(), c.ErrOrStderr(), runAt(p, a))
	if err != nil {
		return err
	}
	r, err := found(folds)
	if err != nil {
		return err
	}
	if err := u.folder.replace(r.Files, false); err != nil {
		return err
	}
	return as.emit(c.OutOrStdout(), r, func(w io.Writer) error { return writeReport(w, "\nreport  %s\n", out, r.WriteText) })
}

// summarised is the report of an audit of the table with this name.
func summarised(a *audit.Audit, name string, folds []*audit.Fold) (*report.Audit, error) {
	result, err := a.Summarise(folds)
	if err != nil {
		return nil, err
	}
	result.Notes = service.Naming(service.Flags).Notes(result.Notes, a.Problem().Findings)
	found := report.NewAudit(report.Origin{MadeBy: auditSignature, Versions: versions()}, name, a, result)
	found.Trees = auditOfTrees(result.Outcomes)
	return found, nil
}

// auditOfTrees is how other programs' probabilities of these outcomes come into an audit: of two
// those of the second.
func auditOfTrees(outcomes []string) string {
	table := fmt.Sprintf(`p = cross_val_predict(LGBMClassifier(), X, y == %q, cv=10, method="predict_proba")[:, 1]
DataFrame({"y": y, "p": p}).to_csv("scores.csv", index=False)`, outcomes[len(outcomes)-1])
	options := " --positive " + service.ShellQuoted(outcomes[len(outcomes)-1])
	if len(outcomes) > 2 {
		options = ""
		table = `p = cross_val_predict(LGBMClassifier(), X, y, cv=10, method="predict_proba")
DataFrame(p, columns=[f"p_{c}" for c in unique(y)]).assign(y=y).to_csv("scores.csv", index=False)`
	}
	return "# Python: probabilities of cases that the model had not seen\n" + table +
		"\n\nlossep audit scores.csv --target y" + options + " --probability p   # with the costs, and columns they name"
}

// prepareAudit reads the table and the utility, or takes those of the example.
func prepareAudit(c *cobra.Command, rows *pastCases, utility *service.Costs, o audit.Options, test string, args []string) (*audit.Audit, string, error) {
	var err error
	if o.Fit.Utility, err = utility.Spec(c.Context(), readShort); err != nil {
		return nil, "", err
	}
	also := append(append(costColumns(o.Fit.Utility), o.Time, o.By), o.Probabilities...)
	var t *table.Table
	if len(args) == 0 {
		t = example.Table()
		o.Fit.Data = recipe.Options{Target: example.Target, Positive: example.Positive, KeepScale: o.Fit.Data.KeepScale}
		if o.Fit.Utility == nil {
			if o.Fit.Utility, err = decision.ParseCosts(example.Costs); err != nil {
				return nil, "", err
			}
		}
	} else {
		most := o.Fit.MaxRows
		if len(o.Probabilities) > 0 {
			most = 0 // nothing is fitted to them
		}
		if t, err = rows.readTable(c, args[0], most, also...); err != nil {
			return nil, "", err
		}
	}
	if test != "" {
		if o.Test, err = readTest(c, rows, test, args, also); err != nil {
			return nil, "", err
		}
	}
	decideCodes(&o.Fit, t)
	a, err := audit.New(c.Context(), t, o)
	if err == nil && o.Fit.Utility == nil {
		tellNoCosts(c, a.Problem())
	}
	return a, filepath.Base(t.Name()), err
}

// readTest reads a table of other cases than those that are learned from.
func readTest(c *cobra.Command, rows *pastCases, test string, learned, also []string) (*table.Table, error) {
	if len(learned) > 0 && sameFile(test, learned[0]) {
		return nil, usagef("--test %s: this is the table that is learned from; give one of other cases", test)
	}
	return rows.readTable(c, test, 0, also...)
}

// auditNumbers audits decisions on a table whose outcome is a number.
func auditNumbers(c *cobra.Command, p *Place, request *service.Audit, costs *decision.NumberCosts, test, path, out string, as format) error {
	rows, o := &pastCases{Rows: &request.Rows}, request.Audit.Fit
	o.MaxMemory = maxMemory(c)
	also := append(slices.Clone(request.Predictions), request.Audit.Time)
	if costs != nil {
		also = append(also, costs.Columns()...)
	}
	t, err := rows.readTable(c, path, o.MaxRows, also...)
	if err != nil {
		return err
	}
	if err := request.RefuseCodes(t); err != nil {
		return err
	}
	decideCodes(&o, t)
	o.Data.Drop = append(slices.Clone(o.Data.Drop), request.Predictions...)
	a := numbers.AuditOptions{Folds: request.Audit.Folds, Time: request.Audit.Time, Methods: request.Audit.Methods, Predictions: request.Predictions, Currency: request.Audit.Currency, CasesPerYear: request.Audit.CasesPerYear, Capacity: request.Audit.Capacity, Per: request.Audit.Per}
	if test != "" {
		if a.Test, err = readTest(c, rows, test, []string{path}, also); err != nil {
			return err
		}
	}
	run, err := numbers.NewAudit(t, o, costs, a)
	if err != nil {
		return err
	}
	lines := append(ofNumbers{Problem: run.Problem()}.described(), report.SplitLine(run.Split(), run.Cases()))
	return runAudit(c, p, run, out, as, lines, func(folds []*numbers.Fold) (auditReport, error) {
		result, err := run.Summarise(folds)
		if err != nil {
			return nil, err
		}
		result.Notes = service.Naming(service.Flags).Notes(result.Notes, result.Findings)
		return report.NewNumberAudit(report.Origin{MadeBy: auditSignature, Versions: versions()}, filepath.Base(t.Name()), result), nil
	})
}

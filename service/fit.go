package service

import (
	"fmt"
	"strconv"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/recipe"
)

// Fit is a request to fit a model to a table of past cases.
type Fit struct {
	Rows
	Model   lossep.Options // but for Data, which Complete fills in from Rows
	Options Options
	Outcome Outcome
	NoSave  bool // the model is not written to a file unless one is named

	method string
}

// NewFit is a request with every option at its default.
func NewFit() *Fit {
	f := new(Fit)
	f.bind()
	f.Options = append(f.Options, f.saving()...)
	return f
}

// saving are the options of what becomes of the model, which an audit does not keep.
func (f *Fit) saving() Options {
	return Options{
		{Name: "no-examples", Group: Model, Help: "store no example rows in the model file (a few training rows as read, to try the model on); without inducing points it still holds the encoded features and outcomes of all training rows", Value: toggle{&f.Model.NoExamples}},
		{Name: "no-save", Group: Model, CommandOf: true, Help: "do not write the model to a file", Value: toggle{&f.NoSave}},
	}
}

// bind makes the options, whose values go to this request.
func (f *Fit) bind() { f.Options = append(f.Rows.options(), f.model()...) }

// model are the options of the model itself.
func (f *Fit) model() Options {
	o := &f.Model
	o.Likelihood.Name, o.Seed = "probit", 1
	o.Power, o.ShardRows, o.Sweeps = 1, gp.ShardRows, 1
	return Options{
		{Name: "use-cost-columns", Group: Columns, Help: "use the columns of the costs as features, too", Value: toggle{&o.CostFeatures}},
		outcomeOption(&f.Outcome),
		{Name: "method", Group: Model, Help: "inference method", Shown: "corrected up to 300 training rows, ep beyond", Value: choice[string]{to: &f.method, of: methodNames()}},
		{Name: "kernel", Group: Model, Help: "covariance function, such as 'rbf(ard) + linear' or 'matern32 + effects(origin, hour/64)'; auto stacks several kernels, or takes effects, by cross-validated log score", Shown: fmt.Sprintf(
			"%s; beyond %d rows %q, or %q with more than %d columns, plus %s if there are two outcomes or the outcome is a number", lossep.DefaultKernel, lossep.FullRows, lossep.ManyRowsKernel, lossep.ManyColumnsKernel, lossep.FewColumns, lossep.AutoEffects), Value: text{&o.Kernel, "KERNEL"}},
		{Name: "likelihood", Group: Model, Help: "link function; robust is probit with {label-noise}, logit for two outcomes", Value: choice[string]{to: &o.Likelihood.Name, of: []string{"probit", "logit", "robust"}}},
		{Name: "label-noise", Group: Model, Help: "share of past outcomes that are recorded wrongly, with {likelihood=robust}, such as 0.05 or 5%", Value: share{&o.Likelihood.Noise}},
		{Name: "inducing", Group: Model, Help: fmt.Sprintf("number of inducing points, or none; auto: none if rows × (outcomes − 1) ≤ %d, otherwise chosen automatically", lossep.FullRows), Value: inducing{&o.Inducing}},
		{Name: "seed", Group: Model, Help: "random seed", Value: seed{&o.Seed}},
		{Name: "fixed", Group: Advanced, Help: "do not optimise hyperparameters: keep those given in {kernel}", Value: toggle{&o.Fixed}},
		{Name: "restarts", Group: Advanced, Help: "additional random restarts of the hyperparameter search", Value: whole{to: &o.Restarts}},
		{Name: "power", Group: Advanced, Help: "power-EP exponent α (0 < α ≤ 1), with inducing points; α → 0 is variational inference", Value: number{&o.Power}},
		{Name: "shard-rows", Group: Advanced, Help: "rows per shard, with inducing points; shards can be processed on different machines", Value: whole{&o.ShardRows, 1}},
		{Name: "sweeps", Group: Advanced, Help: "local sweeps per pass over a shard, with inducing points", Value: whole{&o.Sweeps, 1}},
		{Name: "max-rows", Group: Advanced, Help: "maximum number of training rows", Shown: fmt.Sprintf("no limit with inducing points, %d without", lossep.DefaultMaxRows), Value: whole{&o.MaxRows, 1}},
	}
}

func methodNames() (names []string) {
	for _, m := range lossep.Methods() {
		names = append(names, string(m))
	}
	return names
}

// Complete checks options against each other and fills in what follows from them.
func (f *Fit) Complete() error {
	f.Model.Method = lossep.Method(f.method)
	if f.Options.Given("power") && f.Model.Power == 0 {
		return optionError("power", "0 is variational inference, which is {method=vi}; give a number above 0 and at most 1")
	}
	if f.Model.Inducing == lossep.NoInducing && !f.Options.Given("max-rows") {
		f.Model.MaxRows = lossep.DefaultMaxRows // so that reading ends where fitting would be refused
	}
	err := f.Rows.complete()
	f.Rows.Data.Grading, f.Rows.Data.Count = gradings[f.Outcome], f.Outcome == Count
	f.Model.Data = f.Rows.Data
	return err
}

// gradings are whether outcomes of a kind have an order; others have one if it is given.
var gradings = map[Outcome]recipe.Grading{Categories: recipe.Ungraded, Ordered: recipe.Graded}

// TakenAsGiven refuses options that choose or repeat rows, for a front end whose caller has
// the rows in hand.
func (f *Fit) TakenAsGiven() error {
	if f.Counts != "" {
		return optionError("counts", "rows are used as they are given; give each as often as it counts")
	}
	return takenAsGiven(f.SkipUnlabelled)
}

// inducing is auto, none or a number of points.
type inducing struct{ to *int }

func (v inducing) Type() string { return "auto|none|M" }

func (v inducing) String() string {
	switch *v.to {
	case lossep.AutoInducing:
		return "auto"
	case lossep.NoInducing:
		return "none"
	}
	return strconv.Itoa(*v.to)
}

func (v inducing) Set(text string) error {
	switch text {
	case "auto":
		*v.to = lossep.AutoInducing
	case "none":
		*v.to = lossep.NoInducing
	default:
		m, err := parseWhole(text)
		if err != nil || m < 1 {
			return fmt.Errorf("invalid number of inducing points: %q; give auto, none or a number from 1", text)
		}
		*v.to = m
	}
	return nil
}

// Update is a request to add rows to a model, and to take some away.
type Update struct {
	Table
	Model   lossep.UpdateOptions // but for Forget, a table that front ends read
	Forget  string               // the file of it
	Options Options
	// SkipUnlabelled leaves out rows of these tables whose outcome is missing.
	SkipUnlabelled bool
}

// NewUpdate is a request with every option at its default.
func NewUpdate() *Update {
	u := new(Update)
	u.Options = append(Options{
		{Name: "half-life", Group: Basics, Help: "number of new rows after which earlier rows count half as much (default: earlier rows keep their weight)", Value: above{number{&u.Model.HalfLife}}},
		{Name: "refit-kernel", Group: Basics, Help: "optimise the kernel's hyperparameters again on all rows, starting from those of the model", Value: toggle{&u.Model.RefitKernel}},
		{Name: "forget", Group: Basics, CommandOf: true, Help: "table of rows to remove, as they were in the training table", Value: text{&u.Forget, "FILE"}},
		{Name: "ids", Group: Basics, CommandOf: true, Help: "identifiers of the rows of {forget} to remove, such as c17,c18 (default: all its rows)", Value: ListOf(&u.Model.IDs, "A,B,C")},
		skipUnlabelled(&u.SkipUnlabelled),
	}, u.Table.Options()...)
	return u
}

// TakenAsGiven refuses options that choose rows, as those of a fit.
func (u *Update) TakenAsGiven() error { return takenAsGiven(u.SkipUnlabelled) }

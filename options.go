package lossep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

const (
	// DefaultKernel is what Options without a kernel stand for.
	DefaultKernel = AutoKernel
	// DefaultMaxRows is the number of training rows beyond which a fit of the full process
	// is refused unless Options allow more: memory grows with its square, time with its
	// cube.
	DefaultMaxRows = 5000
)

// Options say what to fit.
type Options struct {
	// Data says how rows become numbers.
	Data recipe.Options
	// DecideCodes has the evidence decide whether columns of few different whole numbers are
	// codes for categories or quantities, which Prepare takes them for; see Codes.
	DecideCodes bool
	// Recipe, if set, takes the place of one learned from the rows by Data: in
	// cross-validation all folds have to have the same features.
	Recipe *recipe.Recipe
	// Utility is what actions are worth, or cost; nil stands for decision.EqualMistakes.
	// It is not changed.
	Utility *decision.Spec
	// CostFeatures has columns that the utility is made of make features, too.
	CostFeatures bool

	Method     Method // empty stands for DefaultMethod of the number of rows
	Likelihood Likelihood

	// Kernel is in the language of package kernel, or AutoKernel; empty stands for
	// Options.DefaultKernel of the table. The search for hyperparameters
	// starts from those it gives, or from the scale of the data if it gives none.
	Kernel string
	// Fixed keeps the hyperparameters that Kernel gives.
	Fixed bool
	// Restarts is how many more searches for hyperparameters start elsewhere, at
	// random.
	Restarts int
	// Seed decides everything random: the same seed gives the same model.
	Seed uint64
	// Inducing is the number of inducing points from which the process is seen where rows
	// are many; AutoInducing and NoInducing are the other choices.
	Inducing int
	// ShardRows is the number of rows of a shard where rows are many; 0 stands for
	// gp.ShardRows. The rows of a shard see each other's updates at once, those of different
	// shards after a pass, and different machines can go over different shards. The fixed point
	// is the same, to the tolerance of the fit.
	ShardRows int
	// Sweeps is how often a pass goes over the rows of a shard before others see what it
	// changed; 0 stands for once. It makes passes fewer where they are slow to begin. The fixed
	// point is the same, to the tolerance of the fit.
	Sweeps int
	// Elsewhere, if set, has passes over all rows made elsewhere than in this process.
	Elsewhere func(*Training) (gp.Driver, error)
	// Power is that of power expectation propagation, for comparison: above 0 and at most
	// 1, which is EP and which 0 stands for. It needs inducing points.
	Power float64
	// Checkpoints, if set, keep where a fit with inducing points has come to.
	Checkpoints Checkpoints
	// MaxRows is the largest number of training rows; 0 stands for no limit with inducing
	// points, and for DefaultMaxRows without.
	MaxRows int
	// MaxMemory is the most bytes of memory that the fit may take; 0 stands for
	// DefaultMaxMemory. With inducing points what the rows leave of half of it is for
	// views of them, and views that do not fit are made again in every pass.
	MaxMemory int64
	// NoExamples has the model keep no training rows as they were read; see Examples.
	NoExamples bool
	// Progress, if set, is called from time to time during a fit.
	Progress func(Progress)

	// effects says that the kernel had effects, which were taken out of it.
	effects bool
	// perRow is the number of views that the full process has of a training row; 0 stands for
	// one, until the outcomes are known.
	perRow int
	// apart says that terms of outcomes are learned with inducing points alone.
	apart bool
}

// Progress is how far a fit has come.
type Progress struct {
	Stage       string  // what is being done
	Step        int     // of that stage, from 1
	Steps       int     // the most that the stage will have; 0 where that is not known
	Done        float64 // share of the steps of all stages that are over, if all are needed; 0 where it is not known
	Pass        int     // over the rows, of that step; 0 where rows are not gone over in passes
	Residual    float64 // how far the pass has moved the posterior, in its standard deviations
	LogEvidence float64 // of the kernel tried last in a search for one, with the prior where there are no passes
}

// complete fills in defaults and checks what does not need the data.
func (o Options) complete(t *table.Table) (Options, error) {
	rows := t.Len()
	if o.Utility != nil && !o.CostFeatures {
		o.Data.Costs = o.Utility.Columns()
	}
	if o.Method == "" {
		o.Method = o.DefaultMethod(rows)
	}
	if err := o.Method.check(); err != nil {
		return o, err
	}
	if o.Kernel == "" {
		o.Kernel = o.DefaultKernel(t)
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	o.Likelihood = o.Likelihood.withDefaults()
	switch {
	case o.Kernel == AutoKernel && o.Fixed:
		return o, inputf("fixed", "%s stands for kernels that are searched for; give the kernel to be kept", AutoKernel)
	case o.Restarts < 0:
		return o, inputf("restarts", "%d is below 0", o.Restarts)
	case o.MaxMemory < 0:
		return o, inputf("max memory", "%d is below 0", o.MaxMemory)
	case o.Inducing < NoInducing:
		return o, inputf("inducing", "invalid number of inducing points: %d", o.Inducing)
	case o.Inducing > rows:
		return o, inputf("inducing", "%d points are more than the %d training rows", o.Inducing, rows)
	case o.ShardRows < 0 || o.ShardRows > 0 && o.ShardRows < leastShard:
		return o, inputf("shard rows", "%d is below %d: the sums of a shard take more work than so few rows", o.ShardRows, leastShard)
	case o.Sweeps < 0:
		return o, inputf("sweeps", "%d is below 0", o.Sweeps)
	case !(o.Power >= 0 && o.Power <= 1):
		return o, inputf("power", "%v is out of range; give a number above 0 and at most 1", o.Power)
	case o.power() < leastPower:
		return o, inputf("power", "%v is below %v, where rounding is all that is left of the evidence; variational inference, the method %s, is the limit", o.Power, leastPower, VI)
	case o.Induces(rows) && !o.Method.byPasses():
		return o, inputf("method", "%s needs every training row for each decision, and %d rows are approximated with inducing points; choose one of %s, or no inducing points", o.Method, rows, names(o.Methods(rows)))
	case o.power() != 1 && !o.Induces(rows):
		return o, inputf("power", "powers are for inducing points; give their number")
	}
	return o, o.Likelihood.check()
}

// power is the power in force.
func (o Options) power() float64 {
	if o.Power == 0 {
		return 1
	}
	return o.Power
}

// rowLimit is the most training rows of a fit with so many.
func (o Options) rowLimit(rows int) int {
	switch {
	case o.MaxRows > 0:
		return o.MaxRows
	case o.Induces(rows):
		return math.MaxInt
	}
	return DefaultMaxRows
}

// Checkpoints keep where a fit of many rows has come to, so that one that was interrupted
// goes on from there and ends with the same bits.
type Checkpoints interface {
	// Load is what was kept last, nil if nothing was, and empty if it cannot be read. If it is
	// not what Keep was given the fit ends with ErrCheckpoint.
	Load() []byte
	// Keep keeps what was found with so many of the rows, in place of what was kept before. A
	// fit goes on whether that works or not.
	Keep(state []byte, rows int)
	// Resumed is called where a fit goes on from what was loaded, which was found with so many
	// rows.
	Resumed(rows int)
	// Refused is called where what was loaded is of another fit, and this one begins anew; why
	// completes "it is".
	Refused(why string)
}

// What Options.Inducing may be beside a number of points.
const (
	// AutoInducing stands for the full process up to FullRows training rows, or views of them
	// where outcomes are more than two, C−1 each with C outcomes, and beyond for as many inducing
	// points as it takes.
	AutoInducing = 0
	// NoInducing stands for the full process.
	NoInducing = -1
)

// FullRows is the number of training rows up to which AutoInducing stands for the full
// process. There it takes a minute at most to find a kernel, and the time grows with the
// cube of the rows.
const FullRows = 2000

// leastShard is the smallest number of rows of a shard.
const leastShard = 100

// leastPower is the smallest power of expectation propagation. The evidence is sums of
// logarithms near zero divided by the power, so that they are wrong by 1e-16 over it.
const leastPower = 1e-4

// ManyRowsKernel is, with AutoEffects, what Options without a kernel stand for beyond FullRows: functions of one
// column each, which few inducing points tell much about, and a function of all columns, with
// length scales for each column of the table, which thousands of rows settle without harm.
// docs/research/inducing.md has what it gains.
const ManyRowsKernel = "matern32(ard) + additive(ard) + constant"

// ManyColumnsKernel is what they stand for where the table has more columns than FewColumns,
// each of which ManyRowsKernel takes time for with every row and point and has three parameters
// of, and where many rows are not seen from inducing points.
const ManyColumnsKernel = search.PerColumn

// FewColumns is the most columns of a table for ManyRowsKernel. With as many, sums over columns
// take about as long as the algebra of 256 points: 0.8 ns for each column of a pair, and some
// thousand operations.
const FewColumns = 40

// Induces tells whether so many training rows are seen from inducing points, as those are that
// have effects.
func (o Options) Induces(rows int) bool {
	return o.Inducing > 0 || o.Inducing == AutoInducing && (rows*max(1, o.perRow) > FullRows || o.apart || o.effects || hasEffects(o.Kernel))
}

// Methods are those that can be applied to so many training rows.
func (o Options) Methods(rows int) []Method {
	all := Methods()
	if o.Induces(rows) {
		all = slices.DeleteFunc(all, func(m Method) bool { return !m.byPasses() })
	}
	if o.WeightsColumn() != "" { // see DefaultMethod
		all = slices.DeleteFunc(all, func(m Method) bool { return m == Corrected })
	}
	return all
}

// DefaultMethod is what no Method stands for with so many training rows. With weights of rows it
// is EP unless all are at least one: those below make powers of terms, which have no closed
// average, so that a correction by pairs of them would take a tenth of a second for every
// decision.
func (o Options) DefaultMethod(rows int) Method {
	if o.Induces(rows) || o.WeightsColumn() != "" {
		return EP
	}
	return DefaultMethod(rows)
}

// WeightsColumn is the one that says how much rows count, if there is one.
func (o Options) WeightsColumn() string {
	if o.Recipe == nil {
		return o.Data.Weights
	}
	return o.Recipe.NameOf(recipe.Weights)
}

// DefaultKernel is what no Kernel stands for with the training rows of a table.
func (o Options) DefaultKernel(t *table.Table) string {
	columns := o.Data.DecidedBy(t)
	switch {
	case o.Fixed:
		return search.OneForAll // there is nothing to choose by
	case t.Len() > FullRows && o.Induces(t.Len()) && columns <= FewColumns:
		return ManyRowsKernel + " + " + AutoEffects
	case t.Len() > FullRows && o.Induces(t.Len()):
		return ManyColumnsKernel + " + " + AutoEffects
	case t.Len() > FullRows:
		return ManyColumnsKernel
	}
	return DefaultKernel
}

// MethodsForSeveral are the methods that more than two outcomes can be fitted by.
func MethodsForSeveral() []Method { return slices.Clone(severalMethods) }

// severalMethods are those that more than two outcomes can be fitted by.
var severalMethods = []Method{EP, LossEP, VI, LossVI, Laplace}

// checkSeveral refuses a method that is for two outcomes.
func (m Method) checkSeveral(number int) error {
	if slices.Contains(severalMethods, m) {
		return nil
	}
	var names []string
	for _, known := range severalMethods {
		names = append(names, string(known))
	}
	return inputf("method", "%s is for two outcomes, and there are %d; choose one of %s", m, number, strings.Join(names, ", "))
}

// forSeveral are the options in force for more than two outcomes, given the method that was
// asked for, which may be none.
func (o Options) forSeveral(asked Method, r *recipe.Recipe, name string, rows int) (Options, error) {
	number, views := len(r.Target.Outcomes), rows*ViewsOf(r)
	if o.Method = asked; asked == "" {
		o.Method = EP
	}
	o.perRow, o.apart = ViewsOf(r), o.Likelihood.Name == "robust"
	induces := o.Induces(rows)
	if o.Kernel == AutoKernel && !induces && views > FullRows {
		o.Kernel = search.OneForAll // to compare kernels would take an hour
	}
	if err := o.Method.checkSeveral(number); err != nil {
		return o, err
	}
	switch {
	case o.Likelihood.Name == "logit":
		return o, inputf("likelihood", "logit is for two outcomes, and there are %d; choose one of probit, robust", number)
	case o.apart && o.Method == LossVI:
		return o, inputf("method", "%s does not converge with label noise of %d outcomes; choose %s or %s", LossVI, number, LossEP, VI)
	case o.apart && !induces:
		return o, inputf("inducing", "%s", robustWants(number))
	case o.power() != 1:
		return o, inputf("power", "powers are for two outcomes, and there are %d; leave the power out", number)
	}
	if induces {
		return o, nil
	}
	o.Inducing = NoInducing
	if limit := o.rowLimit(rows); o.MaxRows == 0 && views > limit {
		return o, inputf("max rows", "%s has %d rows of %d outcomes, which are %d views, more than %d: give a sample of at most %d rows, or raise the limit",
			name, rows, number, views, limit, limit/ViewsOf(r))
	}
	return o, o.affordable(fmt.Sprintf("%s has %d rows of %d outcomes, which are %d views", name, rows, number, views), views)
}

// several tells whether outcomes have a function each: there are more than two, and they have no order.
func several(r *recipe.Recipe) bool { return !r.Target.Binary() && !r.Target.Ordered }

// ViewsOf is how many views of the full process a training row has, and sites.
func ViewsOf(r *recipe.Recipe) int {
	if !several(r) {
		return 1
	}
	return len(r.Target.Outcomes) - 1
}

// DefaultMaxMemory is the most bytes of memory that a fit or a model that is read may
// take, unless told otherwise.
const DefaultMaxMemory = 2_000_000_000

// affordable refuses a fit that would take more memory than it may, of so many rows, or views
// of them, as what says.
func (o *Options) affordable(what string, rows int) error {
	if o.Induces(rows) {
		return nil
	}
	need := o.Method.FitBytes(rows)
	if need <= float64(o.MaxMemory) {
		return nil
	}
	return inputf("max memory", "%s, and a fit by %s takes about %.2g GB of memory for them, more than %.2g GB: give a sample of the rows, or allow more memory",
		what, o.Method, need/1e9, float64(o.MaxMemory)/1e9)
}

// Holds refuses a table whose cells take more memory than there is together with the inputs that are made of them;
// see table.Table.Holds. Where a table has a room of its own, that is the limit.
func (o *Options) Holds(t *table.Table) error {
	if !o.Induces(t.Len()) || t.Room() != nil {
		return nil
	}
	cell, row := 2*8, labelOfRow
	if t.Holds() {
		cell = 8 + 2 // inputs, and what is left of a cell, some of which are kept
	}
	for j := range t.Width() {
		if !t.Cells(j).Unread() {
			row += cell
		}
	}
	need := float64(t.Len()) * float64(row)
	if need <= float64(o.MaxMemory) {
		return nil
	}
	return inputf("max memory", "%s has %d rows, which take about %.2g GB of memory while they are encoded, more than %.2g GB: give a sample of the rows, leave columns out, or allow more memory",
		t.Name(), t.Len(), need/1e9, float64(o.MaxMemory)/1e9)
}

// roomBytes is what views of so many rows from inducing points may take up: half of what
// is allowed, less what the rows and their sites take.
func (o *Options) roomBytes(rows, features, functions int) int64 {
	return max(0, o.MaxMemory/2-int64(rows)*int64(8*features+labelOfRow+functions*sitesOfRow))
}

// labelOfRow and sitesOfRow are what a row takes beside its features: its label, and for every
// function its site, old and new.
const (
	labelOfRow = 8
	sitesOfRow = 32
)

// AutoKernel is the kernel of Options that tries several, and mixes them by what they
// predict out of fold.
//
// The evidence cannot tell how far a kernel with a parameter for each column fits the
// rows by chance: on some tables one length scale for all columns predicts better
// although its evidence is lower, on others it drowns in columns that say nothing. Rows
// that a search has not seen can tell. So the candidates get the weights with which the mixture
// gives rows left out the highest probability, stacking (Yao, Vehtari, Simpson and Gelman 2018),
// with a little in favour of the simplest; see search.Candidates and docs/research/kernels.md.
//
// What is mixed are posteriors: P(y | x) = Σ w_k P_k(y | x), for whatever method. Of two outcomes effects take the
// place of the mixture where they predict those rows better; see docs/research/effects.md.
const AutoKernel = "auto"

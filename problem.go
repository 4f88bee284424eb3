package lossep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/kernel"
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
	Data data.Options
	// DecideCodes has the evidence decide whether columns of few different whole numbers are
	// codes for categories or quantities, which Prepare takes them for; see Codes.
	DecideCodes bool
	// Recipe, if set, takes the place of one learned from the rows by Data: in
	// cross-validation all folds have to have the same features.
	Recipe *data.Recipe
	// Utility is what actions are worth, or cost; nil stands for decision.EqualMistakes.
	// It is not changed.
	Utility *decision.Spec

	Method     Method // empty stands for DefaultMethod of the number of rows
	Likelihood Likelihood

	// Kernel is in the language of package kernel, or AutoKernel; empty stands for
	// Options.DefaultKernel of the number of rows. The search for hyperparameters
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
	// Progress, if set, is called from time to time during a fit.
	Progress func(Progress)
}

// Progress is how far a fit has come.
type Progress struct {
	Stage       string  // what is being done
	Step        int     // of that stage, from 1
	Steps       int     // the most that the stage will have; 0 where that is not known
	Pass        int     // over the rows, of that step; 0 where rows are not gone over in passes
	Residual    float64 // how far the pass has moved the posterior, in its standard deviations
	LogEvidence float64 // of the kernel tried last in a search for one, with the prior where there are no passes
}

// Problem is what is to be fitted: training rows as numbers, and what actions are
// worth for each of them. Prepare makes it without fitting anything, so that it can be
// shown first.
type Problem struct {
	Recipe  *data.Recipe
	X       *mat.Dense     // one row of features for each training row; nil if they are too many
	Labels  []int          // see data.Target.Number
	Weights []float64      // how often each row counts, nil if each counts once
	Utility *decision.Spec // with the outcomes of the target
	Kernel  kernel.Kernel  // where the search starts, or what is kept
	// Notes are what a person should know about the table, and Codes the numeric columns
	// of few different integers, which may be codes for categories.
	Notes, Codes []string

	stakes []decision.Stakes // of each row, or one for all
	coding *data.Coding
	inputs *mat.Dense // the training rows in compact form
	// zero is the cost or utility that counts as no utility at all to calibrated methods.
	zero float64
	opt  Options
	// Of a kernel that was chosen among several: how much its length scales are drawn
	// together, and whether it has the parameters to start from.
	shrinkage float64
	start     bool
}

// Prepare reads the training rows by a recipe and binds the utility to the outcomes
// of the target.
func Prepare(t *data.Table, o Options) (*Problem, error) {
	asked := o.Method
	o, err := o.complete(t.Len())
	if err != nil {
		return nil, err
	}
	if limit := o.rowLimit(t.Len()); t.Len() > limit {
		msg := fmt.Sprintf("%s has %d rows, more than %d", t.Name(), t.Len(), limit)
		if o.Inducing == NoInducing {
			msg += fmt.Sprintf("; without inducing points the search for a kernel would take about %.0f GB and %v: let there be some", math.Ceil(o.Method.FitBytes(t.Len())/1e9), fitTime(t.Len()))
		}
		return nil, inputf("max rows", "%s; give a sample of the rows, or raise the limit", msg)
	}
	if err := o.affordable(t.Name(), t.Len()); err != nil {
		return nil, err
	}
	p := &Problem{opt: o}
	if p.Recipe = o.Recipe; p.Recipe == nil {
		var l *data.Learned
		if l, err = data.LearnCompact(t, o.Data); err == nil {
			p.Recipe, p.inputs, p.Labels, p.Weights, p.Notes, p.Codes = l.Recipe, l.X, l.Labels, l.Weights, l.Notes, l.Codes
		}
	} else if p.inputs, p.Labels, err = encode(p.Recipe, t); err == nil {
		err = p.readWeights(t)
	}
	if err != nil {
		return nil, err
	}
	if several(p.Recipe) {
		if p.opt, err = o.forSeveral(asked, p.Recipe, t.Name(), t.Len()); err != nil {
			return nil, err
		}
	}
	p.coding = p.Recipe.Coding()
	if p.Len()*p.Recipe.Dim() <= mostFeatures {
		p.X = p.coding.Expand(p.inputs)
	}
	if err := p.checkTraining(t); err != nil {
		return nil, err
	}
	spec := decision.EqualMistakes(p.Recipe.Target.Outcomes()...)
	if o.Utility != nil {
		*spec = *o.Utility
	}
	if err := spec.Bind(p.Recipe.Target.Outcomes()...); err != nil {
		return nil, err
	}
	p.Utility = spec
	if err := spec.CheckColumns(t.Columns()); err != nil {
		return nil, err
	}
	if err := p.weigh(t.Floats); err != nil {
		return nil, caseError(t.Place, err)
	}
	first := o.Kernel
	if first == AutoKernel {
		first = candidates[0].kernel
	}
	if p.Kernel, err = kernel.ParseColumns(first, columns(p.coding)); err != nil {
		return nil, err
	}
	return p, nil
}

// fitTime is what the search for a kernel takes, from 1000 rows of German credit on two
// cores: 4 seconds times the cube of the rows in thousands.
func fitTime(rows int) time.Duration {
	seconds := 4 * math.Pow(float64(rows)/1000, 3)
	return time.Duration(min(seconds, 1e9) * float64(time.Second)).Round(time.Minute)
}

// mostFeatures is how many features of training rows are written out: 128 MB.
const mostFeatures = 1 << 24

// columns is the compact form for kernels.
func columns(c *data.Coding) kernel.Columns {
	return kernel.Columns{Numbers: c.Numbers(), Codes: c.Codes()}
}

// Inputs are rows of features as the kernel takes them: numbers, and codes of categories.
func (p *Problem) Inputs(x *mat.Dense) *mat.Dense { return p.coding.Compact(x) }

// KernelText is the kernel that is kept, or where the search starts, or AutoKernel.
func (p *Problem) KernelText() string {
	if p.opt.Kernel == AutoKernel {
		return AutoKernel
	}
	return p.Kernel.String()
}

// Training are the training rows as the kernel takes them.
func (p *Problem) Training() *mat.Dense { return p.inputs }

// complete fills in defaults and checks what does not need the data.
func (o Options) complete(rows int) (Options, error) {
	if o.Method == "" {
		o.Method = o.DefaultMethod(rows)
	}
	if err := o.Method.check(); err != nil {
		return o, err
	}
	if o.Kernel == "" {
		o.Kernel = o.DefaultKernel(rows)
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
		return o, inputf("inducing", "%d is no number of points", o.Inducing)
	case o.Inducing > rows:
		return o, inputf("inducing", "%d points are more than the %d training rows", o.Inducing, rows)
	case !(o.Power >= 0 && o.Power <= 1):
		return o, inputf("power", "%v is not between 0 and 1", o.Power)
	case o.power() < leastPower:
		return o, inputf("power", "%v is below %v, where rounding is all that is left of the evidence; variational inference, the method %s, is the limit", o.Power, leastPower, VI)
	case o.Induces(rows) && !o.Method.byPasses():
		return o, inputf("method", "%s needs every training row for each decision, and %d are seen from inducing points; choose one of %s, or no inducing points", o.Method, rows, names(o.Methods(rows)))
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

// encode applies a recipe that is given.
func encode(r *data.Recipe, t *data.Table) (*mat.Dense, []int, error) {
	x, _, err := r.ApplyCompact(t)
	if err != nil {
		return nil, nil, err
	}
	labels, err := r.Labels(t)
	return x, labels, err
}

// weigh finds what is at stake in every training row, given the columns of the rows.
// Errors about one of them are *decision.CaseError.
func (p *Problem) weigh(floats func(column string) ([]float64, error)) error {
	values := make(map[string][]float64)
	for _, name := range p.Utility.Columns() {
		column, err := floats(name)
		if err != nil {
			return err
		}
		values[name] = column
	}
	var err error
	p.stakes, err = p.Utility.Cases(p.Len(), func(i int, column string) (float64, error) { return values[column][i], nil })
	if err == nil {
		p.zero, err = p.Utility.Zero(p.stakes)
	}
	return err
}

// Method is the one that Fit applies.
func (p *Problem) Method() Method { return p.opt.Method }

// Len is the number of training rows.
func (p *Problem) Len() int { return len(p.Labels) }

// Stakes is what is at stake in training row i.
func (p *Problem) Stakes(i int) decision.Stakes { return p.stakes[i%len(p.stakes)] }

// points are the training rows that stand for p(x) in a calibrated method, and their
// utility tables: one each, or one for all.
func (p *Problem) points() (rows []int, tables []decision.Table, err error) {
	rows = sample(p.Len(), maxPoints, p.opt.Seed)
	used := rows
	if len(p.stakes) == 1 {
		used = rows[:1]
	}
	for _, i := range used {
		t, err := p.Stakes(i).Utilities(p.zero)
		if err != nil {
			return nil, nil, &InputError{What: "utility", Msg: fmt.Sprintf("training row %d: %v", i+1, err), Err: err}
		}
		tables = append(tables, p.forPopulation(t))
	}
	return rows, tables, nil
}

// maxPoints is the most training rows that stand for p(x): a sweep of a calibrated
// method takes time in proportion to their number.
const maxPoints = 1000

// sample is up to most of the numbers below n, in order, chosen by the seed.
func sample(n, most int, seed uint64) []int {
	if n <= most {
		most = n
	}
	rows := rand.New(rand.NewPCG(seed, 0)).Perm(n)[:most]
	slices.Sort(rows)
	return rows
}

package numbers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/infer"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/posterior"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Model predicts and decides cases whose outcome is a number. It is safe for concurrent use.
type Model struct {
	recipe   *recipe.Recipe
	coding   *recipe.Coding
	costs    *decision.NumberCosts
	shape    Shape
	uneven   uneven // relative to the noise of each part
	part            // with the largest weight, which alone has 1
	others   []part
	x        *mat.Dense // training rows; nil if there are too many
	values   []float64  // likewise
	weights  []float64  // nil if each counts once
	kept     lossep.CostColumns
	examples *lossep.Examples
	summary  Summary
}

// EffectFamilies are the effects on the latent value, as of a model of categories.
func (m *Model) EffectFamilies() []lossep.EffectFamily {
	return lossep.EffectFamilies(m.posterior.State().Effects, m.recipe)
}

// Summary is what a fit found.
type Summary struct {
	Version     string         `json:"version"`
	Rows        int            `json:"rows"`
	Seed        uint64         `json:"seed"`
	Method      lossep.Method  `json:"method,omitempty"`          // none in files from before there were several
	LogEvidence float64        `json:"log_evidence"`              // of the transformed outcomes, by expectation propagation
	Objective   float64        `json:"objective"`                 // of the method, which may be that
	Ceiling     float64        `json:"utility_ceiling,omitempty"` // of calibrated methods: utility is this less the cost
	Converged   bool           `json:"converged"`
	Status      string         `json:"status"`
	Inducing    int            `json:"inducing,omitempty"` // points
	Shapes      []Shape        `json:"shapes"`
	Candidates  []search.Tried `json:"candidates,omitempty"`
	// Residual is how far a posterior that has not converged is from where it should be, as infer.Status has it.
	Residual float64        `json:"residual,omitempty"`
	Search   *search.Record `json:"search,omitempty"`
	// Effects are the families of effects that are added to the process.
	Effects []modelfile.Effects `json:"effects,omitempty"`
	// Noise are those of effects on the precision of the noise, the first of which is that of all rows.
	Noise []modelfile.Effects `json:"noise_effects,omitempty"`
	// LeaveOneOut is of up to 5,000 rows.
	LeaveOneOut *LeaveOneOut `json:"leave_one_out,omitempty"`
	// Updates is what became of the model since, nil if nothing.
	Updates *lossep.Updates `json:"updates,omitempty"`
}

func (s *Summary) status(of infer.Status) {
	s.Converged, s.Status, s.Residual = of.Converged, of.String(), 0
	if !of.Converged {
		s.Residual = math.MaxFloat64 // where it is no number
		if of.Residual <= math.MaxFloat64 {
			s.Residual = of.Residual
		}
	}
}

// usefulResidual is how far, in standard deviations, a posterior may be from what it should be: decisions hardly tell it apart.
const usefulResidual = 0.01

// LeaveOneOut is what training rows would have been predicted without them, on average: the log
// density of the outcome, the cost of what is decided and of the best constant action, and how many
// outcomes lie within 90 % intervals. Expected is the cost that the model expects of its decisions, with
// the standard error that Cost would have around it if the model were right, and Rows are as many of
// weight one as are worth the same.
type LeaveOneOut struct {
	LogDensity float64 `json:"log_density"`
	Cost       float64 `json:"cost"`
	Constant   float64 `json:"best_constant"`
	Coverage   float64 `json:"coverage_90"`
	Expected   float64 `json:"expected_cost"`
	Error      float64 `json:"expected_error"`
	Rows       float64 `json:"effective_rows"`
	// Difference is the standard error of the difference between Cost and Constant, over pairs of the same row; 0 if it is not known.
	Difference float64 `json:"difference_error,omitempty"`
	Note       string  `json:"note,omitempty"` // what flatters it
	// Dominant is the share of one row in the cost of all, where that is more than half.
	Dominant float64 `json:"dominant_row,omitempty"`
}

// Warnings say in what the model contradicts the rows that were left out by more than chance: by more
// than three standard errors, and by so much that it matters.
func (m *Model) Warnings() (lines []string) {
	if s := &m.summary; s.Residual > usefulResidual {
		lines = append(lines, fmt.Sprintf("the posterior is not to be relied on: %s; leave outcomes out that are far from all others, and fit again", s.Status))
	}
	l := m.summary.LeaveOneOut
	if l == nil || l.Rows == 0 {
		return lines
	}
	if l.Dominant > 0.5 {
		lines = append(lines, fmt.Sprintf("one row carries %.0f %% of the cost of all that were left out, and costs of the others may be anything: check the outcome that is farthest out", 100*l.Dominant))
	}
	const why = "outcomes far from all others, or many that are equal, such as zeros, may be why"
	chance := 3 * math.Sqrt(0.9*0.1/l.Rows)
	if c := l.Coverage; c < min(LeastCoverage, 0.9-chance) || c > max(MostCoverage, 0.9+chance) {
		size := "narrow"
		if c > 0.9 {
			size = "wide"
		}
		lines = append(lines, fmt.Sprintf("%.1f %% of outcomes that were left out are in intervals that should have 90 %% of them: predictions are too %s; %s", 100*c, size, why))
	}
	if off := l.Cost - l.Expected; math.Abs(off) > max(3*l.Error, MostSurprise*l.Expected) {
		lines = append(lines, fmt.Sprintf("rows that were left out cost %.4g each, and the model expects %.4g: do not rely on its costs; %s", l.Cost, l.Expected, why))
	}
	return append(lines, lossep.WorseThanConstant(l.Cost, l.Constant, l.Difference, true)...)
}

// Recipe is how rows to be predicted become numbers.
func (m *Model) Recipe() *recipe.Recipe { return m.recipe.WithGaps() }

// Costs are those of the fit.
func (m *Model) Costs() *decision.NumberCosts { return m.costs }

// Examples are the training rows that the model keeps as they were read; nil if it keeps none.
func (m *Model) Examples() *lossep.Examples { return m.examples }

// Summary is what the fit found.
func (m *Model) Summary() Summary { return m.summary }

// Kernel is the covariance function, of a mixture that of the part with the largest weight.
func (m *Model) Kernel() string { return m.posterior.Kernel().String() }

// Inputs are those that the process is conditioned on: training rows, or inducing points.
func (m *Model) Inputs() *mat.Dense { return m.posterior.Inputs() }

// TrainingRows are the encoded rows that the model was fitted to, nil if it has inducing points in their place.
func (m *Model) TrainingRows() *mat.Dense {
	if m.summary.Inducing > 0 {
		return nil
	}
	return m.Inputs()
}

// Noise are the logarithms of the hyperparameters of the noise.
func (m *Model) Noise() []float64 { return m.family.Logs() }

// Shape is how the outcome is transformed, and its noise.
func (m *Model) Shape() Shape { return m.shape }

// Counts tells whether outcomes are whole numbers from zero on.
func (m *Model) Counts() bool { return m.shape.Transform.Name == "count" }

// predictAlone is predict by the first part.
func (m *Model) predictAlone(x *mat.Dense) []Distribution {
	all := m.latent(x)
	out := make([]Distribution, len(all))
	for i, p := range all {
		if p.Normals == nil {
			out[i] = m.predictAt(x.RawRowView(i), p.Mean, p.Variance)
			continue
		}
		var several blend
		for _, n := range p.Normals {
			several.parts, several.weights = append(several.parts, m.predictAt(x.RawRowView(i), n.Mean, n.Variance)), append(several.weights, n.Weight)
		}
		out[i] = several
	}
	return out
}

// latent is what is predicted of the latent value. What is not known of a row, NaN, may be all that it is
// in similar rows: the mixture over these is taken for the Gaussian of its moments.
func (m *Model) latent(x *mat.Dense) []posterior.Prediction {
	if !posterior.Gaps(x) {
		return m.posterior.Predict(x)
	}
	return posterior.NewDonors(m.posterior.Inputs(), m.coding.Numbers(), m.shares(m.posterior.Inputs())).Predict(x, m.posterior.Predict)
}

// shares are how likely a case is to be like each of some of the inputs: training rows by their weights.
func (m *Model) shares(inputs *mat.Dense) func(rows []int) []float64 {
	if inputs != m.x || m.weights == nil {
		return posterior.EqualShares
	}
	return func(rows []int) []float64 {
		own := make([]float64, len(rows))
		for k, i := range rows {
			own[k] = m.weights[i]
		}
		floats.Scale(1/floats.Sum(own), own)
		return own
	}
}

// Bytes is about what memory the model takes.
func (m *Model) Bytes() float64 {
	sum := m.uneven.spread.Bytes()
	for _, p := range m.parts() {
		sum += p.posterior.Bytes()
	}
	return sum
}

// RowBytes is what the prediction of a row takes on the way.
func (m *Model) RowBytes() float64 {
	seen, features := m.posterior.Inputs().Dims()
	return float64(1+len(m.others))*3*8*float64(seen) + 2*8*float64(features)
}

// Predict is the distribution of the outcome in the cases whose encoded features are the rows of x.
// A case for which there is none is a *lossep.FarError.
func (m *Model) Predict(x *mat.Dense) ([]Distribution, error) {
	if err := lossep.CheckFar(x, m.recipe, m.coding, m.posterior.Inputs()); err != nil {
		return nil, err
	}
	all := m.predict(x)
	for i, d := range all {
		if !d.IsFinite() {
			return nil, lossep.Far(x, i, m.recipe, m.coding, m.posterior.Inputs())
		}
	}
	return all, nil
}

// Row is a case of a stream with what is predicted of it.
type Row struct {
	*recipe.Row
	Distribution
	X []float64 // encoded
}

// blockRows is how many rows of a stream are held at a time.
const blockRows = 512

// Each predicts the rows of a stream, in memory that does not grow with their number.
func (m *Model) Each(ctx context.Context, rd *recipe.Reader, use func(Row) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := rd.ReadBlock(blockRows)
		if b == nil || err != nil {
			return endOf(err)
		}
		all, err := m.Predict(b.X)
		if far, ok := err.(*lossep.FarError); ok {
			return far.In(b.Rows[far.Row].Place())
		} else if err != nil {
			return err
		}
		for i, d := range all {
			if err := use(Row{&b.Rows[i], d, b.X.RawRowView(i)}); err != nil {
				return err
			}
		}
	}
}

// Describe says what the model is, in lines.
func (m *Model) Describe() []string {
	return append(append(m.recipe.Summary(), m.Results()...), "costs       "+m.costs.String())
}

// Results say what the fit found.
func (m *Model) Results() []string {
	const of = " (candidate with the highest weight)"
	s := &m.summary
	lines := []string{
		fmt.Sprintf("outcome     %s, with %s", m.shape.Transform.String(), m.noise()),
		"kernel      " + kernel.Rounded(m.recipe.NameEntries(m.Kernel())),
		m.methodLine(),
	}
	if len(m.others) > 0 {
		lines[0] += of
		lines[1] += of
		lines = append(append(lines, "candidate kernels:"), lossep.CandidateLines(s.Candidates)...)
	}
	if len(s.Shapes) > 1 {
		lines = append(lines, "selected    "+m.reason())
	}
	if s.Updates != nil {
		lines = append(lines, s.Updates.String())
	}
	if s.Inducing > 0 {
		lines = append(lines, fmt.Sprintf("inducing    %d points for %d rows", s.Inducing, s.Rows))
	}
	lines = append(lines, lossep.EffectLines(s.Effects)...)
	for k, e := range s.Noise {
		if k > 0 {
			lines = append(lines, fmt.Sprintf("noise       log precision + %s, standard deviation %.3g", e.Term, math.Sqrt(e.Variance)))
		}
	}
	if loo := s.LeaveOneOut; loo != nil {
		lines = append(lines, fmt.Sprintf("LOO         cost per case %.6g (best constant action: %.6g); coverage of 90 %% intervals %.1f %%%s", loo.Cost, loo.Constant, 100*loo.Coverage, m.atEnds()))
		if loo.Note != "" {
			lines = append(lines, "note        "+loo.Note)
		}
	}
	for _, text := range m.Warnings() {
		lines = append(lines, "warning     "+text)
	}
	if !s.Converged && !(s.Residual > usefulResidual) {
		lines = append(lines, "warning     "+s.Status)
	}
	if m.examples != nil {
		lines = append(lines, m.examples.Line())
	}
	return lines
}

// atEnds says how outcomes count that lie at the end of an interval.
func (m *Model) atEnds() string {
	if m.Counts() {
		return " (counts at their ends in part)"
	}
	return ""
}

// noise is the family in units of the transformed outcome.
func (m *Model) noise() string {
	if m.Counts() || m.shape.Noise == knownName {
		return m.family.String()
	}
	return m.family.String() + fmt.Sprintf(" (times %.4g, the scale of the transformed outcome)", m.shape.Transform.Scale)
}

// reason says by how much the transformation and the noise are better than the plainest ones, and which were dropped.
func (m *Model) reason() string {
	var dropped []string
	plain := m.shape
	for k := len(m.summary.Shapes) - 1; k >= 0; k-- {
		s := m.summary.Shapes[k]
		if s.Dropped == m.shape.Dropped {
			plain = s
		}
		if s.Dropped && !m.shape.Dropped {
			dropped = append([]string{fmt.Sprintf("%s with %s noise", s.Transform.String(), s.Noise)}, dropped...)
		}
	}
	how := fmt.Sprintf("by log evidence on %d rows, %.4g higher than for %s with %s noise", m.shape.Rows, m.shape.Evidence-plain.Evidence, plain.Transform.String(), plain.Noise)
	if m.shape.Transform == plain.Transform && m.shape.Noise == plain.Noise {
		how = fmt.Sprintf("the simplest transformation and noise: none has log evidence higher by %d", worthwhile)
	}
	if dropped != nil {
		how += fmt.Sprintf("; dropped, as expectation propagation did not converge where their evidence rises to: %s", strings.Join(dropped, ", "))
	}
	return how
}

// Bind is what is at stake in a case under costs, given the numbers in its columns.
func (r Row) Bind(costs *decision.NumberCosts) (decision.Stake, error) {
	s, err := costs.Stake(func(name string) (float64, error) { return r.Value(name) })
	return s, r.Located(err)
}

// Check refuses costs as a fit does, under the outcomes of the training rows or, with inducing points,
// under those that are predicted of a case.
func (m *Model) Check(costs *decision.NumberCosts, s decision.Stake, d Distribution) error {
	if m.summary.Inducing == 0 {
		sample := newSample(m.values, m.weights)
		return costs.Check(s, sample, sample.some(checked))
	}
	outcomes := make([]float64, checked)
	for k := range outcomes {
		outcomes[k] = d.Quantile((float64(k) + 0.5) / checked)
	}
	return costs.Check(s, d, outcomes)
}

// checked is under how many outcomes costs are checked.
const checked = 200

// Located is an error with the place of the case, if it has none.
func (r Row) Located(err error) error {
	if err == nil {
		return nil
	}
	return Located(r.Place(), err)
}

// Located is an error at a place, if it has none.
func Located(at *table.Error, err error) error {
	var placed *table.Error
	if errors.As(err, &placed) {
		return err
	}
	at.Msg, at.Err = err.Error(), err
	return at
}

package lossep

import (
	"fmt"
	"strings"

	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/modelfile"
	"github.com/lossep/lossep/search"
	"github.com/lossep/lossep/table"
)

// Describe says in lines of text what is going to be fitted: the rows and the recipe,
// what actions cost, and which probabilities lead to which action.
func (p *Problem) Describe() []string {
	lines := append(p.Recipe.Summary(), p.Notes...)
	return append(lines, utilityLines(p.Utility, p.opt.Method, p.zero)...)
}

// utilityLines are what actions cost or bring, which probabilities lead to which action,
// and what makes utilities for calibrated methods of it where that is not in the table.
func utilityLines(s *decision.Spec, method Method, zero float64) []string {
	lines := append(s.TableLines(), s.RuleLine())
	switch _, given := s.Ceiling(); {
	case !method.Calibrated():
	case s.Costs() && !given && len(s.Columns()) > 0:
		lines = append(lines, fmt.Sprintf("ceiling %.6g, the largest cost of a training row, from which the method subtracts costs", zero))
	case !s.Costs() && zero < 0:
		lines = append(lines, fmt.Sprintf("shift %.6g, which the method adds to utilities so that none is negative; decisions do not depend on it", -zero))
	}
	return lines
}

// Results says in lines of text what the fit found.
func (m *Model) Results() []string {
	s := m.summary
	lines := []string{
		fmt.Sprintf("method      %s (%s)", m.method, m.method.row(m.provenance.Rows).Title),
		fmt.Sprintf("likelihood  %s", m.likelihood),
		fmt.Sprintf("kernel      %s", m.kernelLine()),
		fmt.Sprintf("log evidence                   %.6f", s.LogEvidence),
	}
	if s.parts() > 1 {
		for k := range lines[2:] {
			lines[2+k] += " (candidate with the highest weight)"
		}
	}
	if len(s.Candidates) > 0 {
		lines = append(lines, "candidate kernels:")
		lines = append(lines, CandidateLines(s.Candidates)...)
	}
	if s.Sharpness != 0 {
		lines = append(lines, s.sharpnessLine())
	}
	lines = append(lines, m.inducingLines()...)
	if o := s.Objective; o != nil {
		lines = append(lines, fmt.Sprintf("%-30s %.6f", o.Name, o.Value))
	}
	if loo := s.LeaveOneOut; loo != nil {
		of := ""
		if loo.Method != "" && loo.Method != m.method {
			of = fmt.Sprintf(" (%s)", strings.ToUpper(string(loo.Method)))
		}
		lines = append(lines,
			fmt.Sprintf("LOO log predictive density     %.6f%s", loo.LogPredictive, of),
			fmt.Sprintf("LOO %s per case              %.6g (always %s: %.6g)%s", m.utility.Kind(), loo.Value, m.utility.Actions()[loo.ConstantAction], loo.Constant, of),
		)
	} else if s.Updates == nil {
		lines = append(lines, "LOO: not available (leaving out a row leaves an improper posterior)")
	}
	for _, text := range m.Warnings() {
		lines = append(lines, "warning     "+text)
	}
	if s.Updates != nil {
		lines = append(lines, s.Updates.String())
	}
	lines = append(lines, "status      "+s.Status.Text)
	for _, note := range s.Status.Notes {
		lines = append(lines, "            "+note)
	}
	lines = append(lines, s.jitterLines()...)
	if m.examples != nil {
		lines = append(lines, m.examples.Line())
	}
	return lines
}

// jitterLines tells of what was added to the kernel's diagonal, where that matters. It is noise of
// each row beside the noise of variance 1 that probit has: Φ(z/√(1+j)) in place of Φ(z), which is
// up to j·max zφ(z)/2 = 0.12 j away. Columns that are sums of others, or copies of rows, take
// 1e-12 of the kernel's variance or little more, of which nobody has to know.
func (s *Summary) jitterLines() []string {
	const matters, share = 1e-4, 0.12
	if s.Jitter <= matters {
		return nil
	}
	return []string{fmt.Sprintf("            noise of variance %.2g was added to every row, as rounding would hide what tells them apart beside variances as large as the kernel's; it moves probabilities by up to about %.1g, and smaller variances need less", s.Jitter, min(0.5, share*s.Jitter))}
}

// Describe says in lines of text what the model is: the recipe with every column, the
// utility, what the fit found, and where the model comes from.
func (m *Model) Describe() []string {
	lines := []string{
		fmt.Sprintf("lossep model, format %s, by lossep %s, seed %d", modelfile.Version, m.provenance.Version, m.provenance.Seed),
		"",
	}
	lines = append(lines, m.recipe.Describe()...)
	lines = append(lines, "")
	lines = append(lines, utilityLines(m.utility, m.method, m.summary.Zero)...)
	return append(append(lines, ""), m.Results()...)
}

// kernelLine is the kernel in its language, to the digits that matter to a reader.
func (m *Model) kernelLine() string {
	how := "fixed"
	if s := m.summary.Search; s != nil {
		how = "converged after " + table.Plural(s.Evaluations, "evaluation")
		switch s.Stop {
		case search.Exhausted.String():
			how = "stopped at the limit of " + table.Plural(s.Evaluations, "evaluation")
		case search.Cornered.String():
			how = "stopped after " + table.Plural(s.Evaluations, "evaluation") + ", as " + s.Stop
		}
		if s.Rows > 0 {
			how += fmt.Sprintf(" on a sample of %d rows", s.Rows)
		}
		if len(s.AtBound) > 0 {
			how += ", at the bound: " + m.recipe.NameEntries(strings.Join(s.AtBound, ", "))
		}
	}
	const most = 12 // parameters of a kernel with one for each column fill pages
	var parts []string
	params := m.Kernel().Describe()
	for _, p := range params[:min(len(params), most)] {
		parts = append(parts, fmt.Sprintf("%s %.4g", m.recipe.NameEntries(p.String()), p.Value))
	}
	if rest := len(params) - most; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ") + " (" + how + ")"
}

// String names the likelihood, its noise and its cut points.
func (l Likelihood) String() string {
	if l.Noise > 0 {
		return fmt.Sprintf("%s, label noise %v", l.Name, l.Noise)
	}
	if l.Cuts != nil {
		return fmt.Sprintf("%s, cut points %s", l.Name, strings.Trim(fmt.Sprintf("%.4g", l.Cuts), "[]"))
	}
	return l.Name
}

package lossep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/lossep/lossep/data"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/effects"
	"github.com/lossep/lossep/gauss"
	"github.com/lossep/lossep/safetensors"
)

// What is loaded is checked as strictly as what is fitted: a file with a right checksum
// may still have been made by somebody who wants to see what happens.

const (
	// largestPrecision bounds the precision of a site. No term of a likelihood bends by
	// more than 1, −∂² log t ≤ 1, and with it neither does a site, τ = η/(1 − ηc) with
	// η ≤ 1/(1 + c); a robust one bends the other way by the square of how far out its
	// label still counts, at most 40². The rest is room for rounding. A row that counts more bends
	// as much more.
	largestPrecision = 1e4
	// largestNumber bounds what a summary says of costs, as it does what they may be, and of
	// logarithms and variances, which come nowhere near.
	largestNumber = 1e200
	// largestText is the most bytes of a text in a summary, and mostTexts how many a list
	// has.
	largestText = 10_000
	mostTexts   = 1000
)

// checkSummary refuses what no fit could have found.
func (h *header) checkSummary() error {
	s := &h.Summary
	texts := []string{h.Provenance.Version, s.Status.Text}
	texts = append(texts, s.Status.Notes...)
	switch {
	case s.Status.Sweeps < 0 || !(s.Status.Residual >= 0):
		return fmt.Errorf("its status has %d sweeps and a residual of %v", s.Status.Sweeps, s.Status.Residual)
	case !(s.Jitter >= 0):
		return fmt.Errorf("it says that %v was added to the kernel's diagonal", s.Jitter)
	}
	numbers := []float64{s.Jitter, s.Zero, s.LogEvidence}
	if o := s.Objective; o != nil {
		texts = append(texts, o.Name)
		numbers = append(numbers, o.Value)
	}
	if loo := s.LeaveOneOut; loo != nil {
		if actions := len(h.Utility.Actions()); loo.ConstantAction < 0 || loo.ConstantAction >= actions {
			return fmt.Errorf("its best constant action has the number %d, and there are %d actions", loo.ConstantAction, actions)
		}
		numbers = append(numbers, loo.LogPredictive, loo.Value, loo.Constant)
		if loo.Method != "" {
			if err := loo.Method.check(); err != nil {
				return fmt.Errorf("leave-one-out: %w", err)
			}
		}
	}
	if err := s.checkCandidates(); err != nil {
		return err
	}
	if err := s.checkSharpness(); err != nil {
		return err
	}
	if err := h.checkEffects(); err != nil {
		return err
	}
	for _, c := range s.Candidates {
		texts = append(texts, c.Name)
		numbers = append(numbers, c.LogPredictive, c.LogEvidence)
		if c.Search != nil {
			texts = append(append(texts, c.Search.Stop), c.Search.AtBound...)
		}
	}
	if s.Inducing != nil {
		if !h.Method.byPasses() {
			return fmt.Errorf("its method is %s, which is not to be had from inducing points", h.Method)
		}
		if err := s.Inducing.check(h.Recipe.Rows); err != nil {
			return err
		}
	}
	if search := s.Search; search != nil {
		if search.Rows < 0 {
			return fmt.Errorf("its kernel was found with %d rows", search.Rows)
		}
		if search.Evaluations < 0 {
			return fmt.Errorf("its kernel was found in %d evaluations", search.Evaluations)
		}
		texts = append(append(texts, search.Stop), search.AtBound...)
		numbers = append(numbers, search.LogPrior)
	}
	if err := checkNumbers("its summary", numbers, largestNumber); err != nil {
		return err
	}
	if len(texts) > mostTexts {
		return fmt.Errorf("its summary has %d texts, more than %d", len(texts), mostTexts)
	}
	for _, text := range texts {
		if len(text) > largestText {
			return fmt.Errorf("a text of its summary has %d bytes, more than %d", len(text), largestText)
		}
	}
	return nil
}

// checkSites refuses sites that are out of all proportion; weights, of rows, each of which has as
// many sites, may be nil.
func checkSites(name string, sites []gauss.Scalar, weights []float64) error {
	for i, s := range sites {
		largest := largestPrecision
		if weights != nil {
			largest *= max(weights[i/(len(sites)/len(weights))], 1)
		}
		if math.Abs(s.Tau) > largest || math.Abs(s.Nu) > Farthest {
			return fmt.Errorf("site %d of %s has the precision %v and the shift %v, which no fit gives", i+1, name, s.Tau, s.Nu)
		}
	}
	return nil
}

// checkCalibration refuses a dense site that is not symmetric or out of all proportion.
func checkCalibration(h, p *safetensors.Tensor) error {
	for _, t := range []*safetensors.Tensor{h, p} {
		if err := checkNumbers(t.Name, t.Floats, Farthest); err != nil {
			return err
		}
	}
	n := len(h.Floats)
	for i := range n {
		for j := range i {
			if p.Floats[i*n+j] != p.Floats[j*n+i] {
				return fmt.Errorf("%s is not symmetric at row %d, column %d", p.Name, i+1, j+1)
			}
		}
	}
	return nil
}

// header is the JSON under the metadata key "model".
type header struct {
	Recipe     *data.Recipe   `json:"recipe"`
	Utility    *decision.Spec `json:"utility"`
	Kernel     string         `json:"kernel"`
	Likelihood Likelihood     `json:"likelihood"`
	Method     Method         `json:"method"`
	Summary    Summary        `json:"summary"`
	Provenance Provenance     `json:"provenance"`
}

// checkNumbers refuses numbers beyond a magnitude, and what is no number.
func checkNumbers(name string, numbers []float64, most float64) error {
	for i, x := range numbers {
		if !(math.Abs(x) <= most) {
			return fmt.Errorf("number %d of %s is %v", i+1, name, x)
		}
	}
	return nil
}

// plainJSON is an error of a decoder without the names that only the program knows.
func plainJSON(err error) error {
	if kind := new(json.UnmarshalTypeError); errors.As(err, &kind) {
		return fmt.Errorf("%s is a JSON %s, which does not belong there", kind.Field, kind.Value)
	}
	return errors.New(strings.NewReplacer("json: ", "", "data: ", "").Replace(err.Error()))
}

// largestEffect bounds the mean of an effect, and mostFamilies how many families there are.
const (
	largestEffect = 1e6
	mostFamilies  = 1000
)

// checkEffects refuses families that no fit could have found, before anything is made of them.
func (h *header) checkEffects() error {
	s := &h.Summary
	if len(s.Effects) > 0 && s.Inducing == nil || len(s.Effects) > mostFamilies {
		return fmt.Errorf("it has %d families of effects", len(s.Effects))
	}
	width := h.Recipe.Dim()
	for _, e := range s.Effects {
		cells := 1.0
		for _, c := range e.Columns {
			if c.Entry < 0 || c.Entry >= width || c.Bins < 0 || c.Bins > effects.MostBins || c.Cells < 1 || c.Bins > 0 && c.Cells < 2 {
				return fmt.Errorf("%s has a column %d of %d cells", e.Term, c.Entry, c.Cells)
			}
			cells *= float64(c.Cells)
		}
		if len(e.Columns) > effects.MostParts || cells > effects.MostCells || e.Cells < 1 || float64(e.Cells) > cells ||
			!(e.Variance > 0 && e.Variance <= largestEffect) || len(e.Term) > largestText || !(math.Abs(e.Gain) <= largestNumber) {
			return fmt.Errorf("%s has %d of %g combinations, and a variance of %v", e.Term, e.Cells, cells, e.Variance)
		}
	}
	return nil
}

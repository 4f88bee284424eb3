package modelfile

import (
	"fmt"
	"math"

	"github.com/lossep/lossep/gauss"
)

// What is loaded is checked as strictly as what is fitted: a file with a right checksum
// may still have been made by somebody who wants to see what happens.

const (
	// Farthest is the largest feature that a model predicts for, or is fitted to. Kernels
	// square and multiply their arguments, and numbers end at 1.8e308.
	Farthest = 1e50
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

// checkNumbers refuses numbers beyond a magnitude, and what is no number.
func checkNumbers(name string, numbers []float64, most float64) error {
	for i, x := range numbers {
		if !(math.Abs(x) <= most) {
			return fmt.Errorf("number %d of %s is %v", i+1, name, x)
		}
	}
	return nil
}

// CheckSummary refuses numbers and texts of a summary that are out of all proportion.
func CheckSummary(numbers []float64, texts []string) error {
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
func checkSites(name string, sites []gauss.Scalar, most float64, weights []float64) error {
	for i, s := range sites {
		largest := most
		if weights != nil {
			largest *= max(weights[i/(len(sites)/len(weights))], 1)
		}
		if math.Abs(s.Tau) > largest || math.Abs(s.Nu) > Farthest {
			return fmt.Errorf("site %d of %s has the precision %v and the shift %v, which no fit gives", i+1, name, s.Tau, s.Nu)
		}
	}
	return nil
}

// checkWeights refuses weights that no fit can use.
func checkWeights(weights []float64) error {
	sum := 0.0
	for _, w := range weights {
		if !(w >= 0) || w > 1e9 {
			return fmt.Errorf("a weight of %v", w)
		}
		sum += w
	}
	if sum == 0 || math.IsInf(sum, 0) {
		return fmt.Errorf("weights that add up to %v", sum)
	}
	return nil
}

// Package compare says whether one method is better than another, from what both
// did on the same cases.
//
// Everything here is paired and distribution-aware. Cases averages what happened to
// single cases, with their weights and groups, and gives the average an interval that
// holds for rare and large losses too; the same serves shares and differences.
// SignedRank asks whether differences are centred at zero and takes its probability
// from the exact permutation distribution, whatever ties and zeros the differences
// hold. Holm keeps the chance of a single false claim among many comparisons at the
// level stated. StratifiedFolds divides cases for cross-validation.
package compare

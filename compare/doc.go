// Package compare says whether one method is better than another, from what both
// did on the same cases.
//
// Everything here is paired and distribution-aware. SignedRank asks whether
// differences are centred at zero and takes its probability from the exact
// permutation distribution, whatever ties and zeros the differences hold. Holm
// keeps the chance of a single false claim among many comparisons at the level
// stated. Mean gives an average its standard error and Student interval; Resampled
// does so for repeated cross-validation, where the folds share training cases and
// the textbook error is too small. StratifiedFolds divides the cases for it.
package compare

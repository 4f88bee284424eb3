// Package audit measures what decisions cost before they are made for real.
//
// An Audit divides past cases into folds, again and again, decides every case by
// models that were fitted without it, and adds up what the actions would have cost.
// Everything that is estimated from data, from the scale of a column to the kernel,
// is estimated from the training rows of a fold alone, and every fold starts its
// search for a kernel from the same place: no test row has a say in how it is
// decided.
//
// Run computes the folds, which are plain data that can be kept and taken up again.
// Summarise turns them into a Result: the cost per case of every method and
// baseline with its interval, paired comparisons, the decisions that flip between
// methods, regret under the exact posterior, reliability, net benefit, sensitivity
// to the costs, the cases nearest to the boundary, and a verdict in words.
//
// What is estimated is the cost of new cases when they are decided by the models of the
// folds, and the sample is the cases: each was decided once a repeat by a model that had
// not seen it, so its loss is one draw (Bayle, Bayle, Janson and Mackey 2020). Means of
// folds carry less, and under stratification too little: a constant action would seem
// to be known exactly. Package compare gives the intervals, for differences too, case
// by case. docs/research/intervals.md shows how often they hold.
//
// Costs are compared by means and not by ranks: where a miss costs five false alarms, a
// rank test would call a method better that makes six more false alarms and one miss
// less.
package audit

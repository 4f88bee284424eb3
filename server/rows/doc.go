// Package rows reads the rows of requests straight into the features of a model's recipe:
// decoding JSON by way of maps would take longer than predicting.
//
// A Reader refuses what the recipe cannot encode, naming the row and the column, and bounds
// what a body may hold: rows, names that nobody knows, nested values, and the Memory that
// the rows take.
package rows

// Package recipe turns columns into the matrix a model is fitted to, by a recorded recipe that new
// rows go through unchanged.
//
//	table.Table ──Learn──▶ Recipe, X, labels
//	                         │
//	bytes ──NewReader────────┴──▶ blocks of encoded rows
//
// [Learn] looks at whole columns: a column is numeric when every cell that is not missing is a
// finite number, and categorical otherwise. Numeric columns are standardised, categorical ones
// become one 0/1 feature per category. Columns that cannot help are dropped, each with its reason.
//
// A [Recipe] is plain data that survives JSON bit for bit, so that what a model file stores is all
// that is needed to encode new rows: as a stream in bounded memory ([NewReader]), as a table
// ([Recipe.Apply]) or value by value ([Encoder]). A category never seen in training encodes as
// zeros in all features of its column, which places the row at the same distance from every known
// category; such cells are counted, never hidden.
package recipe

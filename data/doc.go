// Package data turns rows of text into the matrix a model is fitted to, by a
// recorded recipe that new rows go through unchanged.
//
// The flow is one way:
//
//	bytes ──Read──▶ Table ──Learn──▶ Recipe, X, y
//	                                   │
//	bytes ──NewReader──────────────────┴──▶ blocks of encoded rows
//
// Tables that are stored by columns, such as Parquet, are a [Source], read by
// [ReadSource] and [NewSourceReader] with the same result as text.
//
// [Read] accepts comma, semicolon or tab separated text, quoted or not, with
// or without a header row, plain or gzip-compressed. [Learn] looks at whole
// columns: a column is numeric when every cell that is not missing is a finite
// number, and categorical otherwise. Numeric columns are standardised,
// categorical ones become one 0/1 feature per category. Columns that cannot
// help are dropped, each with its reason.
//
// A [Recipe] is plain data that survives JSON bit for bit, so that what a model
// file stores is all that is needed to encode new rows: as a stream in bounded
// memory ([NewReader]), as a table ([Recipe.Apply]) or as one object
// ([Recipe.Encode]). A category never seen in training encodes as zeros in all
// features of its column, which places the row at the same distance from every
// known category; such cells are counted, never hidden.
//
// Failures caused by data are of type [*Error]: they name the file, the line,
// the column and what to do about it. The package opens no files: it reads from
// an [io.Reader] and is told the name to use in messages.
package data

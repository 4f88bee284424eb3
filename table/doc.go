// Package table reads tables of text, of stored columns and of memory into typed columns.
//
// [Read] accepts comma, semicolon, tab or bar separated text, quoted or not, with or without a
// header row, plain or compressed. Tables that are stored by columns, such as Parquet, are a
// [Source], read by [ReadSource]; [NewTable] takes what a program has in memory. What is read does
// not depend on how it was stored. A [Stream] gives rows one after another, in memory that does not
// grow with them.
//
// Failures caused by data are of type [*Error]: they name the file, the line, the column, what to
// do about it, and the options that settle it. The package opens no files: it reads from an
// [io.Reader] and is given the name to use in messages.
package table

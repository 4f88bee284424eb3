// Package pages makes what people read of an audit and of the paper's experiments: a page
// with its figures, tables for a spreadsheet, every number for programs, and the few
// lines for a terminal. It computes nothing; words, and which of them, follow from the
// numbers.
package pages

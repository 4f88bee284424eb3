// Package report turns plain numbers into figures, tables and pages.
//
// It knows nothing of models but what methods are called: what it draws, it is
// given. It computes no statistics, writes no files and prints nothing; every
// function writes to an [io.Writer] or returns a value, and the same input gives
// the same bytes.
//
// A figure is a struct of data ([Densities], [Contours], [Intervals], [Lines],
// [Reliability]) written by [WriteSVG] or [WritePNG]. A method of inference
// has one look (colour, dash and marker) in all of them. Every figure has the
// same width, chosen so that its text is still legible when a telephone shows
// it 330 pixels wide, and keeps its legend in a strip of its own below the
// axes, where it cannot cover data.
//
// A [Table] is written as text for a terminal or becomes part of a [Page],
// which is one self-contained HTML file: no scripts, no outside references.
package report

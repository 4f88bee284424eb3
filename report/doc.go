// Package report puts numbers into words, figures and pages: the reports of an audit and of
// the paper's experiments.
//
// Numbers are those of packages audit and lab; nothing is computed here. Which words are said
// follows from the numbers, and every number is written by one formatter (format.go), the
// same in a terminal, on a page and in a figure, to the same place within a column. Nothing
// is printed and no file is written: every function writes to an [io.Writer] or returns a
// value, and the same input gives the same bytes.
//
// An [Audit] and a [Paper] have a text for a terminal and [Audit.Files]: a page with its
// figures, tables for a spreadsheet, and every number for programs.
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

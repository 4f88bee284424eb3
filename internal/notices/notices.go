// Package notices holds the licences of what the program contains and others wrote: the
// Go modules that are linked into it, the standard library, the fonts of its figures, the
// libraries of its page and the table of its example. Its test collects them anew and compares; make licences writes them.
package notices

import _ "embed"

// Dependencies lists what the program contains: a name, a version and a licence a line,
// separated by blanks.
//
//go:embed dependencies.txt
var Dependencies string

// Texts are the notices in full.
//
//go:embed licences.txt
var Texts string

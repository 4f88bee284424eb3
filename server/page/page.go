// Package page holds the web page of the server: its sources, and the bundle built
// from them that is embedded here.
//
// The page computes nothing that a decision rests on. It asks the API of the same
// server, draws the answers with Observable Plot, and needs no other host. How to
// build it is said in README.md beside this file.
package page

import (
	"embed"
	"io/fs"
)

//go:embed dist
var bundle embed.FS

// Files is the built page, with index.html at its root.
var Files = root()

func root() fs.FS {
	files, err := fs.Sub(bundle, "dist")
	if err != nil {
		panic(err) // only for a name that is no valid path
	}
	return files
}

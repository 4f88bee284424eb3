// Package page holds the web page of the server: its markup, style and icon as they are
// written, and the script that is built from the sources beside them.
//
// The page computes nothing that a decision rests on. It asks the API of the same
// server, draws the answers with Observable Plot, and needs no other host. How to
// build it is said in README.md beside this file.
package page

import (
	"embed"
	"path"
)

//go:embed index.html lab.html style.css favicon.svg dist/*
var embedded embed.FS

// Files are the contents of the page's files by the names it asks for them, which are
// those here without their folder.
func Files() (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, folder := range []string{".", "dist"} {
		entries, err := embedded.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			if files[e.Name()], err = embedded.ReadFile(path.Join(folder, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

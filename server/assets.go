package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"time"

	"github.com/lossep/lossep/server/page"
)

// contentPolicy lets the page use what comes from here, and images it makes itself.
const contentPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; base-uri 'none'; frame-ancestors 'none'"

// asset is a file of the page.
type asset struct {
	name  string
	paths []string // patterns that lead to it
	text  []byte
	etag  string
}

// pages are the paths of the page of models and of the lab.
var pages = map[string]string{"index.html": "/{$}", "lab.html": "/lab"}

// pageFiles are the files of the page, which are all known now: no path of a request
// ever becomes the name of a file.
func pageFiles() (files []*asset, err error) {
	texts, err := page.Files()
	for name, text := range texts {
		hash := sha256.Sum256(text)
		f := &asset{name: name, paths: []string{"/" + name}, text: text, etag: `"` + hex.EncodeToString(hash[:12]) + `"`}
		if path, is := pages[name]; is {
			f.paths = append(f.paths, path)
		}
		files = append(files, f)
	}
	return files, err
}

// serve writes the file, or that the browser has it already. Browsers ask every time,
// so that a new version of the program is a new page.
func (f *asset) serve(x *exchange) {
	h := x.Header()
	h.Set("Content-Type", cmp.Or(contentTypes[path.Ext(f.name)], "application/octet-stream"))
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	http.ServeContent(x, x.request, f.name, time.Time{}, bytes.NewReader(f.text))
}

// contentTypes do not depend on the tables of the machine, as those of package mime do.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8", ".json": "application/json", ".map": "application/json",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
}

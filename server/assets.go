package server

import (
	"bytes"
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
	h.Set("Content-Type", contentType(f.name))
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	http.ServeContent(x, x.request, f.name, time.Time{}, bytes.NewReader(f.text))
}

// contentType does not depend on the tables of the machine, as package mime does.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".txt", ".md":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

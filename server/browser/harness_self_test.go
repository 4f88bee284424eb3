package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A test that cannot fail proves nothing: what the others rely on to notice trouble has
// to notice it.
func TestTroubleIsNoticed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, script, want string }{
		{"console error", "console.error('it broke')", "it broke"},
		{"console warning", "console.warn('it may break')", "it may break"},
		{"exception", "setTimeout(() => { throw new Error('thrown') }); await new Promise(r => setTimeout(r, 10))", "thrown"},
		{"rejection", "Promise.reject(new Error('rejected')); await new Promise(r => setTimeout(r, 10))", "rejected"},
		{"failed request", "await fetch('/missing')", "404"},
		{"other host", "await fetch('http://example.invalid/x').catch(() => 0)", "request to http://example.invalid/x"},
		{"other image", "await new Promise(r => { const i = new Image(); i.onerror = r; i.src = 'https://example.invalid/i.png' })", "request to https://example.invalid/i.png"},
		{"socket", "await new Promise(r => { new WebSocket('ws://example.invalid/s').onerror = r })", "request to ws://example.invalid/s"},
		{"nothing", "await fetch('/'); console.log('fine'); await fetch('data:text/plain,x')", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/missing" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, "<!doctype html><link rel=icon href='data:,'><title>quiet</title>")
			}))
			defer s.Close()
			b := blank(t)
			b.do(chromedp.Navigate(s.URL))
			evaluate[bool](b, "(async () => {"+c.script+"; return true})()")
			got := strings.Join(b.heard(), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("heard %q, want %q", got, c.want)
			}
		})
	}
}

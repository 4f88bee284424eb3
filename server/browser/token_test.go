package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A server that wants a token is asked for one on the page, which then goes on.
func TestToken(t *testing.T) {
	s := newSite(t, "open-sesame")
	b := blank(t)
	b.refused()
	b.start(s.url + "/lab#reactor")
	b.settle()
	if !evaluate[bool](b, "document.querySelector('#token').checkVisibility()") {
		t.Fatal("nobody is asked for the token")
	}
	b.write("#token-field", "wrong")
	b.act(func() { b.press("\r") })
	if note := b.inner("#token"); !strings.Contains(note, "not accepted") {
		t.Errorf("after a wrong token the page says %q", note)
	}
	b.write("#token-field", "open-sesame")
	b.act(func() { b.press("\r") })
	checkReactor(b, reactorAsked(t, s))
	b.do(chromedp.Navigate(s.url + "/"))
	b.until("document.body.dataset.ready > 0")
	b.settle()
	if rows := b.rows("[data-panel=model] [data-part=table] tr[data-row]"); len(rows) != 10 {
		t.Errorf("%d decisions on the example rows", len(rows))
	}
	if evaluate[bool](b, "document.querySelector('#token').checkVisibility() || location.href.includes('sesame') || JSON.stringify({...localStorage}).includes('sesame')") {
		t.Error("the token is still asked for, or kept where it should not be")
	}
}

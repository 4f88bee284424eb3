package browser

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/lossep/lossep/level3"
)

// background is what outlives single tests: the browser and the models.
var background = context.Background()

var screenshots = flag.String("screenshots", "", "the `directory` to write pictures of the page to")

// patience is how long anything on the page may take before it counts as not happening.
// It is no measure of speed: the machine may be busy with other tests.
const patience = 20 * time.Second

// findBrowser is where Chromium is.
func findBrowser() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"}
	if name := os.Getenv("LOSSEP_BROWSER"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser: none of %s can be run; install one (Debian: apt-get install chromium) or name one in $LOSSEP_BROWSER", strings.Join(names, ", "))
}

// chromium is the one browser that all tests open their tabs in.
var chromium struct {
	ctx   context.Context
	close context.CancelFunc
}

func TestMain(m *testing.M) {
	flag.Parse()
	if err := level3.Use(); err != nil { // as the command does
		panic(err)
	}
	chromium.close = func() {}
	code := m.Run()
	chromium.close()
	os.Exit(code)
}

// startBrowser starts the browser, once. One that is there and does not start is a
// failure: only where there is none are tests skipped.
var startBrowser = sync.OnceValue(func() error {
	path, err := findBrowser()
	if err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.WindowSize(1200, 900),
		// Names resolve to nothing: what leaves the host is noticed, and does not.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	allocator, stop := chromedp.NewExecAllocator(background, options...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	chromium.ctx, chromium.close = ctx, func() { closeBrowser(); stop() }
	return chromedp.Do(ctx)
})

// tab is one page of its own, with nothing stored and nothing remembered.
type tab struct {
	*testing.T
	ctx context.Context

	mu         sync.Mutex
	refusals   bool     // the test makes the server refuse requests, which Chromium notes
	complaints []string // what the test has to fail for
	ends       int      // of what was listened to, once heard has asked for it
}

// The last things that a tab says and asks for.
const (
	endOfConsole  = "end of what the console said"
	endOfRequests = "end-of-requests"
)

// open opens an address and waits until the page has drawn itself for the first time.
func open(t *testing.T, address string) *tab {
	t.Helper()
	b := blank(t)
	b.start(address)
	return b
}

// start goes to an address and waits until the page has drawn itself. At the end of the
// test, the test fails if there is anything to complain about.
func (b *tab) start(address string) {
	b.Helper()
	t := b.T
	t.Cleanup(func() {
		b.T = t
		for _, c := range b.heard() {
			t.Error(c)
		}
	})
	b.do(chromedp.Navigate(address))
	b.until("document.body.dataset.ready > 0")
}

// blank opens an empty tab and begins to listen.
func blank(t *testing.T) *tab {
	t.Helper()
	if _, err := findBrowser(); err != nil {
		t.Skip(err)
	}
	if err := startBrowser(); err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	b := &tab{T: t, ctx: ctx}
	var listening sync.WaitGroup
	t.Cleanup(func() {
		closeTab()
		listening.Wait()
	})
	console := chromedp.Console(ctx)
	requests := chromedp.Events(ctx, network.RequestWillBeSent)
	sockets := chromedp.Events(ctx, network.WebSocketCreated)
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	// Keys go to the tab that has the focus: each of these thinks it has.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	listening.Go(func() {
		for m, err := range console {
			if err != nil {
				return // the tab is closed
			}
			if m.Text == endOfConsole {
				b.ended()
			}
			if b.expected(m) {
				continue
			}
			if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				b.complain("console: %s", m)
			}
		}
	})
	listening.Go(func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			b.watch(e.Request.URL)
		}
	})
	listening.Go(func() {
		for e, err := range sockets {
			if err != nil {
				return
			}
			b.watch(e.URL)
		}
	})
	return b
}

// watch complains about a request that is not for this host. Data and blob addresses are
// no requests: nothing is sent for them.
func (b *tab) watch(address string) {
	u, err := url.Parse(address)
	if err == nil && u.RawQuery == endOfRequests {
		b.ended()
	}
	if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Hostname() != "127.0.0.1" {
		b.complain("request to %.200s", address)
	}
}

// expected tells whether a message is the browser's own word on a request that the test
// means to be refused.
func (b *tab) expected(m chromedp.ConsoleMessage) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusals && m.Source == "network" && strings.Contains(m.Text, "status of 4")
}

// refused says that requests are going to be refused.
func (b *tab) refused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusals = true
}

func (b *tab) complain(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, fmt.Sprintf(format, args...))
}

func (b *tab) ended() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends++
}

// heard is all there is to complain about. Events are listened to beside the test; a
// last message and a last request mark where they end.
func (b *tab) heard() []string {
	b.Helper()
	evaluate[bool](b, fmt.Sprintf("console.debug(%q), fetch('/?%s').then(() => true)", endOfConsole, endOfRequests))
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		b.mu.Lock()
		ends, complaints := b.ends, slices.Clone(b.complaints)
		b.mu.Unlock()
		if ends >= 2 {
			return complaints
		}
		if time.Now().After(deadline) {
			return append(complaints, "the browser stopped telling what happens")
		}
	}
}

// do runs actions, within the patience.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// evaluate is the value of a JavaScript expression, which may be a promise.
func evaluate[T any](b *tab, expression string) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to become true.
func (b *tab) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingTimeout(0))); err != nil {
		b.Fatalf("waiting for %s: %v", expression, err)
	}
}

// picture writes what is on the screen to a file, if pictures are wanted.
func (b *tab) picture(name string) {
	b.Helper()
	if *screenshots == "" {
		return
	}
	evaluate[bool](b, "scrollTo({top: 0, behavior: 'instant'}), true")
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(*screenshots, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name+".png"), png, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

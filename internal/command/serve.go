package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lossep/lossep/example"
	"github.com/lossep/lossep/internal/regular"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/server"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// serving is what serve is asked.
type serving struct {
	address, tokens, certificate, key string
	demo                              bool
	recording                         recording
	logFormat                         format
	maxBody                           int
	capacity                          service.Capacity
	config                            server.Config
}

func newServe() *cobra.Command {
	q := &serving{address: "127.0.0.1:8080", maxBody: 8 << 20, config: server.Config{MaxRows: 10_000, MaxCalibrations: 1, Drain: 30 * time.Second}}
	c := &cobra.Command{
		Use:   "serve model.lossep… [--addr 127.0.0.1:8080]",
		Short: "Serve models over HTTP, with a web page",
		Long: `Serve models over HTTP: a JSON API under /v1 (described at /openapi.json), the Open Inference
Protocol under /v2, Prometheus metrics at /metrics, a web page at / where cases and costs can be
changed and decisions explained, and a comparison of inference methods at /lab.

A model is named after its file without .lossep, or by name=path. SIGHUP reloads models, tokens
and certificates; a file that cannot be read leaves the previous one in use. SIGTERM shuts down
gracefully; a second one exits at once. The log goes to stderr.

With --capacity visit=100 --per day the action visit is taken at most 100 times a day (by the
clock of the server), in the cases where it saves most: a price that keeps the expected use at the
limit is estimated from recent cases. Use is counted from the start of the server.

Without --tokens there is no authentication. On a loopback address only requests to localhost
or an IP address are answered, so that no web site can send requests through a browser.`,
		Example: `  lossep serve model.lossep
  lossep serve today=model.lossep candidate=other.lossep --addr :8443 --tokens tokens.txt --tls-cert cert.pem --tls-key key.pem
  lossep serve model.lossep --capacity visit=100 --per day
  lossep serve --demo`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && !q.demo {
				return usagef("%s: there is no model to serve; give a model file, made with 'lossep fit … -o model.lossep', or --demo", c.Name())
			}
			return nil
		},
	}
	addOptions(c.Flags(), service.Options{q.capacity.Limit(), q.capacity.Clock()})
	addOwn(c.Flags(), slices.Concat(service.Options{
		{Name: "addr", Help: "address to listen on; port 0 picks a free port", Value: service.TextOf(&q.address, "HOST:PORT")},
		{Name: "demo", Help: "serve a model fitted to the embedded example, and open the page in a browser if interactive", Value: service.ToggleOf(&q.demo)},
		{Name: "tokens", Help: "file of bearer tokens, one per line; # begins a comment", Value: service.TextOf(&q.tokens, "FILE")},
		{Name: "tls-cert", Help: "PEM file with the certificate chain, to serve HTTPS; requires {tls-key}", Value: service.TextOf(&q.certificate, "FILE")},
		{Name: "tls-key", Help: "PEM file with the private key of the certificate", Value: service.TextOf(&q.key, "FILE")},
		{Name: "max-body", Help: "maximum size of a request body, in bytes", Value: service.WholeOf(&q.maxBody, 1)},
		{Name: "max-rows", Help: "maximum number of rows per request", Value: service.WholeOf(&q.config.MaxRows, 1)},
		{Name: "max-calibrations", Help: "maximum number of concurrent calibrations", Value: service.WholeOf(&q.config.MaxCalibrations, 1)},
		{Name: "drain", Help: "graceful shutdown timeout", Value: service.Duration{To: &q.config.Drain}},
	}, q.recording.options(), service.Options{formatOption(&q.logFormat, "log format")}))
	c.RunE = q.run
	return c
}

func (q *serving) run(c *cobra.Command, args []string) error {
	// From the first moment, for a hangup would end a process that does not ask for it.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	if err := q.complete(c, args); err != nil {
		return err
	}
	secrets, err := newCertificates(q.certificate, q.key)
	if err != nil {
		return err
	}
	l, err := listen(q.address)
	if err != nil {
		return err
	}
	defer l.Close() // closed already, or of no use
	if q.demo {
		source, err := demoSource(c)
		if err != nil {
			return err
		}
		q.config.Models = append(q.config.Models, source)
	}
	q.config.Logger = newLogger(c.ErrOrStderr(), q.logFormat)
	if q.config.Record, err = q.recording.open(q.config.Logger); err != nil {
		return err
	}
	if q.config.Record != nil {
		defer q.config.Record.Close() // what it could not write is in the log
	}
	s, err := newServer(q.config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	go reloadOn(ctx, hangup, q.config.Logger, reloads(s, q.tokens, secrets, q.config.Logger))

	url := "http://" + l.Addr().String()
	if secrets != nil {
		url = "https://" + l.Addr().String()
		l = tls.NewListener(l, secrets.config())
	}
	if _, err := fmt.Fprintf(c.OutOrStdout(), "serving %s on %s\n", modelNames(q.config.Models), url); err != nil {
		return err
	}
	if q.demo && isTerminal(c.OutOrStdout()) {
		openBrowser(ctx, url)
	}
	return s.Serve(ctx, l)
}

// complete checks options against each other, and reads those that name files.
func (q *serving) complete(c *cobra.Command, args []string) error {
	// Half of the memory is for models and a quarter for requests; the rest is the
	// program's own, and garbage.
	q.config.MaxModels, q.config.MaxMemory, q.config.MaxBody = maxMemory(c)/2, maxMemory(c)/4, int64(q.maxBody)
	if q.config.MaxMemory < q.config.MaxBody {
		return usagef("--max-memory: a quarter of it, %d bytes, is for requests, and below --max-body, %d; give more of the one or less of the other", q.config.MaxMemory, q.config.MaxBody)
	}
	if (len(q.capacity.Limits) > 0) != (q.capacity.Per != "") {
		return usagef("--capacity and --per: give both, such as --capacity visit=100 --per day, or none")
	}
	q.config.Capacity, q.config.Per = q.capacity.Limits, table.Period(q.capacity.Per)
	var err error
	if q.config.Models, err = modelSources(args); err != nil {
		return err
	}
	if q.tokens != "" {
		q.config.Tokens, err = readTokens(q.tokens)
	}
	return err
}

// modelSources are the models given as path or name=path.
func modelSources(args []string) (sources []server.Source, err error) {
	seen := make(map[string]string)
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		if !named || strings.ContainsRune(name, filepath.Separator) {
			path = arg
			name = strings.TrimSuffix(filepath.Base(arg), ".lossep")
		}
		if other, twice := seen[name]; twice {
			return nil, usagef("%s and %s would both be called %q; name one of them, as in other=%s", other, path, name, path)
		}
		seen[name] = path
		sources = append(sources, server.Source{Name: name, Open: func() (io.ReadCloser, error) { return regular.Open(path) }})
	}
	return sources, nil
}

func modelNames(sources []server.Source) string {
	names := make([]string, 0, len(sources))
	for _, s := range sources {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// newServer reads the models. What keeps it from doing so is in the files.
func newServer(config server.Config) (*server.Server, error) {
	s, err := server.New(config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%w; make a model with 'lossep fit … -o FILE'", err)
	}
	if err != nil {
		return nil, &usageError{orTable(err)}
	}
	return s, nil
}

// readTokens reads a file of one token a line.
func readTokens(path string) (tokens []string, err error) {
	const most = 1 << 20 // bytes, room for ten thousand tokens
	text, err := regular.Read(path, most)
	if err != nil {
		return nil, usagef("--tokens: %w", err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if strings.ContainsAny(line, " \t") {
			return nil, usagef("--tokens: %s, line %d: a token has no blanks; give one a line", path, i+1)
		}
		tokens = append(tokens, line)
	}
	if len(tokens) == 0 {
		return nil, usagef("--tokens: %s has no token, and nobody could ask anything; give one a line, or leave --tokens out", path)
	}
	return tokens, nil
}

func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	var syntax *net.AddrError
	if errors.As(err, &syntax) {
		return nil, usagef("--addr: %w; give host:port, such as 127.0.0.1:8080", err)
	}
	if err != nil {
		return nil, fmt.Errorf("--addr: %w", err)
	}
	return l, nil
}

// demoSource fits the embedded example, with a few of its new cases to try.
func demoSource(c *cobra.Command) (server.Source, error) {
	m, err := decidingModel(c, nil)
	if err != nil {
		return server.Source{}, err
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		return server.Source{}, err
	}
	return server.Source{
		Name:     strings.TrimSuffix(example.Name, ".csv"),
		Open:     func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil },
		Examples: demoRows(),
	}, nil
}

// demoRows are ten cases that the example's model has not seen, from all over the
// table.
func demoRows() []map[string]any {
	const most = 10
	t := example.HeldOut()
	var rows []map[string]any
	for k := range most {
		row := make(map[string]any)
		for j, cell := range t.Row(k * t.Len() / most) {
			row[t.Columns()[j]] = cell
			if x, ok := table.Number(cell); ok {
				row[t.Columns()[j]] = x
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// newLogger writes lines of text, in which durations have a unit, or JSON, in which they
// are a number of seconds.
func newLogger(w io.Writer, f format) *slog.Logger {
	if f == "json" {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Value.Kind() == slog.KindDuration {
					return slog.Float64("seconds", a.Value.Duration().Seconds())
				}
				return a
			},
		}))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// reloadOn does with every signal all that is to be done, each thing in a goroutine of
// its own: one that takes long, or for ever, keeps none of the others from being done,
// now or with later signals. Signals that come while a thing is being done have it done
// once more.
func reloadOn(ctx context.Context, hangup <-chan os.Signal, log *slog.Logger, all []func()) {
	wanted := make([]chan struct{}, len(all))
	for i, reload := range all {
		wanted[i] = make(chan struct{}, 1)
		go func() {
			for range wanted[i] {
				if err := tasks.Try(func() error { reload(); return nil }); err != nil {
					log.Error("not reloaded", "error", err)
				}
			}
		}()
		defer close(wanted[i])
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		for _, w := range wanted {
			select {
			case w <- struct{}{}:
			default: // it is wanted already
			}
		}
	}
}

// reloads are what reads tokens, certificates and models anew, each of which stays as it
// is if its file cannot be used. Who takes a token back does not have to wait for models.
func reloads(s *server.Server, tokens string, secrets *certificates, log *slog.Logger) []func() {
	all := []func(){
		func() { _ = s.Reload() }, // which models were not read is in the log
	}
	if tokens != "" {
		all = append(all, func() {
			texts, err := readTokens(tokens)
			if err == nil {
				err = s.SetTokens(texts)
			}
			if err != nil {
				log.Error("tokens not reloaded", "error", err)
			} else {
				log.Info("tokens loaded", "tokens", len(texts))
			}
		})
	}
	if secrets != nil {
		all = append(all, func() {
			if err := secrets.read(); err != nil {
				log.Error("certificate not reloaded", "error", err)
			} else {
				log.Info("certificate loaded")
			}
		})
	}
	return all
}

// openBrowser shows the page, if the machine knows how to; the address is printed
// anyway.
func openBrowser(ctx context.Context, url string) {
	program := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	c := exec.CommandContext(ctx, program[0], append(program[1:], url)...)
	if c.Start() == nil {
		go func() { _ = c.Wait() }()
	}
}

// certificates are the server's, from files that may be replaced while it runs.
type certificates struct {
	certificate, key string
	current          atomic.Pointer[tls.Certificate]
}

// newCertificates reads the files, or is nil if none are given.
func newCertificates(certificate, key string) (*certificates, error) {
	switch {
	case certificate == "" && key == "":
		return nil, nil
	case certificate == "":
		return nil, usagef("--tls-key: the certificate is missing; give it with --tls-cert")
	case key == "":
		return nil, usagef("--tls-cert: the private key is missing; give it with --tls-key")
	}
	c := &certificates{certificate: certificate, key: key}
	if err := c.read(); err != nil {
		return nil, usagef("--tls-cert: %w", err)
	}
	return c, nil
}

func (c *certificates) read() error {
	const most = 1 << 20 // bytes; a chain has a few thousand
	chain, err := regular.Read(c.certificate, most)
	if err != nil {
		return err
	}
	key, err := regular.Read(c.key, most)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return fmt.Errorf("%s and %s are no certificate chain and its private key, both in PEM: %s", c.certificate, c.key, strings.TrimPrefix(err.Error(), "tls: "))
	}
	c.current.Store(&pair)
	return nil
}

func (c *certificates) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

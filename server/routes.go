package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/lossep/lossep/server/problem"
)

// route is an operation of the interface and what answers it.
type route struct {
	huma.Operation
	open              bool // needs no token
	answer            func(*exchange) error
	request, response any    // of the types that the document describes
	contentType       string // of both
	tensors           bool   // both may be followed by binary tensors
}

// routes makes the handler of everything that is served.
func (s *Server) routes() (http.Handler, error) {
	mux := http.NewServeMux()
	api := humago.New(mux, huma.Config{OpenAPI: newDocument()})
	for _, r := range s.operations() {
		r.describeIn(api.OpenAPI(), r.open || !s.tokens.wanted())
		api.Adapter().Handle(&r.Operation, func(c huma.Context) {
			_, w := humago.Unwrap(c)
			s.answer(w.(*exchange), &r)
		})
	}
	text, err := json.Marshal(api.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("the description of the interface: %w", err)
	}
	s.document = text
	files, err := pageFiles()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		for _, p := range f.paths {
			mux.HandleFunc("GET "+p, func(w http.ResponseWriter, _ *http.Request) {
				x := w.(*exchange)
				x.route = "page"
				f.serve(x)
			})
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		x := w.(*exchange)
		x.writeProblem(elsewhere(mux, r))
	})
	return s.exchanges(func(x *exchange) { s.guard(x, mux) }), nil
}

// answer lets a route answer, and writes down why it does not. An error that is no
// Problem is a mistake of this program.
func (s *Server) answer(x *exchange, r *route) {
	x.route = r.Path
	var err error
	if !r.open {
		err = s.tokens.check(x.request)
	}
	if err == nil {
		err = r.answer(x)
	}
	var p *problem.Problem
	switch {
	case err == nil:
	case errors.As(err, &p):
		x.writeProblem(p)
	default:
		panic(err)
	}
}

// guard turns away what no route is to see: requests that another site makes a browser
// send, and paths that only become one after cleaning.
func (s *Server) guard(x *exchange, next http.Handler) {
	r := x.request
	if onLoopback(r.Context()) && !s.tokens.wanted() && !isLocalHost(r.Host) {
		x.writeProblem(problem.New(http.StatusMisdirectedRequest,
			"without tokens, this server answers under an IP address or as localhost only, lest pages of other sites ask it; use one of these, or have it ask for tokens"))
		return
	}
	if err := s.origins.Check(r); err != nil {
		x.writeProblem(problem.New(http.StatusForbidden, "requests from pages of another origin are refused"))
		return
	}
	if !plainPath(r.URL.Path) {
		x.writeProblem(problem.New(http.StatusNotFound, "there is nothing under this path"))
		return
	}
	next.ServeHTTP(x, r)
}

// plainPath tells whether a path is one that nobody needs to clean.
func plainPath(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, "\x00\\") {
		return false
	}
	parts := strings.Split(p[1:], "/")
	for i, part := range parts {
		if part == "." || part == ".." || part == "" && i < len(parts)-1 {
			return false
		}
	}
	return true
}

// elsewhere says that there is nothing under a path, or nothing for that method.
func elsewhere(mux *http.ServeMux, r *http.Request) *problem.Problem {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := mux.Handler(&other); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if allowed == nil {
		return problem.New(http.StatusNotFound, "there is nothing under this path")
	}
	list := strings.Join(allowed, ", ")
	return problem.New(http.StatusMethodNotAllowed, "use %s here", list).With("Allow", list)
}

// isInference tells whether a path belongs to the inference protocol, which has errors
// of its own form.
func isInference(p string) bool { return p == "/v2" || strings.HasPrefix(p, "/v2/") }

// pathHas tells whether a pattern has a part of that name.
func pathHas(pattern, name string) bool { return strings.Contains(pattern, "{"+name+"}") }

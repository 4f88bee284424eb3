package server

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// pathServer serves the far cases, and models with more columns and costs that vary.
var pathServer = sync.OnceValue(func() *Server {
	s := farServer(tbPanics{})
	c := s.config
	c.Models = append(c.Models, source(tbPanics{}, "loans", loans()), source(tbPanics{}, "amounts", amounts()))
	c.Deadline = 5 * time.Second
	s, err := New(c)
	if err != nil {
		panic(err)
	}
	return s
})

// pathEndpoints are those that take rows, or a problem.
var pathEndpoints = []string{"/v1/models/%s/predict", "/v1/models/%s/decide", "/v1/models/%s/curve", "/v2/models/%s/infer", "/v1/explore/reactor", "/v1/explore/classifier", "/v1/models/%s/value"}

// FuzzRequestToAnswer asks the whole server, from the bytes of a request to those of the
// answer: one of several models, under rows, a utility and further members of any kind,
// in which $1, $2 and $3 stand for numbers. Whatever is asked, the answer is numbers, or
// a refusal that says why, and never a failure of the server.
func FuzzRequestToAnswer(f *testing.F) {
	near, far, tiny := 3.0, 1.2e19, math.SmallestNonzeroFloat64
	rows := `[{"income":$1,"job":"smith","class":"bad"},{"income":$2,"job":"clerk"}]`
	costs := `{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":$3},"b":{"good":1,"bad":0}}}`
	utilities := `{"outcomes":["bad","good"],"utilities":{"a":{"good":$3,"bad":0},"b":{"good":0,"bad":$2},"c":{"good":$1,"bad":$1}}}`
	for model := range byte(len(farCases)) {
		f.Add(model, byte(0), rows, "", "", far, far, near)
		f.Add(model, byte(1), rows, costs, `"second_opinion":true`, near, far, near)
		f.Add(model, byte(1), rows, utilities, `"calibrate":true,"second_opinion":true`, near, -5e50, tiny)
		f.Add(model, byte(2), rows, "", `"vary":{"action":"negative","outcome":"bad"},"from":$3,"to":$1,"scale":"log"`, near, -1e49, tiny)
		f.Add(model, byte(6), rows, costs, `"ask":["income","job"],"labels":true`, near, far, near)
	}
	f.Add(byte(len(farCases)+1), byte(1), `[{"age":$1,"income":$2,"job":"clerk","owner":"True","amount":$3}]`, `{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":"0.5 * amount"},"b":{"good":1,"bad":0}}}`, "", near, near, 1e300)
	f.Add(byte(0), byte(3), `[{"name":"income","shape":[1],"datatype":"FP64","data":[$1]},{"name":"job","shape":[1],"datatype":"BYTES","data":["smith"]}]`, "", "", 1e40, near, near)
	reactor := `"threshold":$1,"prior_variance":$2,"clutter_weight":0.3`
	f.Add(byte(0), byte(4), `[-1.1,$1]`, `[[1,0.01],[0.9,$3]]`, reactor, near, 100.0, 1.0)
	f.Add(byte(0), byte(4), `[1,$3]`, `[[$3,0],[0,$3]]`, reactor, 1e6, 1e9, tiny)
	f.Add(byte(0), byte(5), `[[-1],[$1]]`, `[[1,0],[$3,1]]`, `"labels":[0,1],"kernel":"linear*linear*linear*linear","grid":{"from":[-1],"to":[$2]}`, near, 1e6, tiny)
	f.Add(byte(0), byte(5), `[[-1,0],[$1,$2]]`, `[[1,0],[$3,1]]`, `"labels":[0,1],"kernel":"rbf(variance=$2, lengthscale=$1)"`, near, 4.0, 0.5)
	f.Fuzz(func(t *testing.T, model, endpoint byte, rows, utility, more string, a, b, c float64) {
		if len(rows)+len(utility)+len(more) > 4000 {
			t.Skip("small ones are quick")
		}
		s := pathServer()
		names := (*s.models.Load()).names()
		place := int(endpoint) % len(pathEndpoints)
		path := pathEndpoints[place]
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, names[int(model)%len(names)])
		}
		body := `{` + pathBody(place, rows, utility)
		if more != "" {
			body += "," + more
		}
		body = strings.NewReplacer("$1", fmt.Sprint(a), "$2", fmt.Sprint(b), "$3", fmt.Sprint(c)).Replace(body + `}`)
		checkAnswerOf(t, path, body, ask(s, http.MethodPost, path, body))
	})
}

// pathBody is the members of a request that an endpoint knows by names of its own.
func pathBody(endpoint int, rows, utility string) string {
	names := [2]string{"rows", "utility"}
	switch endpoint {
	case 3:
		if utility != "" {
			utility = `{"utility":` + strconv.Quote(utility) + `}`
		}
		names = [2]string{"inputs", "parameters"}
	case 4:
		names[0] = "data"
	case 5:
		names[0] = "x"
	}
	body := `"` + names[0] + `":` + rows
	if utility != "" {
		body += `,"` + names[1] + `":` + utility
	}
	return body
}

// checkAnswerOf holds that an answer is one.
func checkAnswerOf(t *testing.T, path, body string, w *httptest.ResponseRecorder) {
	t.Helper()
	switch w.Code {
	case http.StatusOK:
		checkFiniteJSON(t, w.Body.Bytes())
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s: the answer %.300s", path, body, w.Body)
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable:
		text := w.Body.String()
		if !json.Valid(w.Body.Bytes()) || len(text) > 4000 {
			t.Errorf("%s %s: %d and %d bytes: %.300s", path, body, w.Code, len(text), text)
		}
		for _, sign := range []string{"goroutine ", "runtime error", ".go:"} {
			if strings.Contains(text, sign) && !strings.Contains(body, sign) {
				t.Errorf("%s %s: %q in %.300s", path, body, sign, text)
			}
		}
	default:
		t.Errorf("%s %s: %d %.300s", path, body, w.Code, w.Body)
	}
}

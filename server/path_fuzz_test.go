package server

import (
	"encoding/json"
	"fmt"
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
var pathEndpoints = []string{"/v1/models/%s/predict", "/v1/models/%s/decide", "/v1/models/%s/curve", "/v2/models/%s/infer", "/v1/explore/reactor", "/v1/explore/classifier"}

// FuzzRequestToAnswer asks the whole server, from the bytes of a request to those of the
// answer: one of several models, under rows, a utility and further members of any kind.
// Whatever is asked, the answer is numbers, or a refusal that says why, and never a
// failure of the server.
func FuzzRequestToAnswer(f *testing.F) {
	row := `[{"income":1.2e19,"job":"smith"},{"income":1.2e19,"job":"smith"}]`
	f.Add(byte(0), byte(0), row, "", "")
	f.Add(byte(1), byte(1), row, "", `"second_opinion":true`)
	f.Add(byte(2), byte(1), `[{"income":5e50,"job":"smith"}]`, `{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":3},"b":{"good":1,"bad":0}}}`, `"calibrate":true`)
	f.Add(byte(3), byte(2), `[{"income":-1e49,"job":"clerk","class":"bad"}]`, "", curveFields+`,"scale":"log"`)
	f.Add(byte(5), byte(1), `[{"income":3,"job":null}]`, `{"outcomes":["bad","good"],"utilities":{"a":{"good":5e-324,"bad":0},"b":{"good":0,"bad":5e-324}}}`, "")
	f.Add(byte(4), byte(1), `[{"income":3}]`, `{"outcomes":["good","bad"],"utilities":{"a":{"good":1e308,"bad":0},"b":{"good":0,"bad":1e-308}}}`, `"calibrate":true,"second_opinion":true`)
	f.Add(byte(9), byte(1), `[{"age":30,"income":20,"job":"clerk","owner":"True","amount":1e300}]`, `{"outcomes":["good","bad"],"costs":{"a":{"good":0,"bad":"0.5 * amount"},"b":{"good":1,"bad":0}}}`, "")
	f.Add(byte(0), byte(3), `[{"name":"income","shape":[1],"datatype":"FP64","data":[1e40]},{"name":"job","shape":[1],"datatype":"BYTES","data":["smith"]}]`, "", "")
	f.Add(byte(0), byte(4), `[-1.1,-2.6]`, `[[1,0.01],[0.9,1]]`, `"threshold":2.2`)
	f.Add(byte(0), byte(4), `[1]`, `[[5e-324,0],[0,5e-324]]`, `"threshold":1e6,"prior_variance":1e9`)
	f.Add(byte(0), byte(5), `[[-1],[1]]`, `[[1,0],[5e-324,1]]`, `"labels":[-1,1],"kernel":"linear*linear*linear*linear","grid":{"from":[-1e6],"to":[1e6]}`)
	f.Fuzz(func(t *testing.T, model, endpoint byte, rows, utility, more string) {
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
		checkAnswerOf(t, path, body+`}`, ask(s, http.MethodPost, path, body+`}`))
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

package server

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/jsonappend"
	"github.com/lossep/lossep/server/oip"
	"github.com/lossep/lossep/service"
)

// inferInputs are rows of loans as tensors: as lists, or as the bytes that follow.
func inferInputs(rows []map[string]any, inBinary bool) (inputs []map[string]any, tail []byte) {
	for _, name := range []string{"age", "income", "job", "owner", "amount"} {
		n := len(rows)
		in := map[string]any{"name": name, "shape": []int{n}}
		var list []any
		before := len(tail)
		for _, row := range rows {
			switch v := row[name].(type) {
			case float64:
				list = append(list, v)
				tail = binary.LittleEndian.AppendUint64(tail, math.Float64bits(v))
			case nil: // a missing number
				list = append(list, "")
				tail = binary.LittleEndian.AppendUint64(tail, math.Float64bits(math.NaN()))
			case string:
				list = append(list, v)
				tail = binary.LittleEndian.AppendUint32(tail, uint32(len(v)))
				tail = append(tail, v...)
			}
		}
		switch {
		case name == "job" || name == "owner":
			in["datatype"] = "BYTES"
		case inBinary || name != "income":
			in["datatype"] = "FP64"
		default: // lists of numbers have no way to say that one is missing
			in["datatype"] = "BYTES"
			for i, v := range list {
				list[i] = fmt.Sprint(v)
			}
		}
		if inBinary {
			in["parameters"] = map[string]any{"binary_data_size": len(tail) - before}
		} else {
			in["data"] = list
		}
		inputs = append(inputs, in)
	}
	if !inBinary {
		tail = nil
	}
	return inputs, tail
}

// askInfer sends a request of the inference protocol the way its clients do.
func askInfer(s *Server, path string, request map[string]any, tail []byte) *httptest.ResponseRecorder {
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	header := []string{"Content-Type: "}
	if tail != nil {
		header = append(header, oip.HeaderLength+": "+strconv.Itoa(len(text)))
	}
	return ask(s, http.MethodPost, path, string(text)+string(tail), header...)
}

// The inference protocol gives the decisions of /v1, as lists and in binary.
func TestInfer(t *testing.T) {
	s, rows := newServer(t), someRows(6)
	for _, costs := range []string{"", "fn=20,fp=1", "fn=0.02*amount,fp=3", `{"outcomes":["good","bad"],"utilities":{"a":{"good":2,"bad":0},"b":{"good":1,"bad":1},"c":{"good":0,"bad":1.5}}}`} {
		more := ""
		parameters := map[string]any{"priority": 1, "sequence_id": "x"}
		if costs != "" {
			more, parameters["utility"] = `"utility":`+string(jsonappend.Quoted(costs)), costs
		}
		v1 := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, more))
		var want decodedOutputs
		for _, d := range v1.Decisions {
			want.Action = append(want.Action, d.Action)
			want.Index = append(want.Index, int64(d.ActionIndex))
			want.Probability = append(want.Probability, d.Probability)
			want.Expected = append(append(want.Expected, d.Cost...), d.Utility...)
			want.Margin = append(want.Margin, d.Margin)
			want.Advantage, want.Saving = append(want.Advantage, d.Advantage...), append(want.Saving, d.Saving)
		}
		for _, in := range []bool{false, true} {
			for _, out := range []bool{false, true} {
				inputs, tail := inferInputs(rows, in)
				parameters["binary_data_output"] = out
				w := askInfer(s, "/v2/models/loans/infer", map[string]any{"id": "42", "inputs": inputs, "parameters": parameters, "model_name": "loans"}, tail)
				got := decodeInfer(t, w, len(v1.Actions))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, binary %t to %t (-v1 +v2)\n%s", costs, in, out, diff)
				}
				if (w.Header().Get(oip.HeaderLength) != "") != out {
					t.Errorf("header %v", w.Header())
				}
			}
		}
	}
}

// decodedOutputs are the outputs of an inference, however they came.
type decodedOutputs struct {
	Action                        []string
	Index                         []int64
	Probability, Expected, Margin []float64
	Advantage, Saving             []float64
}

func decodeInfer(t *testing.T, w *httptest.ResponseRecorder, actions int) (out decodedOutputs) {
	t.Helper()
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	text, tail := w.Body.Bytes(), []byte(nil)
	if n, err := strconv.Atoi(w.Header().Get(oip.HeaderLength)); err == nil {
		text, tail = text[:n], text[n:]
	}
	var r struct {
		ModelName    string `json:"model_name"`
		ModelVersion string `json:"model_version"`
		ID           string `json:"id"`
		Parameters   struct{ Unusual string }
		Outputs      []struct {
			Name, Datatype string
			Shape          []int
			Parameters     struct {
				Size *int `json:"binary_data_size"`
			}
			Data json.RawMessage
		}
	}
	decodeExactly(t, text, &r)
	if r.ModelName != "loans" || len(r.ModelVersion) != 12 || r.ID != "42" || r.Parameters.Unusual != "row 2: job" {
		t.Errorf("%s", text)
	}
	for _, o := range r.Outputs {
		want := []int{len(someRows(6))}
		if o.Name == "expected" || o.Name == "advantage" {
			want = append(want, actions)
		}
		if !slices.Equal(o.Shape, want) {
			t.Errorf("%s has the shape %v", o.Name, o.Shape)
		}
		var data []byte
		if o.Parameters.Size != nil {
			data, tail = tail[:*o.Parameters.Size], tail[*o.Parameters.Size:]
		}
		var err error
		switch o.Name + " " + o.Datatype {
		case "action BYTES":
			err = json.Unmarshal(orNull(o.Data), &out.Action)
			for len(data) > 0 {
				n := 4 + binary.LittleEndian.Uint32(data)
				out.Action, data = append(out.Action, string(data[4:n])), data[n:]
			}
		case "action_index INT64":
			err = json.Unmarshal(orNull(o.Data), &out.Index)
			for ; len(data) > 0; data = data[8:] {
				out.Index = append(out.Index, int64(binary.LittleEndian.Uint64(data)))
			}
		case "probability FP64", "expected FP64", "margin FP64", "advantage FP64", "saving FP64":
			to := map[string]*[]float64{"probability": &out.Probability, "expected": &out.Expected, "margin": &out.Margin, "advantage": &out.Advantage, "saving": &out.Saving}[o.Name]
			err = json.Unmarshal(orNull(o.Data), to)
			for ; len(data) > 0; data = data[8:] {
				*to = append(*to, math.Float64frombits(binary.LittleEndian.Uint64(data)))
			}
		default:
			t.Errorf("output %q of type %q", o.Name, o.Datatype)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if len(tail) > 0 {
		t.Errorf("%d bytes are left over", len(tail))
	}
	return out
}

func orNull(b []byte) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

// Reasons are those of /v1, each as a text of JSON.
func TestInferWhy(t *testing.T) {
	s, rows := newServer(t), someRows(5)
	v1 := answer[DecideResponse](t, s, "/v1/models/loans/decide", rowsBody(t, rows, `"why":2`))
	inputs, tail := inferInputs(rows, false)
	w := askInfer(s, "/v2/models/loans/infer", map[string]any{"inputs": inputs, "parameters": map[string]any{"why": 2}, "outputs": []map[string]any{{"name": "why"}, {"name": "flip"}}}, tail)
	var got struct {
		Outputs []struct {
			Name, Datatype string
			Data           []string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Outputs) != 2 || got.Outputs[0].Datatype != "BYTES" {
		t.Fatalf("%v %s", err, w.Body)
	}
	flips := 0
	for i, d := range v1.Decisions {
		var why []lossep.Reason
		var flip *service.FlipJSON
		if err := errors.Join(json.Unmarshal([]byte(got.Outputs[0].Data[i]), &why), json.Unmarshal([]byte(got.Outputs[1].Data[i]), &flip)); err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(why, d.Why) || !cmp.Equal(flip, d.Flip) {
			t.Errorf("row %d: %v, %v; /v1 says %v, %v", i, why, flip, d.Why, d.Flip)
		}
		if flip != nil {
			flips++
		}
	}
	if flips == 0 {
		t.Error("no decision is flipped; the test shows nothing")
	}
}

// Every type of number is read, as a list and in binary; outputs can be chosen one by
// one.
func TestInferTypes(t *testing.T) {
	s := newServer(t)
	want := answer[DecideResponse](t, s, "/v1/models/loans/decide", `{"rows":[{"age":31,"income":12,"job":"clerk","owner":true,"amount":200}]}`).Decisions[0]
	age := map[string]string{
		"INT8": "\x1f", "INT16": "\x1f\x00", "INT32": "\x1f\x00\x00\x00", "INT64": "\x1f\x00\x00\x00\x00\x00\x00\x00",
		"UINT8": "\x1f", "UINT16": "\x1f\x00", "UINT32": "\x1f\x00\x00\x00", "UINT64": "\x1f\x00\x00\x00\x00\x00\x00\x00",
		"FP32": "\x00\x00\xf8\x41", "FP64": "\x00\x00\x00\x00\x00\x00\x3f\x40", "BYTES": "\x02\x00\x00\x0031",
	}
	rest := `{"name":"income","shape":[1,1],"datatype":"FP64","data":[[12]]},{"name":"job","shape":[1],"datatype":"BYTES","data":["clerk"]},
		{"name":"owner","shape":[1],"datatype":"BOOL","data":[true]},{"name":"amount","shape":[1],"datatype":"UINT64","data":[2e2]}]`
	check := func(name string, w *httptest.ResponseRecorder) {
		t.Helper()
		var r struct {
			Outputs []struct {
				Name string
				Data []float64
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil || len(r.Outputs) != 1 || r.Outputs[0].Name != "probability" || r.Outputs[0].Data[0] != want.Probability {
			t.Errorf("%s: %v %d %s; want %v", name, err, w.Code, w.Body, want.Probability)
		}
	}
	outputs := `,"outputs":[{"name":"probability","parameters":{"binary_data":false}}],"parameters":{"binary_data_output":true}}`
	for datatype, raw := range age {
		number := "31"
		if datatype == "BYTES" {
			number = `" 31 "`
		}
		list := `{"inputs":[{"name":"age","shape":[1],"datatype":"` + datatype + `","data":[` + number + `]},` + rest + outputs
		check(datatype, ask(s, "POST", "/v2/models/loans/infer", list))
		text := fmt.Sprintf(`{"inputs":[{"name":"age","shape":[1],"datatype":%q,"parameters":{"binary_data_size":%d}},`, datatype, len(raw)) + rest + outputs
		check(datatype+" in binary", ask(s, "POST", "/v2/models/loans/infer", text+raw, "Content-Type: application/octet-stream", fmt.Sprintf("%s: %d", oip.HeaderLength, len(text))))
	}
}

// A 32-bit number is the decimal that stands for it, and integers of 64 bits end where they do.
func TestInferSingles(t *testing.T) {
	s := newServer(t)
	row := `{"name":"age","shape":[1],"datatype":"UINT64","data":[%s]},{"name":"job","shape":[1],"datatype":"BYTES","data":["clerk"]},` +
		`{"name":"owner","shape":[1],"datatype":"BOOL","data":[true]},{"name":"amount","shape":[1],"datatype":"INT64","data":[200]},`
	infer := func(age, income, tail string) *httptest.ResponseRecorder {
		text := `{"inputs":[` + fmt.Sprintf(row, age) + income + `],"outputs":[{"name":"probability"}]}`
		return ask(s, "POST", "/v2/models/loans/infer", text+tail, "Content-Type: application/octet-stream", fmt.Sprintf("%s: %d", oip.HeaderLength, len(text)))
	}
	probability := func(w *httptest.ResponseRecorder) string {
		_, data, _ := strings.Cut(w.Body.String(), `"data"`)
		return data
	}
	want := probability(infer("31", `{"name":"income","shape":[1],"datatype":"FP64","data":[12.1]}`, ""))
	for _, income := range []string{`"data":[12.1]`, `"data":[12.1000003]`} {
		if got := probability(infer("31", `{"name":"income","shape":[1],"datatype":"FP32",`+income+`}`, "")); got != want || got == "" {
			t.Errorf("%s is %s, want %s", income, got, want)
		}
	}
	bits := binary.LittleEndian.AppendUint32(nil, math.Float32bits(12.1))
	if got := probability(infer("31", `{"name":"income","shape":[1],"datatype":"FP32","parameters":{"binary_data_size":4}}`, string(bits))); got != want {
		t.Errorf("in binary %s, want %s", got, want)
	}
	if w := infer("18446744073709551616", `{"name":"income","shape":[1],"datatype":"FP32","data":[1]}`, ""); w.Code != 400 || !strings.Contains(w.Body.String(), "18446744073709551616 is no UINT64") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What the inference protocol cannot answer it refuses in its own words.
func TestBadInfer(t *testing.T) {
	s := newServer(t, func(c *Config) { c.MaxRows = 3 })
	good := `{"name":"income","shape":[1],"datatype":"FP64","data":[12]},{"name":"job","shape":[1],"datatype":"BYTES","data":["clerk"]},{"name":"owner","shape":[1],"datatype":"BOOL","data":[true]},{"name":"amount","shape":[1],"datatype":"FP64","data":[1]}`
	age := func(shape, datatype, rest string) string {
		return `{"inputs":[{"name":"age","shape":` + shape + `,"datatype":"` + datatype + `",` + rest + `},` + good + `]}`
	}
	for _, c := range []struct {
		name, body, header string
		status             int
		message            string
	}{
		{"no JSON", `{"inputs":`, "", 400, "unexpected EOF"},
		{"NaN", age(`[1]`, "FP64", `"data":[NaN]`), "", 400, "invalid character"},
		{"no inputs", `{}`, "", 400, "no inputs"},
		{"a wrong type", `{"inputs":5}`, "", 400, "inputs: this number"},
		{"a name twice", `{"inputs":[],"inputs":[]}`, "", 400, "twice"},
		{"an input missing", `{"inputs":[` + good + `]}`, "", 400, `input "age", row 0: the row lacks this column`},
		{"an input twice", `{"inputs":[` + good + `,` + good + `]}`, "", 400, `"income" is given twice`},
		{"an unknown input", `{"inputs":[{"name":"shoes","shape":[1],"datatype":"FP64","data":[1]},` + good + `]}`, "", 400, `no input "shoes"`},
		{"an unknown type", age(`[1]`, "FP8", `"data":[1]`), "", 400, `"FP8" is not taken`},
		{"no shape", age(`[]`, "FP64", `"data":[1]`), "", 400, "shape"},
		{"a square", age(`[1,2]`, "FP64", `"data":[1,2]`), "", 400, "shape"},
		{"no rows", age(`[0]`, "FP64", `"data":[]`), "", 400, "at least one row"},
		{"fewer than none", age(`[-1]`, "FP64", `"data":[]`), "", 400, "at least one row"},
		{"a huge shape", age(`[9223372036854775807]`, "FP64", `"data":[]`), "", 400, "rows"},
		{"too many rows", `{"inputs":[{"name":"age","shape":[4],"datatype":"FP64","data":[1,2,3,4]}]}`, "", 413, "more than 3 rows"},
		{"rows that differ", age(`[2]`, "FP64", `"data":[1,2]`), "", 400, `has 1 rows, and "age" has 2`},
		{"too few elements", age(`[1]`, "FP64", `"data":[]`), "", 400, "0 elements"},
		{"too many elements", age(`[1]`, "FP64", `"data":[1,2]`), "", 400, "more than 1 elements"},
		{"data that are no list", age(`[1]`, "FP64", `"data":1`), "", 400, "not a list"},
		{"no data", age(`[1]`, "FP64", `"x":1`), "", 400, "not a list"},
		{"a word", age(`[1]`, "FP64", `"data":["x"]`), "", 400, "a text is no FP64"},
		{"null", age(`[1]`, "FP64", `"data":[null]`), "", 400, "null is no FP64"},
		{"an object", age(`[1]`, "BYTES", `"data":[{}]`), "", 400, "an object is no BYTES"},
		{"half", age(`[1]`, "INT32", `"data":[0.5]`), "", 400, "0.5 is no INT32"},
		{"too large an integer", age(`[1]`, "INT8", `"data":[128]`), "", 400, "128 is no INT8"},
		{"too large a number", age(`[1]`, "FP64", `"data":[1e999]`), "", 400, "too large"},
		{"too far", age(`[1]`, "FP64", `"data":[1e300]`), "", 400, "too far"},
		{"both", age(`[1]`, "FP64", `"data":[1],"parameters":{"binary_data_size":8}`), "", 400, "one of them"},
		{"no bytes", age(`[1]`, "FP64", `"parameters":{"binary_data_size":8}`), "", 400, "of the 0 bytes that are left"},
		{"a size that is none", age(`[1]`, "FP64", `"parameters":{"binary_data_size":"8"}`), "", 400, "binary_data_size"},
		{"a size below 0", age(`[1]`, "FP64", `"parameters":{"binary_data_size":-8}`), "", 400, "binary_data_size"},
		{"a wrong header", age(`[1]`, "FP64", `"data":[1]`), "-1", 400, oip.HeaderLength},
		{"too long a header", age(`[1]`, "FP64", `"data":[1]`), "99999999", 400, oip.HeaderLength},
		{"an unknown output", age(`[1]`, "FP64", `"data":[1]`)[:len(age(`[1]`, "FP64", `"data":[1]`))-1] + `,"outputs":[{"name":"x"}]}`, "", 400, `output of the name "x"`},
		{"an output twice", age(`[1]`, "FP64", `"data":[1]`)[:len(age(`[1]`, "FP64", `"data":[1]`))-1] + `,"outputs":[{"name":"action"},{"name":"action"}]}`, "", 400, "twice"},
		{"classes", age(`[1]`, "FP64", `"data":[1]`)[:len(age(`[1]`, "FP64", `"data":[1]`))-1] + `,"outputs":[{"name":"action","parameters":{"classification":2}}]}`, "", 400, "classifications"},
		{"bad costs", age(`[1]`, "FP64", `"data":[1]`)[:len(age(`[1]`, "FP64", `"data":[1]`))-1] + `,"parameters":{"utility":"fn=0,fp=1"}}`, "", 400, "invalid cost 0"},
		{"costs that are a number", age(`[1]`, "FP64", `"data":[1]`)[:len(age(`[1]`, "FP64", `"data":[1]`))-1] + `,"parameters":{"utility":5}}`, "", 400, "utility"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var header []string
			if c.header != "" {
				header = []string{oip.HeaderLength + ": " + c.header}
			}
			checkInferError(t, ask(s, "POST", "/v2/models/loans/infer", c.body, header...), c.status, c.message)
		})
	}
	text := `{"inputs":[{"name":"job","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":%d}}]}`
	for _, tail := range []string{"\x05\x00\x00\x00abc", "\xff\xff\xff\xffabc", "abc", "\x01\x00\x00\x00\xff", "\x01\x00\x00\x00a\x00\x00\x00\x00"} {
		body := fmt.Sprintf(text, len(tail))
		checkInferError(t, ask(s, "POST", "/v2/models/loans/infer", body+tail, fmt.Sprintf("%s: %d", oip.HeaderLength, len(body))), 400, `input "job"`)
	}
	body := fmt.Sprintf(text, 5)
	checkInferError(t, ask(s, "POST", "/v2/models/loans/infer", body+"\x01\x00\x00\x00a\x00", fmt.Sprintf("%s: %d", oip.HeaderLength, len(body))), 400, "1 bytes follow")
	checkInferError(t, ask(s, "POST", "/v2/models/nobody/infer", body), 404, "no model")
	checkInferError(t, ask(s, "GET", "/v2/models/loans/versions/2", ""), 404, "version")
	checkInferError(t, ask(s, "GET", "/v2/models/loans/infer", ""), 405, "use POST")
	checkInferError(t, ask(s, "POST", "/v2/models/loans/infer", body, "Content-Type: text/plain"), 415, "type")
	checkInferError(t, ask(s, "POST", "/v2/models/loans/infer", body, "Content-Encoding: gzip"), 415, "encoding")
}

func checkInferError(t *testing.T, w *httptest.ResponseRecorder, status int, message string) {
	t.Helper()
	var e oip.InferError
	if w.Code != status || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s %s, want %d", w.Code, w.Header().Get("Content-Type"), w.Body, status)
	}
	decodeExactly(t, w.Body.Bytes(), &e)
	if !strings.Contains(e.Error, message) {
		t.Errorf("error %q, want %q", e.Error, message)
	}
	for _, leak := range leaks {
		if strings.Contains(e.Error, leak) {
			t.Errorf("%q in %q", leak, e.Error)
		}
	}
}

// Metadata and health as the protocol has them.
func TestProtocol(t *testing.T) {
	s := newServer(t)
	var server oip.ServerMetadata
	decodeExactly(t, ask(s, "GET", "/v2", "").Body.Bytes(), &server)
	if server.Name != "lossep" || !slices.Contains(server.Extensions, "binary_tensor_data") {
		t.Errorf("%+v", server)
	}
	var m oip.ModelMetadata
	decodeExactly(t, ask(s, "GET", "/v2/models/amounts", "").Body.Bytes(), &m)
	want := []oip.TensorMetadata{{Name: "age", Datatype: "FP64", Shape: []int{-1}}, {Name: "income", Datatype: "FP64", Shape: []int{-1}}, {Name: "job", Datatype: "BYTES", Shape: []int{-1}}, {Name: "owner", Datatype: "BYTES", Shape: []int{-1}}, {Name: "amount", Datatype: "FP64", Shape: []int{-1}}}
	if diff := cmp.Diff(want, m.Inputs); diff != "" {
		t.Error(diff)
	}
	if m.Outputs[2].Name != "expected" || !slices.Equal(m.Outputs[2].Shape, []int{-1, 2}) || m.Platform == "" {
		t.Errorf("%+v", m)
	}
	var again oip.ModelMetadata
	decodeExactly(t, ask(s, "GET", "/v2/models/amounts/versions/"+m.Versions[0], "").Body.Bytes(), &again)
	if diff := cmp.Diff(m, again); diff != "" {
		t.Error(diff)
	}
	for _, path := range []string{"/v2/health/live", "/v2/health/ready", "/v2/models/loans/ready", "/v2/models/amounts/versions/" + m.Versions[0] + "/ready", "/v2/"} {
		if w := ask(s, "GET", path, ""); w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	s.draining.Store(true)
	checkInferError(t, ask(s, "GET", "/v2/health/ready", ""), 503, "about to end")
	checkInferError(t, ask(s, "GET", "/v2/models/loans/ready", ""), 503, "about to end")
	if w := ask(s, "GET", "/v2/health/live", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"ready":false`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Whatever the bytes, there is an answer of the protocol that can be read.
func FuzzInfer(f *testing.F) {
	s := newServer(f, func(c *Config) { c.MaxRows, c.MaxBody = 20, 1<<16 })
	for _, in := range []bool{false, true} {
		inputs, tail := inferInputs(someRows(2), in)
		text, _ := json.Marshal(map[string]any{"inputs": inputs, "parameters": map[string]any{"binary_data_output": in}})
		header := ""
		if in {
			header = strconv.Itoa(len(text))
		}
		f.Add(append(text, tail...), header)
	}
	f.Add([]byte(`{"inputs":[{"name":"age","shape":[1,1],"datatype":"INT64","data":[[9007199254740993]]}],"outputs":[]}`), "")
	f.Add([]byte(`{}`), "2")
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		q := httptest.NewRequest("POST", "/v2/models/loans/infer", bytes.NewReader(body))
		q.Header.Set(oip.HeaderLength, header)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, q)
		if w.Code != 200 {
			if w.Code < 400 || w.Code > 499 {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			var e oip.InferError
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || e.Error == "" {
				t.Fatalf("%v %s", err, w.Body)
			}
			return
		}
		text, tail := w.Body.Bytes(), 0
		if n, err := strconv.Atoi(w.Header().Get(oip.HeaderLength)); err == nil {
			text, tail = text[:n], len(text)-n
		}
		var r struct {
			Outputs []struct {
				Parameters struct {
					Size int `json:"binary_data_size"`
				}
			}
		}
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, o := range r.Outputs {
			tail -= o.Parameters.Size
		}
		if tail != 0 {
			t.Fatalf("the sizes are wrong by %d bytes in %s", tail, text)
		}
	})
}

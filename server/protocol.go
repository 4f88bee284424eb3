package server

import (
	"net/http"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
)

// The Open Inference Protocol (V2) over REST, as KServe specifies it, with the binary
// tensor extension. An input is a tensor for each column, with an element for each row.

// InferError is how this protocol says that something is wrong.
type InferError struct {
	Error string `json:"error"`
}

// ServerMetadata is what the server says of itself.
type ServerMetadata struct {
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Extensions []string `json:"extensions"`
}

// ServerHealth is how the server is. The protocol has live in both answers.
type ServerHealth struct {
	Live  bool `json:"live"`
	Ready bool `json:"ready"`
}

// ModelHealth is how a model is.
type ModelHealth struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
}

// ModelMetadata is the tensors that a model takes and gives.
type ModelMetadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Platform string           `json:"platform"`
	Inputs   []TensorMetadata `json:"inputs"`
	Outputs  []TensorMetadata `json:"outputs"`
}

// TensorMetadata describes a tensor; -1 is a dimension of any size.
type TensorMetadata struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

func (s *Server) serverMetadata(x *exchange) error {
	x.writeJSON(ServerMetadata{Name: "lossep", Version: lossep.Version, Extensions: []string{"binary_tensor_data"}})
	return nil
}

func (s *Server) serverLive(x *exchange) error {
	x.writeJSON(ServerHealth{Live: true, Ready: s.ready()})
	return nil
}

func (s *Server) serverReady(x *exchange) error {
	if !s.ready() {
		return refuse(http.StatusServiceUnavailable, "the server is about to end")
	}
	return s.serverLive(x)
}

func (s *Server) modelReady(x *exchange) error {
	m, err := s.versionOf(x)
	if err != nil {
		return err
	}
	if !s.ready() {
		return refuse(http.StatusServiceUnavailable, "the server is about to end")
	}
	x.writeJSON(ModelHealth{Name: m.name, Ready: true})
	return nil
}

func (s *Server) modelMetadata(x *exchange) error {
	m, err := s.versionOf(x)
	if err != nil {
		return err
	}
	meta := ModelMetadata{Name: m.name, Versions: []string{m.version()}, Platform: "lossep_model", Outputs: outputsOf(len(m.model.Utility().Actions()))}
	for _, c := range m.description.Columns {
		datatype := "BYTES"
		if c.Kind == string(data.Numeric) {
			datatype = "FP64"
		}
		meta.Inputs = append(meta.Inputs, TensorMetadata{c.Name, datatype, []int{-1}})
	}
	x.writeJSON(meta)
	return nil
}

// outputsOf are the outputs of a model with so many actions.
func outputsOf(actions int) []TensorMetadata {
	return []TensorMetadata{
		{"action", "BYTES", []int{-1}},
		{"action_index", "INT64", []int{-1}},
		{"probability", "FP64", []int{-1}},
		{"expected", "FP64", []int{-1, actions}},
		{"margin", "FP64", []int{-1}},
	}
}

// version is what the protocol calls the model's: another file is another version.
func (m *served) version() string { return m.digest[:12] }

// versionOf finds the model that a request names, in the version that it names, if it
// does.
func (s *Server) versionOf(x *exchange) (*served, error) {
	m, err := s.modelOf(x)
	if err != nil {
		return nil, err
	}
	if v := x.request.PathValue("version"); v != "" && v != m.version() {
		return nil, refuse(http.StatusNotFound, "the model has the version %s only", m.version())
	}
	return m, nil
}

// Package oip is the form of the Open Inference Protocol (V2) over REST, as KServe specifies
// it, with the binary tensor extension: what requests and responses are made of, and how
// they are read and written.
//
// An input is a tensor for each column, with an element for each row. What is not as it
// should be is refused with 400, the one status that the protocol knows for that.
package oip

import "github.com/lossep/lossep/service"

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

// OutputsOf are the outputs of a model that answers with these fields.
func OutputsOf(fields []service.Field) []TensorMetadata {
	outputs := make([]TensorMetadata, len(fields))
	for k := range fields {
		f := &fields[k]
		outputs[k] = TensorMetadata{f.Name, "FP64", []int{-1}}
		switch {
		case f.Text != nil, f.Object != nil:
			outputs[k].Datatype = "BYTES"
		case f.Whole != nil:
			outputs[k].Datatype = "INT64"
		case f.Numbers != nil:
			outputs[k].Shape = append(outputs[k].Shape, len(f.Over))
		}
	}
	return outputs
}

package server

import "github.com/lossep/lossep/infer"

// MethodList is the table of methods.
type MethodList struct {
	Methods []infer.Method `json:"methods"`
}

func (s *Server) listMethods(x *exchange) error {
	x.writeJSON(MethodList{Methods: infer.Methods(nil)})
	return nil
}

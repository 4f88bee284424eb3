package server

import "github.com/lossep/lossep/methods"

// MethodList is the table of methods.
type MethodList struct {
	Methods []methods.Method `json:"methods"`
}

func (s *Server) listMethods(x *exchange) error {
	x.writeJSON(MethodList{Methods: methods.List(nil)})
	return nil
}

package service

import "github.com/lossep/lossep"

// Update is a request to add rows to a model, and to take some away.
type Update struct {
	Table
	Model   lossep.UpdateOptions // but for Forget, a table that front ends read
	Forget  string               // the file of it
	Options Options
}

// NewUpdate is a request with every option at its default.
func NewUpdate() *Update {
	u := new(Update)
	u.Options = append(Options{
		{Name: "half-life", Group: Basics, Help: "the number of new rows after which what the rows before them told counts half as much (default: it always counts)", Value: number{&u.Model.HalfLife}},
		{Name: "refit-kernel", Group: Basics, Help: "search for the kernel's hyperparameters anew, from those of the model, with all its rows", Value: toggle{&u.Model.RefitKernel}},
		{Name: "forget", Group: Basics, CommandOf: true, Help: "a table of rows to take away, as they stood in the table that the model was fitted to", Value: text{&u.Forget, "FILE"}},
		{Name: "ids", Group: Basics, CommandOf: true, Help: "identifiers of the rows of {forget} to take away, such as c17,c18 (default: all of them)", Value: ListOf(&u.Model.IDs, "A,B,C")},
	}, u.Table.Options()...)
	return u
}

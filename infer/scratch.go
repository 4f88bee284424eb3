package infer

import (
	"sync"

	"github.com/lossep/lossep/gauss"
)

// scratch is the large working memory of a run. Runs that follow each other, as those of a
// search for hyperparameters do, use the same.
type scratch struct {
	nat      *gauss.Natural
	ws       gauss.Workspace
	response response
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// newScratch is for a model of so many dimensions.
func newScratch(dim int) *scratch {
	s := scratches.Get().(*scratch)
	if s.nat == nil || s.nat.Dim() != dim {
		s.nat = gauss.NewNatural(dim)
	}
	return s
}

// release hands it on to the next run.
func (s *scratch) release() {
	s.ws.Forget()
	scratches.Put(s)
}

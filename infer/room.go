package infer

import (
	"sync"

	"github.com/lossep/lossep/gauss"
)

// room is the large scratch of a run. Runs that follow each other, as those of a search
// for hyperparameters do, work in the same room.
type room struct {
	nat      *gauss.Natural
	ws       gauss.Workspace
	response response
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// enter finds a room for a model of so many dimensions.
func enter(dim int) *room {
	r := rooms.Get().(*room)
	if r.nat == nil || r.nat.Dim() != dim {
		r.nat = gauss.NewNatural(dim)
	}
	return r
}

// leave makes way for the next run.
func (r *room) leave() {
	r.ws.Forget()
	rooms.Put(r)
}

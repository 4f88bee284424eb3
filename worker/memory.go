package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/internal/budget"
)

// The memory of the process is one budget in two parts. A quarter is for what requests bring
// and take away: frames, the tables made of them, answers, and the rows that are being
// predicted. It is counted before it is allocated, and a request for which there is nothing
// left is refused; nobody waits for it, so that models in use are soon free. The rest is for
// models and for work that takes matrices: fits, calibrations, audits and models being read.
// Work waits for other work to end, and models that nobody uses make way for it.
type memory struct {
	requests, work budget.Budget
}

func newMemory(bytes int64) *memory {
	return &memory{
		requests: budget.Budget{Total: bytes / 4, Reserved: bytes / 32},
		work:     budget.Budget{Total: bytes - bytes/4},
	}
}

const (
	// headerBytes is what a byte of a header takes once it is read, at most: an empty object
	// becomes a column or a tensor.
	headerBytes = 32
	columnBytes = 512 // of a column beside its cells
	textBytes   = 64  // of a text beside its bytes
)

// freeHeader is how long a header may be that is let in without a payload, whoever has taken
// the memory: requests can be cancelled.
const freeHeader = 4 << 10

// admit reads the header of a request and takes the memory for its payload and its table.
func (s *session) admit(share *budget.Share, r *request, header []byte, payload uint64) error {
	if payload == 0 && len(header) <= freeHeader {
		share = nil
	}
	if err := share.Take(headerBytes * int64(len(header))); err != nil {
		var known struct{ ID uint64 }
		_ = json.Unmarshal(header, &known) // what is wrong with it is said when there is room
		r.ID = known.ID
		return s.refuse(err, "the header", headerBytes*float64(len(header)), &s.memory.requests)
	}
	if err := json.Unmarshal(header, r); err != nil {
		return &malformed{"the header is not what it should be: " + err.Error()}
	}
	return s.take(share, "the data", float64(payload)+r.tableBytes(payload))
}

// tableBytes is what the table of a request takes. A tensor that several columns are made of
// counts for each of them.
func (r *request) tableBytes(payload uint64) float64 {
	elements := func(k int) float64 {
		if k < 0 || k >= len(r.Tensors) {
			return 0 // which is refused when it is looked for
		}
		n := 1.0
		for _, size := range r.Tensors[k].Shape {
			n *= math.Max(0, float64(size))
		}
		return math.Min(n, float64(payload))
	}
	sum := 0.0
	for _, c := range r.Columns {
		sum += columnBytes
		if c.Texts == nil {
			if k := c.Tensor; k >= 0 && k < len(r.Tensors) && len(r.Tensors[k].Shape) == 2 {
				sum += 8 * math.Min(math.Max(0, float64(r.Tensors[k].Shape[1])), float64(payload))
			}
			continue
		}
		sum += (4+8)*elements(c.Tensor) + 3*elements(c.Texts[0]) + textBytes*elements(c.Texts[1])
	}
	return sum
}

// take takes memory for a request, or says that there is none.
func (s *session) take(share *budget.Share, what string, bytes float64) error {
	return s.refuse(share.Take(atMost(bytes)), what, bytes, &s.memory.requests)
}

// wait takes memory for work, once there is some.
func (s *session) wait(ctx context.Context, what string, bytes float64) (*budget.Share, error) {
	share := &budget.Share{Budget: &s.memory.work}
	return share, s.refuse(share.Wait(ctx, atMost(bytes), s.models.spare), what, bytes, &s.memory.work)
}

// atMost is a number of bytes that can be added to others.
func atMost(bytes float64) int64 { return int64(math.Min(bytes, 1<<60)) }

// refuse says of an error of a budget what there is too little memory for.
func (s *session) refuse(err error, what string, bytes float64, b *budget.Budget) error {
	if errors.Is(err, budget.ErrTooLarge) {
		return &inputError{fmt.Errorf("%s would take about %.3g GB of memory, more than the %.3g GB that there are for it; give fewer rows or columns, or allow more memory", what, bytes/1e9, float64(b.Total-b.Reserved)/1e9)}
	}
	return err
}

// blockBytes is what predictions of a block of rows may take.
func (s *session) blockBytes() float64 { return float64(s.MaxMemory) / 32 }

// blockOf is how many rows are predicted at a time where each takes so many bytes on the way, and what
// that takes.
func (s *session) blockOf(each float64, rows int) (block int, bytes float64) {
	block = min(rows, blockRows, max(16, int(s.blockBytes()/each)))
	return block, each * float64(block)
}

// rowBytes is what the prediction of a row takes: its covariances with what the model has learned from,
// and what is made of them.
func rowBytes(m *lossep.Model) float64 {
	seen := m.Provenance().Rows
	if inducing := m.Summary().Inducing; inducing != nil {
		seen = inducing.Points
	}
	return 3*8*float64(seen)*float64(lossep.ViewsOf(m.Recipe())) + 2*8*float64(m.Recipe().Dim())
}

package lossep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/lossep/lossep/internal/sealed"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/search"
)

// ErrCheckpoint says that what Checkpoints loaded is not what was kept: a fit neither goes on
// from it nor replaces it.
var ErrCheckpoint = sealed.ErrDamaged

// unfinished is what is kept: the state of a search, and of which.
type unfinished struct {
	Fingerprint string            `json:"fingerprint"`
	Search      search.Checkpoint `json:"search"`
}

// resume is the state of this very search that was kept, nil if there is none, and what
// to call with later ones.
func (p *Problem) resume() (*search.Checkpoint, func(search.Checkpoint), error) {
	kept := p.opt.Checkpoints
	if kept == nil {
		return nil, nil, nil
	}
	fingerprint := p.fingerprint()
	var from *search.Checkpoint
	if state := kept.Load(); state != nil {
		var u unfinished
		if err := sealed.Unmarshal(state, &u); err != nil {
			return nil, nil, err
		}
		switch {
		case u.Fingerprint != fingerprint:
			kept.Refused("of other rows, other options or another version")
		case !u.Search.Fits(p.Kernel, p.X):
			return nil, nil, ErrCheckpoint
		default:
			from = &u.Search
			kept.Resumed(from.Rows)
		}
	}
	return from, func(c search.Checkpoint) {
		if c.Rows == 0 {
			return // there is nothing to go on from
		}
		if state, err := sealed.Marshal(unfinished{fingerprint, c}); err == nil {
			kept.Keep(state, c.Rows)
		}
	}, nil
}

// fingerprint tells apart all that leads to another search.
func (p *Problem) fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, Version, search.SearchPlan(), p.withEffects(p.opt.Kernel), p.opt.Fixed, p.opt.Likelihood, p.opt.Seed, p.opt.Inducing, p.opt.power(), p.opt.ShardRows, p.opt.Sweeps)
	fmt.Fprintln(h, p.Kernel, p.shrinkage, p.start, p.coding.Len(), p.coding.Numbers(), p.Len())
	parts := make([][sha256.Size]byte, (p.Len()+fingerprintRows-1)/fingerprintRows)
	tasks.For(len(parts), func(k int) {
		parts[k] = p.fingerprintOf(k*fingerprintRows, min((k+1)*fingerprintRows, p.Len()))
	})
	for _, part := range parts {
		h.Write(part[:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fingerprintRows is the number of rows of one task.
const fingerprintRows = 2048

// fingerprintOf tells rows apart, what they are given by and how much they count.
func (p *Problem) fingerprintOf(from, to int) [sha256.Size]byte {
	_, d := p.X.Dims()
	buffer := make([]byte, 0, (to-from)*(8*d+9))
	for i := from; i < to; i++ {
		for _, v := range p.X.RawRowView(i) {
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
		}
		buffer = append(buffer, byte(p.Labels[i]))
		if p.Weights != nil {
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(p.Weights[i]))
		}
	}
	return sha256.Sum256(buffer)
}

package lossep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"github.com/lossep/lossep/gp"
)

// unfinished is what is kept: the state of a search, and of which.
type unfinished struct {
	Fingerprint string        `json:"fingerprint"`
	Search      gp.Checkpoint `json:"search"`
}

// resume is the state of this very search that was kept, nil if there is none, and what
// to call with later ones.
func (p *Problem) resume() (*gp.Checkpoint, func(gp.Checkpoint)) {
	kept := p.opt.Checkpoints
	if kept == nil {
		return nil, nil
	}
	fingerprint := p.fingerprint()
	var from *gp.Checkpoint
	var u unfinished
	switch state := kept.Load(); {
	case state == nil:
	case json.Unmarshal(state, &u) != nil || u.Fingerprint == "" || u.Fingerprint == fingerprint && !u.Search.Fits(p.Kernel, p.X):
		kept.Refused("damaged")
	case u.Fingerprint != fingerprint:
		kept.Refused("of other rows, other options or another version")
	default:
		from = &u.Search
		kept.Resumed(from.Rows)
	}
	return from, func(c gp.Checkpoint) {
		if c.Rows == 0 {
			return // there is nothing to go on from
		}
		if state, err := json.Marshal(unfinished{fingerprint, c}); err == nil {
			kept.Keep(state, c.Rows)
		}
	}
}

// fingerprint tells apart all that leads to another search.
func (p *Problem) fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, Version, gp.SearchPlan(), p.opt.Kernel, p.opt.Fixed, p.opt.Likelihood, p.opt.Seed, p.opt.Inducing, p.opt.power(), p.opt.ShardRows, p.opt.Sweeps, p.Len())
	buffer := make([]byte, 0, 1<<16)
	flush := func(room int) {
		if len(buffer)+room > cap(buffer) {
			h.Write(buffer)
			buffer = buffer[:0]
		}
	}
	for i, y := range p.Labels {
		for _, v := range p.X.RawRowView(i) {
			flush(8)
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
		}
		flush(9)
		buffer = append(buffer, byte(y))
		if p.Weights != nil {
			buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(p.Weights[i]))
		}
	}
	h.Write(buffer)
	return hex.EncodeToString(h.Sum(nil))
}

package lossep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/gp"
	"github.com/lossep/lossep/internal/sealed"
	"github.com/lossep/lossep/internal/tasks"
	"github.com/lossep/lossep/kernel"
	"github.com/lossep/lossep/search"
)

// ErrCheckpoint says that what Checkpoints loaded is not what was kept: a fit neither goes on
// from it nor replaces it.
var ErrCheckpoint = sealed.ErrDamaged

// unfinished is what is kept: the state of a search, what was found before it, and of which fit.
type unfinished struct {
	Fingerprint string            `json:"fingerprint"`
	Before      json.RawMessage   `json:"before,omitempty"`
	Search      search.Checkpoint `json:"search"`
}

// Unfinished is a fit that goes on from what was kept, and keeps where it has come to. Nil keeps nothing.
type Unfinished struct {
	kept        Checkpoints
	fingerprint string
	loaded      *unfinished
}

// Resume loads what Checkpoints kept of the fit with this fingerprint, which tells apart all that leads to another.
func Resume(kept Checkpoints, fingerprint func() string) (*Unfinished, error) {
	if kept == nil {
		return nil, nil
	}
	u := &Unfinished{kept: kept, fingerprint: fingerprint()}
	state := kept.Load()
	if state == nil {
		return u, nil
	}
	loaded := new(unfinished)
	if err := sealed.Unmarshal(state, loaded); err != nil {
		return nil, err
	}
	if loaded.Fingerprint != u.fingerprint {
		kept.Refused("of other rows, other options or another version")
		return u, nil
	}
	u.loaded = loaded
	return u, nil
}

// Before reads what was found before the search, if anything was kept.
func (u *Unfinished) Before(to any) (kept bool, err error) {
	if u == nil || u.loaded == nil {
		return false, nil
	}
	if json.Unmarshal(u.loaded.Before, to) != nil {
		return false, ErrCheckpoint
	}
	return true, nil
}

// Search has a search go on where it was, and keep where it comes to, with what was found before it.
func (u *Unfinished) Search(o *search.InduceOptions, k kernel.Kernel, x *mat.Dense, terms gp.Terms, before any) error {
	if u == nil {
		return nil
	}
	if u.loaded != nil {
		if !u.loaded.Search.Fits(k, x, terms) {
			return ErrCheckpoint
		}
		o.Resume = &u.loaded.Search
		u.kept.Resumed(o.Resume.Rows)
	}
	found, err := json.Marshal(before)
	if err != nil {
		return nil // it cannot be kept
	}
	o.Checkpoint = func(c search.Checkpoint) {
		if c.Rows == 0 {
			return // there is nothing to go on from
		}
		if state, err := sealed.Marshal(unfinished{u.fingerprint, found, c}); err == nil {
			u.kept.Keep(state, c.Rows)
		}
	}
	return nil
}

// fingerprint tells apart all that leads to another search.
func (p *Problem) fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, Version, search.SearchPlan(), p.withEffects(p.opt.Kernel), p.opt.Fixed, p.opt.Likelihood, p.opt.Seed, p.opt.Inducing, p.opt.power(), p.opt.ShardRows, p.opt.Sweeps)
	fmt.Fprintln(h, p.Kernel, p.shrinkage, p.start, p.coding.Len(), p.coding.Numbers(), p.Len())
	HashRows(h, p.X, numbersOf(p.Labels), p.Weights)
	return hex.EncodeToString(h.Sum(nil))
}

// hashedRows is the number of rows of one task of HashRows.
const hashedRows = 2048

// HashRows adds rows to a hash: inputs, outcomes and further columns, which may be nil.
func HashRows(h hash.Hash, x *mat.Dense, columns ...[]float64) {
	rows, d := x.Dims()
	parts := make([][sha256.Size]byte, (rows+hashedRows-1)/hashedRows)
	tasks.For(len(parts), func(k int) {
		from, to := k*hashedRows, min((k+1)*hashedRows, rows)
		buffer := make([]byte, 0, 8*(to-from)*(d+len(columns)))
		add := func(v float64) { buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v)) }
		for i := from; i < to; i++ {
			for _, v := range x.RawRowView(i) {
				add(v)
			}
			for _, c := range columns {
				if c != nil {
					add(c[i])
				}
			}
		}
		parts[k] = sha256.Sum256(buffer)
	})
	for _, part := range parts {
		h.Write(part[:])
	}
}

package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/lossep/lossep"
)

// passes tell how long is left of a fit, from how long it took so far.
type passes struct {
	start time.Time
	done  float64 // at the start
}

// line says where a fit is: what it looks at, the step and the pass, how far the last pass
// moved the posterior, the evidence, and how long it will take at most.
func (s *passes) line(p lossep.Progress, now time.Time) string {
	text := fmt.Sprintf("%s: ", p.Stage)
	if p.Steps > 0 {
		text += fmt.Sprintf("step %d of at most %d, ", p.Step, p.Steps)
	}
	text += fmt.Sprintf("pass %d, residual %.1e, log evidence %.2f", p.Pass, p.Residual, p.LogEvidence)
	if s.start.IsZero() || p.Done == 0 || p.Done < s.done { // it is not known yet, or no longer
		s.start, s.done = now, p.Done
	}
	took, over := now.Sub(s.start), p.Done-s.done
	if took < leastTime || over < leastDone {
		return text
	}
	if left := time.Duration(float64(took) * (1 - p.Done) / over).Round(time.Second); left > 0 {
		text += fmt.Sprintf(", at most %v left", left)
	}
	return text
}

// leastDone is the share of a fit, and leastTime the time, after which what is left can be
// told from what has been done.
const (
	leastDone = 0.01
	leastTime = 5 * time.Second
)

// unfinishedFile keeps where a fit has come to, beside the model that it is going to
// write.
type unfinishedFile struct {
	errs io.Writer
	path string
	rows int   // with which what is kept was found; 0 if nothing is
	ours bool  // the file is of this fit, or of another that is known to be replaced
	err  error // why no more could be kept
}

// unfinishedBy is the file for a model, nil without one.
func unfinishedBy(model string, errs io.Writer) *unfinishedFile {
	if model == "" {
		return nil
	}
	return &unfinishedFile{path: model + ".unfinished", errs: errs}
}

// Load implements lossep.Checkpoints.
func (f *unfinishedFile) Load() []byte {
	const most = 1 << 28 // of a file that may be anything
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return []byte{}
	}
	state, err := os.ReadFile(f.path)
	if err != nil {
		return []byte{}
	}
	return state
}

// Keep implements lossep.Checkpoints.
func (f *unfinishedFile) Keep(state []byte, rows int) {
	if f.err = writeWhole(f.path, state); f.err == nil {
		f.rows, f.ours = rows, true
	}
}

// Resumed implements lossep.Checkpoints.
func (f *unfinishedFile) Resumed(rows int) {
	f.rows, f.ours = rows, true
	clearProgress(f.errs)
	fmt.Fprintf(f.errs, "going on from %s, which has what was found with %d rows\n", f.path, rows)
}

// Refused implements lossep.Checkpoints.
func (f *unfinishedFile) Refused(why string) {
	f.ours = true
	clearProgress(f.errs)
	fmt.Fprintf(f.errs, "%s is %s: the fit begins anew, and the file is replaced\n", f.path, why)
}

// tell says what is left of a fit that was interrupted. Where it computes at a place, passes that were finished are kept there.
func (f *unfinishedFile) tell(errs io.Writer, place *Place) {
	if f != nil && f.err != nil {
		fmt.Fprintf(errs, "no more could be kept in %s: %v\n", f.path, f.err)
	}
	switch {
	case f != nil && f.rows > 0:
		fmt.Fprintf(errs, "what was found with %d rows is kept in %s; the same command goes on from there\n", f.rows, f.path)
	case f != nil && !f.ours && f.exists(): // it has not been looked at
		fmt.Fprintf(errs, "nothing was written, and %s is as it was\n", f.path)
	case place != nil:
		fmt.Fprintln(errs, "no model was written")
	default:
		fmt.Fprintln(errs, "nothing was written or kept; the same command begins anew")
	}
}

func (f *unfinishedFile) exists() bool {
	_, err := os.Stat(f.path)
	return err == nil
}

// remove is for when the model has been written.
func (f *unfinishedFile) remove() {
	if f.ours {
		_ = os.Remove(f.path) // a file that stays does no harm
	}
}

// blame says of an error about the file what to do with it.
func (f *unfinishedFile) blame(err error) error {
	if !errors.Is(err, lossep.ErrCheckpoint) {
		return err
	}
	return usagef("%s: %w; remove it to fit from the beginning, or give another -o", f.path, err)
}

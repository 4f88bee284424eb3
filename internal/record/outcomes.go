package record

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lossep/lossep/internal/regular"
)

// layout is how times are written.
const layout = "2006-01-02 15:04:05"

// Outcome is what became of a case. A later one of the same case corrects it.
type Outcome struct{ ID, Outcome string }

// Outcomes records what became of cases of a model, in the column of its target. It returns when they are on
// the disk.
func (r *Recorder) Outcomes(model, target string, all []Outcome) error {
	var text []byte
	now := time.Now().UTC().Format(layout)
	for _, o := range all {
		one, err := json.Marshal(map[string]string{"_id": o.ID, target: o.Outcome, "_time": now})
		if err != nil {
			return err
		}
		text = append(append(text, one...), '\n')
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.outcomes[model]
	if f != nil && gone(f) { // removed by hand: the next go to a new one
		_ = f.Close() // all that was written is on the disk
		f = nil
		delete(r.outcomes, model)
	}
	if f == nil {
		folder := filepath.Join(r.config.Dir, model)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		path := filepath.Join(folder, outcomesFile)
		if err := endLine(path); err != nil {
			return err
		}
		var err error
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		if err := syncFolder(folder); err != nil {
			return errors.Join(err, f.Close())
		}
		r.outcomes[model] = f
	}
	_, err := f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err != nil { // such as a full disk: a line that is not whole is taken away, for whoever reads the file meanwhile
		delete(r.outcomes, model)
		err = errors.Join(err, f.Close(), endLine(f.Name()))
	}
	return err
}

const outcomesFile = "_outcomes.jsonl"

// endLine takes away a line that a killed process had begun, and nobody knows of.
func endLine(path string) error {
	text, err := regular.Read(path, math.MaxInt64-1)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if whole := strings.LastIndexByte(string(text), '\n') + 1; err == nil && whole < len(text) {
		err = os.Truncate(path, int64(whole))
	}
	return err
}

// retain removes files of decisions, and outcomes, that are older than they are to be kept.
func (r *Recorder) retain() error {
	if r.config.Keep == 0 {
		return nil
	}
	limit := time.Now().Add(-r.config.Keep)
	files, err := r.files("decisions-*.parquet")
	if err != nil {
		return err
	}
	damaged, err := r.files("_damaged-*" + journalExtension)
	if err != nil {
		return err
	}
	for _, path := range append(files, damaged...) {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(limit) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := r.files(outcomesFile)
	for _, path := range kept {
		model := filepath.Base(filepath.Dir(path))
		if f := r.outcomes[model]; f != nil {
			err = errors.Join(err, f.Close())
			delete(r.outcomes, model)
		}
		err = errors.Join(err, trim(path, limit.UTC().Format(layout)))
	}
	return err
}

// trim takes outcomes before a time out of a file, all or nothing.
func trim(path, limit string) error {
	text, err := regular.Read(path, math.MaxInt64-1)
	if err != nil {
		return err
	}
	lines := strings.SplitAfter(string(text), "\n")
	left := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
		var o struct {
			Time string `json:"_time"`
		}
		return json.Unmarshal([]byte(l), &o) != nil || o.Time < limit
	})
	if strings.Join(left, "") == string(text) {
		return nil
	}
	return replace(path, func(f *os.File) error {
		_, err := f.WriteString(strings.Join(left, ""))
		return err
	})
}

// unfinished are the names of files that are being written.
const unfinished = "_tmp-*"

// replace writes a file beside another and puts it in its place when it is on the disk.
func replace(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), unfinished)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

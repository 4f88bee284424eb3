// Package record keeps decisions and their outcomes in files: a journal that is forced to the disk at
// intervals, from which Parquet files are made, and outcomes that are on the disk before they are
// acknowledged.
//
// A folder has one for each model, with the files decisions-*.parquet, _journal-*.jsonl of decisions that are
// in none of them yet, and _outcomes.jsonl. A process that is killed loses the decisions of the last Interval
// at most, and a line that was begun; what a killed process left is made Parquet of by the next.
package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/lossep/lossep/internal/lock"
	"github.com/lossep/lossep/internal/tasks"
)

const (
	// Interval is how often decisions are forced to the disk.
	Interval = time.Second
	// A journal becomes a Parquet file when it has so many rows, or is so old.
	rotateRows = 200_000
	rotateAge  = 10 * time.Minute
	// queueLength is how many requests wait to be written, and queueBytes what they may hold.
	queueLength = 4096
	queueBytes  = 64 << 20
)

// Config is how to record.
type Config struct {
	Dir     string
	Block   bool          // wait where the queue is full, in place of dropping decisions
	Without []string      // columns that are not recorded
	Keep    time.Duration // how long files of decisions, and outcomes, are kept; 0 stands for ever
	// Failed is told of what could not be written.
	Failed func(error)
}

// Batch is the decisions of one request.
type Batch struct {
	Model, Digest string
	Request       string   // its id, of which those of cases are made that have none
	IDs           []string // of the cases, by IDs: "" for one that has none, and nil if none has one
	Columns       []string // that are recorded of the rows, if they have them
	Time          time.Time
	Body          []byte // JSON with a list of "rows"
	Actions       []string
	Outcomes      []string
	Probabilities [][]float64
}

// Outcome is what became of a case. A later one of the same case corrects it.
type Outcome struct{ ID, Outcome string }

// Recorder records. It is safe for concurrent use.
type Recorder struct {
	config  Config
	lock    *os.File // on the folder; nil where there are no locks
	queue   chan *Batch
	bytes   atomic.Int64 // of bodies in the queue
	dropped atomic.Int64 // decisions
	ended   chan struct{}
	closing sync.RWMutex // held while the queue is closed
	closed  bool

	mu       sync.Mutex // of outcomes
	outcomes map[string]*os.File

	journals map[string]*journal // of the writer alone
	room     []byte              // likewise
}

// journal is where the decisions of a model are written.
type journal struct {
	file *os.File
	to   *bufio.Writer
	rows int
	born time.Time
}

// Open begins to record in a folder, which no other process may record in, and finishes what an earlier one
// left there.
func Open(c Config) (*Recorder, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	held, err := lock.Folder(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Dir, err)
	}
	r := &Recorder{
		config: c, lock: held, queue: make(chan *Batch, queueLength), ended: make(chan struct{}),
		outcomes: make(map[string]*os.File), journals: make(map[string]*journal),
	}
	if err := r.finish(); err != nil {
		return nil, errors.Join(err, r.unlock())
	}
	go func() {
		defer close(r.ended)
		if err := tasks.Try(func() error { r.write(); return nil }); err != nil {
			r.fail(err)
			for b := range r.queue { // nobody waits for ever
				r.drop(b)
			}
		}
	}()
	return r, nil
}

// finish makes Parquet files of the journals of an earlier process, and removes what is old.
func (r *Recorder) finish() error {
	left, err := filepath.Glob(filepath.Join(r.config.Dir, "*", "_journal-*.jsonl"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := compact(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return r.retain()
}

// unlock lets others record in the folder.
func (r *Recorder) unlock() error {
	held := r.lock
	if r.lock = nil; held == nil {
		return nil
	}
	return held.Close()
}

func (r *Recorder) fail(err error) {
	if r.config.Failed != nil {
		r.config.Failed(err)
	}
}

func (r *Recorder) drop(b *Batch) {
	r.bytes.Add(-int64(len(b.Body)))
	r.dropped.Add(int64(len(b.Actions)))
}

// Dropped is how many decisions were not recorded, as the queue was full or the disk failed.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Add records decisions, soon. It keeps the batch.
func (r *Recorder) Add(b *Batch) {
	r.closing.RLock()
	defer r.closing.RUnlock()
	full := r.bytes.Add(int64(len(b.Body))) > queueBytes
	switch {
	case r.closed:
		r.drop(b)
	case r.config.Block:
		r.queue <- b
	case full:
		r.drop(b)
	default:
		select {
		case r.queue <- b:
		default:
			r.drop(b)
		}
	}
}

// write writes what is in the queue, until it is closed.
func (r *Recorder) write() {
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case b, open := <-r.queue:
			if !open {
				r.each(r.rotate)
				return
			}
			if err := r.append(b); err != nil {
				r.dropped.Add(int64(len(b.Actions)))
				r.fail(err)
			}
			r.bytes.Add(-int64(len(b.Body)))
		case <-tick.C:
			r.each(r.sync)
		}
	}
}

func (r *Recorder) each(do func(model string, j *journal) error) {
	for model, j := range r.journals {
		if err := do(model, j); err != nil {
			r.fail(err)
		}
	}
}

// sync forces a journal to the disk, and begins a new one where it is time to.
func (r *Recorder) sync(model string, j *journal) error {
	if err := errors.Join(j.to.Flush(), j.file.Sync()); err != nil {
		return err
	}
	if gone(j.file) {
		return r.lose(model, j)
	}
	if j.rows >= rotateRows || time.Since(j.born) >= rotateAge {
		return r.rotate(model, j)
	}
	return nil
}

// lose counts the decisions of a journal that somebody removed, and has the next go to a new one.
func (r *Recorder) lose(model string, j *journal) error {
	delete(r.journals, model)
	r.dropped.Add(int64(j.rows))
	return errors.Join(fmt.Errorf("%s was removed while the server wrote to it, and %d decisions with it; let nobody else write to the folder",
		j.file.Name(), j.rows), j.file.Close())
}

// gone tells whether a file that is open is no longer where it was opened.
func gone(f *os.File) bool {
	open, err := f.Stat()
	there, failed := os.Stat(f.Name())
	return err == nil && (errors.Is(failed, os.ErrNotExist) || failed == nil && !os.SameFile(open, there))
}

// rotate makes a Parquet file of a journal.
func (r *Recorder) rotate(model string, j *journal) error {
	if gone(j.file) {
		return r.lose(model, j)
	}
	delete(r.journals, model)
	if err := errors.Join(j.to.Flush(), j.file.Sync(), j.file.Close()); err != nil {
		return err
	}
	if err := compact(j.file.Name()); err != nil {
		return err
	}
	return r.retain()
}

// append writes decisions to the journal of their model.
func (r *Recorder) append(b *Batch) error {
	rows, err := rowsOf(b.Body)
	if err != nil {
		return err
	}
	if len(rows) != len(b.Actions) {
		return fmt.Errorf("%d rows for %d decisions", len(rows), len(b.Actions))
	}
	j := r.journals[b.Model]
	if j == nil {
		if j, err = r.newJournal(b.Model); err != nil {
			return err
		}
		r.journals[b.Model] = j
	}
	// What all rows have in common; line says what becomes of it.
	common, err := json.Marshal(line{Time: b.Time.UTC().Format(layout), Digest: b.Digest, Outcomes: b.Outcomes})
	if err != nil {
		return err
	}
	common = common[:len(common)-1]
	text, columns := r.room[:0], r.recorded(b.Columns)
	for i, row := range rows {
		id := b.Request + "-" + strconv.Itoa(i)
		if i < len(b.IDs) && b.IDs[i] != "" {
			id = b.IDs[i]
		}
		text = append(append(text, common...), `,"id":`...)
		if text, err = jsontext.AppendQuote(text, id); err != nil {
			return err
		}
		if text, err = jsontext.AppendQuote(append(text, `,"action":`...), b.Actions[i]); err != nil {
			return err
		}
		text = append(text, `,"probabilities":[`...)
		for k, p := range b.Probabilities[i] {
			if k > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendFloat(text, p, 'g', -1, 64)
		}
		if text, err = appendInputs(append(text, `],"inputs":`...), row, columns); err != nil {
			return err
		}
		text = append(text, "}\n"...)
	}
	r.room = text
	j.rows += len(rows)
	_, err = j.to.Write(text)
	return err
}

// layout is how times are written.
const layout = "2006-01-02 15:04:05"

// line is a decision in a journal.
type line struct {
	ID            string                     `json:"id,omitempty"`
	Time          string                     `json:"time"`
	Digest        string                     `json:"digest"`
	Action        string                     `json:"action,omitempty"`
	Outcomes      []string                   `json:"outcomes"`
	Probabilities []float64                  `json:"probabilities,omitempty"`
	Inputs        map[string]json.RawMessage `json:"inputs,omitempty"`
}

// plain is a JSON value as the text of a cell: a text without its quotes, and nothing for null.
func plain(value json.RawMessage) string {
	var s string
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case json.Unmarshal(value, &s) == nil:
		return s
	}
	return string(value)
}

func (r *Recorder) newJournal(model string) (*journal, error) {
	folder := filepath.Join(r.config.Dir, model)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, fmt.Sprintf("_journal-%d.jsonl", time.Now().UnixNano())), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: f, to: bufio.NewWriterSize(f, 1<<16), born: time.Now()}, syncFolder(folder)
}

// syncFolder makes names in a folder last.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

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
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Sync()
}

const outcomesFile = "_outcomes.jsonl"

// endLine takes away a line that a killed process had begun, and nobody was told of.
func endLine(path string) error {
	text, err := os.ReadFile(path)
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
	files, err := filepath.Glob(filepath.Join(r.config.Dir, "*", "decisions-*.parquet"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(limit) {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, err := filepath.Glob(filepath.Join(r.config.Dir, "*", outcomesFile))
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
	text, err := os.ReadFile(path)
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

// replace writes a file beside another and puts it in its place when it is on the disk.
func replace(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "_tmp-*")
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

// Close writes all that was recorded.
func (r *Recorder) Close() error {
	r.closing.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.closing.Unlock()
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, f := range r.outcomes {
		err = errors.Join(err, f.Close())
	}
	clear(r.outcomes)
	return errors.Join(err, r.unlock())
}

// Package record keeps decisions and their outcomes in files: a journal that is forced to the disk at
// intervals, from which Parquet files are made, and outcomes that are on the disk before they are
// acknowledged.
//
// A folder has one for each model, with the files decisions-*.parquet, _journal-*.bin of decisions that are
// in none of them yet, _damaged-*.bin of which not all could be read, and _outcomes.jsonl. A process that is killed loses the decisions of the last Interval
// at most, and a batch that was begun; what a killed process left is made Parquet of by the next.
//
// A request that is answered pays for one copy of its body, which waits in a queue. One goroutine takes the cells that
// are recorded from there to the journal, and another makes Parquet of journals that are full, so that neither
// answers nor the journal wait for it.
package record

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lossep/lossep/expr"
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
	// Decisions go to the journal while no request is being answered, or after longestDelay, or if more than fewQueued
	// requests wait.
	longestDelay = 10 * time.Millisecond
	fewQueued    = 32
	// fullLength is how many journals wait to become Parquet; with more the journal under way waits.
	fullLength = 64
)

// Config is how to record.
type Config struct {
	Dir     string
	Block   bool          // wait where the queue is full, in place of dropping decisions
	Without []string      // columns that are not recorded
	Keep    time.Duration // how long files of decisions, and outcomes, are kept; 0 stands for ever
	// Failed is called with what could not be written.
	Failed func(error)
}

// Schema is what the decisions of a model have in common.
type Schema struct {
	Model    string   `json:"-"`
	Digest   string   `json:"digest"`            // of the model file
	Outcomes []string `json:"outcomes"`          // that have a probability each
	Actions  []string `json:"actions"`           // their names; nil where they are Numbers
	Numbers  []string `json:"numbers,omitempty"` // columns of what else is known of a case, Action among them where actions have no names
	Columns  []string `json:"columns"`           // that are recorded of the rows, if they have them

	slots map[string]int // numbers of the columns by their names, and by how these look
	frame []byte         // in a journal
}

// Schema is a schema without the columns that are not recorded.
func (r *Recorder) Schema(s Schema) *Schema {
	all := s.Columns
	s.Columns, s.slots = nil, make(map[string]int)
	for _, name := range all {
		if _, twice := s.slots[name]; !twice && !r.leaves(name) {
			s.slots[name], s.Columns = len(s.Columns), append(s.Columns, name)
		}
	}
	for k, name := range s.Columns {
		if _, taken := s.slots[expr.Composed(name)]; !taken {
			s.slots[expr.Composed(name)] = k
		}
	}
	s.frame = schemaFrame(&s)
	return &s
}

// Action is the column of actions.
const Action = "_action"

// values are the columns of numbers.
func (s *Schema) values() []string {
	var names []string
	for _, o := range s.Outcomes {
		names = append(names, "_probability_"+o)
	}
	return append(names, s.Numbers...)
}

// slot is the number of a column as a row names it.
func (s *Schema) slot(name []byte) (int, bool) {
	k, is := s.slots[string(name)]
	if !is {
		k, is = s.slots[expr.Composed(string(name))]
	}
	return k, is
}

// Batch is the decisions of one request.
type Batch struct {
	*Schema
	Request string   // its id, of which those of cases are made that have none
	IDs     []string // of the cases, by IDs: "" for one that has none, and nil if none has one
	Time    time.Time
	Body    []byte    // JSON with a list of "rows", which was found to be valid
	Actions []int     // their places among those that have names, else zeros
	Values  []float64 // probabilities of the outcomes and Numbers, row by row
}

// Recorder records. It is safe for concurrent use.
type Recorder struct {
	config  Config
	lock    *os.File // on the folder; nil where there are no locks
	queue   chan *Batch
	full    chan string  // paths of journals that become Parquet
	bytes   atomic.Int64 // of bodies in the queue
	dropped atomic.Int64 // decisions
	ended   sync.WaitGroup
	closing sync.RWMutex // held while the queue is closed
	closed  bool

	mu       sync.Mutex // of outcomes
	outcomes map[string]*os.File

	journals map[string]*journal // of the writer alone
	room     encoder             // likewise

	hurry     atomic.Bool  // somebody waits for Parquet files
	answering atomic.Int64 // requests
	rested    time.Time    // when what makes Parquet files did last
}

// journal is where the decisions of a model are written.
type journal struct {
	file   *os.File
	to     *bufio.Writer
	schema *Schema // of the last batch, nil where it is written again
	rows   int
	safe   int // rows that are on the disk
	born   time.Time
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
		config: c, lock: held, queue: make(chan *Batch, queueLength), full: make(chan string, fullLength),
		outcomes: make(map[string]*os.File), journals: make(map[string]*journal),
	}
	r.hurry.Store(true)
	if err := r.finish(); err != nil {
		return nil, errors.Join(err, r.unlock())
	}
	r.hurry.Store(false)
	r.start(r.write, func() {
		for b := range r.queue { // nobody waits for ever
			r.drop(b)
		}
	})
	r.start(r.compactAll, func() {
		for range r.full { // the next process makes Parquet of it
		}
	})
	return r, nil
}

// start has work done until the end, and something else where it panics.
func (r *Recorder) start(work, instead func()) {
	r.ended.Add(1)
	go func() {
		defer r.ended.Done()
		if err := tasks.Try(func() error { work(); return nil }); err != nil {
			r.fail(err)
			instead()
		}
	}()
}

// finish makes Parquet files of the journals of an earlier process, and removes what it had begun to write and what
// is old.
func (r *Recorder) finish() error {
	begun, err := r.files(unfinished)
	for _, path := range begun {
		err = errors.Join(err, os.Remove(path))
	}
	if err != nil {
		return err
	}
	left, err := r.files("_journal-*" + journalExtension)
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := r.compact(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return r.retain()
}

// files are those of all models whose names match a pattern, whatever the name of the folder has in it.
func (r *Recorder) files(pattern string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(r.config.Dir), "*/"+pattern)
	for i, name := range found {
		found[i] = filepath.Join(r.config.Dir, name)
	}
	return found, err
}

// compactAll makes Parquet files of journals as they become full.
func (r *Recorder) compactAll() {
	for path := range r.full {
		err := r.compact(path)
		if err != nil {
			err = fmt.Errorf("%s: %w; it is tried again when the server starts", path, err)
		}
		if err = errors.Join(err, r.retain()); err != nil {
			r.fail(err)
		}
	}
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

// Dropped is how many decisions were not recorded, as the queue was full or the disk failed. A place where a journal is
// damaged counts as one, as how many there were is not known.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Answering counts a request that begins (1) or ended (−1): making files waits for requests.
func (r *Recorder) Answering(change int64) { r.answering.Add(change) }

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
	defer close(r.full)
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case b, open := <-r.queue:
			if !open {
				r.each(r.rotate)
				return
			}
			r.wait(longestDelay, func() bool { return r.hurry.Load() || len(r.queue) > fewQueued })
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

// append writes decisions to the journal of their model.
func (r *Recorder) append(b *Batch) error {
	text, err := r.room.batch(b)
	if err != nil {
		return err
	}
	j := r.journals[b.Model]
	if j == nil {
		if j, err = r.newJournal(b.Model); err != nil {
			return err
		}
		r.journals[b.Model] = j
	}
	if j.schema != b.Schema {
		j.schema = b.Schema
		_, err = j.to.Write(b.frame)
	}
	if err == nil {
		_, err = j.to.Write(text)
	}
	if err != nil {
		return errors.Join(err, r.leave(b.Model, j))
	}
	j.rows += len(b.Actions)
	return nil
}

// sync forces a journal to the disk, and begins a new one where it is time to.
func (r *Recorder) sync(model string, j *journal) error {
	if err := errors.Join(j.to.Flush(), j.file.Sync()); err != nil {
		return errors.Join(err, r.leave(model, j))
	}
	j.safe, j.schema = j.rows, nil
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

// leave ends a journal, also one that could not be written, with what is in the file; the next decisions go to a new one.
// What was not forced to the disk yet may be in the file or not: it is counted there, as it is what a table is made of.
func (r *Recorder) leave(model string, j *journal) error {
	delete(r.journals, model)
	err := j.file.Close()
	if there := j.rows; j.safe < j.rows {
		there = 0
		_, failed := frames(j.file.Name(), func(*Schema) {}, func(*decided) error { there++; return nil })
		r.dropped.Add(int64(max(0, j.rows-there)))
		err = errors.Join(err, failed)
	}
	r.full <- j.file.Name()
	return err
}

// gone tells whether a file that is open is no longer where it was opened.
func gone(f *os.File) bool {
	open, err := f.Stat()
	there, failed := os.Stat(f.Name())
	return err == nil && (errors.Is(failed, os.ErrNotExist) || failed == nil && !os.SameFile(open, there))
}

// rotate has a Parquet file made of a journal.
func (r *Recorder) rotate(model string, j *journal) error {
	if gone(j.file) {
		return r.lose(model, j)
	}
	if err := errors.Join(j.to.Flush(), j.file.Sync()); err != nil {
		return errors.Join(err, r.leave(model, j))
	}
	j.safe = j.rows
	return r.leave(model, j)
}

func (r *Recorder) newJournal(model string) (*journal, error) {
	folder := filepath.Join(r.config.Dir, model)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, fmt.Sprintf("_journal-%d%s", time.Now().UnixNano(), journalExtension)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syncFolder(folder); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &journal{file: f, to: bufio.NewWriterSize(f, 1<<16), born: time.Now()}, nil
}

// syncFolder makes names in a folder last.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close writes all that was recorded.
func (r *Recorder) Close() error {
	r.hurry.Store(true)
	r.closing.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.closing.Unlock()
	r.ended.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, f := range r.outcomes {
		err = errors.Join(err, f.Close())
	}
	clear(r.outcomes)
	return errors.Join(err, r.unlock())
}

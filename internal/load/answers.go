package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync/atomic"

	"github.com/lossep/lossep/internal/load/drive"
)

// answers knows what was answered to each request before. The first answer is read and
// counted; later ones have to have the same bytes, of which only the hash is kept.
type answers struct {
	rows  int
	field string // of the answer, with one element for each row
	seed  maphash.Seed
	first []atomic.Uint64 // hash of the first answer; 0 for none
}

func newAnswers(requests, rows int, endpoint string) *answers {
	field := map[string]string{"decide": "decisions", "predict": "predictions"}[endpoint]
	return &answers{rows: rows, field: field, seed: maphash.MakeSeed(), first: make([]atomic.Uint64, requests)}
}

// check is called for every complete answer.
func (a *answers) check(request, status int, body []byte) error {
	if status != http.StatusOK {
		return drive.StatusError(status, body)
	}
	hash := maphash.Bytes(a.seed, body) | 1 // never 0
	before := a.first[request].Load()
	if before == 0 {
		if err := a.count(body); err != nil {
			return err
		}
		if a.first[request].CompareAndSwap(0, hash) {
			return nil
		}
		before = a.first[request].Load()
	}
	if before != hash {
		return errors.New("the answer to the same request is not the same as before")
	}
	return nil
}

// count checks that an answer has an element for each row asked about.
func (a *answers) count(body []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	var rows []json.RawMessage
	if err := json.Unmarshal(fields[a.field], &rows); err != nil {
		return fmt.Errorf("the answer has no %s: %w", a.field, err)
	}
	if len(rows) != a.rows {
		return fmt.Errorf("%d %s for %d rows", len(rows), a.field, a.rows)
	}
	return nil
}

// Package example holds a small real data set and the costs of the mistakes one can
// make on it, so that the main job can be tried without a file of one's own.
//
// It is the Breast Cancer Wisconsin (Diagnostic) data set (Wolberg, Street and
// Mangasarian 1995; UCI Machine Learning Repository, CC BY 4.0): 569 breast masses,
// 30 measurements of each, and the diagnosis. README.md names the source in full.
// The decision is whether to take a biopsy, where a missed cancer costs many times
// an unneeded biopsy.
package example

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"

	"github.com/lossep/lossep/table"
)

// What the example is about. The costs are an illustration: a missed cancer costs as
// much as twenty unneeded biopsies.
const (
	Name     = "breast_cancer.csv"
	Target   = "diagnosis"
	Positive = "malignant"
	Costs    = "fn=20,fp=1"
)

//go:embed breast_cancer.csv
var text []byte

// Table is the whole data set.
func Table() *table.Table {
	t, err := table.Read(context.Background(), bytes.NewReader(text), Name, table.Format{Header: table.HeaderYes})
	if err != nil {
		panic(err) // the file is part of the program
	}
	return t
}

// Training is two of every three rows of the data set: those to fit to.
func Training() *table.Table { return part(func(i int) bool { return !heldOut(i) }) }

// HeldOut is every third row of the data set: new cases to decide, whose diagnosis
// tells how good the decisions were.
func HeldOut() *table.Table { return part(heldOut) }

// heldOut says which rows, numbered from 0, are not fitted to.
func heldOut(row int) bool { return row%3 == 2 }

func part(keep func(row int) bool) *table.Table {
	t := Table()
	var rows []int
	for i := range t.Len() {
		if keep(i) {
			rows = append(rows, i)
		}
	}
	return t.Subset(rows)
}

// HeldOutCSV is HeldOut as text with a header row.
func HeldOutCSV() []byte {
	t := HeldOut()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// A buffer takes everything, so that there is no error to look for.
	_ = w.Write(t.Columns())
	for i := range t.Len() {
		_ = w.Write(t.Row(i))
	}
	w.Flush()
	return b.Bytes()
}

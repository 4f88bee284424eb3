package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/lossep/lossep/data"
)

// column is what the server says about a column that the model wants.
type column struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// readBodies makes request bodies of o.rows rows each from a file, as many as it takes
// to ask about every row; the last begins again at the top. A file without a header has
// the columns c1, c2, …, as in a fit.
func readBodies(o *options, columns []column) ([][]byte, error) {
	f, err := os.Open(o.csv)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	table, err := data.Read(f, o.csv, data.HeaderAuto)
	if err != nil {
		return nil, err
	}
	if table.Len() == 0 {
		return nil, fmt.Errorf("%s has no rows", o.csv)
	}
	rows, err := objects(table, columns)
	if err != nil {
		return nil, err
	}
	suffix := "]}"
	if o.utility != "" {
		text, err := json.Marshal(o.utility)
		if err != nil {
			return nil, err
		}
		suffix = `],"utility":` + string(text) + "}"
	}
	bodies := make([][]byte, (len(rows)+o.rows-1)/o.rows)
	for b := range bodies {
		some := make([]string, o.rows)
		for i := range some {
			some[i] = rows[(b*o.rows+i)%len(rows)]
		}
		bodies[b] = []byte(`{"rows":[` + strings.Join(some, ",") + suffix)
	}
	return bodies, nil
}

// objects are the rows of a table as JSON, cut to the columns wanted.
func objects(table *data.Table, columns []column) ([]string, error) {
	index := make([]int, len(columns))
	for k, c := range columns {
		var err error
		if index[k], err = table.Column(c.Name); err != nil {
			return nil, err
		}
	}
	rows := make([]string, table.Len())
	for i := range rows {
		var b strings.Builder
		for k, c := range columns {
			name, err := json.Marshal(c.Name)
			if err != nil {
				return nil, err
			}
			if k > 0 {
				b.WriteByte(',')
			}
			b.Write(name)
			b.WriteByte(':')
			b.Write(value(table.Row(i)[index[k]], c.Kind))
		}
		rows[i] = "{" + b.String() + "}"
	}
	return rows, nil
}

// value is a cell as JSON: a number in a numeric column, null where the cell is empty,
// and otherwise text.
func value(cell, kind string) []byte {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return []byte("null")
	}
	if kind == string(data.Numeric) {
		if x, err := strconv.ParseFloat(cell, 64); err == nil {
			if text, err := json.Marshal(x); err == nil {
				return text
			}
		}
	}
	text, err := json.Marshal(cell)
	if err != nil {
		panic(err) // every string is JSON
	}
	return text
}

package recipe

import (
	"bytes"
	"compress/gzip"
	"context"
	"strings"
	"testing"

	"github.com/lossep/lossep/table"
)

func mustRead(t testing.TB, text string, header table.Header) *table.Table {
	t.Helper()
	data, err := table.Read(context.Background(), strings.NewReader(text), "test.csv", table.Format{Header: header})
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return data
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

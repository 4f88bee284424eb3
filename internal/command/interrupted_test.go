//go:build unix

package command

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Reading ends with the first signal, also from a pipe on which nothing more arrives.
func TestInterruptedWhileReading(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.lossep")
	save(t, fitLoans(t, 1), model)
	for _, args := range []string{"fit - --cost fn=1,fp=1", "audit - --cost fn=1,fp=1", "predict " + model + " -", "decide " + model + " -"} {
		in, pipe := io.Pipe()
		go func() { _, _ = io.WriteString(pipe, loans) }() // and then nothing
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		var out, errs bytes.Buffer
		if got := run(ctx, strings.Fields(args), in, &out, &errs); got != 1 || out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("lossep %s: exit code %d, %q, %q", args, got, out.String(), errs.String())
		}
		_ = in.Close()
	}
}

package command

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// Exit codes are part of the command's interface, and scripts only see failure.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		want int
	}{
		{"reactor --data 1", 0},
		{"reactor --data x", 2},
		{"reactor --data 1 --nonsense", 2},
		{"reactor --data 1 --threshold 1 --utility 1,0/0,-1", 2},
		{"nonsense", 2},
	} {
		var out, errs bytes.Buffer
		if got := run(context.Background(), strings.Fields(c.args), nil, &out, &errs); got != c.want {
			t.Errorf("lossep %s: exit code %d, want %d (%s)", c.args, got, c.want, errs.String())
		}
		if c.want != 0 && (out.Len() > 0 || errs.Len() == 0) {
			t.Errorf("lossep %s: %d bytes on standard output, %d on standard error", c.args, out.Len(), errs.Len())
		}
	}
}

// An interrupted run ends with a message and fails.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if got := run(ctx, strings.Fields("reactor --data 1,2,3"), nil, &out, &errs); got != 130 || out.Len() > 0 {
		t.Errorf("exit code %d, standard output %q", got, out.String())
	}
	if !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("standard error: %q", errs.String())
	}
}

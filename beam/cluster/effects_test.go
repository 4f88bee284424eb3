package cluster_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// Effects of one family, which are known jointly with the smooth part, and of several, named or chosen, are those of one process
// to the bit; and a driver that died goes on where it was.
func TestEffectsAreThoseOfOneProcess(t *testing.T) {
	folder := tableOf(t, 9_000, 5_400, 12_000)
	for _, more := range [][]string{
		{"--shard-rows", "6600", "--fixed", "--kernel", "rbf + constant + effects(kind)", "--method", "loss-ep"},
		{"--shard-rows", "11000", "--kernel", "linear + constant + effects(a/16)"},
		{"--shard-rows", "6600", "--fixed", "--kernel", "rbf + constant + effects(kind) + effects(a/8, kind)"},
		{"--shard-rows", "30000", "--fixed", "--kernel", "constant + effects(kind) + effects(b/8)", "--weights", "amount", "--cost", "fn=3,fp=1", "--likelihood", "logit", "--method", "vi"},
		{"--shard-rows", "11000", "--kernel", "linear + constant + effects(auto)"},
	} {
		t.Run(strings.Join(more, " "), func(t *testing.T) {
			one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
			code, said := lossep(t, fitArgs(folder, one, more...)...)
			must(t, code, said)
			if !strings.Contains(said, "effects(") {
				t.Fatalf("there are no effects:\n%s", said)
			}
			args := fitArgs(folder, beam, append(more, "--work", filepath.Join(t.TempDir(), "work"))...)
			if strings.Contains(more[1], "6600") {
				interrupted(t, 25, args)
			}
			code, said = lossepBeam(t, args...)
			must(t, code, said)
			if !bytes.Equal(content(t, one), content(t, beam)) {
				t.Errorf("another model:\n%s", said)
			}
		})
	}
}

package cluster_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lossep/lossep/beam/cluster"
	"github.com/lossep/lossep/internal/command"
)

// A driver that dies again and again, while families are chosen, while the kernel is searched for beside them, while the two
// are found in turn and while they are found jointly, ends with the bytes of one process, and makes no pass twice.
func TestEffectsGoOn(t *testing.T) {
	folder := tableOf(t, 9_000, 5_400, 12_000)
	one, beam := filepath.Join(t.TempDir(), "one.lossep"), filepath.Join(t.TempDir(), "beam.lossep")
	fit := func(model string, more ...string) []string {
		return append([]string{
			"fit", folder, "--target", "y", "--positive", "yes", "--features", "a,b", "--cost", "fn=3,fp=1", "--inducing", "12",
			"--shard-rows", "11000", "--kernel", "linear + constant + effects(auto)", "-o", model,
		}, more...)
	}
	code, said := lossep(t, fit(one)...)
	must(t, code, said)
	args := fit(beam, "--work", filepath.Join(t.TempDir(), "work"))
	made, kinds := make(map[string]int), make(map[string]int)
	tries := 0
	for code = 1; code != 0; tries++ {
		if tries > 40 {
			t.Fatalf("no end after %d tries: %s", tries, said)
		}
		code, said = until(t, 7, args, func(pass string) {
			made[pass]++
			kinds[pass[len("000000-"):]]++
		})
	}
	t.Logf("%d passes: %v", len(made), kinds)
	if !bytes.Equal(content(t, one), content(t, beam)) {
		t.Errorf("another model:\n%s", said)
	}
	for pass, n := range made {
		if n > 1 {
			t.Errorf("%s was made %d times", pass, n)
		}
	}
	if tries < 6 || !strings.Contains(said, "going on from") || kinds["effects"] == 0 || kinds["pass-groups"] == 0 {
		t.Errorf("%d passes of the kinds %v in %d tries: %s", len(made), kinds, tries, said)
	}
}

// until runs a fit by Beam and ends it after so many passes as if the driver had died, unless it has ended by then.
func until(t *testing.T, passes int, args []string, passed func(name string)) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	place := cluster.NewPlace()
	begin := place.Passes
	place.Passes = func(ctx context.Context, f command.Fit) (command.Passes, error) {
		p, err := begin(ctx, f)
		if d, ok := p.(*cluster.Driver); ok {
			d.Watch(func(name string) {
				passed(name)
				if passes--; passes == 0 {
					cancel()
				}
			})
		}
		return p, err
	}
	var out, errs bytes.Buffer
	code = command.RunAt(ctx, place, args, strings.NewReader(""), &out, &errs)
	return code, out.String() + errs.String()
}

package budget

import (
	"context"
	"errors"
	"math"
	"testing"
)

// What is taken is bounded, given back, and left to small requests where it is theirs.
func TestTake(t *testing.T) {
	const total, reserved = 1 << 20, 1 << 17
	b := &Budget{Total: total, Reserved: reserved}
	large, small := &Share{Budget: b}, &Share{Budget: b}
	for _, n := range []int64{total + 1, total, total - reserved + 1, math.MaxInt64} {
		if err := large.Take(n); err != ErrTooLarge {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := large.Take(total - reserved); err != nil {
		t.Fatal(err)
	}
	if err := small.Take(Small); err != nil {
		t.Error(err)
	}
	if err := small.Take(1); err != ErrBusy {
		t.Errorf("beyond what is small: %v", err)
	}
	if got := b.Taken(); got != total-reserved+Small {
		t.Errorf("%d bytes are taken", got)
	}
	kept := large.Split(total)
	if large.Taken() != 0 || kept.Taken() != total || b.Taken() != total+Small {
		t.Errorf("%d, %d and %d bytes after a split", large.Taken(), kept.Taken(), b.Taken())
	}
	for _, s := range []*Share{large, small, kept} {
		s.Release()
	}
	if b.Taken() != 0 {
		t.Errorf("%d bytes are still taken", b.Taken())
	}
}

// Who waits goes on when others give back or something can be spared, and not beyond its context.
func TestWait(t *testing.T) {
	b := &Budget{Total: 100}
	other, one := &Share{Budget: b}, &Share{Budget: b}
	nothing := func() bool { return false }
	if err := one.Wait(t.Context(), 101, nothing); err != ErrTooLarge {
		t.Error(err)
	}
	if err := other.Take(60); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := false
	if err := one.Wait(ctx, 50, func() bool { asked = true; cancel(); return false }); !errors.Is(err, context.Canceled) || !asked {
		t.Error(err)
	}
	if err := one.Wait(t.Context(), 50, func() bool { other.Release(); return true }); err != nil {
		t.Error(err)
	}
	waiting := make(chan error)
	go func() {
		waiting <- other.Wait(t.Context(), 60, nothing)
	}()
	one.Release()
	if err := <-waiting; err != nil || b.Taken() != 60 {
		t.Error(err, b.Taken())
	}
}

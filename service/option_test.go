package service

import (
	"errors"
	"strings"
	"testing"
)

// The same mistake is refused by the same words on all surfaces, with each one's own name for
// the option.
func TestMistakesInEverySurfacesWords(t *testing.T) {
	for _, c := range []struct {
		name, typed   string
		given         any
		flags, fields string
	}{
		{"seed", "many", "many", `--seed: "many" is not a whole number from 0 to 18446744073709551615`, `seed: "many" is not a whole number from 0 to 18446744073709551615`},
		{"folds", "1", 1.0, "--folds: 1 is too small; give at least 2", "folds: 1 is too small; give at least 2"},
		{"label-noise", "x", "x", `--label-noise: "x" is not a share such as 0.02 or 2%`, `label_noise: "x" is not a share such as 0.02 or 2%`},
		{"missing", "maybe", "maybe", `--missing: invalid value "maybe"; choose one of impute, error`, `missing: invalid value "maybe"; choose one of impute, error`},
		{"prevalence", "2", 2.0, "--prevalence: 2 is not between 0 and 1; give a share such as 0.02 or 2%", "prevalence: 2 is not between 0 and 1; give a share such as 0.02 or 2%"},
		{"inducing", "few", "few", `--inducing: invalid number of inducing points: "few"; give auto, none or a number from 1`, `inducing: invalid number of inducing points: "few"; give auto, none or a number from 1`},
		{"kernl", "rbf", "rbf", "--kernl: unknown option; did you mean --kernel?", "kernl: unknown option; did you mean kernel?"},
	} {
		a := NewAudit()
		typed := a.Options.Unknown(c.name)
		if o := a.Options.Lookup(c.name); o != nil {
			typed = o.Set(c.typed)
		}
		given := NewAudit().Options.Give(map[string]any{strings.ReplaceAll(c.name, "-", "_"): c.given})
		var one, other *Error
		if !errors.As(typed, &one) || !errors.As(given, &other) {
			t.Errorf("%s: %v and %v", c.name, typed, given)
			continue
		}
		if got := one.Text(Flags); got != c.flags {
			t.Errorf("typed: %q, want %q", got, c.flags)
		}
		if got := other.Text(Fields); got != c.fields {
			t.Errorf("given: %q, want %q", got, c.fields)
		}
	}
}

// Options that do not go together are refused, and what is said of them follows from one
// definition: no two have a name, each has help and a group, and experts' are out of the way.
func TestOptions(t *testing.T) {
	a := NewAudit()
	if err := a.Options.Give(map[string]any{"power": 0.0}); err != nil {
		t.Fatal(err)
	}
	if err := a.Complete(); err == nil || !strings.Contains(err.Error(), `method="vi"`) {
		t.Errorf("a power of zero: %v", err)
	}
	a = NewAudit()
	if err := a.Options.Give(map[string]any{"probability": []any{"p"}, "kernel": "rbf"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Complete(); err == nil || err.Error() != "kernel: nothing is fitted where probability names the probabilities to decide by; leave one of them out" {
		t.Errorf("probabilities and a kernel: %v", err)
	}
	seen, basics := make(map[string]bool), 0
	for _, o := range NewAudit().Options {
		if seen[o.Name] || o.Help == "" || o.Group == "" {
			t.Errorf("%+v", o)
		}
		seen[o.Name] = true
		if o.Group == Basics {
			basics++
		}
	}
	if basics > 12 {
		t.Errorf("%d options are basic", basics)
	}
	for _, name := range []string{"sweeps", "power", "shard-rows", "references"} {
		if o := NewAudit().Options.Lookup(name); o == nil || o.Group != Advanced {
			t.Errorf("%s is not for experts: %+v", name, o)
		}
	}
}

// Values that a program gives are those that a person types.
func TestGivenIsTyped(t *testing.T) {
	typed, given := NewFit(), NewFit()
	for name, texts := range map[string][]string{
		"target": {"class"}, "categorical": {"b", `"a,c"`}, "drop": {"x,y"}, "ordered": {"size=S,M,L"}, "seed": {"7"},
		"standardize": {"false"}, "label-noise": {"0.05"}, "inducing": {"64"}, "scaling": {"log,b=none"},
	} {
		for _, text := range texts {
			if err := typed.Options.Lookup(name).Set(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := given.Options.Give(map[string]any{
		"target": "class", "categorical": []any{"b", "a,c"}, "drop": []any{"x", "y"}, "ordered": []any{"size=S,M,L"}, "seed": 7.0,
		"standardize": false, "label_noise": 0.05, "inducing": 64.0, "scaling": []any{"log", "b=none"},
	}); err != nil {
		t.Fatal(err)
	}
	for k, o := range typed.Options {
		if other := given.Options[k]; o.String() != other.String() || o.Given() != other.Given() {
			t.Errorf("%s: typed %q, given %q", o.Name, o, other)
		}
	}
	if err := errors.Join(typed.Complete(), given.Complete()); err == nil || !strings.Contains(err.Error(), "standardize") {
		t.Errorf("columns that are scaled and not: %v", err)
	}
}

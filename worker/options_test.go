package worker

import (
	"errors"
	"strings"
	"testing"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/audit"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/service"
	"github.com/lossep/lossep/table"
)

// Options by name are those of the flags, with the same defaults. What is wrong names the option
// as Python does.
func TestOptionsByName(t *testing.T) {
	o, _, err := fitOptions(map[string]any{
		"target": "class", "categorical": []any{"a,b", "c"}, "seed": 7.0, "missing": "impute", "inducing": 64.0, "standardize": false, "label-noise": 0.05,
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Data.Target != "class" || strings.Join(o.Data.Categorical, "|") != "a,b|c" || o.Seed != 7 || !o.Data.Impute || o.Inducing != 64 || !o.Data.KeepScale || o.Likelihood.Noise != 0.05 {
		t.Errorf("%+v", o)
	}
	auditOptions := func(values map[string]any) (audit.Options, error) {
		q := service.NewAudit()
		err := given(q.Options, values, q.Complete, q.TakenAsGiven)
		return q.Audit, err
	}
	a, err := auditOptions(map[string]any{"probability": []any{"p"}, "folds": 4.0})
	if err != nil || a.Folds != 4 || len(a.Recalibrations) != len(audit.Recalibrations()) {
		t.Errorf("%+v, %v", a, err)
	}
	for name, value := range map[string]any{"cook": "x", "restarts": "many", "target": []any{"a"}, "folds": 1.0, "missing": "maybe", "counts": "n", "skip-unlabelled": true} {
		if _, err := auditOptions(map[string]any{name: value}); err == nil {
			t.Errorf("%s=%v is accepted", name, value)
		} else if text, ok := explain(err); !ok || !strings.HasPrefix(text, strings.ReplaceAll(name, "-", "_")+":") {
			t.Errorf("%s=%v: %q, %t", name, value, text, ok)
		}
	}
}

// Rows that a caller has in hand are not left out by an update either.
func TestUpdatesTakeAllRows(t *testing.T) {
	q := service.NewUpdate()
	err := given(q.Options, map[string]any{"half-life": 5.0, "skip-unlabelled": true}, q.TakenAsGiven)
	if text, ok := explain(err); !ok || !strings.HasPrefix(text, "skip_unlabelled: rows are used as they are given") {
		t.Errorf("%v: %q", err, text)
	}
}

// Errors name keyword arguments where the command names flags, and no file.
func TestErrorsNameArguments(t *testing.T) {
	_, costs := decision.ParseCosts("fn=5,fp=")
	spec, _ := decision.ParseCosts("fn=5,fp=1")
	several := spec.Bind("a", "b", "c")
	for _, c := range []struct {
		err  error
		want string
	}{
		{
			&table.Error{File: "X", Row: 3, Column: 2, ColumnName: "thal", Msg: "2 cells are missing", Fix: "say what to do", Ways: []table.Way{{Option: table.WayID, Value: "thal"}, {Option: table.WayImpute}, {Option: table.WayDrop, Value: "thal"}}},
			`row 3, column 2 ("thal"): 2 cells are missing; say what to do: missing="impute" or drop=["thal"]`,
		},
		{&lossep.InputError{What: "max rows", Msg: "too many"}, "max_rows: too many"},
		{&service.Error{Option: "label-noise", Msg: "2 is too much for {likelihood=robust}"}, `label_noise: 2 is too much for likelihood="robust"`},
		{costs, costs.Error()},
		{several, several.Error()},
	} {
		if got, ok := explain(c.err); !ok || got != c.want {
			t.Errorf("%v: %q, %t; want %q", c.err, got, ok, c.want)
		}
	}
	if _, ok := explain(errors.New("another")); ok {
		t.Error("a failure passes for wrong input")
	}
}

package table

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWholeColumns(t *testing.T) {
	table, err := Read(context.Background(), strings.NewReader("who,day,when,odd,either\na,2025-04-03,3,2025-01-01,03/04/2025\nb,2025-04-01,1.5,soon,04/05/2025\na,2024-12-31,2,2025-01-02,05/06/2025\n"), "t.csv", Format{})
	if err != nil {
		t.Fatal(err)
	}
	who, err := table.Texts("who")
	if err != nil || !slices.Equal(who, []string{"a", "b", "a"}) {
		t.Errorf("%v, %v", who, err)
	}
	for column, order := range map[string][]int{"day": {2, 1, 0}, "when": {1, 2, 0}} {
		times, err := table.Times(column, "")
		if err != nil || !(times[order[0]] < times[order[1]] && times[order[1]] < times[order[2]]) {
			t.Errorf("%s: %v, %v", column, times, err)
		}
	}
	for column, want := range map[string]string{"odd": `"soon" is neither a number nor a date`, "either": "day-first or month-first", "who": "neither a number nor a date", "none": "no such column"} {
		var wrong *Error
		if _, err := table.Times(column, ""); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", column, err)
		}
	}
	if _, err := table.Times("either", DayFirst); err != nil {
		t.Error(err)
	}
}

// A weight is how often a row counts: one that is nothing beside one is refused where it stands, as one beyond all others is.
func TestWeightsOutOfRange(t *testing.T) {
	for text, ok := range map[string]bool{"1e-300": false, "9e-10": false, "1e-9": true, "0": true, "1e9": true, "2e9": false, "-1": false} {
		data, err := Read(context.Background(), strings.NewReader("x,w\n1,1\n2,"+text+"\n"), "rows.csv", Format{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = data.Weights("w")
		var at *Error
		if (err == nil) != ok || err != nil && (!errors.As(err, &at) || at.Line != 3) {
			t.Errorf("a weight of %s: %v", text, err)
		}
	}
}

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

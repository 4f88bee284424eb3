package recipe

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/table"
)

// soundRecipe has a column of every kind.
func soundRecipe() *Recipe {
	return &Recipe{
		Rows: 10, Header: true, Standardize: true, Impute: true, Missing: []string{"", "?", "N/A", "NA", "NAN", "NULL", "NaN", "nan", "null"},
		Target: Target{Column: "y", Outcomes: []string{"no", "yes"}, Rows: []int{6, 4}},
		Columns: []Column{
			{Name: "age", Kind: Numeric, Mean: 40, Scale: 12, Fill: 38, Indicator: true},
			{Name: "job", Kind: Categorical, Categories: []string{"clerk", "smith"}, FillCategory: "smith"},
			{Name: "flag", Kind: Presence, Indicator: true},
			{Name: "id", Kind: Dropped, Reason: identifierByName},
			{Name: "y", Kind: Outcome},
		},
	}
}

// The stored form is part of the model file's format: it changes only with the
// version of that format.
func TestRecipeJSONForm(t *testing.T) {
	got, err := json.MarshalIndent(soundRecipe(), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "recipe.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
		t.Errorf("(-stored +now)\n%s", diff)
	}
	var back Recipe
	if err := json.Unmarshal(want, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(soundRecipe(), &back); diff != "" {
		t.Errorf("(-want +decoded)\n%s", diff)
	}
}

func TestRecipeValidate(t *testing.T) {
	if err := soundRecipe().Validate(); err != nil {
		t.Fatalf("sound recipe: %v", err)
	}
	for name, c := range map[string]struct {
		spoil func(r *Recipe)
		want  string
	}{
		"equal outcomes":        {func(r *Recipe) { r.Target.Outcomes[1] = "no" }, "not the only one"},
		"counts":                {func(r *Recipe) { r.Target.Rows[1] = 5 }, "of 10"},
		"counts overflow":       {func(r *Recipe) { r.Target.Rows = []int{math.MinInt + 11, math.MaxInt} }, "of 10"},
		"one class":             {func(r *Recipe) { r.Target.Rows = []int{10, 0} }, "0 rows of 10"},
		"target elsewhere":      {func(r *Recipe) { r.Target.Column = "age" }, "outcome"},
		"target nowhere":        {func(r *Recipe) { r.Columns = r.Columns[:4] }, "not among"},
		"second target":         {func(r *Recipe) { r.Columns[3] = Column{Name: "z", Kind: Outcome} }, "outcome"},
		"same name":             {func(r *Recipe) { r.Columns[1].Name = "age" }, "not the only one"},
		"no name":               {func(r *Recipe) { r.Columns[1].Name = "" }, "empty"},
		"unknown kind":          {func(r *Recipe) { r.Columns[3] = Column{Name: "z", Kind: "ordinal"} }, "unknown kind"},
		"NaN scale":             {func(r *Recipe) { r.Columns[0].Scale = math.NaN() }, "scale"},
		"zero scale":            {func(r *Recipe) { r.Columns[0].Scale = 0 }, "scale"},
		"negative scale":        {func(r *Recipe) { r.Columns[0].Scale = -1 }, "scale"},
		"infinite mean":         {func(r *Recipe) { r.Columns[0].Mean = math.Inf(1) }, "mean"},
		"scale while off":       {func(r *Recipe) { r.Standardize = false }, "does not standardise"},
		"NaN fill":              {func(r *Recipe) { r.Columns[0].Fill = math.NaN() }, "fill"},
		"fill while off":        {func(r *Recipe) { r.Impute = false }, "indicator"},
		"categories unsorted":   {func(r *Recipe) { r.Columns[1].Categories = []string{"smith", "clerk"} }, "order"},
		"categories repeated":   {func(r *Recipe) { r.Columns[1].Categories = []string{"smith", "smith"} }, "order"},
		"no categories":         {func(r *Recipe) { r.Columns[1].Categories = nil }, "no categories"},
		"fill not a category":   {func(r *Recipe) { r.Columns[1].FillCategory = "baker" }, "fill category"},
		"categories of numbers": {func(r *Recipe) { r.Columns[0].Categories = []string{"a"} }, "that has none"},
		"scale of categories":   {func(r *Recipe) { r.Columns[1].Scale = 1 }, "that has none"},
		"presence, no feature":  {func(r *Recipe) { r.Columns[2].Indicator = false }, "presence"},
		"dropped, no reason":    {func(r *Recipe) { r.Columns[3].Reason = "" }, "reason"},
		"dropped, indicator":    {func(r *Recipe) { r.Columns[3].Indicator = true }, "indicator"},
		"reason, not dropped":   {func(r *Recipe) { r.Columns[0].Reason = "x" }, "reason"},
		"no features":           {func(r *Recipe) { r.Columns = r.Columns[3:] }, "no features"},
		"too many columns":      {func(r *Recipe) { r.Columns = make([]Column, table.MaxColumns+1) }, "more than"},
	} {
		r := soundRecipe()
		c.spoil(r)
		err := r.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
		// What JSON can express is refused on decoding as well.
		if text, err := json.Marshal(r); err == nil {
			if err := json.Unmarshal(text, new(Recipe)); err == nil {
				t.Errorf("%s: decoded without an error", name)
			}
		}
	}
	for _, text := range []string{`{}`, `null`, `{"rows":1e999}`, `{"colour":"red"}`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(Recipe)); err == nil {
			t.Errorf("decoded %s without an error", text)
		}
	}
}

func TestDescribe(t *testing.T) {
	want := []string{
		`10 rows; outcome "y": positive "yes" (4 rows, 40.0 %), negative "no" (6 rows, 60.0 %)`,
		`4 columns → 5 features`,
		`1 numeric column standardised`,
		`1 categorical column one-hot; unseen categories are encoded as zeros`,
		`1 column of one value, where it is not missing: only the indicator is kept`,
		`missing values imputed in 2 columns (median or mode, with an indicator)`,
		`dropped "id": identifier-like: by its name, and all values are unique`,
		`only 4 rows of class "yes": estimates are unreliable`,
		`"age": numeric, mean 40, scale 12, missing → 38, with an indicator of missing cells`,
		`"job": 2 categories "clerk", "smith"`,
		`"flag": one value or missing, with an indicator of missing cells`,
	}
	if diff := cmp.Diff(want, soundRecipe().Describe()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A share is distinguished from nothing and from all.
func TestPercent(t *testing.T) {
	for _, c := range []struct {
		part, whole int
		want        string
	}{
		{4, 10, "40.0 %"},
		{3, 30_000, "0.01 %"},
		{29_997, 30_000, "99.99 %"},
		{1, 3_000_000, "0.00003 %"},
		{1, 2000, "0.1 %"}, // of 0.05
		{1, 2001, "0.05 %"},
		{0, 30_000, "0.0 %"},
		{7, 7, "100.0 %"},
	} {
		if got := Percents(c.part, c.whole-c.part); got[0] != c.want {
			t.Errorf("%d of %d: %s, want %s", c.part, c.whole, got, c.want)
		}
	}
	// Of two shares what is shown adds up, though 1.95 and 98.05 would both be rounded down.
	for whole := 1; whole < 300; whole++ {
		for part := range whole + 1 {
			got := Percents(part, whole-part)
			var sum float64
			for k, n := range []int{part, whole - part} {
				x, err := strconv.ParseFloat(strings.TrimSuffix(got[k], " %"), 64)
				if share := 100 * float64(n) / float64(whole); err != nil || math.Abs(x-share) > 0.0501 { // half a unit of the last digit
					t.Errorf("%d of %d: %s", n, whole, got[k])
				}
				sum += x
			}
			if math.Abs(sum-100) > 1e-9 {
				t.Errorf("%d of %d: %s", part, whole, got)
			}
		}
	}
	if got := Percents(39, 1961); !cmp.Equal(got, []string{"1.9 %", "98.1 %"}) && !cmp.Equal(got, []string{"2.0 %", "98.0 %"}) {
		t.Errorf("39 of 2000: %s", got)
	}
	if got := Percents(1, 1, 1); !cmp.Equal(got, []string{"33.3 %", "33.3 %", "33.3 %"}) {
		t.Errorf("three thirds: %s", got)
	}
}

func TestEncodeObject(t *testing.T) {
	r := soundRecipe()
	dst := make([]float64, r.Dim())
	for i := range dst {
		dst[i] = 7 // what was there before must not show
	}
	for _, c := range []struct {
		row    map[string]any
		want   []float64
		unseen []string
	}{
		{map[string]any{"age": 52.0, "job": "clerk", "flag": "x"}, []float64{1, 0, 0, 0}, nil},
		{map[string]any{"age": "28", "job": " smith ", "flag": true, "id": 3, "more": []int{1}}, []float64{-1, 0, 0, 1}, nil},
		{map[string]any{"age": json.Number("40"), "job": nil, "flag": nil}, []float64{0, 0, 1, 1}, nil},
		{map[string]any{"age": nil, "job": "baker", "flag": 1}, []float64{(38. - 40) / 12, 1, 0, -1}, []string{"job"}},
		{map[string]any{"age": int64(64), "job": "", "flag": "NA"}, []float64{2, 0, 1, 1}, nil},
	} {
		unseen, err := r.Encode(c.row, dst)
		if err != nil || !cmp.Equal(dst, c.want) || !cmp.Equal(unseen, c.unseen) {
			t.Errorf("Encode(%v) = %v, unseen %q, %v; want %v, %q", c.row, dst, unseen, err, c.want, c.unseen)
		}
	}
	for name, c := range map[string]struct {
		row  map[string]any
		want []string
	}{
		"lacking": {map[string]any{"age": 1.0, "flag": "x"}, []string{`column "job"`, "lacks"}},
		"word":    {map[string]any{"age": "old", "job": "clerk", "flag": "x"}, []string{`column "age"`, `"old"`}},
		"bool":    {map[string]any{"age": true, "job": "clerk", "flag": "x"}, []string{`column "age"`, `"true"`}},
		"inf":     {map[string]any{"age": math.Inf(1), "job": "clerk", "flag": "x"}, []string{`column "age"`, "Inf"}},
		"list":    {map[string]any{"age": 1, "job": []any{"clerk"}, "flag": "x"}, []string{`column "job"`, "neither text nor a number"}},
	} {
		_, err := r.Encode(c.row, dst)
		t.Run(name, func(t *testing.T) { checkError(t, err, c.want) })
	}
	r.Impute = false
	_, err := r.Encode(map[string]any{"age": nil, "job": "clerk", "flag": "x"}, dst)
	checkError(t, err, []string{`column "age"`, "missing", "without imputation"})
}

// Codes and truth values match the spellings of the training file.
func TestEncodeObjectCategories(t *testing.T) {
	r := soundRecipe()
	r.Columns[1].Categories = []string{"250000", "FALSE", "True"}
	dst := make([]float64, r.Dim())
	for k, value := range []any{250000.0, false, true} {
		unseen, err := r.Encode(map[string]any{"age": 1, "job": value, "flag": 1}, dst)
		if err != nil || unseen != nil || dst[3] != float64(k) {
			t.Errorf("%v: features %v, unseen %q, %v", value, dst, unseen, err)
		}
	}
}

package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server/problem"
	"github.com/lossep/lossep/table"
)

// recipeOf is a recipe with every kind of column: numbers, some of them missing,
// categories, truth values and one of no use.
func recipeOf(tb testing.TB) *recipe.Recipe {
	tb.Helper()
	var b strings.Builder
	b.WriteString("age,income,job,owner,branch,amount,class\n")
	for i := range 40 {
		income := strconv.Itoa(10 + i*7%20)
		if i%5 == 0 {
			income = ""
		}
		fmt.Fprintf(&b, "%d,%s,%s,%s,main,%d,%s\n", 20+i*13%50, income, []string{"clerk", "smith", "baker ü"}[i%3],
			[]string{"True", "False"}[i/3%2], 100+i*i, []string{"good", "bad"}[i/7%2])
	}
	table, err := table.Read(context.Background(), strings.NewReader(b.String()), "test.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		tb.Fatal(err)
	}
	learned, err := recipe.Learn(table, recipe.Options{Target: "class", Positive: "bad", Impute: true})
	if err != nil {
		tb.Fatal(err)
	}
	return learned.Recipe
}

// slowRows is the long way: encoding/json and maps, and the recipe as it is. It is nil
// where the body has to be refused.
func slowRows(body []byte, learned *recipe.Recipe) *Rows {
	if !jsontext.Value(body).IsValid() { // RFC 7493: no name twice, valid UTF-8
		return nil
	}
	var top struct {
		Rows []map[string]any `json:"rows"`
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || len(members) != 1 || members["rows"] == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber() // numbers of columns that nobody asks for may have any size
	if d.Decode(&top) != nil || len(top.Rows) == 0 {
		return nil
	}
	r := &Rows{N: len(top.Rows), Features: make([]float64, len(top.Rows)*learned.Dim())}
	known, used := make(map[string]bool), make(map[string]bool)
	for _, c := range learned.Columns {
		known[c.Name] = true
		used[c.Name] = c.Kind != recipe.Dropped && c.Kind != recipe.Outcome
	}
	for i, row := range top.Rows {
		if row == nil {
			return nil // null is no row
		}
		for name, value := range row {
			if !known[name] && !slices.Contains(r.Ignored, name) {
				r.Ignored = append(r.Ignored, name)
			}
			if n, ok := value.(json.Number); ok && used[name] {
				x, err := strconv.ParseFloat(n.String(), 64)
				if err != nil {
					return nil // too large, which encoding/json refuses as well
				}
				row[name] = x
			}
		}
		features := r.Features[i*learned.Dim() : (i+1)*learned.Dim()]
		unseen, err := learned.Encode(row, features)
		if err != nil || slices.ContainsFunc(features, func(z float64) bool { return math.Abs(z) > lossep.Farthest }) {
			return nil
		}
		r.note(i, recipe.Remarks{Unseen: unseen})
	}
	return r
}

// The reader of rows accepts what the long way accepts, with the same features.
func FuzzDecide(f *testing.F) {
	for _, body := range []string{
		`{"rows":[{"age":31,"income":null,"job":"clerk","owner":true}]}`,
		`{"rows":[{"age":"31","income":" 12.5 ","job":"baker \u00fc","owner":"False","shoe":{"size":[1,2]}},{"owner":false,"age":1e2,"job":"x","income":"NA"}]}`,
		`{"rows":[{"age":31,"age":32,"income":1,"job":"clerk","owner":true}]}`,
		`{"rows":[{"a\u0067e":31,"income":1,"job":"clerk","owner":"True","age":1}]}`,
		`{"rows":[{"age":1e999,"income":1,"job":"clerk","owner":true}]}`,
		`{"rows":[{"age":-0.0,"income":1e-400,"job":2,"owner":true,"z":1e999}]}`,
		`{"rows":[{"age":[1],"income":1,"job":{"a":1,"a":2},"owner":true}]}`,
		`{"rows":[1,{"age":31,"income":1,"job":"clerk","owner":true,"class":"good"},[],{"class":"bad","age":2,"income":1,"job":"clerk","owner":true}]}`,
		`{"rows":[{"age":31,"income":1,"job":"clerk","owner":true,"class":"good"},null,{"class":"bad"},"x",{"class":["bad"]}]}`,
		`{"rows":[{"age":31,"income":1,"job":"clerk","owner":true,"class":"good"},{"class":"bad","age":2,"income":1,"job":"clerk","owner":true}]}`,
		`{"rows":[]}`, `{"rows":[null]}`, `{"rows":null}`, `{}`, `[]`, `{"rows":[{}],"rows":[{}]}`, `{"rows":[{}]} {}`, `{"rows":[{}],"more":1}`,
		`{"rows":[{"age":NaN}]}`, `{"rows":[{"age":"` + "\xff" + `"}]}`, `{"rows":[{"age":"\ud800"}]}`, "\xef\xbb\xbf{}", ``, `{"rows":[{"age":1`,
	} {
		f.Add([]byte(body))
	}
	recipe := recipeOf(f)
	reader := NewReader(recipe, 1000)
	f.Fuzz(func(t *testing.T, body []byte) { checkRead(t, reader, body) })
}

// fataler is a test of any kind.
type fataler interface {
	Context() context.Context
	Helper()
	Fatalf(format string, args ...any)
}

// checkRead compares the reader with the long way.
func checkRead(t fataler, reader *Reader, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	got, err := reader.Read(t.Context(), body, nil, nil, false)
	if !bytes.Equal(body, before) {
		t.Fatalf("the body was changed")
	}
	// With labels too: the same rows, and a label for each.
	labelled, refused := reader.Read(t.Context(), body, nil, nil, true)
	if (refused == nil) != (err == nil) || err == nil && (labelled.N != got.N || len(labelled.Labels) != got.N) {
		t.Fatalf("with labels: %+v, %v; without: %v", labelled, refused, err)
	}
	want := slowRows(before, reader.recipe)
	if err != nil {
		var p *problem.Problem
		if !errors.As(err, &p) || p.Status < 400 || p.Status > 499 {
			t.Fatalf("error %v is no problem of the client's", err)
		}
		// The bounds that are not those of JSON or of the recipe.
		if want != nil && len(want.Ignored) <= maxIgnored && want.N <= reader.maxRows {
			t.Fatalf("refused (%v), and it can be read", err)
		}
		return
	}
	if want == nil {
		t.Fatalf("accepted, and it cannot be read: %s", body)
	}
	slices.Sort(got.Ignored)
	slices.Sort(want.Ignored)
	if got.N != want.N || !slices.Equal(got.Ignored, want.Ignored) {
		t.Fatalf("%d rows, ignored %q; want %d, %q", got.N, got.Ignored, want.N, want.Ignored)
	}
	for k := range want.Features {
		if math.Float64bits(got.Features[k]) != math.Float64bits(want.Features[k]) {
			t.Fatalf("features %v, want %v", got.Features, want.Features)
		}
	}
	for i := range got.N {
		if !slices.Equal(got.Remarks[i].Unseen, want.Remarks[i].Unseen) {
			t.Fatalf("row %d: unseen %q, want %q", i, got.Remarks[i].Unseen, want.Remarks[i].Unseen)
		}
	}
}

// Bodies that are nearly right, more of them than random bytes would give.
func TestReadIsSlowRead(t *testing.T) {
	reader := NewReader(recipeOf(t), 5)
	names := []string{`"age"`, `"income"`, `"job"`, `"owner"`, `"amount"`, `"class"`, `"branch"`, `"x"`, `"\u0061ge"`, `"j\u006fb"`, `""`}
	values := []string{
		`1`, `31`, `-0`, `12.5`, `1e2`, `1E-3`, `0.1234567890123456789`, `123456789012345678`, `1e300`, `1e999`, `"clerk"`, `"baker \u00fc"`, `"baker ü"`,
		`" smith "`, `"pilot"`, `"12"`, `"NA"`, `""`, `true`, `false`, `null`, `"TRUE"`, `[]`, `{"a":1}`, `{"a":1,"a":2}`, `[[1]]`, `"\n"`,
	}
	broken := []string{`01`, `NaN`, `'a'`, `"\ud800"`, "\"\xff\"", `+1`, `.5`, `tru`, ``}
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(`{"rows":[`)
		for i := range rapid.IntRange(1, 5).Draw(t, "rows") {
			if i > 0 {
				b.WriteByte(',')
			}
			order := rapid.Permutation(names[:5]).Draw(t, "order")
			order = append(order, rapid.SliceOfN(rapid.SampledFrom(names[5:]), 0, 2).Draw(t, "more")...)
			order = order[max(0, rapid.IntRange(-15, 1).Draw(t, "without")):]
			b.WriteByte('{')
			for k, name := range order {
				value := map[string]string{`"age"`: `30`, `"income"`: `15`, `"job"`: `"clerk"`, `"owner"`: `true`, `"amount"`: `"500"`}[name]
				if value == "" || rapid.IntRange(0, 24).Draw(t, "usual") == 0 {
					value = rapid.SampledFrom(values).Draw(t, "value")
				}
				if rapid.IntRange(0, 200).Draw(t, "broken") == 0 {
					value = rapid.SampledFrom(broken).Draw(t, "bad")
				}
				if k > 0 {
					b.WriteString(rapid.SampledFrom([]string{",", ",", ",", " ,\n\t"}).Draw(t, "comma"))
				}
				b.WriteString(name + ":" + value)
			}
			b.WriteByte('}')
		}
		b.WriteString(`]}`)
		body := []byte(b.String())
		if slowRows(body, reader.recipe) != nil {
			accepted++
		}
		checkRead(t, reader, body)
	})
	if accepted == 0 && !testing.Short() { // twenty may all be wrong
		t.Error("no body was right, so that little is tested")
	}
}

// Rows that name their columns in different orders, and bodies read after each other,
// do not get into each other's way.
func TestRowOrders(t *testing.T) {
	reader := NewReader(recipeOf(t), 10)
	body := `{"rows":[{"age":30,"income":15,"job":"clerk","owner":true,"amount":100,"x":1},
		{"x":1,"amount":"2e2","owner":true,"income":15,"job":"clerk","age":30},{"amount":null,"age":30,"owner":true,"job":"clerk","y":0,"income":15}]}`
	for range 3 {
		r, err := reader.Read(t.Context(), []byte(body), nil, []string{"amount", "z"}, true)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Ignored, []string{"x", "y"}) {
			t.Errorf("ignored %q", r.Ignored)
		}
		values := r.Values["amount"]
		if len(values) != 3 || values[0] != 100 || values[1] != 200 || values[2] != Missing {
			t.Errorf("amounts %v", values)
		}
		if z := r.Values["z"]; len(z) != 3 || !math.IsNaN(z[0]) {
			t.Errorf("z %v", z)
		}
	}
}

// A number that spells a missing cell is none that costs could be made of.
func TestMissingNumber(t *testing.T) {
	table, err := table.Read(context.Background(), strings.NewReader("x,amount,y\n1,1,a\n2,2,b\n3,3,a\n4,5,b\n"), "test.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := recipe.Learn(table, recipe.Options{Positive: "b", Markers: []string{"-9", "x=9"}, Impute: true})
	if err != nil {
		t.Fatal(err)
	}
	body := `{"rows": [{"x": 1, "amount": -9}, {"x": 1, "amount": 9}]}`
	r, err := NewReader(l.Recipe, 10).Read(context.Background(), []byte(body), nil, []string{"amount"}, false)
	if err != nil || !slices.Equal(r.Values["amount"], []float64{Missing, 9}) {
		t.Errorf("%v, %v", r, err)
	}
}

// Names of columns that look like the model's are the model's, also those that costs are of.
func TestNamesComposedOtherwise(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	for _, names := range [][2]string{{composed, decomposed}, {decomposed, composed}} {
		text := names[0] + ",x,y\n1,5,a\n2,6,b\n3,4,a\n5,9,b\n"
		table, err := table.Read(context.Background(), strings.NewReader(text), "test.csv", table.Format{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := recipe.Learn(table, recipe.Options{Positive: "b", KeepScale: true})
		if err != nil {
			t.Fatal(err)
		}
		reader := NewReader(l.Recipe, 10)
		body := fmt.Sprintf(`{"rows": [{%q: 4, "x": 7}, {"x": 8, %q: 3}]}`, names[1], names[0])
		r, err := reader.Read(context.Background(), []byte(body), nil, []string{names[1]}, false)
		if err != nil {
			t.Errorf("%+q: %v", names, err)
			continue
		}
		if want := []float64{4, 7, 3, 8}; !slices.Equal(r.Features, want) || r.Ignored != nil {
			t.Errorf("%+q: features %v, ignored %q, want %v", names, r.Features, r.Ignored, want)
		}
		if want := []float64{4, 3}; !slices.Equal(r.Values[names[1]], want) {
			t.Errorf("%+q: values %v, want %v", names, r.Values, want)
		}
		twice := fmt.Sprintf(`{"rows": [{%q: 4, %q: 4, "x": 7}]}`, names[0], names[1])
		if _, err := reader.Read(context.Background(), []byte(twice), nil, nil, false); err == nil {
			t.Errorf("%+q: a row with both is taken", names)
		}
	}
}

func TestLabels(t *testing.T) {
	recipe := *recipeOf(t)
	recipe.Target.Outcomes = []string{"0", "1"}
	reader := NewReader(&recipe, 10)
	for value, want := range map[string]int8{`1`: 2, `"1"`: 2, `" 0 "`: 1, `0.0`: 1, `1e0`: 2, `-0`: 1, `true`: -1, `null`: 0, `" "`: 0, `"bad"`: -1, `[1]`: -1} {
		if got := reader.label([]byte(value)); got != want {
			t.Errorf("label %s is %d, want %d", value, got, want)
		}
	}
	if got := NewReader(recipeOf(t), 10).label([]byte(`"b\u0061d"`)); got != 2 {
		t.Errorf("label %d", got)
	}
}

// A code of more than 15 digits is found as a number, too.
func TestLongCodes(t *testing.T) {
	text := "code,y\n" + strings.Repeat("1234567890123456,0\n1234567890123457,1\n12345678901234567,0\n12345678901234568,1\n", 3)
	table, err := table.Read(t.Context(), strings.NewReader(text), "test.csv", table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	learned, err := recipe.Learn(table, recipe.Options{Categorical: []string{"code"}})
	if err != nil {
		t.Fatal(err)
	}
	reader := NewReader(learned.Recipe, 10)
	for row, code := range []string{"1234567890123456", "1234567890123457", "12345678901234567", "12345678901234568"} {
		for _, value := range []string{code, strconv.Quote(code)} {
			body := fmt.Appendf(nil, `{"rows":[{"code":%s}]}`, value)
			r, err := reader.Read(t.Context(), body, nil, nil, true)
			if err != nil || r.Remarks[0].Unseen != nil || !slices.Equal(r.Features, learned.X.RawRowView(row)) {
				t.Errorf("%s: %v, %v", value, r, err)
			}
		}
	}
}

package recipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lossep/lossep/table"
)

// Every case is tried end to end: read the table, learn, and (where there are
// new rows) encode them. The message must name the file, the line and the
// column, and the typed error must agree with it.
func TestBadInput(t *testing.T) {
	const sound = "age,job,y\n1,a,yes\n2,b,no\n3,a,yes\n4,c,no\n"
	wide := strings.Repeat("1,", table.MaxColumns) + "1\n"
	numbers := func(cell string) string { // a numeric column of 40 rows with one odd cell
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 39 {
			b.WriteString(string(rune('0'+i/10)) + "." + string(rune('0'+i%10)) + ",")
			b.WriteString([]string{"yes\n", "no\n"}[i%2])
		}
		return b.String() + cell + ",no\n"
	}
	for _, c := range []struct {
		name    string
		train   string
		rows    string // new rows for the recipe of the sound table
		options Options
		header  table.Header
		want    []string
	}{
		{name: "empty", train: "", want: []string{"train.csv", "line 1", "column 1", "empty"}},
		{name: "blank lines only", train: "\n\n \n", want: []string{"train.csv", "line 1", "empty"}},
		{name: "header only", train: "a,b,y\n", want: []string{"train.csv", "line 2", "column 1", "no row"}},
		{name: "ragged, short", train: "a,b,y\n1,2,yes\n1,no\n", want: []string{"train.csv", "line 3", "column 3", "ragged", "2 cells", "has 3"}},
		{name: "ragged, long", train: "a,b,y\n1,2,yes\n1,2,no,x\n", want: []string{"train.csv", "line 3", "column 4", "ragged", "4 cells"}},
		{name: "duplicate header", train: "a,b,a\n1,2,yes\n2,3,no\n", want: []string{"train.csv", "line 1", `column 3 ("a")`, "duplicate", "column 1"}},
		{name: "not UTF-8", train: "a,b,y\n1,caf\x81,yes\n", want: []string{"train.csv", "line 2", "column 2", "UTF-8"}},
		{name: "NUL", train: "a,b,y\n1,2,yes\n2,x\x00,no\n", want: []string{"train.csv", "line 3", "column 2", "NUL"}},
		{name: "old Mac line ends", train: "a,b,y\r1,2,yes\r", want: []string{"train.csv", "line 1", "column 3", "carriage return"}},
		{name: "bare quote", train: "a,b,y\n1,5\" pipe,yes\n", want: []string{"train.csv", "line 2", "column 2", "quote", "byte 4"}},
		{name: "unclosed quote", train: "a,b,y\n1,\"2,yes\n3,4,no\n", want: []string{"train.csv", "line 2", "column 2", "end of the file", "not closed"}},
		{name: "too many columns", train: wide, want: []string{"train.csv", "line 1", "column 16385", "16385 columns", "16384"}},
		{name: "row without end", train: "a,b,y\n1,\"" + strings.Repeat("x", table.MaxRowBytes+(1<<20)), want: []string{"train.csv", "line 2", "column 1", "16 MiB", "quote"}},
		{name: "blank line, one column", train: "y\n1\n\n0\n", header: table.HeaderYes, want: []string{"train.csv", "line 3", "column 1", "blank"}},
		{name: "infinity", train: "a,b,y\n1,2,yes\n2,-inf,no\n3,1,no\n", want: []string{"train.csv", "line 3", `column 2 ("b")`, "infinite", `"-inf"`}},
		{name: "overflow", train: "a,b,y\n1,2,yes\n2,1e999,no\n", want: []string{"train.csv", "line 3", "column 2", "too large"}},
		{name: "nothing but infinities", train: "a,b,y\n1,inf,yes\n2,-inf,no\n", want: []string{"train.csv", "line 2", "column 2", "infinite", "2 such cells"}},
		{name: "typo among numbers", train: numbers("l2"), want: []string{"train.csv", "line 41", `column 1 ("x")`, `"l2" (1 cell)`, "39 of 40", "missing", "Markers", "Categorical", "Drop"}},
		{name: "thousands or decimals", train: "a;b;y\n1,500;2;yes\n2,500;3;no\n", want: []string{"train.csv", "line 2", `column 1 ("a")`, `"1,500" is 1500 or a little more than 1`, `Decimal "."`, `Decimal ","`}},
		{name: "points or thousands", train: "a;b;y\n1.500;2;yes\n2.500;3;no\n", want: []string{"train.csv", "line 2", `column 1 ("a")`, "Decimal"}},
		{name: "missing cells", train: "a,b,y\n1,2,yes\n,3,no\n3,NA,no\n4,?,yes\n", want: []string{"train.csv", "line 3", `column 1 ("a")`, "3 missing cells", "2 columns", "line 4 column 2", "line 5 column 2", "Impute"}},
		{name: "missing beside one value", train: "a,b,y\n1,2,yes\n2,,no\n", want: []string{"train.csv", "line 3", "column 2", "1 missing cell in 1 column"}},
		{name: "missing outcome", train: "a,y\n1,yes\n2,\n3,no\n", options: Options{Impute: true}, want: []string{"train.csv", "line 3", `column 2 ("y")`, "outcome is missing in 1 row"}},
		{name: "no such target", train: sound, options: Options{Target: "class"}, want: []string{"train.csv", "line 1", `column "class"`, `"age"`, `"job"`, `"y"`}},
		{name: "target number too large", train: sound, options: Options{Target: "4"}, want: []string{"train.csv", `column "4"`, "columns (3)"}},
		{name: "one class", train: "a,y\n1,yes\n2,yes\n", want: []string{"train.csv", "line 2", `column 2 ("y")`, "one class", `"yes"`}},
		{name: "an outcome for each row", train: "a,y\n1,yes\n2,no\n3,maybe\n", want: []string{"train.csv", "line 4", `column 2 ("y")`, "every row has an outcome of its own"}},
		{name: "a positive one of three", train: "a,y\n1,yes\n2,no\n3,maybe\n4,no\n", options: Options{Positive: "yes"}, want: []string{"train.csv", "line 4", `column 2 ("y")`, "3 values", `"maybe"`, `"no"`, `"yes"`, `COLUMN == "yes"`}},
		{name: "a number to predict", train: "a,y\n" + numbered(30, "%d,%d.5\n"), want: []string{"train.csv", `column 2 ("y")`, "this looks like a number to predict, not an outcome", "30 different values", "y >= "}},
		{name: "many outcomes", train: "a,y\n" + numbered(30, "%d,k%d\n") + numbered(30, "%d,k%d\n"), want: []string{"train.csv", "30 outcomes are more than 20"}},
		{name: "a prevalence of three", train: "a,y\n1,yes\n2,no\n3,maybe\n4,no\n", options: Options{Prevalence: 0.1}, want: []string{"train.csv", "one of two outcomes", "maybe=0.1"}},
		{name: "a prevalence of nobody", train: "a,y\n1,yes\n2,no\n3,maybe\n4,no\n", options: Options{Population: map[string]float64{"ja": 0.1}}, want: []string{"train.csv", `no outcome "ja"`, `"maybe"`}},
		{name: "prevalences of all", train: "a,y\n1,yes\n2,no\n3,maybe\n4,no\n", options: Options{Population: map[string]float64{"yes": 0.1, "no": 0.5, "maybe": 0.1}}, want: []string{"train.csv", "add up to 0.7", "every outcome one, adding up to 1"}},
		{name: "prevalences of too many", train: "a,y\n1,yes\n2,no\n3,maybe\n4,no\n", options: Options{Population: map[string]float64{"yes": 0.6, "no": 0.4}}, want: []string{"train.csv", "add up to 1"}},
		{name: "weights of three", train: "a,w,y\n1,0,yes\n2,2,no\n3,1,maybe\n4,1,no\n", options: Options{Weights: "w"}, want: []string{"train.csv", `column 2 ("w")`, "the weights of an outcome add up to zero"}},
		{name: "positive unknown", train: sound, options: Options{Positive: "ja"}, want: []string{"train.csv", "column 3", `"ja"`, `"no"`, `"yes"`}},
		{name: "positive unclear", train: "a,y\n1,red\n2,blue\n", want: []string{"train.csv", "line 2", `column 2 ("y")`, `"blue"`, `"red"`, "name the positive class"}},
		{name: "outcome only", train: "y\n1\n0\n1\n", header: table.HeaderYes, want: []string{"train.csv", "no features beside"}},
		{name: "all dropped", train: "id,a,y\n1,5,yes\n2,5,no\n", want: []string{"train.csv", "every column", `"id"`, "identifier", `"a"`, "constant"}},
		{name: "declared column unknown", train: sound, options: Options{Categorical: []string{"zip"}}, want: []string{"train.csv", `column "zip"`}},

		{name: "new: empty", rows: "\n", want: []string{"new.csv", "line 1", "column 1", "empty"}},
		{name: "new: column missing", rows: "age,y\n1,yes\n", want: []string{"new.csv", "line 1", `column "job"`, "missing", `"age", "y"`}},
		{name: "new: no header at all", rows: "1,a\n", want: []string{"new.csv", "line 1", `"age", "job"`, `Header "no"`}},
		{name: "new: wrong width", rows: "1\n", header: table.HeaderNo, want: []string{"new.csv", "line 1", "column 2", "1 column where the training file had 3"}},
		{name: "new: missing cell", rows: "job,age\na,1\nb,\n", want: []string{"new.csv", "line 3", `column 2 ("age")`, "missing cell", "without imputation"}},
		{name: "new: word for number", rows: "job,age\na,old\n", want: []string{"new.csv", "line 2", `column 2 ("age")`, `"old"`, "not a finite number"}},
		{name: "new: infinity", rows: "job,age\na,Inf\n", want: []string{"new.csv", "line 2", `column 2 ("age")`, `"Inf"`}},
		{name: "new: too far out", rows: "job,age\na,1.7e308\nb,-1.7e308\n", want: nil}, // scale above 1 keeps these finite
		{name: "new: ragged", rows: "job,age\na,1\nb\n", want: []string{"new.csv", "line 3", `column 2 ("age")`, "ragged"}},
		{name: "new: duplicate header", rows: "job,age,job\na,1,b\n", want: []string{"new.csv", "line 1", "column 3", "duplicate"}},
		{name: "new: not UTF-8", rows: "job,age\n\x81,1\n", want: []string{"new.csv", "line 2", "column 1", "UTF-8", "Encoding"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			train := c.train
			trainHeader := c.header
			if c.rows != "" {
				train, trainHeader = sound, table.HeaderAuto
			}
			err := func() error {
				table, err := table.Read(context.Background(), strings.NewReader(train), "train.csv", table.Format{Header: trainHeader})
				if err != nil {
					return err
				}
				recipe, _, _, err := learnAll(table, c.options)
				if err != nil || c.rows == "" {
					return err
				}
				return readAll(strings.NewReader(c.rows), recipe, c.header)
			}()
			if c.want == nil {
				if err != nil {
					t.Fatalf("unexpected error: %v", err)
				}
				return
			}
			checkError(t, err, c.want)
		})
	}
}

// numbered are rows of the numbers below n.
func numbered(n int, row string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, row, i, i)
	}
	return b.String()
}

func readAll(r io.Reader, recipe *Recipe, header table.Header) error {
	rows, err := NewReader(context.Background(), r, "new.csv", recipe, table.Format{Header: header})
	for err == nil {
		_, err = rows.ReadBlock(1)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func checkError(t *testing.T, err error, want []string) {
	t.Helper()
	var located *table.Error
	if !errors.As(err, &located) {
		t.Fatalf("error %v (%T), want a *Error", err, err)
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q\n lacks %q", err, part)
		}
	}
	if located.Fix == "" {
		t.Errorf("message %q has no fix", err)
	}
}

func TestBrokenGzip(t *testing.T) {
	whole := zipped(t, strings.Repeat("1,2,yes\n2,3,no\n", 5000))
	for name, text := range map[string][]byte{"header": whole[:5], "body": whole[:len(whole)-20]} {
		_, err := table.Read(context.Background(), strings.NewReader(string(text)), "train.csv.gz", table.Format{})
		if err == nil || !strings.Contains(err.Error(), "train.csv.gz") || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s cut: error %v", name, err)
		}
	}
}

func TestReadFailureIsPassedOn(t *testing.T) {
	broken := errors.New("disk on fire")
	r := io.MultiReader(strings.NewReader("a,y\n1,yes\n"), iotest.ErrReader(broken))
	_, err := table.Read(context.Background(), r, "train.csv", table.Format{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "train.csv, line 3") {
		t.Errorf("error %v", err)
	}
}

func TestHeaderChoiceIsChecked(t *testing.T) {
	if _, err := table.Read(context.Background(), strings.NewReader("a,y\n"), "x", table.Format{Header: "maybe"}); err == nil {
		t.Error("Read accepts header=maybe")
	}
	if _, err := NewReader(context.Background(), strings.NewReader("a,y\n"), "x", &Recipe{}, table.Format{Header: "maybe"}); err == nil {
		t.Error("NewReader accepts header=maybe")
	}
}

// Numbers whose units differ are ambiguous; few different ones may be categories, and a letter
// right after a number is part of a code.
func TestDifferentUnits(t *testing.T) {
	for _, c := range []struct {
		cell func(i int) string
		want string
	}{
		{func(i int) string { return fmt.Sprintf("%d %s", 60+i, []string{"kg", "lbs"}[i%2]) }, `20 of 20 cells are numbers with the unit "kg" (10 cells), "lbs" (10 cells)`},
		{func(i int) string { return fmt.Sprintf("%d%s", 60+i, []string{"kg", ""}[i/15]) }, `20 of 20 cells are numbers with the unit "kg" (15 cells), none (5 cells)`},
		{func(i int) string { return []string{fmt.Sprintf("%d mg/dl", 60+i), "high"}[i/18] }, `18 of 20 cells are numbers with the unit "mg/dl" (18 cells), but not "high" (2 cells)`},
		{func(i int) string { return fmt.Sprintf("%d %s", i%3, []string{"rooms", "beds"}[i%2]) }, ""},
		{func(i int) string { return fmt.Sprintf("%d%s", i/2, []string{"A", "B"}[i%2]) }, ""},
		{func(i int) string { return fmt.Sprintf("%d %c%[2]c", i, 'a'+i) }, ""},
	} {
		text := "v,a,y\n"
		for i := range 20 {
			text += fmt.Sprintf("%s,%d,%d\n", c.cell(i), i*i%17, i%3/2)
		}
		_, err := Learn(mustRead(t, text, table.HeaderYes), Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s and the like: %v", c.cell(0), err)
		}
	}
}

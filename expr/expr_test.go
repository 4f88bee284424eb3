package expr_test

import (
	"errors"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lossep/lossep/expr"
)

var errAbsent = errors.New("absent")

// row is a case with a few columns.
func row(name string) (float64, error) {
	values := map[string]float64{
		"amount": 100, "x.1": 2, "credit amount": 30, "Größe": 5, "zero": 0, "huge": 1e300, "min": 7, "loss": -4,
		"delay": 20, "cancelled": 0, "nan": math.NaN(), "1st": 9, "and": 3, "credit-limit": 8, "default": 7,
	}
	x, ok := values[name]
	if name == "gap" {
		return 0, fmt.Errorf("line 7: %w", expr.ErrMissing)
	}
	if !ok {
		return 0, errAbsent
	}
	return x, nil
}

func texts(name string) (string, error) {
	if name != "status" {
		return "", errAbsent
	}
	return "very late", nil
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		form string // as it is written, if otherwise
	}{
		{"5", 5, ""},
		{" 2.5e-1 ", 0.25, "0.25"},
		{"-0", 0, "0"},
		{"+3", 3, "3"},
		{"--3", 3, "3"},
		{"amount", 100, ""},
		{"0.6*amount", 60, "0.6 * amount"},
		{"amount * 0.6", 60, ""},
		{"0.6 * amount + 10", 70, ""},
		{"0.6 * (amount + 10)", 66, ""},
		{"((amount))", 100, "amount"},
		{"2 - 3 - 4", -5, ""},
		{"2 - (3 - 4)", 3, ""},
		{"64 / 4 / 2", 8, ""},
		{"64 / (4 / 2)", 32, ""},
		{"64 / (4 * 2)", 8, ""},
		{"-amount * 2", -200, ""},
		{"-(amount + 2)", -102, ""},
		{"amount * -2", -200, ""},
		{"min(amount, 40, 50)", 40, ""},
		{"max ( 1 , min(loss,0) )", 1, "max(1, min(loss, 0))"},
		{"min + 1", 8, ""},
		{"`credit amount` + 1", 31, ""},
		{"`amount`", 100, "amount"},
		{"`1st`", 9, ""},
		{"`and`", 3, ""},
		{"`credit-limit` / 2", 4, ""},
		{"x.1 * Größe", 10, ""},
		{"default(amount,5)", 100, "default(amount, 5)"},
		{"0.6 * default(gap, 5)", 3, ""},
		{"default(amount / gap, 2 * x.1)", 4, ""},
		{"default(gap, default(gap + 1, amount))", 100, ""},
		{"default + 1", 8, ""},
		{"2 * exp(amount - 100)", 2, ""},
		{"exp( 0 ) + exp(-huge)", 1, "exp(0) + exp(-huge)"},
		{"min(exp(huge), 3)", 3, ""},
	} {
		e, err := expr.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, err := e.Eval(row); err != nil || got != c.want || math.Signbit(got) != (c.want < 0) {
			t.Errorf("%s is %v and %v; want %v", c.text, got, err, c.want)
		}
		form := c.form
		if form == "" {
			form = c.text
		}
		if e.String() != form {
			t.Errorf("%s is written %s", c.text, e)
		}
	}
}

func TestConditions(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"delay >= 15", true},
		{"delay<15", false},
		{"delay > 20", false},
		{"delay <= 20", true},
		{"delay != 20", false},
		{"delay == 4 * 5", true},
		{"delay >= 15 and cancelled == 1", false},
		{"delay >= 15 or cancelled == 1 and delay > 100", true}, // and binds more tightly
		{"(delay >= 15 or cancelled == 1) and delay > 100", false},
		{"not delay >= 15", false},
		{"not (delay < 15 and cancelled == 1) and delay > 1", true},
		{"(delay + 1) * 2 > 41", true},
		{`status == "very late"`, true},
		{`"late" == status`, false},
		{`status != "late" and delay > 0`, true},
	} {
		x, err := expr.ParseCondition(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got, err := x.Holds(row, texts); err != nil || got != c.want {
			t.Errorf("%s is %v and %v", c.text, got, err)
		}
		again, err := expr.ParseCondition(x.String())
		if err != nil || again.String() != x.String() {
			t.Errorf("%s reads back as %v, %v", x, again, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		msg    string
	}{
		{"", 1, "nothing is given"},
		{"  ", 1, "nothing is given"},
		{"5 €", 3, "is not understood"},
		{"5€", 2, "is not understood"},
		{"5,5", 2, `"," is out of place`},
		{"5 EUR", 3, "follows without an operator; a name that is not made of letters, digits, _ and . stands in backticks"},
		{"credit amount", 8, "in backticks, such as `credit amount`"},
		{"0.6 * ", 7, "ends too early"},
		{"* amount", 1, "out of place"},
		{"(amount", 8, "ends too early"},
		{"amount)", 7, "out of place"},
		{"1e999", 1, "not a finite number"},
		{"0x10", 1, "neither a number nor a column"},
		{"1_000", 1, "neither a number nor a column"},
		{".inf", 1, "neither a number nor a column"},
		{"3rd", 1, "neither a number nor a column"},
		{"1.2.3", 1, "neither a number nor a column"},
		{"log(amount)", 1, "there are min, max, exp and default"},
		{"default(amount)", 1, "as in default(amount, 100)"},
		{"default(amount, 1, 2)", 1, "as in default(amount, 100)"},
		{"default(3, 4)", 1, "default is of a column and a value"},
		{"default(amount > 1, 4)", 1, "is no number for default"},
		{"min(amount)", 1, "at least two"},
		{"exp(1, 2)", 1, "exp is of one value"},
		{"exp(amount > 1)", 1, "is no number for exp"},
		{"min(amount 2)", 12, "without an operator"},
		{"`amount", 1, "encloses nothing"},
		{"``", 1, "encloses nothing"},
		{"amount >= 5", 1, "is no number"},
		{"1 + (amount >= 5)", 3, "amount >= 5 is no number for +"},
		{`"amount"`, 1, "is a text"},
		{`2 * "amount"`, 3, "is no number"},
		{"amount = 5", 8, "write =="},
		{"amount\xff", 1, "not UTF-8"},
		{strings.Repeat("(", 300), 201, "more than 200 parts"},
		{"1" + strings.Repeat("+1", 100), 201, "more than 200 parts"},
	} {
		_, err := expr.Parse(c.text)
		var e *expr.Error
		if !errors.As(err, &e) || e.Column != c.column || !strings.Contains(e.Error(), c.msg) || e.Fix == "" {
			t.Errorf("%q: %+v; want %q at %d", c.text, err, c.msg, c.column)
		}
	}
	for _, c := range []struct{ text, msg string }{
		{"amount", "compare it with something"},
		{"1 < amount < 3", "no number for <"},
		{"amount and delay > 3", "compare it with something"},
		{"not amount", "compare it with something"},
		{`amount > "late"`, "compare a text with a column"},
		{`"a" == "b"`, "compare a text with a column"},
		{`amount + 1 == "b"`, "compare a text with a column"},
		{"or", "out of place"},
		{"delay > 3 or", "ends too early"},
	} {
		if _, err := expr.ParseCondition(c.text); err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func TestNoValue(t *testing.T) {
	for text, want := range map[string]string{
		"amount / zero":           "amount / zero is +Inf in this case, and not a finite number",
		"min(5, amount / zero)":   "amount / zero is +Inf in this case, and not a finite number",
		"huge * huge":             "huge * huge is +Inf in this case, and not a finite number",
		"1 + nan":                 "nan is NaN in this case, and not a finite number",
		"zero / zero > 1":         "zero / zero is NaN in this case, and not a finite number",
		"1 > 2 and missing > 1":   "absent",
		`1 < 2 or missing == "a"`: "absent",
	} {
		var err error
		if e, fault := expr.Parse(text); fault == nil {
			_, err = e.Eval(row)
		} else if c, fault := expr.ParseCondition(text); fault == nil {
			_, err = c.Holds(row, texts)
		} else {
			t.Fatal(fault)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestScale(t *testing.T) {
	for _, c := range []struct {
		text, rest string
		by         float64
	}{
		{"5", "", 5},
		{"-min(2, 3)", "", -2},
		{"amount", "amount", 1},
		{"0.5 * amount", "amount", 0.5},
		{"amount * 0.5", "amount", 0.5},
		{"-amount / 4", "amount", -0.25},
		{"2 * (3 * amount) * (delay / 2)", "amount * delay", 3},
		{"2 * min(amount, 5)", "min(amount, 5)", 2},
		{"6 * amount / delay", "amount / delay", 6},
		{"1 / amount", "1 / amount", 1},
		{"amount + 1", "amount + 1", 1},
		{"amount / 0", "amount / 0", 1},
	} {
		e, err := expr.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		by, rest := e.Scale()
		if by != c.by || rest.Constant() != (c.rest == "") || !rest.Constant() && rest.String() != c.rest {
			t.Errorf("%s: %v times %v", c.text, by, rest)
		}
	}
}

func TestColumns(t *testing.T) {
	e, err := expr.Parse("b * (a + b) - min(`c d`, 1)")
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Columns(); !slices.Equal(got, []string{"b", "a", "c d"}) {
		t.Error(got)
	}
	c, err := expr.ParseCondition(`b > 1 and a == "b"`)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Columns(); !slices.Equal(got, []string{"b", "a"}) {
		t.Error(got)
	}
	if got := expr.Number(2).Columns(); got != nil {
		t.Error(got)
	}
}

func TestSplit(t *testing.T) {
	got := expr.Split("fn=min(a,b) ,fp=`x,y`*(1+max(2,3)),tp=1")
	if !slices.Equal(got, []string{"fn=min(a,b) ", "fp=`x,y`*(1+max(2,3))", "tp=1"}) {
		t.Errorf("%q", got)
	}
}

// Random arithmetic has the value that Go's compiler gives it, and is written so that it
// reads back the same.
func TestAsGoReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var draw func(depth int) string
		draw = func(depth int) string {
			kind := rapid.IntRange(0, 6).Draw(t, "kind")
			if depth == 0 {
				kind = 0
			}
			switch kind {
			case 0:
				return fmt.Sprintf("%d.0", rapid.IntRange(1, 9).Draw(t, "number"))
			case 1:
				return "(" + draw(depth-1) + ")"
			case 2:
				return "-(" + draw(depth-1) + ")"
			}
			if kind == 6 {
				return draw(depth-1) + " / " + draw(0)
			}
			return draw(depth-1) + " " + string("+-*"[kind-3]) + " " + draw(depth-1)
		}
		text := draw(3)
		truth, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
		if err != nil {
			t.Fatal(err)
		}
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := constant.Float64Val(truth.Value)
		got, err := e.Eval(nil)
		// The parts are at most 9⁸, as without any minus, and each of at most seven
		// operations adds half an ulp to the relative error of the result of that size.
		if err != nil || math.Abs(got-want) > 7*0x1p-53*math.Pow(9, 8) {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
		again, err := expr.Parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%s reads back as %v, %v", e, again, err)
		}
		if value, err := again.Eval(nil); err != nil || value != got {
			t.Errorf("%s reads back as %v", e, again)
		}
	})
}

// Whatever the text, what is accepted has finite values or says that it has none, and
// reads back the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"0.6 * amount + 10", "min(a, `b c`) / -2", `a >= 15 or not s == "x"`, "((1", "1e-400*a", "`"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := expr.ParseCondition(text); err == nil {
			again, err := expr.ParseCondition(c.String())
			if err != nil || again.String() != c.String() {
				t.Fatalf("%q is written %q and reads back as %v, %v", text, c, again, err)
			}
		}
		e, err := expr.Parse(text)
		if err != nil {
			return
		}
		again, err := expr.Parse(e.String())
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q is written %q and reads back as %v, %v", text, e, again, err)
		}
		value := func(name string) (float64, error) { return float64(len(name)) - 2, nil }
		x, err := e.Eval(value)
		if by, rest := e.Scale(); err == nil && !rest.Constant() {
			// Products in another order round otherwise, or leave the range.
			if z, err := rest.Eval(value); err == nil && !(math.Abs(by*z-x) <= 1e-12*math.Abs(x)) && math.Abs(x) > 1e-290 {
				t.Fatalf("%q is %v, and not %v times %v", text, x, by, z)
			}
		}
		y, second := again.Eval(value)
		if (err == nil) != (second == nil) || x != y || math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("%q is %v, %v and reads back as %v, %v", text, x, err, y, second)
		}
	})
}

func ExampleParse() {
	e, err := expr.Parse("0.6*amount + 10")
	if err != nil {
		fmt.Println(err)
		return
	}
	cost, err := e.Eval(func(column string) (float64, error) { return 2000, nil })
	fmt.Println(e, e.Columns(), cost, err)

	_, err = expr.Parse("0.6 * credit amount")
	fmt.Println(err)
	// Output:
	// 0.6 * amount + 10 [amount] 1210 <nil>
	// "amount" in "0.6 * credit amount" follows without an operator; a name that is not made of letters, digits, _ and . stands in backticks, such as `credit amount`
}

func ExampleParseCondition() {
	late, err := expr.ParseCondition("delay >= 15 or cancelled == 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	row := map[string]float64{"delay": 3, "cancelled": 1}
	fmt.Println(late.Holds(func(column string) (float64, error) { return row[column], nil }, nil))
	// Output: true <nil>
}

// What is divided by is reported from the inside out, and what products are made of.
func TestDivisors(t *testing.T) {
	texts := func(all []expr.Expr) (texts []string) {
		for _, e := range all {
			texts = append(texts, e.String())
		}
		return texts
	}
	e, err := expr.Parse("min(1 / (x - 3), 5) + y / 2 / -(a * (b / c) * a)")
	if err != nil {
		t.Fatal(err)
	}
	divisors := e.Divisors()
	if got, want := texts(divisors), []string{"x - 3", "2", "c", "-(a * (b / c) * a)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := texts(divisors[3].Factors()), []string{"a", "b", "a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := texts(divisors[0].Factors()), []string{"x - 3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

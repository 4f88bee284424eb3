package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"rbf", "rbf(variance=1, lengthscale=1)"},
		{"RBF()", "rbf(variance=1, lengthscale=1)"},
		{"rbf(variance=2.25, lengthscale=2)", "rbf(variance=2.25, lengthscale=2)"},
		{"rbf( lengthscale = 2 ,variance=2.25 )", "rbf(variance=2.25, lengthscale=2)"},
		{"rbf(ard)", "rbf(variance=1, lengthscale=[1, 1])"},
		{"rbf(ARD, lengthscale=.5)", "rbf(variance=1, lengthscale=[0.5, 0.5])"},
		{"rbf(lengthscale=[0.5, 1.1])", "rbf(variance=1, lengthscale=[0.5, 1.1])"},
		{"rbf(ard, lengthscale=[0.5, 1.1])", "rbf(variance=1, lengthscale=[0.5, 1.1])"},
		{"linear(ard, variance=1e-3)", "linear(variance=[0.001, 0.001])"},
		{"constant(variance=1E+2)", "constant(variance=100)"},
		{"white+white", "white(variance=1) + white(variance=1)"},
		{strings.Repeat("(", maxDepth) + "white" + strings.Repeat(")", maxDepth), "white(variance=1)"},
		{
			strings.Repeat("(white) * ", maxDepth+1) + "white",
			strings.Repeat("white(variance=1) * ", maxDepth+1) + "white(variance=1)",
		},
		{"\twhite\n", "white(variance=1)"},
		{
			"matern52(ard) * linear + white(variance=0.1)",
			"matern52(variance=1, lengthscale=[1, 1]) * linear(variance=1) + white(variance=0.1)",
		},
		{"constant * (white + linear)", "constant(variance=1) * (white(variance=1) + linear(variance=1))"},
		{"((constant)) + (white + (linear))", "constant(variance=1) + white(variance=1) + linear(variance=1)"},
		{"constant * (white * linear)", "constant(variance=1) * white(variance=1) * linear(variance=1)"},
		{"(constant * white) + linear", "constant(variance=1) * white(variance=1) + linear(variance=1)"},
	} {
		k, err := Parse(tt.text, 2)
		if err != nil {
			t.Error(err)
		} else if k.String() != tt.want {
			t.Errorf("%s was read as %s", tt.text, k)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		text   string
		column int
		part   string
	}{
		{"", 1, `expected a kernel or "(", found the end`},
		{"rbf +", 6, `expected a kernel or "(", found the end`},
		{"rbf linear", 5, `expected "+", "*" or the end, found "linear"`},
		{"rbf - linear", 5, `found "-"`},
		{"gauss", 1, `no kernel is called "gauss"; there are rbf, matern12,`},
		{"rbf + 2", 7, `expected a kernel or "(", found "2"`},
		{"(rbf", 5, `expected "+", "*" or ")", found the end`},
		{"rbf)", 4, `found ")"`},
		{"rbf(", 5, `expected a parameter of rbf, found the end`},
		{"rbf(ard", 8, `expected "," or ")", found the end`},
		{"rbf(ard,)", 9, `expected a parameter of rbf, found ")"`},
		{"rbf(width=2)", 5, `rbf has no parameter "width"; it has variance, lengthscale, ard`},
		{"periodic(ard)", 10, `it has variance, lengthscale, period`},
		{"white(lengthscale=1)", 7, `white has no parameter "lengthscale"; it has variance`},
		{"rbf(variance 2)", 14, `expected "=", found "2"`},
		{"rbf(variance=)", 14, `expected a number, found ")"`},
		{"rbf(variance=two)", 14, `expected a number, found "two"`},
		{"rbf(variance=inf)", 14, `expected a number`},
		{"rbf(variance=0)", 14, `0 is not a number between 1e-100 and 1e100`},
		{"rbf(variance=-1)", 14, `-1 is not a number between`},
		{"rbf(variance=1e999)", 14, `1e999 is not a number between`},
		{"rbf(variance=1, variance=2)", 17, `variance is given twice`},
		{"rbf(variance=[1, 2])", 14, `expected one number`},
		{"rbf(lengthscale=[1])", 17, `1 numbers listed for 2 input columns`},
		{"rbf(lengthscale=[1, 2, 3])", 17, `3 numbers listed for 2 input columns`},
		{"rbf(lengthscale=[1 2])", 20, `expected "," or "]", found "2"`},
		{"rbf(lengthscale=[])", 18, `expected a number, found "]"`},
		{"rbf + é", 7, `found "é"`},
		{"\xff", 1, `expected a kernel`},
		{strings.Repeat("(", 1e6), 101, `more than 100 parentheses`},
	} {
		_, err := Parse(tt.text, 2)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.40q: error %v", tt.text, err)
			continue
		}
		if syntax.Column != tt.column || !strings.Contains(syntax.Problem, tt.part) {
			t.Errorf("%.40q: column %d: %s", tt.text, syntax.Column, syntax.Problem)
		}
	}
}

func TestSyntaxErrorMessage(t *testing.T) {
	_, err := Parse("rbf + lineer", 2)
	want := `kernel "rbf + lineer", column 7: no kernel is called "lineer"; ` +
		`there are rbf, matern12, matern32, matern52, additive, linear, periodic, constant, white`
	if err == nil || err.Error() != want {
		t.Errorf("message is %v", err)
	}
}

func TestParseWithoutColumns(t *testing.T) {
	if _, err := Parse("rbf + linear", 0); err != nil {
		t.Error(err)
	}
	if _, err := Parse("rbf(ard)", 0); err == nil {
		t.Error("ard without columns was read")
	}
}

// TestRandomRoundTrip prints random expressions with random parameters and
// reads them back to the same bits.
func TestRandomRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 200 {
		k := randomKernel(rng, 3)
		again, err := Parse(k.String(), lawDim)
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != k.String() {
			t.Errorf("%s was read as %s", k, again)
		}
		if fmt.Sprint(again.Describe()) != fmt.Sprint(k.Describe()) {
			t.Errorf("parameters %v were read as %v", k.Describe(), again.Describe())
		}
	}
}

// randomKernel draws an expression of at most the given depth, with parameters
// over the whole range.
func randomKernel(rng *rand.Rand, depth int) Kernel {
	if depth == 0 || rng.IntN(3) == 0 {
		f := families()[rng.IntN(len(families()))]
		values := make([][]float64, len(f.groups))
		for g, group := range f.groups {
			values[g] = make([]float64, 1)
			if group.perColumn && rng.IntN(2) == 0 {
				values[g] = make([]float64, lawDim)
			}
			for i := range values[g] {
				values[g][i] = math.Exp(MaxLog * (2*rng.Float64() - 1))
			}
		}
		return newKernel(newLeaf(f, values...))
	}
	parts := make([]Kernel, 1+rng.IntN(3))
	for i := range parts {
		parts[i] = randomKernel(rng, depth-1)
	}
	if rng.IntN(2) == 0 {
		return Sum(parts...)
	}
	return Product(parts...)
}

// FuzzParse holds Parse to: a kernel that prints to what reads back to itself,
// or a SyntaxError at a column of the text.
func FuzzParse(f *testing.F) {
	for _, entry := range lawTable {
		f.Add(entry.text, lawDim)
	}
	f.Add("(rbf(ard, lengthscale=2e-1)", 1)
	f.Add("constant*(white+linear(variance=[.5,1E3])", 2)
	f.Fuzz(func(t *testing.T, text string, dim int) {
		dim = min(dim, 100)
		k, err := Parse(text, dim)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error of type %T", err)
			}
			if syntax.Column < 1 || syntax.Column > utf8.RuneCountInString(text)+1 || syntax.Problem == "" {
				t.Fatalf("column %d: %s", syntax.Column, syntax.Problem)
			}
			return
		}
		again, err := Parse(k.String(), dim)
		if err != nil {
			t.Fatal(err)
		}
		if again.String() != k.String() || again.Dim() != k.Dim() {
			t.Fatalf("%s was read back as %s", k, again)
		}
		if len(k.ParamNames()) != k.NumParams() {
			t.Fatalf("%d names for %d parameters", len(k.ParamNames()), k.NumParams())
		}
	})
}

package factor_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lossep/lossep/factor"
	"github.com/lossep/lossep/normal"
)

// lawCase is one row of the table that every law runs over: a factor, its mirror
// image t(−f), nil if there is none of its kind, and where and how sharply log t bends. A new factor needs rows here
// and nothing else.
type lawCase struct {
	factor.Factor
	mirror factor.Factor
	bends  []bend
	jumps  bool    // t is discontinuous at its only bend, and flat elsewhere
	never  bool    // t vanishes on a half line, so E log t is −∞
	widest float64 // the largest variance that laws ask for; 0 for all
	noise  float64 // errors of its logarithms beyond rounding of the answer, of constants that cancel
}

// bend is a place where log t bends, the width of the bend, and how far from the
// place log t may still bend as sharply.
type bend struct {
	at, width, extent float64
}

// lawTable has an ordinary setting and the extremes of every factor.
var lawTable = []lawCase{
	probit(1),
	probit(-1),
	logit(1),
	logit(-1),
	robust(1, 0.01),
	robust(-1, 1e-6),
	robust(1, 0.3),
	robust(1, 0), // no label noise
	power(1, 0.5),
	power(-1, 0.05),
	power(1, 1),
	powerOfLogit(1, 0.3),
	power(1, 2),
	power(-1, 25),
	power(1, 1e-3),
	power(-1, 1e-12),
	powerOfLogit(-1, 2.5),
	powerOfLogit(1, 1e-9),
	powerOfRobust(1, 0.01, 3),
	powerOfRobust(-1, 0.1, 0.5),
	gaussian(0.7, 1.3),
	gaussian(-50, 1e-4),
	gaussian(3, 1e6),
	powerOf(gaussian(-50, 1e-4), 0.3),
	clutter(2.3, 0.5, 10, 1),
	clutter(0.1, 0.5, 10, 1),
	clutter(5.7, 1e-6, 10, 1),
	clutter(-30, 0.5, 10, 1), // the crossover of the components is far and sharp
	clutter(1, 0.99, 100, 0.01),
	clutter(4, 0.2, 0.5, 25), // clutter narrower than the noise
	clutter(-2, 0, 10, 1),    // never clutter
	step(2.2, 1, 0.01),
	step(0, 0.9, 1),
	step(-3, 1e-6, 1),
	step(1, 250, 250),
	step(-1, 0, 1),
	step(0.5, 3, 0),
	student(0.7, 1, 4),
	student(-3, 0.2, 1.5),
	student(2, 5, 100),
	student(0, 0.05, 2.5),
	powerOf(student(0.7, 1, 4), 0.5),
	powerOf(student(-3, 0.2, 1.5), 0.2),
	powerOf(student(0.7, 1, 4), 1e-12), // rows that hardly count
	powerOf(student(-3, 0.2, 1.5), 1e-6),
	powerOf(student(0, 0.05, 2.5), 1e-3),
	powerOf(student(2, 5, 100), 1e-3),
	powerOf(student(0.7, 1, 4), 3),
	powerOf(student(-3, 0.2, 1.5), 40),
	powerOf(student(2, 5, 30), 1e3),
	poisson(0),
	poisson(0.5), // of noise that depends on columns
	poisson(3),
	poisson(40),
	powerOf(poisson(3), 0.5),
	powerOf(poisson(3), 1e-3),
	powerOf(poisson(0), 1e-12),
	negativeBinomial(0, 0.5),
	negativeBinomial(12, 3),
	negativeBinomial(60, 40),
	powerOf(negativeBinomial(12, 3), 0.4),
	powerOf(negativeBinomial(12, 3), 1e-3),
	powerOf(negativeBinomial(0, 0.5), 1e-12),
	ordered(-0.5, 0.8),
	ordered(1, 1.1),
	ordered(-4, 6),
	ordered(math.Inf(-1), 0.3),
	ordered(-0.3, math.Inf(1)),
}

func student(y, scale, df float64) lawCase {
	return lawCase{
		Factor: factor.StudentT{Y: y, Scale: scale, DF: df}, mirror: factor.StudentT{Y: -y, Scale: scale, DF: df},
		bends: []bend{{y, scale, 12 * math.Sqrt(df)}},
	}
}

// poisson bends at its count, where its width is 1/√y, and ever more sharply above.
func poisson(y float64) lawCase { return count(factor.Poisson{Y: y}, y) }

func negativeBinomial(y, size float64) lawCase {
	c := count(factor.NegativeBinomial{Y: y, Size: size}, y)
	c.bends = append(c.bends, bend{math.Log(size), 1, 12})
	return c
}

// count has averages that are numbers for variances of logarithms that are not absurd.
func count(f factor.Factor, y float64) lawCase {
	return lawCase{Factor: f, bends: []bend{{math.Log(y + 1), 1 / math.Sqrt(y+1), 12}, {math.Log(y+1) + 2, 0.3, 12}}, widest: 1}
}

func ordered(low, high float64) lawCase {
	c := lawCase{Factor: factor.Ordered{Low: low, High: high}, mirror: factor.Ordered{Low: -high, High: -low}}
	for _, at := range []float64{low, high} {
		if !math.IsInf(at, 0) {
			c.bends = append(c.bends, bend{at, 1, 12})
		}
	}
	return c
}

func probit(y float64) lawCase {
	return lawCase{Factor: factor.Probit{Y: y}, mirror: factor.Probit{Y: -y}, bends: []bend{{0, 1, 12}}}
}

func logit(y float64) lawCase {
	return lawCase{Factor: factor.Logit{Y: y}, mirror: factor.Logit{Y: -y}, bends: []bend{{0, 1, 12}}}
}

// power is a power of Φ, which bends where Φ does.
func power(y, alpha float64) lawCase { return powerOf(probit(y), alpha) }

func powerOfLogit(y, alpha float64) lawCase { return powerOf(logit(y), alpha) }

func powerOfRobust(y, noise, alpha float64) lawCase { return powerOf(robust(y, noise), alpha) }

// powerOf bends as its term does, sharper by the root of a power above one.
//
// Its logarithm has the errors of constants of the term, of up to some 30, as often as it counts, or of its own.
func powerOf(c lawCase, alpha float64) lawCase {
	c.noise = 1e-14 * max(1, alpha)
	for k := range c.bends {
		c.bends[k].width /= math.Sqrt(max(1, alpha))
	}
	c.Factor = factor.Raise(c.Factor, alpha)
	if c.mirror != nil {
		c.mirror = factor.Raise(c.mirror, alpha)
	}
	return c
}

// robust bends where Φ does, and, over 1/e, where the noise takes over from Φ, e
// standard deviations below zero.
func robust(y, noise float64) lawCase {
	bends := []bend{{0, 1, 12}}
	if noise > 0 {
		e := max(1, -normal.Quantile(noise))
		bends = append(bends, bend{-y * e, 1 / e, 20})
	}
	return lawCase{
		Factor: factor.RobustProbit{Y: y, Noise: noise}, mirror: factor.RobustProbit{Y: -y, Noise: noise},
		bends: bends,
	}
}

func gaussian(y, variance float64) lawCase {
	return lawCase{
		Factor: factor.Gaussian{Y: y, Variance: variance}, mirror: factor.Gaussian{Y: -y, Variance: variance},
		bends: []bend{{y, math.Sqrt(variance), 12}},
	}
}

// clutter bends at the measurement and where its two components are equally
// probable, e standard deviations of the noise away, over 1/e of one.
func clutter(y, weight, variance, noise float64) lawCase {
	c := factor.Clutter{Y: y, Weight: weight, Variance: variance, Noise: noise}
	mirror := c
	mirror.Y = -y
	sd := math.Sqrt(noise)
	bends := []bend{{y, sd, 12}}
	if odds := 2*math.Log((1-weight)/weight) + y*y/variance + math.Log(variance/noise); weight > 0 && odds > 0 {
		e := math.Sqrt(odds)
		bends = append(bends, bend{y - e*sd, sd / max(1, e), 20}, bend{y + e*sd, sd / max(1, e), 20})
	}
	return lawCase{Factor: c, mirror: mirror, bends: bends}
}

func step(t, below, above float64) lawCase {
	return lawCase{
		Factor: factor.Step{T: t, Below: below, Above: above}, mirror: factor.Step{T: -t, Below: above, Above: below},
		bends: []bend{{t, 0, 0}}, jumps: true, never: below == 0 || above == 0,
	}
}

// width is the length over which the answers vary at m under N(m, v): a bend of
// the factor, blurred by √v; or less, where two sides of it meet at a steep slope,
// and in tails, which fall over 1/z of a standard deviation at z of them.
func (c lawCase) width(m, v float64) float64 {
	first := c.bends[0]
	scale := math.Sqrt(first.width*first.width + v)
	steep := max(1, math.Abs(m-first.at)/scale)
	if c.jumps {
		// A side that counts 1e-6 of the other is noticed five standard
		// deviations away.
		return scale / max(steep, 5)
	}
	for _, b := range c.bends {
		steep = max(steep, first.width/b.width)
	}
	return scale / steep
}

// forLaws runs a law on every factor of the table, at means in, between and
// beside its bends and at variances from far below their widths to far above.
func forLaws(t *testing.T, law func(t *testing.T, c lawCase, m, v float64)) {
	for _, c := range lawTable {
		t.Run(fmt.Sprintf("%T%+v", c.Factor, c.Factor), func(t *testing.T) {
			for _, v := range []float64{1e-6, 0.01, 1, 100, 1e4} {
				if c.widest > 0 && v > c.widest {
					continue
				}
				for _, m := range c.means(v) {
					law(t, c, m, v)
				}
			}
		})
	}
}

// means are the places to test at when the variance is v.
func (c lawCase) means(v float64) (means []float64) {
	for _, b := range c.bends {
		scale := math.Sqrt(b.width*b.width + v)
		for _, z := range []float64{-7, -2.5, -0.8, 0.01, 0.4, 1.9, 6} {
			means = append(means, b.at+z*scale)
		}
	}
	return means
}

// TestNothingMissingFromTable reads the package's source for types that answer the
// three questions: each must have a row in the table.
func TestNothingMissingFromTable(t *testing.T) {
	questions := methodsOf(reflect.TypeFor[factor.Factor]())
	methods := map[string][]string{}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				receiver := receiverName(f.Recv.List[0].Type)
				methods[receiver] = append(methods[receiver], f.Name.Name)
			}
		}
	}
	found := 0
	for name, has := range methods {
		if !slices.ContainsFunc(questions, func(q string) bool { return !slices.Contains(has, q) }) {
			found++
			if !slices.ContainsFunc(lawTable, func(c lawCase) bool { return typeName(c.Factor) == name }) {
				t.Errorf("%s is a Factor without a row in lawTable", name)
			}
		}
	}
	if found < 6 {
		t.Errorf("found %d factors in the source; probit, logit, robust probit, gaussian, clutter and step exist", found)
	}
}

func methodsOf(t reflect.Type) (names []string) {
	for m := range t.Methods() {
		names = append(names, m.Name)
	}
	return names
}

func typeName(f factor.Factor) string {
	t := reflect.TypeOf(f)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// receiverName is T for receivers T, *T and T[P].
func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

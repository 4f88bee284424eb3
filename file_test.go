package lossep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/safetensors"
	"github.com/lossep/lossep/table"
)

// loans has columns of all kinds and costs that vary from row to row.
const loans = `job,amount,age,class
clerk,100,31,good
smith,900,22,bad
clerk,250,45,good
smith,400,37,good
baker,700,28,bad
clerk,300,52,good
baker,650,41,good
smith,800,33,bad
`

func fitLoans(t testing.TB, method lossep.Method, l lossep.Likelihood) *lossep.Model {
	t.Helper()
	m, err := lossep.Fit(context.Background(), tableOf(t, loans), lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: costs(t, "fn=0.6*amount,fp=90"),
		Method: method, Likelihood: l, Kernel: "rbf(variance=3, lengthscale=2) + constant(variance=0.5)", Fixed: true, Seed: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// decided is everything that comes out of a model for the rows it was fitted to.
func decided(t testing.TB, m *lossep.Model) string {
	t.Helper()
	var b strings.Builder
	rd, err := recipe.NewReader(context.Background(), strings.NewReader(loans), "", m.Recipe(), table.Format{})
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range m.Predictions(context.Background(), rd) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, p.Prediction)
	}
	if rd, err = recipe.NewReader(context.Background(), strings.NewReader(loans), "", m.Recipe(), table.Format{}); err != nil {
		t.Fatal(err)
	}
	for d, err := range m.Decisions(context.Background(), rd, nil, true) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, d.Decision)
	}
	return b.String()
}

func written(t testing.TB, m *lossep.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is loaded is what was saved, to the last bit, for every method and likelihood;
// and fitting again gives the same bytes on any number of processors.
func TestSaveAndLoad(t *testing.T) {
	for _, l := range []lossep.Likelihood{{}, {Name: "logit"}, {Name: "robust", Noise: 0.02}} {
		for _, method := range lossep.Methods() {
			t.Run(l.Name+" "+string(method), func(t *testing.T) {
				m := fitLoans(t, method, l)
				if !m.Summary().Status.Converged {
					t.Errorf("%s", m.Summary().Status.Text)
				}
				first := written(t, m)
				loaded, err := lossep.Read(bytes.NewReader(first))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(m.Describe(), loaded.Describe()); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(decided(t, m), decided(t, loaded)); d != "" {
					t.Error(d)
				}
				if !bytes.Equal(first, written(t, loaded)) {
					t.Error("saved again, the file differs")
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				if !bytes.Equal(first, written(t, fitLoans(t, method, l))) {
					t.Error("fitted again on one processor, the file differs")
				}
			})
		}
	}
}

// A file is written whole or not at all, and a missing one is not a broken one.
func TestSaveToPath(t *testing.T) {
	m := fitLoans(t, lossep.EP, lossep.Likelihood{})
	path := filepath.Join(t.TempDir(), "m.lossep")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := lossep.Load(path); err != nil {
		t.Error(err)
	}
	if err := m.Save(filepath.Join(path, "below")); err == nil {
		t.Error("saved below a file")
	}
	if err := m.Save(filepath.Dir(path)); err == nil {
		t.Error("saved in place of a directory")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := lossep.Load(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// Every way in which a file can be wrong is distinguished.
func TestRefusedFiles(t *testing.T) {
	model := written(t, fitLoans(t, lossep.LossVI, lossep.Likelihood{}))
	c := crafter{t, model}
	change, replace, set, tensor := c.change, c.replace, c.set, c.tensor
	flipped := bytes.Clone(model)
	flipped[len(flipped)-3] ^= 1
	for _, r := range []struct {
		name, want string
		file       []byte
	}{
		{"empty", "truncated", nil},
		{"text", "not a model file", []byte("job,amount,age,class\nclerk,100,31,good\n")},
		{"cut", "truncated", model[:len(model)-8]},
		{"cut in the header", "truncated", model[:100]},
		{"longer", "follow", append(bytes.Clone(model), make([]byte, 8)...)},
		{"one bit", "checksum", flipped},
		{"another format", "another kind", change(func(f *safetensors.File) { f.Metadata["format"] = "weights" })},
		{"later version", `version is "6"`, change(func(f *safetensors.File) { f.Metadata["version"] = "6" })},
		{"earlier version", "fit the model again from its table", change(func(f *safetensors.File) { f.Metadata["version"] = "2" })},
		{"no description", "description", change(func(f *safetensors.File) { delete(f.Metadata, "model") })},
		{"no recipe", "lacks the recipe", change(func(f *safetensors.File) { f.Metadata["model"] = "{}" })},
		{"unknown field", "unknown field", replace(`"method"`, `"methods"`)},
		{"method", "unknown", replace(`"loss-vi"`, `"guess"`)},
		{"likelihood", "unknown", replace(`"probit"`, `"tobit"`)},
		{"kernel", "kernel", replace(`rbf(`, `rbg(`)},
		{"rows", "provenance", replace(`"rows":8,"features"`, `"rows":9,"features"`)},
		{"outcomes", "outcomes", replace(`"outcomes":["good","bad"]`, `"outcomes":["bad","good"]`)},
		{"shape", "inputs", tensor("inputs", func(x *safetensors.Tensor) { x.Shape = []int{x.Shape[1], x.Shape[0]} })},
		{"label", "label 1 is -1", tensor("labels", func(x *safetensors.Tensor) { x.Ints[0] = -1 })},
		{"missing tensor", "ep.nu", tensor("ep.nu", func(x *safetensors.Tensor) { x.Name = "ep.mu" })},
		{"another tensor", "tensors", change(func(f *safetensors.File) { f.AddFloats("more", nil, 0) })},
		{"site", "no posterior", tensor("ep.tau", func(x *safetensors.Tensor) { x.Floats[0] = -1e3 })},
		{"infinite site", "+Inf", tensor("sites.nu", func(x *safetensors.Tensor) { x.Floats[0] = 1 / zero })},
		{"constant action", "number 99", set("constant_action", "99")},
		{"negative action", "number -1", set("constant_action", "-1")},
		{"left-out method", "unknown", replace(`"leave_one_out":{"method":"loss-vi"`, `"leave_one_out":{"method":"guess"`)},
		{"many kernels", "more than 200 kernels", replace(`"kernel":"`, `"kernel":"`+strings.Repeat("constant + ", 300_000))},
		{"variance", "no posterior", set("kernel", `"rbf(variance=1e100)"`)},
		{"variance of a product", "no posterior", set("kernel", `"linear(variance=1e60) * linear(variance=1e60) * linear(variance=1e60) * linear(variance=1e60) * linear(variance=1e60) * linear(variance=1e60)"`)},
		{"long status", "more than 10000", replace(`"text":"`, `"text":"`+strings.Repeat("x", 20_000))},
		{"many notes", "texts", replace(`"text":`, `"notes":[`+strings.Repeat(`"",`, 5000)+`""],"text":`)},
		{"sweeps", "-3 sweeps", set("sweeps", "-3")},
		{"a text for a number", "summary.status.sweeps is a JSON string, which does not belong there", set("sweeps", `"many"`)},
		{"jitter", "-1 was added", set("jitter", "-1")},
		{"large jitter", "1e+300", set("jitter", "1e300")},
		{"large zero", "1e+308", set("zero", "1e308")},
		{"large evidence", "-1e+308", set("log_evidence", "-1e308")},
		{"a name twice", "twice", replace(`"kernel":`, `"kernel":"rbf","kernel":`)},
		{"a name twice but for case", `unknown field "Kernel"`, replace(`"kernel":`, `"Kernel":"rbf","kernel":`)},
		{"a name twice but for an old letter", `unknown field "ſummary"`, replace(`"summary":`, `"ſummary":{},"summary":`)},
		{"a name twice but for case within", `unknown field "Column"`, replace(`"column":`, `"Column":"x","column":`)},
		{"a name twice within", "twice", replace(`"target":`, `"target":{},"target":`)},
		{"example of another column", `column "amounts"`, replace(`"examples":{"columns":["job","amount"`, `"examples":{"columns":["job","amounts"`)},
		{"example with a column twice", `column "job"`, replace(`"examples":{"columns":["job","amount"`, `"examples":{"columns":["job","job"`)},
		{"short example", "5 cells for 4 columns", replace(`"rows":[["`, `"rows":[["x","`)},
		{"many examples", "9 examples", replace(`"rows":[["`, `"rows":[["x"],["`)},
		{"more", "no JSON text", change(func(f *safetensors.File) { f.Metadata["model"] += "{}" })},
		{"too many rows", "GB of memory", change(func(f *safetensors.File) {
			f.Metadata["model"] = strings.NewReplacer(`"rows":8`, `"rows":100000`, `"outcome_rows":[5,`, `"outcome_rows":[99997,`).Replace(f.Metadata["model"])
		})},
		{"counts", "its recipe says", tensor("labels", func(x *safetensors.Tensor) { x.Ints[0] = 1 - x.Ints[0] })},
		{"precision", "which no fit gives", tensor("ep.tau", func(x *safetensors.Tensor) { x.Floats[0] = 1e16 })},
		{"shift", "which no fit gives", tensor("sites.nu", func(x *safetensors.Tensor) { x.Floats[0] = 1e200 })},
		{"input", "inputs", tensor("inputs", func(x *safetensors.Tensor) { x.Floats[0] = 1e51 })},
		{"lopsided calibration", "not symmetric", tensor("calibration.precision", func(x *safetensors.Tensor) { x.Floats[1]++ })},
		{"calibration", "no posterior", tensor("calibration.precision", func(x *safetensors.Tensor) { x.Floats[0] = -1e6 })},
	} {
		refusedFile(t, r.name, r.want, r.file)
	}
}

func refusedFile(t *testing.T, name, want string, file []byte) {
	t.Run(name, func(t *testing.T) {
		_, err := lossep.Read(bytes.NewReader(file))
		var refused *lossep.FileError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, which does not say %q", err, want)
		}
		for _, inner := range []string{"json:", "Go ", "strconv", "runtime error", "%!", "safetensors:"} {
			if err != nil && strings.Contains(err.Error(), inner) {
				t.Errorf("%v has %q in it", err, inner)
			}
		}
	})
}

// crafter makes other files of a model file.
type crafter struct {
	t     *testing.T
	model []byte
}

// change writes the file anew, with a right checksum, after an edit.
func (c crafter) change(edit func(f *safetensors.File)) []byte {
	f, err := safetensors.Read(bytes.NewReader(c.model), safetensors.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	delete(f.Metadata, "sha256")
	edit(f)
	var b bytes.Buffer
	if err := safetensors.Write(&b, f); err != nil {
		c.t.Fatal(err)
	}
	return b.Bytes()
}

// replace exchanges a text of the description.
func (c crafter) replace(from, to string) []byte {
	return c.change(func(f *safetensors.File) {
		text := f.Metadata["model"]
		if !strings.Contains(text, from) {
			c.t.Fatalf("no %s in %s", from, text)
		}
		f.Metadata["model"] = strings.Replace(text, from, to, 1)
	})
}

// set gives a member of the description another value.
func (c crafter) set(member, value string) []byte {
	return c.change(func(f *safetensors.File) {
		at := regexp.MustCompile(`"` + member + `":("[^"]*"|[^,}]*)`)
		if !at.MatchString(f.Metadata["model"]) {
			c.t.Fatalf("no %s in %s", member, f.Metadata["model"])
		}
		f.Metadata["model"] = at.ReplaceAllString(f.Metadata["model"], `"`+member+`":`+value)
	})
}

// tensor edits a tensor.
func (c crafter) tensor(name string, edit func(*safetensors.Tensor)) []byte {
	return c.change(func(f *safetensors.File) {
		for i := range f.Tensors {
			if f.Tensors[i].Name == name {
				edit(&f.Tensors[i])
				return
			}
		}
		c.t.Fatalf("no tensor %s", name)
	})
}

// fitPoints fits a model with inducing points, weights and a prevalence.
func fitPoints(t testing.TB) *lossep.Model {
	t.Helper()
	m, err := lossep.Fit(context.Background(), tableOf(t, loans), lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad", Weights: "age", Prevalence: 0.1}, Utility: costs(t, "fn=5,fp=1"),
		Kernel: "rbf(variance=2) + constant", Fixed: true, Inducing: 3, Method: lossep.LossEP,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The same for models with inducing points, weights and a prevalence.
func TestRefusedFilesOfPoints(t *testing.T) {
	c := crafter{t, written(t, fitPoints(t))}
	if _, err := lossep.Read(bytes.NewReader(c.change(func(*safetensors.File) {}))); err != nil {
		t.Fatal(err)
	}
	number := func(name string, i int, value float64) []byte {
		return c.tensor(name, func(x *safetensors.Tensor) { x.Floats[i] = value })
	}
	shape := func(name string, shape ...int) []byte {
		return c.tensor(name, func(x *safetensors.Tensor) {
			n := 1
			for _, d := range shape {
				n *= d
			}
			x.Shape, x.Floats = shape, append(x.Floats, make([]float64, max(0, n-len(x.Floats)))...)[:n]
		})
	}
	nan := math.NaN()
	for _, r := range []struct {
		name, want string
		file       []byte
	}{
		{"no points", "inducing points", c.set("points", "0")},
		{"negative points", "inducing points", c.set("points", "-3")},
		{"more points than rows", "inducing points", c.set("points", "9")},
		{"fewer points", "points", c.set("points", "2")},
		{"points that are too many", "GB of memory", c.change(func(f *safetensors.File) {
			f.Metadata["model"] = strings.NewReplacer(`"rows":8`, `"rows":4000000`, `"outcome_rows":[5,`, `"outcome_rows":[3999997,`, `"points":3`, `"points":2000000`).Replace(f.Metadata["model"])
		})},
		{"rows beyond counting", "rows", c.change(func(f *safetensors.File) {
			f.Metadata["model"] = strings.NewReplacer(`"rows":8`, `"rows":2305843009213693952`, `"outcome_rows":[5,`, `"outcome_rows":[2305843009213693949,`).Replace(f.Metadata["model"])
		})},
		{"share", "share left", c.set("share_left", "7")},
		{"loss", "loss", c.set("lost_per_row", "-1")},
		{"power", "power", c.set("power", "2")},
		{"no power", "power", c.set("power", "0")},
		{"method without points", "inducing points", c.replace(`"method":"loss-ep"`, `"method":"corrected"`)},
		{"no summary of points", "", c.replace(`"inducing":{`, `"inducing":null,"search":{`)},
		{"point that is no number", "points", number("points", 0, nan)},
		{"far point", "points", number("points", 0, 1e51)},
		{"code of no category", "code", number("points", 1, 0.5)},
		{"code beyond", "code", number("points", 1, 99)},
		{"shape of points", "points", shape("points", 2, 3)},
		{"shape of a precision", "posterior.ep.precision", shape("posterior.ep.precision", 3, 2)},
		{"larger precision", "posterior.precision", shape("posterior.precision", 9, 9)},
		{"shift that is no number", "posterior.h", number("posterior.h", 0, nan)},
		{"precision that is no number", "posterior.ep.precision", number("posterior.ep.precision", 4, math.Inf(1))},
		{"lopsided precision", "not symmetric", number("posterior.precision", 1, 17)},
		{"negative precision", "posterior.ep", number("posterior.ep.precision", 4, -1)},
		{"no precision", "posterior", number("posterior.precision", 0, 0)},
		{"shift beyond all", "posterior.h", number("posterior.h", 0, 1e51)},
		{"weight", "weight", number("weights", 0, -1)},
		{"no weight", "weight", number("weights", 0, nan)},
		{"large weight", "weight", number("weights", 0, 1e300)},
		{"fewer weights", "weights", shape("weights", 7)},
		{"prevalence", "prevalence", c.set("prevalence", "1.5")},
		{"negative prevalence", "prevalence", c.set("prevalence", "-0.5")},
		{"variance", "", c.set("kernel", `"rbf(variance=1e200)"`)},
	} {
		refusedFile(t, r.name, r.want, r.file)
	}
}

var zero float64

// Whatever the bytes, reading them ends with a model that decides, or with a
// *FileError. The checksum is mended so that the fuzzer gets past it.
func FuzzRead(f *testing.F) {
	for _, method := range []lossep.Method{lossep.EP, lossep.LossEP, lossep.LossVI} {
		b := written(f, fitLoans(f, method, lossep.Likelihood{}))
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add(written(f, fitPoints(f)))
	f.Fuzz(func(t *testing.T, b []byte) {
		raw, err := safetensors.Read(bytes.NewReader(withoutChecksum(b)), safetensors.Options{})
		if err == nil {
			var mended bytes.Buffer
			if err := safetensors.Write(&mended, raw); err != nil {
				return
			}
			b = mended.Bytes()
		}
		m, err := lossep.Read(bytes.NewReader(b))
		if err != nil {
			var refused *lossep.FileError
			if !errors.As(err, &refused) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if got := written(t, m); len(got) == 0 {
			t.Fatal("a model that cannot be written")
		}
	})
}

// withoutChecksum renames the entry with the checksum, so that it is not looked at.
func withoutChecksum(b []byte) []byte {
	return bytes.Replace(b, []byte(`"sha256"`), []byte(`"sha25x"`), 1)
}

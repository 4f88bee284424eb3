package lab_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lossep/lossep/internal/golden"

	"github.com/lossep/lossep/lab"
)

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shape lists the paths of a JSON value with their types, those of all entries of a
// list together.
func shape(value any) string {
	kinds := map[string]string{}
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				visit(path+"."+name, x)
			}
			return
		case []any:
			if len(v) == 0 {
				kinds[path] = "empty"
			}
			for _, x := range v {
				visit(path+"[]", x)
			}
			return
		}
		kind := strings.ReplaceAll(fmt.Sprintf("%T", v), "float64", "number")
		if !strings.Contains(kinds[path], kind) {
			kinds[path] += kind
		}
	}
	visit("", value)
	var lines []string
	for path, kind := range kinds {
		lines = append(lines, path+" "+kind)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// Requests and answers survive JSON, and their fields are those that others rely on.
func TestJSON(t *testing.T) {
	r := figure1()
	r.PriorMean, r.PriorVariance, r.ClutterWeight = new(0.0), new(100.0), new(0.5)
	r.ClutterVariance, r.NoiseVariance, r.Domain = new(10.0), new(1.0), []float64{-12, 12}
	c := randomClassifier(1, 5, 2)
	c.Grid.Points = []int{5, 4}
	reactorView, classifierView := solveReactor(t, r), solveClassifier(t, c)
	for name, pair := range map[string][2]any{
		"reactor":         {r, new(lab.ReactorRequest)},
		"reactor view":    {*reactorView, new(lab.ReactorView)},
		"classifier":      {c, new(lab.Classifier)},
		"classifier view": {*classifierView, new(lab.ClassifierView)},
	} {
		text := marshal(t, pair[0])
		if err := json.Unmarshal(text, pair[1]); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, marshal(t, pair[1])); diff != "" {
			t.Errorf("%s changes on its way: %s", name, diff)
		}
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		golden.Text(t, strings.ReplaceAll(name, " ", "-")+".shape", []byte(shape(value)))
	}
	var back lab.ReactorView
	if err := json.Unmarshal(marshal(t, reactorView), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*reactorView, back, cmp.AllowUnexported(lab.ReactorAnswer{})); diff != "" {
		t.Error(diff)
	}
}

// A request that leaves out all it can is that of the defaults.
func TestDefaults(t *testing.T) {
	var r lab.ReactorRequest
	if err := json.Unmarshal([]byte(`{"data": [-1.1, -2.6, -4, 5.7, -1.1], "utility": [[1, 0.01], [0.9, 1]], "threshold": 2.2}`), &r); err != nil {
		t.Fatal(err)
	}
	full := figure1()
	full.PriorMean, full.PriorVariance, full.ClutterWeight = new(0.0), new(100.0), new(0.5)
	full.ClutterVariance, full.NoiseVariance = new(10.0), new(1.0)
	if a, b := marshal(t, solveReactor(t, r)), marshal(t, solveReactor(t, full)); !bytes.Equal(a, b) {
		t.Error("defaults of a reactor are not what they are said to be")
	}
	var c lab.Classifier
	if err := json.Unmarshal([]byte(`{"x": [[1], [2]], "labels": [1, 0], "utility": [[1, 0], [0, 1]]}`), &c); err != nil {
		t.Fatal(err)
	}
	v := solveClassifier(t, c)
	if v.Kernel != "rbf(variance=1, lengthscale=1)" || len(v.Axes) != 1 || len(v.Axes[0]) != 201 || v.Axes[0][0] > 0.75 || v.Axes[0][200] < 2.25 {
		t.Errorf("%s on %d points from %v", v.Kernel, len(v.Axes[0]), v.Axes[0][0])
	}
}

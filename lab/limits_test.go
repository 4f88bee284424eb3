package lab_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lossep/lossep/lab"
)

// Whatever is wrong with a request is said of the field in question.
func TestBadReactor(t *testing.T) {
	for _, c := range []struct {
		change     func(*lab.ReactorRequest)
		field, msg string
	}{
		{func(r *lab.ReactorRequest) { r.Data = nil }, "data", "at least one"},
		{func(r *lab.ReactorRequest) { r.Data = make([]float64, lab.MaxMeasurements+1) }, "data", "at most 40"},
		{func(r *lab.ReactorRequest) { r.Data[2] = math.NaN() }, "data[2]", "NaN"},
		{func(r *lab.ReactorRequest) { r.Data[4] = math.Inf(1) }, "data[4]", "Inf"},
		{func(r *lab.ReactorRequest) { r.Data[0] = 1e7 }, "data[0]", "1e+06"},
		{func(r *lab.ReactorRequest) { r.PriorMean = new(math.NaN()) }, "prior_mean", "NaN"},
		{func(r *lab.ReactorRequest) { r.PriorVariance = new(0.0) }, "prior_variance", "0 is not a variance"},
		{func(r *lab.ReactorRequest) { r.ClutterVariance = new(-1.0) }, "clutter_variance", "-1"},
		{func(r *lab.ReactorRequest) { r.NoiseVariance = new(1e12) }, "noise_variance", "1e+12"},
		{func(r *lab.ReactorRequest) { r.NoiseVariance = new(1e-5) }, "prior_variance", "1e+06 times the noise variance"},
		{func(r *lab.ReactorRequest) { r.ClutterWeight = new(1.0) }, "clutter_weight", "below 1"},
		{func(r *lab.ReactorRequest) { r.Threshold = math.Inf(-1) }, "threshold", "-Inf"},
		{func(r *lab.ReactorRequest) { r.Domain = []float64{1} }, "domain", "two numbers"},
		{func(r *lab.ReactorRequest) { r.Domain = []float64{1, 1} }, "domain", "beyond"},
		{func(r *lab.ReactorRequest) { r.Domain = []float64{0, math.NaN()} }, "domain[1]", "NaN"},
		{func(r *lab.ReactorRequest) { r.Utility = nil }, "utility", "at least 2 actions"},
		{func(r *lab.ReactorRequest) { r.Utility = make([][]float64, 9) }, "utility", "at most 8"},
		{func(r *lab.ReactorRequest) { r.Utility[1] = []float64{1, 2, 3} }, "utility[1]", "2 outcomes"},
		{func(r *lab.ReactorRequest) { r.Utility[1] = nil }, "utility[1]", "2 outcomes"},
		{func(r *lab.ReactorRequest) { r.Utility[0][1] = -1 }, "utility[0][1]", "negative"},
		{func(r *lab.ReactorRequest) { r.Utility[0][0] = 1e10 }, "utility", "divide"},
		{func(r *lab.ReactorRequest) { r.Utility = [][]float64{{0, 0}, {0, 0}} }, "utility", "no action is better"},
	} {
		r := figure1()
		c.change(&r)
		v, err := r.Solve(context.Background())
		checkInput(t, v == nil, err, c.field, c.msg)
	}
}

func TestBadClassifier(t *testing.T) {
	for _, c := range []struct {
		change     func(*lab.Classifier)
		field, msg string
	}{
		{func(c *lab.Classifier) { c.X = nil }, "x", "at least one"},
		{func(c *lab.Classifier) { c.X = make([][]float64, lab.MaxPoints+1) }, "x", "at most 100"},
		{func(c *lab.Classifier) { c.X[0] = []float64{1, 2, 3} }, "x[0]", "1 on the line or 2"},
		{func(c *lab.Classifier) { c.X[0] = nil }, "x[0]", "0 coordinates"},
		{func(c *lab.Classifier) { c.X[3] = []float64{1} }, "x[3]", "all the same"},
		{func(c *lab.Classifier) { c.X[3][1] = math.NaN() }, "x[3][1]", "NaN"},
		{func(c *lab.Classifier) { c.Labels = c.Labels[1:] }, "labels", "one for each"},
		{func(c *lab.Classifier) { c.Labels[2] = -1 }, "labels[2]", "give 0 to 1"},
		{func(c *lab.Classifier) { c.Kernel = "rbf(length=1)" }, "kernel", "column 5"},
		{func(c *lab.Classifier) { c.Kernel = "rbf(lengthscale=[1, 2, 3])" }, "kernel", "column"},
		{func(c *lab.Classifier) { c.Kernel = "rbf(variance=1e30)" }, "kernel", "variance 1e+30"},
		{func(c *lab.Classifier) { c.Kernel = strings.Repeat("rbf+", 200) + "rbf" }, "kernel", "at most 500"},
		{func(c *lab.Classifier) { c.Utility[1][1] = math.Inf(1) }, "utility[1][1]", "finite"},
		{func(c *lab.Classifier) { c.Grid.From = nil }, "grid.from", "one for each"},
		{func(c *lab.Classifier) { c.Grid.To = []float64{1} }, "grid.to", "one for each"},
		{func(c *lab.Classifier) { c.Grid.Points = []int{2, 2, 2} }, "grid.points", "one for each"},
		{func(c *lab.Classifier) { c.Grid.Points[1] = 62 }, "grid.points[1]", "from 2 to 61"},
		{func(c *lab.Classifier) { c.Grid.Points[0] = 1 }, "grid.points[0]", "from 2 to 61"},
		{func(c *lab.Classifier) { c.Grid.To[1] = -4 }, "grid.to[1]", "beyond"},
		{func(c *lab.Classifier) { c.Grid.From[1] = math.NaN() }, "grid.from[1]", "NaN"},
		{func(c *lab.Classifier) { c.Grid.To[0] = math.Inf(1) }, "grid.to[0]", "Inf"},
	} {
		request := randomClassifier(1, 4, 2)
		c.change(&request)
		v, err := request.Solve(context.Background())
		checkInput(t, v == nil, err, c.field, c.msg)
	}
}

func checkInput(t *testing.T, none bool, err error, field, msg string) {
	t.Helper()
	var input *lab.InputError
	if !none || !errors.As(err, &input) || input.Field != field || !strings.Contains(input.Msg, msg) {
		t.Errorf("%v, want %s: …%s…", err, field, msg)
	}
}

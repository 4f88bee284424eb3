package kernel

import (
	"math"
	"testing"
)

// The term of a score is a line of the first column, and the other terms do not see that column.
func TestScoreHasATermOfItsOwn(t *testing.T) {
	t.Parallel()
	columns := Columns{Numbers: 2, Codes: 1, Score: true}
	k, err := ParseColumns("rbf(variance=1.7, lengthscale=[0.8, 2.5]) + constant(variance=0.3)", columns)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := ParseColumns("rbf(variance=1.7, lengthscale=[0.8, 2.5]) + constant(variance=0.3)", Columns{Numbers: 1, Codes: 1})
	if err != nil {
		t.Fatal(err)
	}
	x, z := []float64{-1.3, 0.4, 2}, []float64{2.1, -0.2, 1}
	// Where the compiler fuses a product with a sum, as on arm64, one of the two is rounded once less: by half a unit of
	// 2.73 in the last place.
	if got, want := k.Cov(x, z), x[0]*z[0]+rest.Cov(x[1:], z[1:]); math.Abs(got-want) > 0x1p-51 {
		t.Errorf("covariance %v, want %v", got, want)
	}
	if got := k.ParamNames()[2]; got != "rbf.lengthscale[1]" {
		t.Errorf("the first length scale is %s, want that of the column after the score", got)
	}
	again, err := ParseColumns(k.String(), columns)
	if err != nil || again.String() != k.String() || again.Dim() != 3 {
		t.Errorf("%s reads back as %s of %d columns: %v", k, again, again.Dim(), err)
	}
}

func TestScoreIsOneTermOfASum(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"score", "score * rbf", "rbf + score + score", "rbf + (linear + score) * constant"} {
		if k, err := ParseColumns(text, Columns{Numbers: 2, Score: true}); err == nil {
			t.Errorf("%s is read as %s", text, k)
		}
	}
	if _, err := ParseColumns("rbf + score", Columns{Numbers: 2}); err == nil {
		t.Error("a kernel has a score where there is none")
	}
}

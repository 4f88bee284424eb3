package kernel_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/lossep/lossep/kernel"
)

func Example() {
	k, err := kernel.Parse("rbf(variance=2.25, lengthscale=2) + white(variance=0.1)", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 1, 1, 3})
	var gram mat.SymDense
	k.Gram(&gram, x)
	fmt.Printf("%.4f\n", mat.Formatted(&gram))
	// Output:
	// ⎡2.3500  1.7523  0.6446⎤
	// ⎢1.7523  2.3500  1.3647⎥
	// ⎣0.6446  1.3647  2.3500⎦
}

func ExampleParse() {
	k, err := kernel.Parse("rbf(ard) * (constant + linear)", 2)
	fmt.Println(k, err)
	_, err = kernel.Parse("rbf(lengthscale=[1, 2, 3])", 2)
	fmt.Println(err)
	// Output:
	// rbf(variance=1, lengthscale=[1, 1]) * (constant(variance=1) + linear(variance=1)) <nil>
	// kernel "rbf(lengthscale=[1, 2, 3])", column 17: 3 numbers listed for 2 input columns
}

// The log evidence of a Gaussian process has the gradient Σ_ij W_ij ∂K_ij/∂θ
// for some symmetric W; here W picks the covariance of the first two cases.
func ExampleKernel_WeightedGrad() {
	k := kernel.RBF(2.25, 1, 2)
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 1, 1, 3})
	w := mat.NewSymDense(3, nil)
	w.SetSym(0, 1, 0.5)
	grad := k.WeightedGrad(nil, w, x)
	for i, name := range k.ParamNames() {
		fmt.Printf("%-18s %.4f\n", name, grad[i])
	}
	// Output:
	// rbf.variance       1.2043
	// rbf.lengthscale[0] 1.2043
	// rbf.lengthscale[1] 0.3011
}

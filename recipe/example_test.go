package recipe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/table"
)

// Learn a recipe from past cases, store it, and send new cases through it.
func Example() {
	past := `age,job,amount,outcome
25,clerk,100,good
31,smith,900,bad
47,clerk,300,good
52,baker,700,bad
`
	data, err := table.Read(context.Background(), strings.NewReader(past), "past.csv", table.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	learned, err := recipe.Learn(data, recipe.Options{Target: "outcome"})
	if err != nil {
		fmt.Println(err)
		return
	}
	how := learned.Recipe
	fmt.Println(learned.X.RawMatrix().Rows, "rows,", how.NumFeatures(), "features, labels", learned.Labels)
	fmt.Println(strings.Join(how.Features(), " | "))

	stored, err := json.Marshal(how)
	if err != nil {
		fmt.Println(err)
		return
	}
	var loaded recipe.Recipe
	if err := json.Unmarshal(stored, &loaded); err != nil {
		fmt.Println(err)
		return
	}

	// New cases: columns in another order, one more column, an unknown job.
	cases := "name,amount,job,age\nAda,500,clerk,36\nBob,250,pilot,40\n"
	reader, err := recipe.NewReader(context.Background(), strings.NewReader(cases), "cases.csv", &loaded, table.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		block, err := reader.ReadBlock(100)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range block.Rows {
			amount, err := block.Rows[i].Value("amount")
			if err != nil {
				fmt.Println(err)
				return
			}
			// Encoded: age, amount, and the code of the job.
			fmt.Printf("%s: amount %g, encoded %.2f\n", block.Rows[i].Cells()[0], amount, block.Rows[i].Features)
		}
	}
	for _, line := range reader.Report().Lines() {
		fmt.Println(line)
	}
	// Output:
	// 4 rows, 5 features, labels [0 1 0 1]
	// age | job=baker | job=clerk | job=smith | amount
	// Ada: amount 500, encoded [-0.25 0.00 1.00]
	// Bob: amount 250, encoded [0.11 -0.79 -1.00]
	// ignored 1 column the model does not know: "name"
	// column "job": 1 row of 2 with an unseen category, such as "pilot", encoded as zeros
}

// Failures say where and what to do.
func ExampleError() {
	_, err := table.Read(context.Background(), strings.NewReader("age,income\n30,1000\n40\n"), "cases.csv", table.Format{})
	fmt.Println(err)
	// Output:
	// cases.csv, line 3, column 2 ("income"): ragged row: 1 cell where the first row has 2; complete the row, quote cells that contain the separator ',', or give another separator: the option Separator
}

func ExampleRecipe_Describe() {
	table, err := table.Read(context.Background(), strings.NewReader("id,x,color,y\n7,1,red,no\n5,2,blue,yes\n9,6,red,no\n"), "cases.csv", table.Format{})
	if err != nil {
		fmt.Println(err)
		return
	}
	learned, err := recipe.Learn(table, recipe.Options{Target: "y"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(learned.Recipe.Describe(), "\n"))
	// Output:
	// 3 rows; outcome "y": positive "yes" (1 row, 33.3 %), negative "no" (2 rows, 66.7 %)
	// 3 columns → 3 features
	// 1 numeric column standardised
	// 1 categorical column one-hot; unseen categories are encoded as zeros
	// dropped "id": identifier-like: by its name, and all values are unique
	// only 1 row of class "yes": estimates are unreliable
	// "x": numeric, mean 3, scale 2.16
	// "color": 2 categories "blue", "red"
}

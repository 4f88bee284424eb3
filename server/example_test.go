package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/decision"
	"github.com/lossep/lossep/recipe"
	"github.com/lossep/lossep/server"
	"github.com/lossep/lossep/table"
)

// A model is fitted, served, and asked over HTTP.
func Example() {
	table, err := table.Read(context.Background(), strings.NewReader("age,class\n20,bad\n25,bad\n30,good\n45,good\n50,good\n28,bad\n"), "loans.csv", table.Format{Header: table.HeaderYes})
	if err != nil {
		fmt.Println(err)
		return
	}
	costs, err := decision.ParseCosts("fn=5,fp=1")
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := lossep.Fit(context.Background(), table, lossep.Options{
		Data: recipe.Options{Target: "class", Positive: "bad"}, Utility: costs, Kernel: "rbf(variance=4, lengthscale=1)", Fixed: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := model.Write(&file); err != nil {
		fmt.Println(err)
		return
	}
	s, err := server.New(server.Config{Models: []server.Source{{
		Name: "loans",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil },
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}

	h := httptest.NewServer(s.Handler())
	defer h.Close()
	for _, rows := range []string{`[{"age": 22}, {"age": 48}]`, `[{"age": "old"}]`} {
		r, err := http.Post(h.URL+"/v1/models/loans/decide", "application/json", strings.NewReader(`{"rows": `+rows+`}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, err := io.ReadAll(r.Body)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, part := range []string{`"action":"positive"`, `"action":"negative"`, `"location":"rows[0].age"`} {
			fmt.Println(r.StatusCode, part, bytes.Count(answer, []byte(part)))
		}
	}
	// Output:
	// 200 "action":"positive" 1
	// 200 "action":"negative" 1
	// 200 "location":"rows[0].age" 0
	// 422 "action":"positive" 0
	// 422 "action":"negative" 0
	// 422 "location":"rows[0].age" 1
}

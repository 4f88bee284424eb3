package server

import (
	"context"
	"net/http"

	"github.com/lossep/lossep/service"
)

// PredictRequest is the body of a prediction.
type PredictRequest struct {
	Rows      []Row     `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
	Quantiles []float64 `json:"quantiles,omitempty" doc:"quantiles of an outcome that is a number, such as 0.05 and 0.95"`
}

// PredictResponse is the answer to a PredictRequest.
type PredictResponse struct {
	Model        string       `json:"model"`
	ModelVersion string       `json:"model_version" doc:"changes when the model is replaced"`
	Method       string       `json:"method" doc:"how the posterior was approximated"`
	Outcome      string       `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given, or the column of a number"`
	Outcomes     []string     `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Prevalence   float64      `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Population   []float64    `json:"population,omitempty" doc:"the shares of more than two outcomes in the population that the answers are for, if not as in the training rows"`
	Predictions  []Prediction `json:"predictions" doc:"one for each row"`
	Ignored      []string     `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string     `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Prediction is what is known of a case.
type Prediction struct {
	ID            string    `json:"id,omitempty" doc:"what names the case, if the request does: its cell of the model's column of identifiers, or else of id"`
	Probability   float64   `json:"probability,omitempty" doc:"of the positive outcome of two"`
	Mean          float64   `json:"mean,omitempty" doc:"of an outcome that is a number, or of the latent value with two outcomes"`
	Quantiles     []float64 `json:"quantiles,omitempty" doc:"of an outcome that is a number, as they are asked for"`
	Variance      float64   `json:"variance,omitempty" doc:"of the latent value, with two outcomes"`
	Probabilities []float64 `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	Unusual       []string  `json:"unusual" doc:"columns in which the case is unlike the training rows: a category that they did not have, or a number outside theirs by more than half their range, ten times as near to zero as all of them, or missing where none of them was"`
}

func (s *Server) predict(ctx context.Context, x *exchange, m *served, b *body) error {
	r, err := m.readPlainRows(ctx, b)
	if err != nil {
		return err
	}
	predictions, err := m.predictRows(ctx, r)
	if err != nil {
		return err
	}
	s.metrics.count(x, r.N)
	text := appendCases(appendModel(nil, m), "predictions", m, r, service.PredictFields(m.model.Utility().Outcomes()), func(i int, c *service.Case) {
		c.Prediction = &predictions[i]
	})
	x.write(http.StatusOK, "application/json", text)
	return nil
}

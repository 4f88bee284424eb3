package server

import (
	"context"
	"net/http"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/server/jsonappend"
	"github.com/lossep/lossep/server/rows"
)

// PredictRequest is the body of a prediction.
type PredictRequest struct {
	Rows []Row `json:"rows" minItems:"1" nullable:"false" doc:"the cases"`
}

// Row is a case: values by the names of columns. Texts are read like cells of a file,
// null is a missing cell, and columns that the model does not know are ignored.
type Row map[string]any

// PredictResponse is the answer to a PredictRequest.
type PredictResponse struct {
	Model        string       `json:"model"`
	ModelVersion string       `json:"model_version" doc:"changes when the model is replaced"`
	Method       string       `json:"method" doc:"how the posterior was approximated"`
	Outcome      string       `json:"outcome" doc:"the positive one, whose probability is given"`
	Prevalence   float64      `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Predictions  []Prediction `json:"predictions" doc:"one for each row"`
	Ignored      []string     `json:"ignored,omitempty" doc:"columns that the model does not know"`
}

// Prediction is what is known of a case.
type Prediction struct {
	Probability float64  `json:"probability" doc:"of the positive outcome"`
	Mean        float64  `json:"mean" doc:"of the latent value"`
	Variance    float64  `json:"variance" doc:"of the latent value"`
	Unseen      []string `json:"unseen,omitempty" doc:"columns whose category was not in the training rows"`
	Far         []string `json:"far,omitempty" doc:"columns whose value is outside those of the training rows by more than half their range"`
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
	x.write(http.StatusOK, "application/json", appendPredictions(nil, m, r, predictions))
	return nil
}

// appendPredictions writes a PredictResponse.
func appendPredictions(b []byte, m *served, r *rows.Rows, predictions []lossep.Prediction) []byte {
	b = append(append(b, `{"model":`...), jsonappend.Quoted(m.name)...)
	b = append(append(b, `,"model_version":`...), jsonappend.Quoted(m.version())...)
	b = append(append(b, `,"method":`...), jsonappend.Quoted(string(m.model.Method()))...)
	b = append(appendOutcome(b, m), `,"predictions":[`...)
	for i, p := range predictions {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonappend.Float(append(b, `{"probability":`...), p.Probability())
		b = jsonappend.Float(append(b, `,"mean":`...), p.Mean)
		b = jsonappend.Float(append(b, `,"variance":`...), p.Variance)
		b = append(appendUnusual(b, r, i), '}')
	}
	return append(appendIgnored(append(b, ']'), r), '}')
}

// appendOutcome says what probabilities are of, and for whom.
func appendOutcome(b []byte, m *served) []byte {
	t := &m.model.Recipe().Target
	b = append(append(b, `,"outcome":`...), jsonappend.Quoted(t.Outcome())...)
	if t.Prevalence > 0 {
		b = jsonappend.Float(append(b, `,"prevalence":`...), t.Prevalence)
	}
	return b
}

// appendUnusual names the columns in which a row is unlike the training rows.
func appendUnusual(b []byte, r *rows.Rows, row int) []byte {
	if columns := r.Unseen[row]; columns != nil {
		b = jsonappend.Texts(append(b, `,"unseen":`...), columns)
	}
	if columns := r.Far[row]; columns != nil {
		b = jsonappend.Texts(append(b, `,"far":`...), columns)
	}
	return b
}

func appendIgnored(b []byte, r *rows.Rows) []byte {
	if r.Ignored != nil {
		b = jsonappend.Texts(append(b, `,"ignored":`...), r.Ignored)
	}
	return b
}

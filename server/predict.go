package server

import (
	"context"
	"net/http"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/data"
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
	Outcome      string       `json:"outcome,omitempty" doc:"the positive one of two, whose probability is given"`
	Outcomes     []string     `json:"outcomes,omitempty" doc:"if there are more than two, whose probabilities are given in this order"`
	Prevalence   float64      `json:"prevalence,omitempty" doc:"how frequent it is in the population that the answers are for, if not as in the training rows"`
	Predictions  []Prediction `json:"predictions" doc:"one for each row"`
	Ignored      []string     `json:"ignored,omitempty" doc:"columns that the model does not know"`
	Notes        []string     `json:"notes,omitempty" doc:"columns that are far outside the training rows in most rows, as with another unit"`
}

// Prediction is what is known of a case.
type Prediction struct {
	Probability   float64   `json:"probability,omitempty" doc:"of the positive outcome of two"`
	Mean          float64   `json:"mean,omitempty" doc:"of the latent value, with two outcomes"`
	Variance      float64   `json:"variance,omitempty" doc:"of the latent value, with two outcomes"`
	Probabilities []float64 `json:"probabilities,omitempty" doc:"of each of more than two outcomes"`
	Unseen        []string  `json:"unseen,omitempty" doc:"columns whose category was not in the training rows"`
	Far           []string  `json:"far,omitempty" doc:"columns whose value is outside those of the training rows by more than half their range, or ten times as near to zero as all of them"`
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
		b = appendProbability(append(b, '{'), p.Probabilities)
		if len(p.Probabilities) == 2 {
			b = jsonappend.Float(append(b, `,"mean":`...), p.Mean)
			b = jsonappend.Float(append(b, `,"variance":`...), p.Variance)
		}
		b = append(appendUnusual(b, r, i), '}')
	}
	return append(appendRemarks(append(b, ']'), m, r), '}')
}

// appendOutcome says what probabilities are of, and for whom.
func appendOutcome(b []byte, m *served) []byte {
	t := &m.model.Recipe().Target
	if !t.Binary() {
		return jsonappend.Texts(append(b, `,"outcomes":`...), t.Outcomes)
	}
	b = append(append(b, `,"outcome":`...), jsonappend.Quoted(t.Outcome())...)
	if t.Prevalence > 0 {
		b = jsonappend.Float(append(b, `,"prevalence":`...), t.Prevalence)
	}
	return b
}

// appendProbability writes the probability of the positive outcome of two, or those of all
// outcomes of more.
func appendProbability(b []byte, p []float64) []byte {
	if len(p) == 2 {
		return jsonappend.Float(append(b, `"probability":`...), p[1])
	}
	return jsonappend.Floats(append(b, `"probabilities":`...), p)
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

// appendRemarks writes what is to be said of all rows together.
func appendRemarks(b []byte, m *served, r *rows.Rows) []byte {
	if r.Ignored != nil {
		b = jsonappend.Texts(append(b, `,"ignored":`...), r.Ignored)
	}
	if notes := m.notes(r); notes != nil {
		b = jsonappend.Texts(append(b, `,"notes":`...), notes)
	}
	return b
}

// notes tell of columns that are far outside the training rows in most rows.
func (m *served) notes(r *rows.Rows) (notes []string) {
	if 2*len(r.Far) <= r.N {
		return nil
	}
	cells := make(map[string]int)
	for _, columns := range r.Far {
		for _, name := range columns {
			cells[name]++
		}
	}
	recipe := m.model.Recipe()
	for i := range recipe.Columns {
		name := recipe.Columns[i].Name
		if note := recipe.MostlyFar(data.Far{Column: name, Cells: cells[name]}, r.N); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

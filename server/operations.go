package server

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/lossep/lossep"
	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/report"
	"github.com/lossep/lossep/server/oip"
	"github.com/lossep/lossep/server/problem"
)

// operations are what the server can be asked, but for the page, which routes adds.
func (s *Server) operations() []route {
	get := func(path, id, summary string, answer func(*exchange) error, response any) route {
		return newRoute(http.MethodGet, path, id, summary, answer, nil, response)
	}
	post := func(path, id, summary string, answer func(*exchange) error, request, response any) route {
		return newRoute(http.MethodPost, path, id, summary, answer, request, response)
	}
	routes := []route{
		get("/v1/models", "list-models", "The models being served", s.listModels, ModelList{}),
		get("/v1/models/{name}", "describe-model", "What there is to know of a model", s.describeModel, ModelDescription{}),
		get("/v1/models/{name}/effects", "effects", "Effects of categories, bins and pairs of these, with figures", s.effects, report.EffectFigures{}),
		post("/v1/models/{name}/predict", "predict", "Predict cases", s.about(s.predict, s.predictNumbers), PredictRequest{}, PredictResponse{}),
		post("/v1/models/{name}/decide", "decide", "Decide cases, under the model's own costs or others", s.about(s.decide, s.decideNumbers), DecideRequest{}, anyDecision{}),
		post("/v1/models/{name}/curve", "curve", "How decisions and their costs change with one entry of the utility", s.about(s.curve, nil), CurveRequest{}, CurveResponse{}),
		post("/v1/models/{name}/distribution", "distribution", "What is predicted of outcomes that are numbers, and what actions are expected to cost, as curves", s.about(nil, s.distribution), DistributionRequest{}, DistributionResponse{}),
		post("/v1/models/{name}/value", "value", "What it would be worth to know more about cases before acting", s.about(s.value, s.valueNumbers), ValueRequest{}, anyValue{}),
		post("/v1/models/{name}/outcomes", "outcomes", "What became of cases that were decided; the answer comes when it is on the disk", s.about(s.outcomes, s.outcomes), OutcomesRequest{}, OutcomesResponse{}),
		post("/v1/outcomes", "", "", s.about(s.outcomes, s.outcomes), OutcomesRequest{}, nil).hide(), // of the only model
		get("/v1/methods", "list-methods", "What methods there are, and what they are called", s.listMethods, MethodList{}).forAll(),
		post("/v1/explore/reactor", "explore-reactor", "The reactor of the paper by every method", s.exploreReactor, lab.ReactorRequest{}, lab.ReactorView{}),
		post("/v1/explore/classifier", "explore-classifier", "A small classifier by every method", s.exploreClassifier, lab.Classifier{}, lab.ClassifierView{}),

		get("/v2", "server-metadata", "Open Inference Protocol: the server", s.serverMetadata, oip.ServerMetadata{}),
		get("/v2/{$}", "", "", s.serverMetadata, nil).hide(),
		get("/v2/health/live", "server-live", "Open Inference Protocol: whether the server lives", s.serverLive, oip.ServerHealth{}).forAll(),
		get("/v2/health/ready", "server-ready", "Open Inference Protocol: whether requests should be sent here", s.serverReady, oip.ServerHealth{}).forAll(),
		get("/metrics", "metrics", "Counts and times for Prometheus", s.writeMetrics, "").as("text/plain"),
		get("/openapi.json", "openapi", "This document", s.writeDocument, map[string]any{}).forAll(),
	}
	// A model has one version, which may be named.
	for _, v := range []struct{ path, id string }{{"/v2/models/{name}", "model"}, {"/v2/models/{name}/versions/{version}", "model-version"}} {
		routes = append(routes,
			get(v.path, v.id+"-metadata", "Open Inference Protocol: the tensors of a model", s.modelMetadata, oip.ModelMetadata{}),
			get(v.path+"/ready", v.id+"-ready", "Open Inference Protocol: whether a model can be asked", s.modelReady, oip.ModelHealth{}),
			post(v.path+"/infer", v.id+"-infer", "Open Inference Protocol: decide cases", s.infer, oip.InferRequest{}, oip.InferResponse{}).withTensors(),
		)
	}
	return routes
}

func newRoute(method, path, id, summary string, answer func(*exchange) error, request, response any) route {
	r := route{answer: answer, request: request, response: response}
	r.Operation = huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary}
	r.contentType = "application/json"
	return r
}

// forAll makes a route that needs no token.
func (r route) forAll() route { r.open = true; return r }

// hide makes a route that the document leaves out: another spelling of one in it.
func (r route) hide() route { r.Hidden = true; return r }

// as makes a route with another type of response.
func (r route) as(contentType string) route { r.contentType = contentType; return r }

// withTensors makes a route whose bodies may be followed by binary tensors.
func (r route) withTensors() route { r.tensors = true; return r }

// Utility is what actions cost or bring, as a request may state it; in its place the
// model's own counts.
type Utility struct{}

// Schema describes the two forms, and null, which stands for none.
func (Utility) Schema(huma.Registry) *huma.Schema {
	entry := &huma.Schema{OneOf: []*huma.Schema{
		{Type: "number"},
		{Type: "string", Description: "an expression over columns of the rows, such as 0.6 * amount + 10 or min(amount, 5000)"},
	}}
	table := &huma.Schema{
		Type: "object", Description: fmt.Sprintf("actions, with names of at most %d characters, and what each costs or brings by outcome", maxName),
		MinProperties: new(2), MaxProperties: new(maxActions),
		AdditionalProperties: &huma.Schema{Type: "object", AdditionalProperties: entry},
	}
	return &huma.Schema{
		Description: "what actions cost or bring, in place of the model's own",
		OneOf: []*huma.Schema{
			{Type: "null"},
			{Type: "string", Description: "costs of mistakes, such as fn=5,fp=1, or of an outcome that is a number, such as under=15,over=5"},
			numberCosts(entry),
			{
				Type: "object", Required: []string{"outcomes"},
				Properties: map[string]*huma.Schema{
					"outcomes":  {Type: "array", Items: &huma.Schema{Type: "string"}, MinItems: new(2), Description: "those of the model"},
					"costs":     table,
					"utilities": table,
					"ceiling":   {Type: "number"},
					"effort":    effort(entry),
				},
			},
		},
	}
}

// numberCosts describes costs of an outcome that is a number.
func numberCosts(entry *huma.Schema) *huma.Schema {
	number := &huma.Schema{Type: "number"}
	return &huma.Schema{
		Type: "object", AdditionalProperties: false, Description: "what actions cost where the outcome is a number: under and over, or cost, or costs",
		Properties: map[string]*huma.Schema{
			"under": entry, "over": entry,
			"cost":  {Type: "string", Description: "a formula of action, outcome and columns, such as 15*max(outcome - action, 0) + action"},
			"costs": {Type: "object", Description: "named actions, with a formula of outcome each", AdditionalProperties: entry},
			"action": {Description: "the numbers that an action can be", OneOf: []*huma.Schema{
				{Type: "array", Items: number},
				{Type: "object", AdditionalProperties: false, Properties: map[string]*huma.Schema{"from": number, "to": number, "step": number}},
			}},
			"effort": effort(entry),
		},
	}
}

// effort describes what actions take of a capacity.
func effort(entry *huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type: "object", Description: "what actions take of a capacity: by action, or by what several actions take, with an object of actions; 1 if not given",
		AdditionalProperties: &huma.Schema{OneOf: append(slices.Clone(entry.OneOf), &huma.Schema{Type: "object", AdditionalProperties: entry})},
	}
}

// newDocument is the description of the interface before any operation is in it.
func newDocument() *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "lossep", Version: lossep.Version,
			Description: "Bayesian decisions when mistakes do not cost the same.",
			License:     &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
		},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "a token, if the server asks for one"},
			},
		},
	}
}

// describeIn adds the operation to the document.
func (r route) describeIn(d *huma.OpenAPI, open bool) {
	if r.Hidden {
		return
	}
	schema := func(v any) *huma.Schema { return d.Components.Schemas.Schema(reflect.TypeOf(v), true, "") }
	op := &r.Operation
	for _, name := range []string{"name", "version"} {
		if pathHas(op.Path, name) {
			op.Parameters = append(op.Parameters, &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: "string"}})
		}
	}
	content := func(v any) map[string]*huma.MediaType {
		media := map[string]*huma.MediaType{r.contentType: {Schema: schema(v)}}
		if r.tensors {
			media["application/octet-stream"] = &huma.MediaType{Schema: &huma.Schema{Type: "string", Format: "binary", Description: "the JSON object, followed by binary tensors"}}
		}
		return media
	}
	op.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: content(r.response)}}
	failure := map[string]*huma.MediaType{"application/problem+json": {Schema: schema(problem.Problem{})}}
	if isInference(op.Path) {
		failure = map[string]*huma.MediaType{"application/json": {Schema: schema(oip.InferError{})}}
	}
	statuses := []int{}
	if !open {
		op.Security = []map[string][]string{{"token": {}}}
		statuses = append(statuses, http.StatusUnauthorized)
	}
	if pathHas(op.Path, "name") {
		statuses = append(statuses, http.StatusNotFound)
	}
	if r.request != nil {
		op.RequestBody = &huma.RequestBody{Required: true, Content: content(r.request)}
		statuses = append(statuses, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusServiceUnavailable)
		if !isInference(op.Path) {
			statuses = append(statuses, http.StatusUnprocessableEntity)
		}
	}
	for _, status := range statuses {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: failure}
	}
	d.AddOperation(op)
}

func (s *Server) writeMetrics(x *exchange) error {
	s.metrics.handler().ServeHTTP(x, x.request)
	return nil
}

func (s *Server) writeDocument(x *exchange) error {
	x.write(http.StatusOK, "application/json", s.document)
	return nil
}

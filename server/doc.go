// Package server answers for fitted models over HTTP: what package lossep answers to a
// program that imports it.
//
// A Server holds models that Sources give it, and reads them anew on Reload; requests
// under way keep the model they began with, and a source that has gone bad leaves the
// model it gave before. Three things are served: the project's own interface under /v1,
// the Open Inference Protocol under /v2 so that existing clients work, and the page
// under /. The document at /openapi.json describes the first two.
//
// Three thoughts shape the code. A prediction of one row reads the whole model from
// memory, which one of many rows does as well, so the rows of requests that wait are
// predicted together (batcher). Decoding JSON by way of maps would take longer than
// predicting, so rows are read straight into the columns of the model's recipe
// (package rows). And whatever a request may ask for has a bound: bytes, rows, time, how
// many may compute at once, and the memory of all of them together (budget), 256 MiB
// unless Config says otherwise. Time ends a request between the parts that it is
// computed in, and so does a client that goes away.
//
// Failures are problem documents (RFC 9457) that name the row and the column, or under
// /v2 the error object of that protocol. They say what the client can do about it and
// nothing of what goes on inside.
package server

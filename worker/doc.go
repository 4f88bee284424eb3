// Package worker serves another program over a pair of pipes: it fits, predicts, decides
// and audits tables that the program has in memory, and keeps the models in between.
//
// Everything is a Frame, in both directions:
//
//	magic    4 bytes   "LSP1"; the digit is the version of this protocol
//	header   4 bytes   its length, little-endian
//	payload  8 bytes   its length, little-endian
//	header             JSON
//	payload            the tensors, one after another, each padded to 8 bytes
//
// The header's member "tensors" lists them: a name, a type and a shape. Arrays are never
// written as text.
//
// The worker begins with a Hello. A request has a number of its own, "id", and says what to
// "do"; requests are answered when they are done, not in their order. An answer has the id
// and either a "result" or an "error"; before it there may be any number of frames with the
// id and "progress". The frame {"cancel": id} ends a request: it is answered with an error
// of the kind "cancelled". Errors are of the kinds below.
//
// A request that panics is answered with an error, as is one that would take more memory
// than there is; one for which there is none beside others gets an error of the kind "busy", and
// may be sent again when one of them has been answered. What is no frame ends the worker with a last error of id 0, since nobody
// knows where the next frame begins. So does the end of the input, whatever is under way:
// then nobody waits for an answer.
//
// Models are known by handles. They are forgotten when the program says so, and the one
// used least recently when they take too much memory; a request with a handle that is not
// known is answered with an error of the kind "forgotten", and the program, which has the
// model file from when it was fitted, loads it again.
package worker

// Package drive keeps a server busy in tests and takes note of what came back: how long
// every answer took, and every one that was wrong, late or missing.
//
// It shares its processors with the server it measures, so it costs as little as it
// can: requests are bytes made once and written to connections that stay open, one
// request at a time on each. A request counts as dropped when it was written to an open
// connection and no complete answer came back.
package drive

//go:build !amd64 && !arm64

package lanes

// detect finds no vector code.
func detect() []*code { return nil }

//go:build !unix

package command

import "os"

// LockFolder keeps nobody out: folders cannot be locked here.
func LockFolder(string) (*os.File, error) { return nil, nil }
